"""Unit 06, custom Functions: the exercise on an operation in place, and the mistakes it can name."""

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
    function,
    gradients_after_change,
    gradients_of,
    is_custom,
    second_derivatives,
)

UNIT = "06_custom_function"


# mend_dirty ----------------------------------------------------------------------------------------------------


def _probe_dirty(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        return (lambda grad_output, x: compute(answer.apply, grad_output, x)) if callable(answer) else answer

    def used_again(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[object, ...]:
        leaf = x.clone().requires_grad_()
        h = leaf * 3
        same_memory = h.detach()
        result = operation(h)
        return h, result is h, same_memory, torch.autograd.grad(h * 1, leaf, incoming)[0]

    def of_result(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        return gradients_of(lambda leaf: operation(leaf * 3), incoming, (x,))

    def whose(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> bool:
        return is_custom(operation(x.clone().requires_grad_() * 3))

    def changed(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        return gradients_after_change(lambda leaf: operation(leaf * 3), incoming, (x,), of_result=True)

    def twice(operation: Callable[[Tensor], Tensor], weights: Tensor, x: Tensor) -> tuple[Tensor | None, ...]:
        return second_derivatives(lambda leaf: operation(leaf * 3), weights, (x,))

    def on_a_leaf(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> Tensor:
        return operation(x.clone().requires_grad_())

    def given(incoming: str = "grad_output") -> dict[str, Tensor]:
        return {incoming: draw.tensor(2, high=1.5), "x": draw.tensor(2, low=0.2, high=0.8)}

    parts = ("h", "the result is h itself", "h.detach(), made before", "gradient of x")
    yield call("h = 3 * x, used again afterwards", asked(used_again), parts=parts, by_hand=False, **given())
    seen = given()
    yield call("the result", asked(of_result), parts=("value", "gradient of x"), by_hand=False, **seen)
    yield call(OWN, asked(whose), by_hand=False, shown=("x",), **seen)
    label = "gradient, the result being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(changed), parts=("gradient of x",), by_hand=False, **given())
    parts = ("second derivative along x",)
    yield call("second derivative", asked(twice), parts=parts, by_hand=False, **given("weights"))
    yield call("a leaf that requires a gradient", asked(on_a_leaf), by_hand=False, shown=("x",), **given())


def _truth() -> type:
    """Autograd differentiates exp, at the place that the result came from."""

    def forward(ctx: Function, x: Tensor) -> Tensor:
        ctx.mark_dirty(x)
        ctx.save_for_backward(x.exp_())
        return x

    def backward(ctx: Function, grad_output: Tensor) -> Tensor:
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            x = ctx.saved_tensors[0].log()
            x = x if again else x.detach().requires_grad_()
            return torch.autograd.grad(x.exp(), x, grad_output, create_graph=again)[0]

    return function("ExpInPlace", forward, backward)


def _in_place(forward: Callable[[Function, Tensor], Tensor], backward: Callable | None = None) -> type:
    usual = backward or (lambda ctx, g: g * ctx.saved_tensors[0])
    return function("ExpInPlace", forward, usual)


def _unmarked(ctx: Function, x: Tensor) -> Tensor:
    x.exp_()
    ctx.save_for_backward(x)
    return x


def _marked(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_dirty(x)
    return _unmarked(ctx, x)


def _out_of_place(ctx: Function, x: Tensor) -> Tensor:
    y = x.exp()
    ctx.save_for_backward(y)
    return y


def _marked_and_cloned(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_dirty(x)
    return _unmarked(ctx, x).clone()


def _saved_before(ctx: Function, x: Tensor) -> Tensor:
    ctx.save_for_backward(x.clone())
    ctx.mark_dirty(x)
    return x.exp_()


def _copy_kept(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_dirty(x)
    ctx.y = x.exp_().clone()
    return x


def _kept(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_dirty(x)
    ctx.y = x.exp_()
    return x


def _new_memory(ctx: Function, x: Tensor) -> Tensor:
    x.data = x.exp()
    ctx.mark_dirty(x)
    ctx.save_for_backward(x)
    return x


def _without_gradient(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_non_differentiable(x)
    return _unmarked(ctx, x)


def _marked_twice(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_non_differentiable(x)
    return _marked(ctx, x)


MEND_DIRTY = Exercise(
    name="mend_dirty",
    unit=UNIT,
    title="Mend an operation that works in place",
    points=2,
    probe=_probe_dirty,
    truth=_truth(),
    given=_in_place(_unmarked),
    when_as_given="h has its new value, and still hangs on its old node. Who tells autograd that h was changed?",
    misconceptions=(
        Misconception(
            "not_in_place_any_more",
            _in_place(_out_of_place),
            "This gives a right result, and leaves h as it was. The operation is meant to work in place: whoever uses "
            "it wants no second tensor.",
        ),
        Misconception(
            "another_tensor_returned",
            _in_place(_marked_and_cloned),
            "What is marked as changed must also be what you return: that very tensor gets the new node.",
        ),
        Misconception(
            "saved_before_the_change",
            _in_place(_saved_before),
            "You save x as it was before, and multiply by it. The derivative of exp is exp: the value after the "
            "change.",
        ),
        Misconception(
            "new_memory",
            _in_place(_new_memory),
            "h has the right values now, but in other memory. Whoever shares memory with h, as `h.detach()` does, has "
            "kept the old ones. An operation in place writes into the memory that is there.",
        ),
        Misconception(
            "marked_as_without_gradient",
            _in_place(_without_gradient),
            "`mark_non_differentiable` says that the result has no gradient. It has one. What is to be announced is "
            "the change.",
            also=(_in_place(_marked_twice),),
        ),
        Misconception(
            "kept_as_an_attribute",
            _in_place(_kept, lambda ctx, g: g * ctx.y),
            "The mark is right. But h is kept as an attribute now, and a change that comes later is no longer noticed. "
            "The given code did notice it. Which line did that?",
        ),
        Misconception(
            "a_copy_kept",
            _in_place(_copy_kept, lambda ctx, g: g * ctx.y),
            "The first derivative is right. For the second, autograd would have to know where your copy came from. "
            "The result itself has a place in the graph.",
        ),
        Misconception(
            "exponential_twice",
            _in_place(_marked, lambda ctx, g: g * ctx.saved_tensors[0].exp()),
            "What you saved is the value after the change: it is the exponential already.",
        ),
        Misconception(
            "derivative_missing",
            _in_place(_marked, lambda ctx, g: g * 1),
            "The mark is right. Your backward passes the gradient on as it came: where is the derivative of exp?",
        ),
        incoming_ignored(_in_place(_marked, lambda ctx, g: ctx.saved_tensors[0])),
        without_a_function(composed("ExpInPlace", lambda x: x.exp_())),
        refuses_a_second_derivative(_in_place(_marked, once_differentiable(lambda ctx, g: g * ctx.saved_tensors[0]))),
    ),
    hints=(
        "ctx has a method that announces an input which was changed in place.",
        "Announce it in the forward. The rest of the given code can stay.",
    ),
    when_right="h hangs on your node now, and leaves are protected as they are from PyTorch's own operations in place.",
)


EXERCISES = (MEND_DIRTY,)
