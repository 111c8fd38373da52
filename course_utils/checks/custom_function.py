"""Unit 06, custom Functions: the exercise on both halves, and the mistakes it can name."""

from __future__ import annotations

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
    gradients_after_change,
    gradients_of,
    second_derivatives,
)

UNIT = "06_custom_function"


# wave ----------------------------------------------------------------------------------------------------------


def _probe_wave(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        if not callable(answer):
            return answer
        return lambda incoming, x, a, k: compute(answer.apply, incoming, (x, a), (k,))

    def x_alone(apply: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor, Tensor], k: tuple) -> object:
        x, a = inputs
        return gradients_of(lambda x: apply(x, a, *k), incoming, (x,))

    def given() -> dict[str, object]:
        return {"incoming": draw.tensor(3), "x": draw.tensor(3), "a": draw.tensor(3), "k": draw.scalars(1)[0].item()}

    parts = ("gradient of x", "gradient of a")
    yield call("value and gradients", asked(gradients_of), parts=("value", *parts), by_hand=False, **given())
    yield call("value and gradient of x alone", asked(x_alone), parts=("value", parts[0]), by_hand=False, **given())
    yield call("second derivatives", asked(second_derivatives), parts=("along x", "along a"), by_hand=False, **given())
    label = "gradients, a being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(gradients_after_change), parts=parts, by_hand=False, **given())


def _wave_forward(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
    ctx.save_for_backward(x, a)
    ctx.k = k
    return a * torch.sin(k * x)


def _wave(backward: Callable[[Tensor, Tensor, Tensor, float], object], forward: Callable = _wave_forward) -> type:
    """The Function with another backward, which gets the incoming gradient and what the forward had."""

    def from_ctx(ctx: Function, grad_output: Tensor) -> object:
        return backward(grad_output, *ctx.saved_tensors, ctx.k)

    return function("Wave", forward, from_ctx)


def _wave_with_kept_inputs(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
    ctx.kept = x, a, k
    return a * torch.sin(k * x)


def _wave_with_saved_number(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
    ctx.save_for_backward(x, a, k)
    return a * torch.sin(k * x)


def _wave_with_saved_waves(ctx: Function, x: Tensor, a: Tensor, k: float) -> Tensor:
    sine, cosine = torch.sin(k * x), torch.cos(k * x)
    ctx.save_for_backward(sine, cosine, a)
    ctx.k = k
    return a * sine


def _both(g: Tensor, x: Tensor, a: Tensor, k: float) -> tuple[Tensor, Tensor]:
    return g * a * k * torch.cos(k * x), g * torch.sin(k * x)


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
            function("Wave", _wave_with_saved_number, lambda ctx, g: (*_both(g, *ctx.saved_tensors), None)),
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
            "incoming_ignored",
            _wave(lambda g, x, a, k: (*_both(torch.ones_like(g), x, a, k), None)),
            "Your backward returns the local derivatives alone. Where does `grad_output` come in?",
            also=(
                _wave(lambda g, x, a, k: (_both(torch.ones_like(g), x, a, k)[0], g * torch.sin(k * x), None)),
                _wave(lambda g, x, a, k: (_both(g, x, a, k)[0], torch.sin(k * x), None)),
            ),
        ),
        Misconception(
            "kept_as_attributes",
            function("Wave", _wave_with_kept_inputs, lambda ctx, g: (*_both(g, *ctx.kept), None)),
            "The gradients are right, as long as nobody changes a tensor between forward and backward. Here somebody "
            "did, and nothing was noticed. Who watches over tensors until the backward runs?",
        ),
        Misconception(
            "intermediate_saved",
            function(
                "Wave",
                _wave_with_saved_waves,
                lambda ctx, g: (
                    g * ctx.saved_tensors[2] * ctx.k * ctx.saved_tensors[1],
                    g * ctx.saved_tensors[0],
                    None,
                ),
            ),
            "The gradients are right, their own derivative is not. You keep something that the forward computed on "
            "the way. To the second pass it is a constant, because the forward runs with recording off.",
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
    when_right="It works alone, inside other operations, and twice over, with numbers that nobody has shown it before.",
)


EXERCISES = (WAVE,)
