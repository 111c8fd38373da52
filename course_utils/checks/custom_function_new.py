"""Unit 06, custom Functions: the exercise on an old one, and the mistakes it can name."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from course_utils.checks.custom_function_mistakes import (
    attribute_is_not_watched,
    incoming_ignored,
    refuses_a_second_derivative,
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
    own_functions,
    second_derivatives,
)

UNIT = "06_custom_function"
Leaky = Callable[[Tensor, float], Tensor]


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
        return made_by_own(answer, (x,), (slope,))

    def form(x: Tensor, slope: float) -> tuple[bool, ...]:
        return _form(answer, x, slope)

    def twice(weights: Tensor, x: Tensor, slope: float) -> tuple[Tensor | None, ...]:
        return second_derivatives(answer, weights, (x,), (slope,))

    def changed(incoming: Tensor, x: Tensor, slope: float) -> tuple[Tensor, ...]:
        return gradients_after_change(answer, incoming, (x,), (slope,))

    def inputs(count: int) -> Tensor:
        x = draw.tensor(count, low=0.1, high=0.9)
        return torch.cat([x[:1].abs(), -x[1:2].abs(), x[2:]])  # of each sign, one at least

    def slopes(*names: str) -> dict[str, float]:
        drawn = draw.tensor(len(names), low=0.05, high=0.4).abs().tolist()
        return dict(zip(names, drawn, strict=True))

    plain = {"x": inputs(4), **slopes("slope")}
    yield call("value", asked(lambda x, slope: answer(x, slope)), by_hand=False, **plain)
    yield call(OWN, asked(whose), by_hand=False, **plain)
    parts = ("value", "gradient of x")
    for x in (inputs(4), torch.zeros(1, dtype=torch.float64)):
        given = {"grad_output": draw.tensor(len(x)), "x": x, **slopes("slope")}
        yield call("value and gradient", asked(alone), parts=parts, by_hand=False, **given)
    yield call("the class", asked(form), parts=_FORM, by_hand=False, **plain)
    given = {"grad_output": draw.tensor(3), "x": inputs(3), **slopes("slope", "other")}
    yield call(
        "gradients of two results",
        asked(two_at_once),
        parts=("gradient with slope", "gradient with other"),
        by_hand=False,
        **given,
    )
    given = {"grad_output": draw.tensor(3), "x": inputs(3), **slopes("slope")}
    label = "gradient, x being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(changed), parts=("gradient of x",), by_hand=False, **given)
    given = {"weights": draw.tensor(3), "x": inputs(3), **slopes("slope")}
    parts = ("second derivative along x",)
    yield call("second derivative", asked(twice), parts=parts, by_hand=False, **given)


_FORM = ("forward is static", "backward is static", "class has no __init__", "class is never made into an object")


def _form(answer: Leaky, x: Tensor, slope: float) -> tuple[bool, ...]:
    """What is new about the Functions that the answer's result comes from."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        functions = own_functions(answer(x.clone().requires_grad_(), slope))
    halves = ([isinstance(inspect.getattr_static(one, half), staticmethod) for one in functions] for half in _HALVES)
    made = any("should not be instantiated" in str(one.message) for one in caught)
    return *map(all, halves), not any(_has_init(one) for one in functions), not made


_HALVES = ("forward", "backward")


def _has_init(made: type[Function]) -> bool:
    return made.__init__ is not Function.__init__


def _bent(x: Tensor, slope: float) -> Tensor:
    return torch.where(x > 0, x, slope * x)


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


def _leaky(forward: Callable, backward: Callable[[Tensor, Tensor, float], object], *, once: bool = False) -> Leaky:
    def from_ctx(ctx: Function, g: Tensor) -> object:
        return backward(g, *ctx.saved_tensors, ctx.slope)

    made = function("Leaky", forward, once_differentiable(from_ctx) if once else from_ctx)
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


def _kept() -> Leaky:
    def keep(ctx: Function, x: Tensor, slope: float) -> Tensor:
        ctx.x, ctx.slope = x, slope
        return _bent(x, slope)

    made = function("Leaky", keep, lambda ctx, g: _right(g, ctx.x, ctx.slope))
    return lambda x, slope: made.apply(x, slope)


