"""What autograd says: the judge that knows nothing of the solutions in the notebooks."""

from __future__ import annotations

from collections.abc import Callable

import torch

from course_utils.checks.by_hand import autograd


def leaf_of(value: torch.Tensor) -> torch.Tensor:
    """A copy that requires a gradient and is a leaf."""
    return value.detach().clone().requires_grad_()


def vector_jacobian_product(
    forward: Callable[..., torch.Tensor], incoming: torch.Tensor, *inputs: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """The gradients of the inputs, in their order, for the gradient `incoming` of `forward(*inputs)`.

    Works where autograd is switched off, too; the inputs are left as they are.
    """
    with autograd():
        leaves = [leaf_of(value) for value in inputs]
        result = forward(*leaves)
        if result.shape != incoming.shape:
            raise ValueError(f"the incoming gradient has the shape {incoming.shape}, the result {result.shape}")
        # the gradient of this number is the same, and PyTorch loads much less for it than for `grad_outputs`
        return torch.autograd.grad((incoming.clone() * result).sum(), leaves)


def derivative(function: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, order: int = 1) -> torch.Tensor:
    """The derivative of that order of a function of one number, at `x`."""
    with autograd():
        leaf = leaf_of(x)
        value = function(leaf)
        for _ in range(order):
            (value,) = torch.autograd.grad(value, leaf, create_graph=True)
        return value.detach()
