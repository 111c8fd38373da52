"""Unit 06, custom Functions: the exercise on tensors in a list, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from course_utils.checks.custom_function_mistakes import (
    attribute_is_not_watched,
    incoming_ignored,
    refuses_a_second_derivative,
    unknown_to_the_graph,
    without_a_function,
)
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.functions import (
    OWN,
    by_autograd,
    function,
    gradients_after_change,
    gradients_of,
    made_by_own,
    second_derivatives,
)

UNIT = "06_custom_function"


# mend_list -----------------------------------------------------------------------------------------------------


def _probe_list(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        if not callable(answer):
            return answer
        return lambda grad_output, *tensors: compute(lambda *leaves: answer(list(leaves)), grad_output, tensors)

    def whose(operation: Callable[..., Tensor], incoming: Tensor, tensors: Sequence[Tensor]) -> bool:
        return made_by_own(operation, tensors)

    for shapes in ([(3,), (2, 2)], [(2,)], [(2,), (), (1, 3)]):
        tensors = {f"w{place}": draw.tensor(*shape) for place, shape in enumerate(shapes, 1)}
        given = {"grad_output": draw.scalars(1)[0], **tensors}
        parts = tuple(f"gradient of {name}" for name in tensors)
        yield call("value and gradients", asked(gradients_of), parts=("value", *parts), by_hand=False, **given)
    yield call(OWN, asked(whose), by_hand=False, shown=tuple(tensors), **given)
    label = "gradients, w3 being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(gradients_after_change), parts=parts, by_hand=False, **given)
    tensors = {"w1": draw.tensor(2), "w2": draw.tensor(2)}
    parts = tuple(f"second derivative along {name}" for name in tensors)
    given = {"weight": draw.scalars(1)[0], **tensors}
    yield call("second derivatives", asked(second_derivatives), parts=parts, by_hand=False, **given)


Penalty = Callable[[Sequence[Tensor]], Tensor]


def _squares(tensors: Sequence[Tensor]) -> Tensor:
    return sum((one * one).sum() for one in tensors)


def _penalty(
    backward: Callable[[Tensor, tuple[Tensor, ...]], object], *, once: bool = False, saved: Callable | None = None
) -> Penalty:
    """The operation on unpacked tensors, with a backward that gets the incoming gradient and the saved tensors."""

    def keep(ctx: Function, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*map(saved, tensors) if saved else tensors)
        return _squares(tensors)

    def from_ctx(ctx: Function, g: Tensor) -> object:
        return backward(g, ctx.saved_tensors)

    made = function("Penalty", keep, once_differentiable(from_ctx) if once else from_ctx)
    return lambda tensors: made.apply(*tensors)


def _right(g: Tensor, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return tuple(2 * g * one for one in tensors)


def _in_a_list() -> Penalty:
    return _kept(lambda apply, tensors: apply(tensors), _keep_and_add, list)


def _two_only(tensors: Sequence[Tensor]) -> Tensor:
    def backward(g: Tensor, saved: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        first, second = saved
        return 2 * g * first, 2 * g * second

    return _penalty(backward)(tensors)


def _star_in_forward(container: type) -> Penalty:
    """Only the forward takes tensors one by one; it still gets one thing."""
    return _kept(lambda apply, tensors: apply(container(tensors)), _keep_all)


def _kept(
    call: Callable[[Callable, Sequence[Tensor]], Tensor], forward: Callable[..., Tensor], many: type = tuple
) -> Penalty:
    """The tensors stay as an attribute; `call` says how `apply` gets them, `forward` how they arrive."""
    made = function("Penalty", forward, lambda ctx, g: many(_right(g, ctx.tensors)))
    return lambda tensors: call(made.apply, tensors)


def _keep_and_add(ctx: Function, tensors: Sequence[Tensor]) -> Tensor:
    ctx.tensors = tensors
    return _squares(tensors)


def _keep_all(ctx: Function, *tensors: Tensor) -> Tensor:
    return _keep_and_add(ctx, tensors)


_BY_AUTOGRAD = by_autograd("Penalty", lambda *tensors: _squares(tensors))

MEND_LIST = Exercise(
    name="mend_list",
    unit=UNIT,
    title="Mend a Function that takes its tensors in a list",
    points=2,
    probe=_probe_list,
    truth=lambda tensors: _BY_AUTOGRAD.apply(*tensors),
    given=_in_a_list(),
    when_as_given="Still no gradient arrives. What does `apply` see: tensors, or one list?",
    misconceptions=(
        Misconception(
            "list_of_gradients",
            _penalty(lambda g, tensors: [2 * g * one for one in tensors]),
            "The tensors are arguments of their own now. Your backward returns a list, and a list counts as one value. "
            "What makes a tuple of it?",
        ),
        Misconception(
            "one_gradient_for_all",
            _penalty(lambda g, tensors: 2 * g * tensors[0]),
            "Your backward returns one gradient. There is one argument for each tensor.",
        ),
        Misconception(
            "star_in_forward_only",
            _star_in_forward(list),
            "Your forward takes as many tensors as come. One thing came. What does the last line hand over?",
            also=(_star_in_forward(tuple),),
        ),
        attribute_is_not_watched(_kept(lambda apply, tensors: apply(*tensors), _keep_all)),
        unknown_to_the_graph(
            _penalty(_right, saved=torch.clone),
            _penalty(_right, saved=torch.detach),
            _penalty(lambda g, tensors: _right(g.item(), tensors)),
            _penalty(lambda g, tensors: _right(g.detach(), tensors)),
        ),
        Misconception(
            "two_tensors_only",
            _two_only,
            "Your code takes exactly two tensors. The list may be of any length: here it has one, or three.",
        ),
        refuses_a_second_derivative(_penalty(_right, once=True)),
        without_a_function(_squares),
        incoming_ignored(_penalty(lambda g, tensors: tuple(2 * one for one in tensors))),
        Misconception(
            "factor_missing",
            _penalty(lambda g, tensors: tuple(g * one for one in tensors)),
            "Every gradient is half of what it should be. What is the derivative of a square?",
        ),
    ),
    hints=(
        "`apply` looks at its direct arguments. How does Python hand over the members of a list as arguments?",
        "What one line hands over, another one has to take: a first line can take as many arguments as come. And who "
        "takes care of tensors that a backward will need?",
        "One value for each argument. What does a list of values count as, and how does it become a tuple?",
    ),
    when_right="Now the length of the list does not matter, and each tensor has its own arrow in the graph.",
)


EXERCISES = (MEND_LIST,)
