"""The gradient reversal layer, and the schedule of its factor."""

from __future__ import annotations

import math

from torch import Tensor
from torch.autograd import Function


class Reversal(Function):
    """Forward: the input. Backward: the incoming gradient times -factor."""

    @staticmethod
    def forward(ctx: Function, x: Tensor, factor: float) -> Tensor:
        """The input as a view, so that it is another tensor over the same memory."""
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Function, grad_output: Tensor) -> tuple[Tensor, None]:
        """What goes back to the input, and nothing to the factor."""
        return -ctx.factor * grad_output, None


def reverse(x: Tensor, factor: float = 1.0) -> Tensor:
    """The same values; a gradient that passes here is multiplied by -factor."""
    return Reversal.apply(x, factor)


def factor_at(progress: float) -> float:
    """The schedule of Ganin et al. (2016): from 0, where `progress` is 0, to nearly 1, where it is 1."""
    return 2 / (1 + math.exp(-10 * progress)) - 1
