"""Unit 06, custom Functions: the exercise on an old one, and the mistakes it can name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.functions import (
    by_autograd,
    function,
    gradients_of,
    is_custom,
    second_derivatives,
)

UNIT = "06_custom_function"


# mend_legacy ---------------------------------------------------------------------------------------------------


def _probe_legacy(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        def quietly(*given: object) -> object:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of an object that is made: in the given code, it is to be seen
                return compute(*given)

        return quietly if callable(answer) else answer

    def alone(incoming: Tensor, x: Tensor, slope: float) -> tuple[Tensor | None, ...]:
        return gradients_of(answer, incoming, (x,), (slope,))

    def two_at_once(incoming: Tensor, x: Tensor, slope: float, other: float) -> tuple[Tensor, ...]:
        leaf = x.clone().requires_grad_()
        results = [answer(leaf, one) for one in (slope, other)]
        return tuple(torch.autograd.grad(result, leaf, incoming)[0] for result in results)

    def whose(x: Tensor, slope: float) -> bool:
        return is_custom(answer(x.clone().requires_grad_(), slope))

    def twice(weights: Tensor, x: Tensor, slope: float) -> tuple[Tensor, ...]:
        return second_derivatives(answer, weights, (x,), (slope,))

    def inputs(count: int) -> Tensor:
        x = draw.tensor(count, low=0.1, high=0.9)
        return torch.cat([x[:1].abs(), -x[1:2].abs(), x[2:]])  # of each sign, one at least

    def slopes(*names: str) -> dict[str, float]:
        drawn = draw.tensor(len(names), low=0.05, high=0.4).abs().tolist()
        return dict(zip(names, drawn, strict=True))

    given = {"x": inputs(4), **slopes("slope")}
    yield call("value", asked(lambda x, slope: answer(x, slope)), by_hand=False, **given)
    yield call("made by a Function of yours", asked(whose), by_hand=False, **given)
    parts = ("value", "gradient of x")
    yield call("value and gradient", asked(alone), parts=parts, by_hand=False, incoming=draw.tensor(4), **given)
    given = {"incoming": draw.tensor(3), "x": inputs(3), **slopes("slope", "other")}
    yield call("gradients of two results", asked(two_at_once), parts=("slope", "other"), by_hand=False, **given)
    given = {"weights": draw.tensor(3), "x": inputs(3), **slopes("slope")}
    yield call("second derivative", asked(twice), parts=("along x",), by_hand=False, **given)


def _bent(x: Tensor, slope: float) -> Tensor:
    return torch.where(x > 0, x, slope * x)


Leaky = Callable[[Tensor, float], Tensor]


def _old() -> Leaky:
    class Leaky(Function):
        def __init__(self, slope: float) -> None:
            super().__init__()
            self.slope = slope

        def forward(self, x: Tensor) -> Tensor:
            self.save_for_backward(x)
            return _bent(x, self.slope)

        def backward(self, grad_output: Tensor) -> Tensor:
            (x,) = self.saved_tensors
            return torch.where(x > 0, grad_output, self.slope * grad_output)

    return lambda x, slope: Leaky(slope)(x)


def _keep(ctx: Function, x: Tensor, slope: float) -> Tensor:
    ctx.save_for_backward(x)
    ctx.slope = slope
    return _bent(x, slope)


def _save_both(ctx: Function, x: Tensor, slope: float) -> Tensor:
    ctx.save_for_backward(x, slope)
    return _bent(x, slope)


def _leaky(forward: Callable, backward: Callable[[Tensor, Tensor, float], object]) -> Leaky:
    made = function("Leaky", forward, lambda ctx, g: backward(g, *ctx.saved_tensors, ctx.slope))
    return lambda x, slope: made.apply(x, slope)


def _right(g: Tensor, x: Tensor, slope: float) -> tuple[Tensor, None]:
    return torch.where(x > 0, g, slope * g), None


def _slope_on_the_class() -> Leaky:
    def keep(ctx: Function, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return _bent(x, made.slope)

    made = function("Leaky", keep, lambda ctx, g: _right(g, *ctx.saved_tensors, made.slope)[0])

    def leaky(x: Tensor, slope: float) -> Tensor:
        made.slope = slope
        return made.apply(x)

    return leaky


def _forward_called() -> Leaky:
    made = function("Leaky", lambda x, slope: _bent(x, slope), lambda ctx, g: g)
    return lambda x, slope: made.forward(x, slope)


_BY_AUTOGRAD = by_autograd("Leaky", lambda x, slope: torch.nn.functional.leaky_relu(x, slope))

MEND_LEGACY = Exercise(
    name="mend_legacy",
    unit=UNIT,
    title="Bring an old Function up to date",
    points=3,
    probe=_probe_legacy,
    truth=lambda x, slope: _BY_AUTOGRAD.apply(x, slope),
    given=_old(),
    when_as_given="If both methods are static now, look at the last line: a Function is never made into an object, and "
    "never called. What is called in its place?",
    misconceptions=(
        Misconception(
            "none_missing",
            _leaky(_keep, lambda g, x, slope: _right(g, x, slope)[0]),
            "The forward works. Its slope is an argument now, so the backward owes a value for it as well.",
        ),
        Misconception(
            "number_saved_as_a_tensor",
            _leaky(_save_both, lambda g, x, slope: _right(g, x, slope)),
            "`save_for_backward` takes tensors only, and the slope is a number.",
        ),
        Misconception(
            "slope_on_the_class",
            _slope_on_the_class(),
            "There is one class for all calls. With two results alive, the second slope has replaced the first before "
            "the first backward runs. What is there once for each call?",
        ),
        Misconception(
            "forward_called_directly",
            _forward_called(),
            "The numbers may be right, but no Function has made this result. Called directly, `forward` is ordinary "
            "code, and your backward is never asked.",
            also=(_bent,),
        ),
        Misconception(
            "slope_times_everything",
            _leaky(_keep, lambda g, x, slope: (slope * g, None)),
            "Where x is positive the result is x itself. Which factor belongs there?",
        ),
        Misconception(
            "sign_of_the_gradient_asked",
            _leaky(_keep, lambda g, x, slope: (torch.where(g > 0, g, slope * g), None)),
            "Your mask asks for the sign of the incoming gradient. What decides is the sign of x in the forward.",
        ),
    ),
    hints=(
        "Four changes: no `__init__`, `@staticmethod` before both methods, `ctx` for `self`, `apply` for the call.",
        "What `__init__` took becomes an argument of `forward`; it waits for the backward as an attribute of ctx.",
        "For each argument of `forward` behind ctx, the backward returns one value. What is it for a number?",
    ),
    when_right="Each call has a context of its own now, so two results can wait for their backward side by side.",
)


EXERCISES = (MEND_LEGACY,)
