"""Unit 06, custom Functions: the exercises on whose tensor comes in, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function

from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, choice_of, in_one_row, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.functions import function

UNIT = "06_custom_function"


# choose_own_tensor ---------------------------------------------------------------------------------------------


def _same_tensor(g: Tensor, x: Tensor) -> Tensor:
    grad_input = g
    grad_input[x < 0] *= -1
    return grad_input


def _detached(g: Tensor, x: Tensor) -> Tensor:
    grad_input = g.detach()
    grad_input[x < 0] *= -1
    return grad_input


def _negated_first(g: Tensor, x: Tensor) -> Tensor:
    grad_input = -g
    grad_input[x > 0] = g[x > 0]
    return grad_input


def _cloned_at_the_end(g: Tensor, x: Tensor) -> Tensor:
    g[x < 0] *= -1
    return g.clone()


_BACKWARDS = {"a": _same_tensor, "b": _detached, "c": _negated_first, "d": _cloned_at_the_end}


def _leaves_others_alone(backward: Callable[[Tensor, Tensor], Tensor]) -> bool:
    incoming, x = torch.tensor([3.0, 7.0]), torch.tensor([-2.0, 5.0])
    return backward(incoming, x).tolist() == [-3.0, 7.0] and incoming.tolist() == [3.0, 7.0]


def _the_one_that_does() -> str:
    (letter,) = (letter for letter, backward in _BACKWARDS.items() if _leaves_others_alone(backward))
    return letter


def _probe_own_tensor(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


CHOOSE_OWN_TENSOR = Exercise(
    name="choose_own_tensor",
    unit=UNIT,
    title="Which backward writes into nothing but its own",
    points=1,
    probe=_probe_own_tensor,
    truth=_the_one_that_does(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "a_new_name_is_a_copy",
            "a",
            "`grad_input = grad_output` gives the tensor a second name. There is still one tensor.",
        ),
        Misconception(
            "detach_is_a_copy",
            "b",
            "`detach` makes a tensor that is not in the graph. Where are its numbers stored? (Unit 03.)",
        ),
        Misconception(
            "copied_too_late",
            "d",
            "A copy is made, and what is returned is nobody else's. But what has happened before that line?",
        ),
    ),
    hints=(
        "In each version, find the line that writes: the one with [...] on the left of the equals sign.",
        "Into which tensor does it write? Did this backward make that tensor itself, with numbers of its own?",
    ),
    when_right="Writing in place is no fault in itself. Writing into another one's tensor is.",
)


# predict_sister ------------------------------------------------------------------------------------------------


def _probe_sister(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = ("A, first entry", "A, second entry", "B, first entry", "B, second entry")
    yield in_one_row(numbers_of("x.grad", answer, parts=parts))


def _keeps_large(ctx: Function, x: Tensor) -> Tensor:
    ctx.save_for_backward(x)
    return torch.where(x > 1, x, 0.0)


def _drops_small_in_place(ctx: Function, grad_output: Tensor) -> Tensor:
    (x,) = ctx.saved_tensors
    grad_output[x <= 1] = 0
    return grad_output


def _sisters() -> tuple[float, ...]:
    gate = function("Gate", _keeps_large, _drops_small_in_place).apply
    with autograd():
        found: list[float] = []
        for program in (lambda x: gate(x) + x, lambda x: gate(x) - x):
            x = torch.tensor([0.5, 2.0], requires_grad=True)
            (torch.tensor([10.0, 30.0]) * program(x)).sum().backward()
            found += x.grad.tolist()
    return tuple(found)


PREDICT_SISTER = Exercise(
    name="predict_sister",
    unit=UNIT,
    title="Predict whose gradient is hit",
    points=2,
    probe=_probe_sister,
    truth=_sisters(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "programs_exchanged",
            (10.0, 60.0, 0.0, 0.0),
            "You let the gate hit the direct path in B, and not in A. Which of the two hands the very tensor that came "
            "in to both sides?",
        ),
        Misconception(
            "nobody_is_hit",
            (10.0, 60.0, -10.0, 0.0),
            "In A, the addition hands one tensor to both of its inputs, and the gate writes into it. What does x then "
            "receive over the direct path?",
            also=tuple((10.0, 60.0, *b) for b in ((0.0, 60.0), (10.0, 60.0), (10.0, 0.0), (-10.0, 60.0), (0.0, 30.0))),
        ),
        Misconception(
            "both_are_hit",
            (0.0, 60.0, 0.0, 0.0),
            "A is right. In B, x gets its second message from the subtraction: the numbers of `-v`. Is that the "
            "tensor into which the gate writes?",
        ),
        Misconception(
            "b_taken_for_a",
            (0.0, 60.0, 0.0, 60.0),
            "A is right, and you give the same for B. There x is subtracted: what does the direct path bring?",
        ),
        Misconception(
            "gate_alone",
            (0.0, 30.0, 0.0, 30.0),
            "Where x is 2, the gate sends 30. But x stands in the program a second time: what does that path bring to "
            "this entry?",
            also=((0.0, 60.0, 0.0, 30.0), (0.0, 60.0, -10.0, 30.0), (0.0, 30.0, -10.0, 0.0)),
        ),
        Misconception(
            "direct_path_alone",
            (10.0, 30.0, -10.0, -30.0),
            "You have what the direct path brings. Where x is 2, it is above 1: the gate sends a message, too.",
            also=((0.0, 30.0, -10.0, -30.0), (0.0, 60.0, -10.0, -30.0)),
        ),
        Misconception(
            "sign_forgotten_in_b",
            (0.0, 60.0, 10.0, 60.0),
            "A is right. In B the direct path goes through a subtraction, and x is what is subtracted.",
            also=((0.0, 60.0, -10.0, 60.0), (0.0, 60.0, 10.0, 0.0)),
        ),
        Misconception(
            "gate_lets_all_through",
            (20.0, 60.0, 0.0, 0.0),
            "Is 0.5 above 1? Then the gate lets nothing through there.",
            also=((20.0, 60.0, -10.0, 0.0),),
        ),
        Misconception(
            "all_entries_are_zeroed",
            (0.0, 0.0, 0.0, 0.0),
            "You let one write zero every entry. That happens where all entries share one number in memory. "
            "`v` has two numbers.",
            also=((0.0, 0.0, -10.0, -30.0), (0.0, 0.0, -10.0, 0.0)),
        ),
    ),
    hints=(
        "First the message of the gate: `v`, with 0 where x is not above 1.",
        "Now the direct path. In A, x is to receive `v`, and `v` is what the gate writes into. In B it is `-v`, a "
        "tensor made before the gate runs.",
        "Add the two messages, entry by entry.",
    ),
    when_right="Whether the fault shows depends on what stands next to the operation. That is why tests miss it.",
)


EXERCISES = (CHOOSE_OWN_TENSOR, PREDICT_SISTER)
