"""Unit 06, custom Functions: the exercise on both halves, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from course_utils.checks.custom_function_mistakes import (
    attribute_is_not_watched,
    composed,
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


# wave ----------------------------------------------------------------------------------------------------------


def _probe_wave(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        if not callable(answer):
            return answer
        return lambda grad_output, x, a, *numbers: compute(answer.apply, grad_output, (x, a), numbers)

    def x_alone(apply: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor, Tensor], k: tuple) -> object:
        x, a = inputs
        return gradients_of(lambda x: apply(x, a, *k), incoming, (x,))

    def whose(apply: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor, Tensor], k: tuple) -> bool:
        return made_by_own(apply, inputs, k)

    def two_in_a_sum(apply: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor, Tensor], k: tuple) -> object:
        return gradients_of(lambda x, a: apply(x, a, k[0]) + apply(x, a, k[1]), incoming, inputs)

    def given(incoming: str, *numbers: str) -> dict[str, object]:
        tensors = {incoming: draw.tensor(3), "x": draw.tensor(3), "a": draw.tensor(3)}
        return tensors | dict(zip(numbers, draw.tensor(len(numbers)).tolist(), strict=True))

    parts = ("gradient of x", "gradient of a")
    first = given("grad_output", "k")
    yield call("value and gradients", asked(gradients_of), parts=("value", *parts), by_hand=False, **first)
    alone = given("grad_output", "k")
    yield call("value and gradient of x alone", asked(x_alone), parts=("value", parts[0]), by_hand=False, **alone)
    yield call(OWN, asked(whose), by_hand=False, shown=("x", "a", "k"), **first)
    twice = ("second derivative along x", "second derivative along a")
    yield call("second derivatives", asked(second_derivatives), parts=twice, by_hand=False, **given("weights", "k"))
    label = "gradients, a being changed in place before the backward if autograd lets that pass"
    changed = given("grad_output", "k")
    yield call(label, asked(gradients_after_change), parts=parts, by_hand=False, **changed)
    label = "value and gradients of two waves in a sum"
    two = given("grad_output", "k1", "k2")
    two["a"] = torch.cat([torch.zeros(1, dtype=two["a"].dtype), two["a"][1:]])  # a wave may be flat
    yield call(label, asked(two_in_a_sum), parts=("value", *parts), by_hand=False, **two)


def _wave_forward(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
    ctx.save_for_backward(x, a)
    ctx.k = k
    return a * torch.sin(k * x)


def _wave(backward: Callable[[Tensor, Tensor, Tensor, float], object], *, once: bool = False) -> type:
    """The Function with another backward, which gets the incoming gradient and what the forward had."""

    def from_ctx(ctx: Function, grad_output: Tensor) -> object:
        return backward(grad_output, *ctx.saved_tensors, ctx.k)

    return function("Wave", _wave_forward, once_differentiable(from_ctx) if once else from_ctx)


def _wave_with_kept_inputs(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
    ctx.kept = x, a, k
    return a * torch.sin(k * x)


def _wave_that_saves(save: Callable[[Function, Tensor, Tensor, float], None], backward: Callable) -> type:
    """The Function that saves in its own way; its backward gets the incoming gradient, what was saved, and k."""

    def forward(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
        save(ctx, x, a, k)
        ctx.k = k
        return a * torch.sin(k * x)

    return function("Wave", forward, lambda ctx, g: (*backward(g, *ctx.saved_tensors, ctx.k), None))


def _from_both(g: Tensor, sine: Tensor, cosine: Tensor, a: Tensor, k: float) -> tuple[Tensor, Tensor]:
    return g * a * k * cosine, g * sine


def _from_the_sine(g: Tensor, x: Tensor, a: Tensor, sine: Tensor, k: float) -> tuple[Tensor, Tensor]:
    return g * a * k * torch.cos(k * x), g * sine


def _number_on_the_class() -> type:
    def forward(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
        made.k = k
        ctx.save_for_backward(x, a)
        return a * torch.sin(k * x)

    made = function("Wave", forward, lambda ctx, g: (*_both(g, *ctx.saved_tensors, made.k), None))
    return made


def _both(g: Tensor, x: Tensor, a: Tensor, k: float) -> tuple[Tensor, Tensor]:
    return g * a * k * torch.cos(k * x), g * torch.sin(k * x)


def _right(g: Tensor, x: Tensor, a: Tensor, k: float) -> tuple[object, ...]:
    return *_both(g, x, a, k), None


def _in_place(g: Tensor, x: Tensor, a: Tensor, k: float) -> tuple[object, ...]:
    along_a = g * torch.sin(k * x)
    g *= a * k * torch.cos(k * x)
    return g, along_a, None


WAVE = Exercise(
    name="wave",
    unit=UNIT,
    title="Both halves of a wave",
    points=4,
    probe=_probe_wave,
    truth=by_autograd("Wave", lambda x, a, k: a * torch.sin(k * x)),
    misconceptions=(
        Misconception(
            "none_missing",
            _wave(_both),
            "Your backward returns two values, and the forward has three arguments. What is to be returned for the one "
            "that is no tensor?",
        ),
        Misconception(
            "number_gets_a_gradient",
            _wave(lambda g, x, a, k: (*_both(g, x, a, k), (g * a * x * torch.cos(k * x)).sum())),
            "Your backward returns a gradient for k. k is a plain number: there is no tensor that could receive it.",
        ),
        Misconception(
            "number_saved_as_a_tensor",
            _wave_that_saves(lambda ctx, x, a, k: ctx.save_for_backward(x, a, k), _both),
            "`save_for_backward` takes tensors only, and k is a number. Where can a number wait for the backward?",
        ),
        Misconception(
            "swapped",
            _wave(lambda g, x, a, k: (*_both(g, x, a, k)[::-1], None)),
            "Each gradient is right, in the place of the other. The order is that of the forward's arguments.",
        ),
        Misconception(
            "inner_factor_missing",
            _wave(lambda g, x, a, k: (g * a * torch.cos(k * x), g * torch.sin(k * x), None)),
            "The gradient of a is right. Raise x by a small step: by how much does k * x rise?",
        ),
        Misconception(
            "sign_of_the_cosine",
            _wave(lambda g, x, a, k: (-g * a * k * torch.cos(k * x), g * torch.sin(k * x), None)),
            "The gradient of x has the wrong sign. It is the derivative of the cosine that brings a minus.",
        ),
        Misconception(
            "outer_factor_missing",
            _wave(lambda g, x, a, k: (g * k * torch.cos(k * x), g * torch.sin(k * x), None)),
            "The gradient of a is right. In that of x a factor is missing: nudge x, and the sine changes. By how much "
            "does a times the sine change?",
        ),
        Misconception(
            "cosine_of_x",
            _wave(lambda g, x, a, k: (g * a * k * torch.cos(x), g * torch.sin(k * x), None)),
            "Your cosine is taken at x. At what is the sine taken in the forward?",
            also=(
                _wave(lambda g, x, a, k: (g * a * torch.cos(x), g * torch.sin(k * x), None)),
                _wave(lambda g, x, a, k: (g * a * torch.cos(x), g * torch.sin(x), None)),
            ),
        ),
        Misconception(
            "divided_by_a",
            _wave(lambda g, x, a, k: (_both(g, x, a, k)[0], g * (a * torch.sin(k * x)) / a, None)),
            "Your gradient of a divides by a, and an a may be 0. The sine alone needs no division.",
        ),
        incoming_ignored(
            _wave(lambda g, x, a, k: (*_both(torch.ones_like(g), x, a, k), None)),
            _wave(lambda g, x, a, k: (_both(torch.ones_like(g), x, a, k)[0], g * torch.sin(k * x), None)),
            _wave(lambda g, x, a, k: (_both(g, x, a, k)[0], torch.sin(k * x), None)),
        ),
        without_a_function(composed("Wave", lambda x, a, k: a * torch.sin(k * x))),
        refuses_a_second_derivative(_wave(_right, once=True)),
        attribute_is_not_watched(
            function("Wave", _wave_with_kept_inputs, lambda ctx, g: (*_both(g, *ctx.kept), None)),
        ),
        unknown_to_the_graph(
            _wave_that_saves(
                lambda ctx, x, a, k: ctx.save_for_backward(torch.sin(k * x), torch.cos(k * x), a), _from_both
            ),
            _wave_that_saves(lambda ctx, x, a, k: ctx.save_for_backward(x, a, torch.sin(k * x)), _from_the_sine),
            _wave_that_saves(lambda ctx, x, a, k: ctx.save_for_backward(x.clone(), a.clone()), _both),
            _wave_that_saves(lambda ctx, x, a, k: ctx.save_for_backward(x.detach(), a.detach()), _both),
            _wave_that_saves(lambda ctx, x, a, k: ctx.save_for_backward(x.detach(), a), _both),
        ),
        Misconception(
            "number_on_the_class",
            _number_on_the_class(),
            "One wave is right. With two waves in one sum, the second k has replaced the first before the first "
            "backward runs: there is one class for all calls. What is there once for each call?",
        ),
        Misconception(
            "writes_into_grad_output",
            _wave(_in_place),
            "Your backward writes into `grad_output`. It belongs to the caller, who still needs it. Make a new tensor.",
        ),
    ),
    hints=(
        "Two tensors to save, one number to keep as an attribute of ctx, and three values to return.",
        "A small step of a moves the result sin(k * x) times as much. For x there are two factors besides "
        "`grad_output` and the cosine.",
        "In the backward, compute sines and cosines anew from the saved inputs.",
    ),
    when_right="It works alone, inside other operations, and differentiated twice, with numbers that nobody has shown "
    "it before.",
)


EXERCISES = (WAVE,)
