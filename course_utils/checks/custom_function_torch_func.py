"""Unit 06, custom Functions: the exercise on one that torch.func can use, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from course_utils.checks.custom_function_mistakes import (
    composed,
    refuses_a_second_derivative,
    unknown_to_the_graph,
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
    made_by_own,
    second_derivatives,
)

UNIT = "06_custom_function"


# sigmoid_for_func ----------------------------------------------------------------------------------------------


def _probe_sigmoid(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        return (lambda grad_output, x: compute(answer.apply, grad_output, (x,))) if callable(answer) else answer

    def func(compute: Callable[[Tensor], object]) -> object:
        return (lambda x: compute(x)) if callable(answer) else answer

    def whose(operation: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor]) -> bool:
        return made_by_own(operation, inputs)

    def result_changed(operation: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor]) -> object:
        return gradients_after_change(operation, incoming, inputs, of_result=True)

    def input_changed(operation: Callable[..., Tensor], incoming: Tensor, inputs: tuple[Tensor]) -> Tensor:
        leaf = inputs[0].clone().requires_grad_()
        result = operation(leaf)
        with torch.no_grad():
            leaf.add_(1)
        return torch.autograd.grad(result, leaf, incoming)[0]

    parts = ("value", "gradient of x")
    given = {"grad_output": draw.tensor(3), "x": draw.tensor(3)}
    yield call("value and gradient", asked(gradients_of), parts=parts, by_hand=False, **given)
    yield call(OWN, asked(whose), by_hand=False, shown=("x",), **given)
    given = {"weights": draw.tensor(3), "x": draw.tensor(3)}
    twice = ("second derivative along x",)
    yield call("second derivative", asked(second_derivatives), parts=twice, by_hand=False, **given)
    x = draw.tensor(4)
    yield call(
        "torch.func.grad of the sum",
        func(lambda x: torch.func.grad(lambda x: answer.apply(x).sum())(x)),
        by_hand=False,
        x=x,
    )
    yield call("torch.func.vmap", func(lambda x: torch.func.vmap(answer.apply)(x)), by_hand=False, x=x)
    each = func(lambda x: torch.func.vmap(torch.func.grad(answer.apply))(x))
    yield call("torch.func.grad for each entry, by vmap", each, by_hand=False, x=draw.tensor(4))
    given = {"grad_output": draw.tensor(2), "x": draw.tensor(2)}
    label = "gradient, the result being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(result_changed), parts=parts[1:], by_hand=False, **given)
    label = "gradient, x being changed in place before the backward"
    yield call(label, asked(input_changed), by_hand=False, **given)


def _truth() -> type:
    """PyTorch's own sigmoid with its own backward, which takes the output."""
    return _sigmoid(torch.ops.aten.sigmoid_backward.default)


def _save_output(ctx: Function, inputs: tuple, output: Tensor) -> None:
    ctx.save_for_backward(output)


def _keep_output(ctx: Function, inputs: tuple, output: Tensor) -> None:
    ctx.y = output


def _save_exchanged(ctx: Function, output: Tensor, inputs: tuple) -> None:
    ctx.save_for_backward(output)


def _save_inputs_as_one(ctx: Function, inputs: tuple, output: Tensor) -> None:
    ctx.save_for_backward(inputs)


def _keep_input(ctx: Function, inputs: tuple, output: Tensor) -> None:
    (ctx.x,) = inputs


def _sigmoid(
    backward: Callable[[Tensor, Tensor], object],
    setup: Callable = _save_output,
    *,
    rule: bool = True,
    once: bool = False,
) -> type:
    """The operation in three parts, with a backward that gets the incoming gradient and what was saved."""

    def from_ctx(ctx: Function, g: Tensor) -> object:
        (saved,) = ctx.saved_tensors
        return backward(g, saved)

    half = once_differentiable(from_ctx) if once else from_ctx
    return function("Sigmoid", _squash, half, setup_context=setup, generate_vmap_rule=rule)


def _squash(x: Tensor) -> Tensor:
    return 1 / (1 + torch.exp(-x))


def _with_ctx(ctx: Function, x: Tensor) -> Tensor:
    y = _squash(x)
    ctx.save_for_backward(y)
    return y


def _kept() -> type:
    return function(
        "Sigmoid",
        _squash,
        lambda ctx, g: g * ctx.y * (1 - ctx.y),
        setup_context=_keep_output,
        generate_vmap_rule=True,
    )