def _half_new(*, forward: Callable = staticmethod, backward: Callable = staticmethod, **more: Callable) -> Leaky:
    """Called by `apply`, and otherwise not as new as it should be."""
    halves = {"forward": forward(_keep), "backward": backward(lambda ctx, g: _right(g, *ctx.saved_tensors, ctx.slope))}
    made = type("Leaky", (Function,), halves | more)
    return lambda x, slope: made.apply(x, slope)


def _applied_to_an_object() -> Leaky:
    made = function("Leaky", _keep, lambda ctx, g: _right(g, *ctx.saved_tensors, ctx.slope))
    return lambda x, slope: made().apply(x, slope)


def _as_it_is(half: Callable) -> Callable:
    return half


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
            "The forward works. Its slope is an argument now, so the backward owes a value for it as well. (A list "
            "counts as one value.)",
            also=(_leaky(_keep, lambda g, x, slope: [*_right(g, x, slope)]),),
        ),
        Misconception(
            "number_gets_a_gradient",
            _leaky(_keep, lambda g, x, slope: (_right(g, x, slope)[0], (g * x * (x <= 0)).sum())),
            "Your backward returns a gradient for the slope. That is a plain number: there is no tensor that could "
            "receive it.",
        ),
        Misconception(
            "number_saved_as_a_tensor",
            _leaky(_save_both, lambda g, x, slope: _right(g, x, slope)),
            "`save_for_backward` takes tensors only, and the slope is a number.",
        ),
        Misconception(
            "slope_on_the_class",
            _slope_on_the_class(),
            "With two results alive, the second slope has replaced the first before the first backward runs: a class, "
            "or a global name, is there once for all calls. What is there once for each call?",
        ),
        Misconception(
            "forward_called_directly",
            _bent,
            "Right numbers, but no Function of yours has made this result: PyTorch's own operations were recorded. "
            "That also happens if `forward` is called, and not `apply`.",
        ),
        Misconception(
            "half_new",
            _half_new(forward=_as_it_is, backward=_as_it_is),
            "The numbers are right. The class is still an old one in part: see the row above. Which of the four "
            "changes is missing?",
            also=(
                _half_new(forward=_as_it_is),
                _half_new(backward=_as_it_is),
                _half_new(__init__=lambda self, slope: None),
                _half_new(forward=_as_it_is, backward=_as_it_is, __init__=lambda self, slope: None),
                _applied_to_an_object(),
            ),
        ),
        Misconception(
            "zero_taken_for_positive",
            _leaky(_keep, lambda g, x, slope: (torch.where(x >= 0, g, slope * g), None)),
            "At exactly 0, the old code multiplied by the slope: its mask asks whether x is above 0. What does yours "
            "ask?",
        ),
        attribute_is_not_watched(_kept()),
        refuses_a_second_derivative(_leaky(_keep, _right, once=True)),
        Misconception(
            "slope_times_everything",
            _leaky(_keep, lambda g, x, slope: (slope * g, None)),
            "Where x is positive the result is x itself. Which factor belongs there?",
        ),
        Misconception(
            "sides_exchanged",
            _leaky(_keep, lambda g, x, slope: (torch.where(x > 0, slope * g, g), None)),
            "You multiply by the slope where x is positive, and pass the gradient on elsewhere. What does the forward "
            "do on each side?",
        ),
        incoming_ignored(
            _leaky(_keep, lambda g, x, slope: (torch.where(x > 0, 1.0, slope), None)),
            _leaky(_keep, lambda g, x, slope: (torch.where(x > 0, torch.ones_like(x), slope), None)),
        ),
        Misconception(
            "sign_of_the_gradient_asked",
            _leaky(_keep, lambda g, x, slope: (torch.where(g > 0, g, slope * g), None)),
            "Your mask asks for the sign of the incoming gradient. What decides is the sign of x in the forward.",
        ),
    ),
    hints=(
        "Section 9 of the lesson lists four changes. Which of them belong to the class, which to the function?",
        "Two things lived on the old object: the number, and what was saved. In a new one, what carries both from "
        "the forward to the backward?",
        "For each argument of `forward` behind ctx, the backward returns one value. What is it for a number?",
    ),
    when_right="Each call has a context of its own now, so two results can wait for their backward side by side.",
)


EXERCISES = (MEND_LEGACY,)
