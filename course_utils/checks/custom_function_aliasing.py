"""Unit 06, custom Functions: the exercises on whose tensor comes in, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor
from torch.autograd import Function

from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.functions import by_autograd, function, gradients_beside, gradients_of, second_derivatives
from course_utils.checks.plain import Plain

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
    def keep(ctx: Function, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.abs()

    absolute = function("Absolute", keep, lambda ctx, g: backward(g, *ctx.saved_tensors))
    with autograd():
        incoming, x = torch.tensor([3.0, 7.0]), torch.tensor([-2.0, 5.0])
        beside = gradients_beside(absolute.apply, incoming, x)
    return beside.tolist() == [0.0, 14.0] and incoming.tolist() == [3.0, 7.0]


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
    seen = numbers_of("x.grad", answer)
    yield replace(seen, value=_flat(seen.value), parts=parts)


def _flat(value: Plain) -> Plain:
    """The members of pairs in one tuple: who answers with one pair for each program answers the question, too."""
    if not isinstance(value, tuple):
        return value
    return tuple(number for one in value for number in (one if isinstance(one, tuple) else (one,)))


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
            program(x).backward(torch.tensor([10.0, 30.0]))
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
            "nobody_is_hit",
            (10.0, 60.0, -10.0, 0.0),
            "These would be the gradients if the backward of the gate had a tensor of its own. In A, the addition "
            "hands one tensor to both of its inputs. What does x receive over the direct path?",
        ),
        Misconception(
            "both_are_hit",
            (0.0, 60.0, 0.0, 0.0),
            "A is right. In B, x gets its second message from the subtraction: the numbers of `-v`. Is that the "
            "tensor into which the gate writes?",
        ),
        Misconception(
            "direct_path_forgotten",
            (0.0, 30.0, 0.0, 30.0),
            "These are the messages of the gate alone. x stands in both programs a second time.",
        ),
        Misconception(
            "sign_forgotten_in_b",
            (0.0, 60.0, 10.0, 60.0),
            "A is right. In B the direct path goes through a subtraction, and x is what is subtracted.",
        ),
        Misconception(
            "all_entries_are_zeroed",
            (0.0, 0.0, 0.0, 0.0),
            "You let one write zero every entry. That happens where all entries share one number in memory. "
            "`v` has two numbers.",
            also=((0.0, 0.0, -10.0, -30.0),),
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


# mend_shrink ---------------------------------------------------------------------------------------------------


def _probe_shrink(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        if not callable(answer):
            return answer
        return lambda incoming, x, t: compute(lambda x: answer.apply(x, t), incoming, x)

    def summed(shrink: Callable[[Tensor], Tensor], weight: Tensor, x: Tensor) -> Tensor:
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(weight * shrink(leaf).sum(), leaf)[0]

    def alone(shrink: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[Tensor | None, ...]:
        return gradients_of(shrink, incoming, (x,))

    t = 1.25
    x = draw.tensor(6)
    yield call(
        "value and gradient",
        asked(alone),
        parts=("value", "gradient"),
        by_hand=False,
        incoming=draw.tensor(6),
        x=x,
        t=t,
    )
    at_edges = torch.tensor([t, -t, 2.5, -0.5], dtype=torch.float64)
    given = {"incoming": draw.tensor(4), "x": at_edges, "t": t}
    yield call("value and gradient", asked(alone), parts=("value", "gradient"), by_hand=False, **given)
    given = {"incoming": draw.tensor(4), "x": draw.tensor(4), "t": t}
    yield call("gradient of x in Shrink(x) + x", asked(gradients_beside), by_hand=False, **given)
    given = {"weight": draw.scalars(1)[0], "x": draw.tensor(5), "t": t}
    yield call("gradient of x in weight * Shrink(x).sum()", asked(summed), by_hand=False, **given)
    given = {"weights": draw.tensor(3), "x": draw.tensor(3, low=1.5), "t": t}
    twice = asked(lambda shrink, weights, x: second_derivatives(shrink, weights, (x,)))
    yield call("second derivative", twice, parts=("along x",), by_hand=False, **given)


def _shrink(backward: Callable[[Tensor, Tensor, float], object]) -> type:
    """The operation with another backward, which gets the incoming gradient, x and t."""

    def keep(ctx: Function, x: Tensor, t: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.t = t
        return torch.sign(x) * (x.abs() - t).clamp(min=0)

    return function("Shrink", keep, lambda ctx, g: backward(g, *ctx.saved_tensors, ctx.t))


def _as_given(g: Tensor, x: Tensor, t: float) -> tuple[Tensor, None]:
    g[x.abs() < t] = 0
    return g, None


def _written(copy: Callable[[Tensor], Tensor], inside: Callable[[Tensor, float], Tensor]) -> type:
    def backward(g: Tensor, x: Tensor, t: float) -> tuple[Tensor, None]:
        grad_input = copy(g)
        grad_input[inside(x, t)] = 0
        return grad_input, None

    return _shrink(backward)


def _copied_late(g: Tensor, x: Tensor, t: float) -> tuple[Tensor, None]:
    g[x.abs() <= t] = 0
    return g.clone(), None


MEND_SHRINK = Exercise(
    name="mend_shrink",
    unit=UNIT,
    title="Mend a backward that writes into what it was given",
    points=3,
    probe=_probe_shrink,
    truth=by_autograd("Shrink", torch.nn.functional.softshrink),
    given=_shrink(_as_given),
    misconceptions=(
        Misconception(
            "edges_let_through",
            _written(torch.clone, lambda x, t: x.abs() < t),
            "No other tensor is changed any more. Where x is exactly t or -t, the gradient still goes through. Is that "
            "place inside, or outside?",
            also=(_shrink(lambda g, x, t: (g * (x.abs() >= t), None)),),
        ),
        Misconception(
            "still_shared",
            _written(torch.detach, lambda x, t: x.abs() <= t),
            "The edges are right now. What you write into is still the tensor that came in. A second name, a view, or "
            "`detach` make no new numbers, and a copy made after the writing comes too late.",
            also=(
                _shrink(_copied_late),
                _written(lambda g: g, lambda x, t: x.abs() <= t),
                _written(lambda g: g.view_as(g), lambda x, t: x.abs() <= t),
            ),
        ),
        Misconception(
            "inside_and_outside_exchanged",
            _shrink(lambda g, x, t: (g * (x.abs() <= t), None)),
            "Your gradient passes where the result is constant, and is 0 where it follows x.",
            also=(_shrink(lambda g, x, t: (g * (x.abs() < t), None)),),
        ),
        Misconception(
            "one_side_only",
            _shrink(lambda g, x, t: (g * (x > t), None)),
            "Where x is above t the gradient passes. Below -t the result follows x as well.",
        ),
        Misconception(
            "passes_signs",
            _shrink(lambda g, x, t: (g * torch.sign(x) * (x.abs() > t), None)),
            "Below -t your gradient has the wrong sign. There the result is x + t: how much does it move with x?",
        ),
        Misconception(
            "none_lost",
            _shrink(lambda g, x, t: g * (x.abs() > t)),
            "The forward has two arguments, x and t. Your backward returns one value.",
        ),
    ),
    hints=(
        "One line writes into `grad_output`. Either make the copy before it, or do without writing.",
        "A product with a mask makes a new tensor: `grad_output * (...)`.",
        "The gradient passes where the size of x is above t, and nowhere else.",
    ),
    when_right="A backward may read what comes in. It writes into tensors of its own only.",
)


EXERCISES = (CHOOSE_OWN_TENSOR, PREDICT_SISTER, MEND_SHRINK)