def _old_form(*, rule: bool) -> type:
    def from_ctx(ctx: Function, g: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return g * y * (1 - y)

    return function("Sigmoid", _with_ctx, from_ctx, generate_vmap_rule=rule)


def _slope(g: Tensor, y: Tensor) -> Tensor:
    return g * y * (1 - y)


def _that_saves(save: Callable[[Tensor, Tensor], tuple[Tensor, ...]], backward: Callable[..., object]) -> type:
    """The operation that saves what `save` makes of input and output; its backward gets that."""

    def setup(ctx: Function, inputs: tuple, output: Tensor) -> None:
        ctx.save_for_backward(*save(*inputs, output))

    def from_ctx(ctx: Function, g: Tensor) -> object:
        return backward(g, *ctx.saved_tensors)

    return function("Sigmoid", _squash, from_ctx, setup_context=setup, generate_vmap_rule=True)


def _ctx_in_both() -> type:
    return function("Sigmoid", _with_ctx, lambda ctx, g: g, setup_context=_save_output, generate_vmap_rule=True)


SIGMOID_FOR_FUNC = Exercise(
    name="sigmoid_for_func",
    unit=UNIT,
    title="A sigmoid for torch.func and vmap",
    points=4,
    probe=_probe_sigmoid,
    truth=_truth(),
    misconceptions=(
        Misconception(
            "context_in_the_forward",
            _old_form(rule=True),
            "In the usual way it works. torch.func asks for the halves in three parts: its message, below, names the "
            "one that is missing.",
            also=(_old_form(rule=False),),
        ),
        Misconception(
            "context_beside_setup_context",
            _ctx_in_both(),
            "In a class with `setup_context`, `forward` gets the inputs alone. Which of its arguments is one too many?",
        ),
        Misconception(
            "no_vmap_rule",
            _sigmoid(_slope, rule=False),
            "torch.func.grad works. For vmap, one line in the class is missing: the message, below, names it.",
        ),
        Misconception(
            "output_kept_as_an_attribute",
            _kept(),
            "Everything is right until somebody changes the result in place. Then the gradient is wrong, and nobody "
            "notices.",
        ),
        Misconception(
            "tuple_of_inputs_saved",
            _sigmoid(_slope, _save_exchanged),
            "What you save is the tuple of the inputs, and `save_for_backward` takes tensors. `setup_context` gets "
            "ctx, then that tuple, also where there is one input, then the output: by position, not by name.",
            also=(_sigmoid(lambda g, x: _slope(g, _squash(x)), _save_inputs_as_one),),
        ),
        Misconception(
            "incoming_ignored",
            _sigmoid(lambda g, y: y * (1 - y)),
            "Your backward returns the local derivative alone. Where does `grad_output` come in?",
        ),
        Misconception(
            "derivative_like_exp",
            _sigmoid(lambda g, y: g * y),
            "y itself would be the derivative of exp. A sigmoid flattens where y comes near 1: which factor is "
            "missing?",
        ),
        Misconception(
            "input_taken_for_output",
            _sigmoid(lambda g, x: g * x * (1 - x), lambda ctx, inputs, output: ctx.save_for_backward(*inputs)),
            "y * (1 - y) is the derivative in terms of the output. You saved the input.",
        ),
        Misconception(
            "input_saved",
            _that_saves(lambda x, y: (x,), lambda g, x: _slope(g, _squash(x))),
            "All derivatives are right. But you save x, so x must not be changed until the backward has run. From what "
            "can the backward compute everything it needs?",
            also=(_that_saves(lambda x, y: (x, y), lambda g, x, y: _slope(g, y)),),
        ),
        Misconception(
            "input_kept_as_an_attribute",
            function(
                "Sigmoid",
                _squash,
                lambda ctx, g: _slope(g, _squash(ctx.x)),
                setup_context=_keep_input,
                generate_vmap_rule=True,
            ),
            "x was changed in place before the backward, and your backward has used the new numbers. From what can it "
            "compute everything it needs, and who watches over that?",
        ),
        unknown_to_the_graph(
            _that_saves(lambda x, y: (y.clone(),), _slope),
            _that_saves(lambda x, y: (y * (1 - y),), lambda g, slope: g * slope),
        ),
        without_a_function(composed("Sigmoid", torch.sigmoid)),
        refuses_a_second_derivative(_sigmoid(_slope, once=True)),
    ),
    hints=(
        "`forward(x)` gets no ctx and only computes. `setup_context(ctx, inputs, output)` saves.",
        "The derivative is y * (1 - y), where y is the output. Which of the arguments of `setup_context` is that?",
        "For vmap, one attribute of the class: `generate_vmap_rule`.",
    ),
    when_right="One class for backward(), torch.func.grad and vmap.",
)


EXERCISES = (SIGMOID_FOR_FUNC,)
