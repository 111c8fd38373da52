"""Unit 06, custom Functions: the exercise on an intermediate that was kept, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from course_utils.checks.custom_function_mistakes import (
    composed,
    incoming_ignored,
    refuses_a_second_derivative,
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
    left_on_context,
    made_by_own,
    second_derivatives,
)

UNIT = "06_custom_function"


# mend_intermediate ---------------------------------------------------------------------------------------------


def _probe_intermediate(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        return (lambda grad_output, x: compute(answer.apply, grad_output, (x,))) if callable(answer) else answer

    def whose(operation: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor]) -> bool:
        return made_by_own(operation, inputs)

    given = {"grad_output": draw.tensor(3), "x": draw.tensor(3)}
    yield call("value and gradient", asked(gradients_of), parts=("value", "gradient of x"), by_hand=False, **given)
    yield call(OWN, asked(whose), by_hand=False, shown=("x",), **given)
    given = {"weights": draw.tensor(3), "x": draw.tensor(3)}
    parts = ("second derivative along x",)
    yield call("second derivative", asked(second_derivatives), parts=parts, by_hand=False, **given)
    given = {"grad_output": draw.tensor(2), "x": draw.tensor(2)}
    label = "gradient, x being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(gradients_after_change), parts=("gradient of x",), by_hand=False, **given)
    label = "number of tensors that are still on ctx after the backward"
    yield call(label, asked(left_on_context), by_hand=False, **given)


def _log_square(backward: Callable[..., object], *, once: bool = False, saved: Callable | None = None) -> type:
    """The operation that saves x, or what `saved` makes of it; its backward gets the incoming gradient and that."""

    def keep(ctx: Function, x: Tensor) -> Tensor:
        ctx.save_for_backward(*(saved(x) if saved else (x,)))
        return torch.log(1 + x * x)

    def from_ctx(ctx: Function, g: Tensor) -> object:
        return backward(g, *ctx.saved_tensors)

    return function("LogSquare", keep, once_differentiable(from_ctx) if once else from_ctx)


def _keeps(forward: Callable[[Function, Tensor], Tensor]) -> type:
    return function("LogSquare", forward, lambda ctx, g: g * 2 * ctx.saved_tensors[0] / ctx.t)


def _t(ctx: Function, x: Tensor) -> Tensor:
    ctx.save_for_backward(x)
    ctx.t = 1 + x * x
    return torch.log(ctx.t)


def _t_recorded(ctx: Function, x: Tensor) -> Tensor:
    with torch.enable_grad():
        return _t(ctx, x).detach()


def _t_kept_for_nothing() -> type:
    def from_ctx(ctx: Function, g: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return g * 2 * x / (1 + x * x)

    return function("LogSquare", _t, from_ctx)


def _keeps_x(ctx: Function, x: Tensor) -> Tensor:
    ctx.x = x
    return torch.log(1 + x * x)


MEND_INTERMEDIATE = Exercise(
    name="mend_intermediate",
    unit=UNIT,
    title="Mend a second derivative, and memory that is not freed",
    points=3,
    probe=_probe_intermediate,
    truth=by_autograd("LogSquare", lambda x: torch.log(1 + x * x)),
    given=_keeps(_t),
    when_as_given="t still waits on ctx for the backward. Which values of the forward does autograd know?",
    misconceptions=(
        refuses_a_second_derivative(_log_square(lambda g, x: g * 2 * x / (1 + x * x), once=True)),
        Misconception(
            "not_watched",
            function("LogSquare", _keeps_x, lambda ctx, g: g * 2 * ctx.x / (1 + ctx.x * ctx.x)),
            "Both derivatives are right. But a change of x in place between forward and backward is no longer noticed. "
            "The given code did notice it. Which line did that?",
        ),
        Misconception(
            "constant_to_the_second_pass",
            _log_square(lambda g, x: g * 2 * x / (1 + x.detach() ** 2)),
            "Nothing stays on ctx any more. But to the second pass, t is still a constant: it comes from the forward, "
            "which runs unrecorded, or it is computed again from an x that has lost its place in the graph.",
            also=(_log_square(lambda g, x, t: g * 2 * x / t, saved=lambda x: (x, 1 + x * x)),),
        ),
        Misconception(
            "detached_again",
            _log_square(lambda g, x: g * 2 * x.detach() / (1 + x.detach() ** 2)),
            "x is a constant to the second pass: a detached x, or a copy made in the forward, has no place in the "
            "graph.",
            also=(_log_square(lambda g, x: g * 2 * x / (1 + x * x), saved=lambda x: (x.clone(),)),),
        ),
        Misconception(
            "half_recomputed",
            _log_square(lambda g, x: g * 2 * x.detach() / (1 + x * x)),
            "Only a part of the backward is known to the second pass. Where x is detached, it is a constant.",
        ),
        Misconception(
            "left_on_ctx",
            _keeps(_t_recorded),
            "Both derivatives are right. But a tensor stays on ctx after the backward, and its memory with it. Does "
            "the backward need it there?",
            also=(_t_kept_for_nothing(),),
        ),
        incoming_ignored(_log_square(lambda g, x: 2 * x / (1 + x * x))),
        without_a_function(composed("LogSquare", lambda x: torch.log(1 + x * x))),
        Misconception(
            "square_is_its_own_derivative",
            _log_square(lambda g, x: g * x * x / (1 + x * x)),
            "A logarithm brings down one over what is inside, and then the derivative of the inside. What is that of "
            "1 + x * x?",
        ),
        Misconception(
            "factor_2_missing",
            _log_square(lambda g, x: g * x / (1 + x * x)),
            "The gradient is half of what it should be. What is the derivative of x * x?",
        ),
        Misconception(
            "inner_derivative_missing",
            _log_square(lambda g, x: g / (1 + x * x)),
            "The second factor of the chain rule is missing: by how much does 1 + x * x rise with x?",
        ),
    ),
    hints=(
        "The forward runs with recording off. So which tensors in it have a place in the graph outside?",
        "x has. Everything else can be computed from it, in the backward, where recording is on when it is needed.",
    ),
    when_right="Inputs and outputs may be saved. All else is computed again: a little time, for true derivatives and "
    "free memory.",
)


EXERCISES = (MEND_INTERMEDIATE,)
