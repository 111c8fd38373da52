"""Unit 06, custom Functions: the exercise on a backward that writes, and the mistakes it can name."""

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
    gradients_beside,
    gradients_of,
    made_by_own,
    second_derivatives,
)

UNIT = "06_custom_function"


# mend_shrink ---------------------------------------------------------------------------------------------------


def _probe_shrink(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        if not callable(answer):
            return answer
        return lambda grad_output, x, t: compute(lambda x: answer.apply(x, t), grad_output, x)

    def alone(shrink: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[Tensor | None, ...]:
        return gradients_of(shrink, incoming, (x,))

    def whose(shrink: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> bool:
        return made_by_own(shrink, (x,))

    def summed(shrink: Callable[[Tensor], Tensor], weight: Tensor, x: Tensor) -> Tensor:
        leaf = x.clone().requires_grad_()
        return torch.autograd.grad(weight * shrink(leaf).sum(), leaf)[0]

    def twice(shrink: Callable[[Tensor], Tensor], weights: Tensor, x: Tensor) -> tuple[Tensor | None, ...]:
        return second_derivatives(shrink, weights, (x,))

    def changed(shrink: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        return gradients_after_change(shrink, incoming, (x,))

    t = 1.25
    at_edges = torch.tensor([t, -t, 2.5, -0.5], dtype=torch.float64)
    for x in (draw.tensor(6), at_edges):
        given = {"grad_output": draw.tensor(len(x)), "x": x, "t": t}
        yield call("value and gradient", asked(alone), parts=("value", "gradient"), by_hand=False, **given)
    yield call(OWN, asked(whose), by_hand=False, shown=("x", "t"), **given)
    given = {"grad_output": draw.tensor(4), "x": draw.tensor(4), "t": t}
    yield call("gradient of x in Shrink(x) + x", asked(gradients_beside), by_hand=False, **given)
    given = {"weight": draw.scalars(1)[0], "x": draw.tensor(5), "t": t}
    yield call("gradient of x in weight * Shrink(x).sum()", asked(summed), by_hand=False, **given)
    given = {"weights": draw.tensor(3), "x": draw.tensor(3, low=1.5), "t": t}
    parts = ("second derivative along x",)
    yield call("second derivative", asked(twice), parts=parts, by_hand=False, **given)
    inside = draw.tensor(3, low=0.5, high=1.2).abs()  # adding 1 moves each of them out
    given = {"grad_output": draw.tensor(3), "x": inside, "t": t}
    label = "gradient, x being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(changed), parts=("gradient",), by_hand=False, **given)


def _towards_0(x: Tensor, t: float) -> Tensor:
    return torch.sign(x) * (x.abs() - t).clamp(min=0)


def _shrink(backward: Callable[[Tensor, Tensor, float], object], *, once: bool = False) -> type:
    """The operation with another backward, which gets the incoming gradient, x and t."""

    def keep(ctx: Function, x: Tensor, t: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.t = t
        return _towards_0(x, t)

    def from_ctx(ctx: Function, g: Tensor) -> object:
        return backward(g, *ctx.saved_tensors, ctx.t)

    return function("Shrink", keep, once_differentiable(from_ctx) if once else from_ctx)


def _kept() -> type:
    def keep(ctx: Function, x: Tensor, t: float) -> Tensor:
        ctx.x, ctx.t = x, t
        return _towards_0(x, t)

    return function("Shrink", keep, lambda ctx, g: (g * (ctx.x.abs() > ctx.t), None))


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
            also=(_shrink(lambda g, x, t: (g * (x >= t), None)),),
        ),
        Misconception(
            "passes_signs",
            _shrink(lambda g, x, t: (g * torch.sign(x) * (x.abs() > t), None)),
            "Below -t your gradient has the wrong sign. There the result is x + t: how much does it move with x?",
        ),
        Misconception(
            "none_lost",
            _shrink(lambda g, x, t: g * (x.abs() > t)),
            "The forward has two arguments, x and t. What your backward returns counts as one value. (So does a list, "
            "however long it is.)",
            also=(_shrink(lambda g, x, t: [g * (x.abs() > t), None]),),
        ),
        Misconception(
            "cut_from_the_graph",
            _written(lambda g: g.detach().clone(), lambda x, t: x.abs() <= t),
            "`detach` takes your copy out of the graph, and the second pass finds no way through your backward. What "
            "makes new numbers and keeps the way?",
            also=(_written(lambda g: g.detach().clone(), lambda x, t: x.abs() < t),),
        ),
        incoming_ignored(_shrink(lambda g, x, t: ((x.abs() > t).to(x.dtype), None))),
        without_a_function(composed("Shrink", torch.nn.functional.softshrink)),
        refuses_a_second_derivative(_shrink(lambda g, x, t: (g * (x.abs() > t), None), once=True)),
        attribute_is_not_watched(_kept()),
    ),
    hints=(
        "One line writes into `grad_output`. Either make the copy before it, or do without writing.",
        "A product with a mask makes a new tensor: `grad_output * (...)`.",
        "The gradient passes where the size of x is above t, and nowhere else.",
    ),
    when_right="A backward may read what comes in. It writes into tensors of its own only.",
)


EXERCISES = (MEND_SHRINK,)
