"""Unit 04, the recorded graph: the exercises on changes in place, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.graphs import run
from course_utils.checks.recorded import flag

UNIT = "04_grad_fn"


# choose_changed ------------------------------------------------------------------------------------------------

_BEFORE_THE_LOSS = ("a = x * 2", "a += 1", "b = a.exp()", "a *= 3", "c = b * a", "b -= 0.5")
_IN_PLACE = {"a": "a += 1", "b": "a *= 3", "c": "b -= 0.5"}


def _probe_changed(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


def _line_to_mend() -> str:
    """The letter of the change in place without which the program runs."""
    (letter,) = (letter for letter, line in _IN_PLACE.items() if _runs_without(line))
    return letter


def _runs_without(line: str) -> bool:
    with autograd():
        x = torch.tensor([0.3, -0.8, 1.1], requires_grad=True)
        made = run("; ".join(one for one in _BEFORE_THE_LOSS if one != line), x=x)
        try:
            made["c"].sum().backward()
        except RuntimeError:
            return False
        return True


CHOOSE_CHANGED = Exercise(
    name="choose_changed",
    unit=UNIT,
    title="Read a message about a changed tensor",
    points=2,
    probe=_probe_changed,
    truth=_line_to_mend(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "changed_before_it_was_used",
            "a",
            "This line changes a before any operation has saved it. A node notes the version when it saves.",
        ),
        Misconception(
            "input_of_exp_saved",
            "b",
            "This line changes a after `a.exp()` has used it. But what does the node of exp save? And in which version "
            "is a when `b * a` saves it?",
        ),
        Misconception(
            "retain_graph_as_a_cure",
            "d",
            "`retain_graph` decides whether saved tensors are freed. Nothing was freed here: this is the first "
            "backward. The message speaks of a tensor that was changed after it had been saved.",
        ),
    ),
    hints=(
        "Write beside each line which tensor its node saves, and in which version.",
        "Read the message once more: how often was the tensor changed after it had been saved, and by which operation "
        "was it changed last?",
    ),
    when_right="The message names the last operation on the tensor. The line that saved it stands further up.",
)


# mend_capped ---------------------------------------------------------------------------------------------------

_SEEN = ("value", "it requires a gradient", "gradient of a", "a afterwards")


def _probe_capped(answer: object, draw: Draw) -> Iterator[Observation]:
    def value_and_gradient(a: Tensor, limit: float, incoming: Tensor) -> tuple[object, ...] | None:
        with torch.enable_grad():
            leaf = a.clone().requires_grad_()
            value, gradient = answer(leaf, limit), None
            if value is None:
                return None
            if flag(value):
                (gradient,) = torch.autograd.grad(value, leaf, incoming, allow_unused=True)
        return value, flag(value), gradient, leaf.detach()

    asked = value_and_gradient if callable(answer) else answer
    for shape in ((5,), (2, 3)):
        a, incoming = draw.tensor(*shape), draw.tensor(*shape)
        a.view(-1)[:2] = a.view(-1)[:2].abs() + a.new_tensor([0.0, 0.05])  # above the limit
        a.view(-1)[2] = -a.view(-1)[2].abs()  # below it
        a.view(-1)[3] = draw.whole(35, 49) / 100  # below it, and its sigmoid above
        limit = draw.whole(52, 58) / 100
        yield call("value and gradient", asked, parts=_SEEN, by_hand=False, a=a, limit=limit, incoming=incoming)


def _factor_and_constant(a: Tensor, limit: float) -> Tensor:
    """A factor of 0 and a constant where the sigmoid is too large: no change in place, no choice by torch."""
    above = (torch.sigmoid(a.detach()) > limit).to(a.dtype)
    return torch.sigmoid(a) * (1 - above) + limit * above


Change = Callable[[Tensor, float], None]


def _assign(s: Tensor, limit: float) -> None:
    s[s > limit] = limit


def _assign_unseen(s: Tensor, limit: float) -> None:
    s.data[s > limit] = limit


def _capped(
    before: Callable[[Tensor], Tensor] = lambda a: a,
    after: Callable[[Tensor], Tensor] = lambda s: s,
    change: Change = _assign,
) -> Callable[[Tensor, float], Tensor]:
    """The given code, with something done to the input, to the sigmoid, or another way to change it."""

    def capped(a: Tensor, limit: float) -> Tensor:
        s = after(torch.sigmoid(before(a)))
        change(s, limit)
        return s

    return capped


def _switched_off(a: Tensor, limit: float) -> Tensor:
    with torch.no_grad():
        s = torch.sigmoid(a)
        s[s > limit] = limit
    return s


def _where_the_input_is_large(a: Tensor, limit: float) -> Tensor:
    s = torch.sigmoid(a).clone()
    s[a > limit] = limit
    return s


MEND_CAPPED = Exercise(
    name="mend_capped",
    unit=UNIT,
    title="A value that the backward still needs",
    points=3,
    probe=_probe_capped,
    truth=_factor_and_constant,
    given=_capped(),
    when_as_given="The sigmoid's own result is still what is written into, and that is counted, in `no_grad()` too.",
    misconceptions=(
        Misconception(
            "graph_cut",
            _capped(after=Tensor.detach),
            "The values are right, and the error is gone, and so is the graph: the result does not require a gradient. "
            "The change has to go into another tensor, one that is still connected.",
            also=(_switched_off, _capped(before=Tensor.detach)),
        ),
        Misconception(
            "change_hidden",
            _capped(change=_assign_unseen),
            "The values are right and the gradient is wrong. `.data` hides the change from the counter; the sigmoid "
            "still computes its slope from its result, which is now `limit`. Into what could you write instead?",
            also=(_capped(change=lambda s, limit: s.data.clamp_(max=limit)),),
        ),
        Misconception(
            "gradient_where_capped",
            lambda a, limit: torch.sigmoid(a) - (torch.sigmoid(a) - limit).clamp(min=0).detach(),
            "Where the value was replaced, a gradient still arrives at a. If a is moved there by a small step, does "
            "the result change?",
        ),
        Misconception(
            "replaced_by_zero",
            lambda a, limit: torch.sigmoid(a) * (torch.sigmoid(a) <= limit),
            "Where the sigmoid is too large, your value is 0. It should be `limit`.",
        ),
        Misconception(
            "input_capped",
            lambda a, limit: torch.sigmoid(a.clamp(max=limit)),
            "You compare the input with the limit. It is the sigmoid that must not be larger.",
            also=(_where_the_input_is_large,),
        ),
        Misconception(
            "other_side_replaced",
            _capped(after=torch.clone, change=lambda s, limit: s.clamp_(min=limit)),
            "Your result is nowhere less than `limit`. It should be nowhere more.",
        ),
        Misconception(
            "new_leaf",
            lambda a, limit: _capped(after=Tensor.detach)(a, limit).requires_grad_(),
            "The values are right, and the result has its flag turned on. But it is a new leaf: no way leads back from "
            "it to a. The change has to go into a tensor that is still connected.",
        ),
        Misconception(
            "writes_into_the_input",
            lambda a, limit: _into_the_leaf(a, limit),
            "You change a itself, the caller's tensor. Only the result is to be capped.",
        ),
    ),
    hints=(
        "Which tensor has the node of the sigmoid saved: its input, or its result?",
        "Write into a tensor with the same values that no node has saved. Or write nowhere, and make a new tensor.",
    ),
    when_right="What the sigmoid has saved is still what it was. That is all its backward asks for.",
)


def _into_the_leaf(a: Tensor, limit: float) -> Tensor:
    with torch.no_grad():
        a[torch.sigmoid(a) > limit] = torch.logit(torch.tensor(limit, dtype=a.dtype))
    return torch.sigmoid(a)


# predict_overwritten -------------------------------------------------------------------------------------------


def _probe_overwritten(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=("x.grad[0]", "x.grad[1]", "x.grad[2]", "v.grad"))


def _gradients_after_assignment() -> tuple[float, ...]:
    with autograd():
        x = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
        v = torch.tensor(5.0, requires_grad=True)
        run("a = x * x; a[1] = v * x[0]; (7 * a[0] + 3 * a[1] + a[2]).backward()", x=x, v=v)
    return *x.grad.tolist(), v.grad.item()


PREDICT_OVERWRITTEN = Exercise(
    name="predict_overwritten",
    unit=UNIT,
    title="Predict the gradients after an assignment",
    points=2,
    probe=_probe_overwritten,
    truth=_gradients_after_assignment(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "overwritten_entry_keeps_gradient",
            (43, 18, 8, 6),
            "You let a gradient through to x[1]. Its square was overwritten. Does L still depend on x[1]?",
            also=((43, 6, 8, 6),),
        ),
        Misconception(
            "slot_taken_for_its_source",
            (28, 15, 8, 6),
            "v is right. The rest of the gradient that arrives at the slot a[1] you give to x[1]. Which entry of x is "
            "in the slot now?",
            also=((28, 3, 8, 6), (43, 15, 8, 6)),
        ),
        Misconception(
            "assignment_not_recorded",
            (28, 18, 8, 0),
            "You differentiate as if a[1] still were x[1]**2. The assignment is an operation, too. What is a[1] made "
            "of when L is computed?",
        ),
        Misconception(
            "assignment_cuts_the_graph",
            (28, 0, 8, 0),
            "x[1] is cut off, that is right. You take the new value for a plain number. It was made of v and x[0].",
        ),
        Misconception(
            "one_path_forgotten",
            (28, 0, 8, 6),
            "v is right. x[0] is used in two places now: follow the path over the new a[1] as well.",
            also=((15, 0, 8, 6),),
        ),
        Misconception(
            "weight_alone_for_v",
            (43, 0, 8, 3),
            "3 is the gradient that arrives at a[1]. On to v it goes through a multiplication.",
            also=((31, 0, 8, 3), (28, 0, 8, 3)),
        ),
        Misconception(
            "weights_forgotten",
            (9, 0, 8, 2),
            "You let each entry of a arrive with a gradient of 1. In L, two of them have a factor.",
        ),
    ),
    hints=(
        "Write L out with numbers and letters only: 7 times what, plus 3 times what, plus what?",
        "The slot a[1] holds v * x[0]. So v and x[0] are reached over it, and x[1] over nothing.",
    ),
    when_right="An assignment takes the gradient away from what was there, and gives it to what is there now.",
)


EXERCISES = (CHOOSE_CHANGED, MEND_CAPPED, PREDICT_OVERWRITTEN)
