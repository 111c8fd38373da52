"""What probes ask of a custom Function: values, gradients, second derivatives, what a change in place does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.autograd import Function

Operation = Callable[..., Tensor]


def gradients_of(
    operation: Operation, incoming: Tensor, inputs: Sequence[Tensor], constants: Sequence[object] = ()
) -> tuple[Tensor | None, ...]:
    """The value of `operation(*inputs, *constants)`, and the gradient of each input.

    The operation and its backward get the very tensors: what they write into them, the caller sees.
    """
    leaves = [value.detach().requires_grad_() for value in inputs]
    value = operation(*leaves, *constants)
    return value, *torch.autograd.grad(value, leaves, incoming, allow_unused=True)


def second_derivatives(
    operation: Operation, weights: Tensor, inputs: Sequence[Tensor], constants: Sequence[object] = ()
) -> tuple[Tensor | None, ...]:
    """For L, the weighted sum of the squares of the operation's value: how the sum of its gradients changes.

    The square stands behind the operation, so that what the backward makes of its incoming gradient counts, too.
    """
    leaves = _fresh(inputs)
    loss = (weights * operation(*leaves, *constants) ** 2).sum()
    first = torch.autograd.grad(loss, leaves, create_graph=True)
    # a whole pass, and no torch.autograd.grad: that would go round a node that refuses, and blame the graph
    sum(gradient.sum() for gradient in first).backward()
    return tuple(leaf.grad for leaf in leaves)


def gradients_beside(operation: Operation, incoming: Tensor, x: Tensor) -> Tensor:
    """The gradient of x in `operation(x) + x`, an addition that sends both sides one tensor: `incoming` itself."""
    (leaf,) = _fresh((x,))
    return torch.autograd.grad(operation(leaf) + leaf, leaf, incoming)[0]


def gradients_after_change(
    operation: Operation,
    incoming: Tensor,
    inputs: Sequence[Tensor],
    constants: Sequence[object] = (),
    *,
    of_result: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients when 1 is added in place to the last input, or to the result, between forward and backward.

    If autograd notices and refuses, those without the change: the one thing that is wrong is a wrong number.
    """

    def gradients(changed: bool) -> tuple[Tensor, ...]:
        leaves = _fresh(inputs)
        value = operation(*leaves, *constants)
        if changed:
            with torch.no_grad():
                (value if of_result else leaves[-1]).add_(1)
        return torch.autograd.grad(value, leaves, incoming)

    try:
        return gradients(True)
    except RuntimeError as error:
        if "inplace operation" not in str(error):
            raise
    return gradients(False)


OWN = "made by a Function of yours"


def made_by_own(operation: Operation, inputs: Sequence[Tensor], constants: Sequence[object] = ()) -> bool:
    """Whether what the operation returns for fresh leaves `is_custom`."""
    return is_custom(operation(*_fresh(inputs), *constants))


def is_custom(value: Tensor) -> bool:
    """Whether no gradient gets from this tensor to a leaf but through a Function written in Python."""
    return not any(map(_ends_the_way, _nodes_down_to_custom(value)))


def own_functions(value: Tensor) -> list[type[Function]]:
    """The Functions written in Python that gradients meet first on their way from this tensor."""
    return [type(node)._forward_cls for node in _nodes_down_to_custom(value) if _written_in_python(node)]


def left_on_context(
    operation: Operation, incoming: Tensor, inputs: Sequence[Tensor], constants: Sequence[object] = ()
) -> int:
    """How many tensors still hang on the contexts of the operation, as attributes, after the backward pass."""
    leaves = _fresh(inputs)
    value = operation(*leaves, *constants)
    contexts = [node for node in _nodes_down_to_custom(value) if _written_in_python(node)]
    torch.autograd.grad(value, leaves, incoming)
    return sum(len(_tensors(vars(context))) for context in contexts)


def _fresh(inputs: Sequence[Tensor]) -> list[Tensor]:
    return [value.clone().requires_grad_() for value in inputs]


def _nodes_down_to_custom(value: Tensor) -> list[object]:
    """The nodes behind a tensor, without those behind a Function written in Python; None where there is no node."""
    found = [value.grad_fn]
    for node in found:  # the list grows while we go through it
        if node is not None and not _written_in_python(node):
            found += {following for following, _ in node.next_functions if following} - {*found}
    return found


def _ends_the_way(node: object) -> bool:
    return node is None or (hasattr(node, "variable") and not _written_in_python(node))


def _written_in_python(node: object) -> bool:
    return isinstance(node, torch._C._FunctionBase)


def _tensors(value: object) -> list[Tensor]:
    """The tensors in attributes, and in the lists, tuples and dictionaries among them."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for one in value for tensor in _tensors(one)]
    return [value] if isinstance(value, Tensor) else []


def function(name: str, forward: Callable, backward: Callable, **more: object) -> type[Function]:
    """A Function of this name: torch's messages have it in them, so a witness is called like the learner's class."""
    parts = {key: staticmethod(part) if callable(part) else part for key, part in more.items()}
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward), **parts})


def by_autograd(name: str, formula: Operation) -> type[Function]:
    """A Function that lets autograd work its backward out, from the saved inputs, whenever a gradient comes."""

    def forward(ctx: Function, *arguments: object) -> Tensor:
        ctx.save_for_backward(*(one for one in arguments if isinstance(one, Tensor)))
        ctx.arguments = [None if isinstance(one, Tensor) else one for one in arguments]
        return formula(*arguments)

    def backward(ctx: Function, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        saved = iter(ctx.saved_tensors)
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            arguments = [next(saved) if one is None else one for one in ctx.arguments]
            wanted = [one for one, needed in zip(arguments, ctx.needs_input_grad, strict=True) if needed]
            found = iter(torch.autograd.grad(formula(*arguments), wanted, grad_output, create_graph=again))
        return tuple(next(found) if needed else None for needed in ctx.needs_input_grad)

    return function(name, forward, backward)
