"""A function's Jacobian at one point, and what torch's backward makes of weights for its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import torch
from torch import Tensor

from course_utils.drawing.heat import brief

MOST = 6  # rows or columns; beyond these the numbers in a picture become too small


@dataclass(frozen=True)
class Weighted:
    """The rows of a Jacobian, a weight for each, and the gradient that `backward` gives for these weights.

    `outputs` and `inputs` are the names of rows and columns, such as y[0] and x[1], with their values.
    """

    title: str
    outputs: tuple[tuple[str, float], ...]
    inputs: tuple[tuple[str, float], ...]
    rows: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    gradient: tuple[float, ...]


@dataclass(frozen=True)
class Differentiated:
    """A function of one tensor, computed once at one point, whose graph is kept for backward passes."""

    title: str
    x: Tensor = field(repr=False)
    y: Tensor = field(repr=False)

    @classmethod
    def at(cls, title: str, function: Callable[[Tensor], Tensor], x: Tensor) -> Differentiated:
        """The function at `x`; ValueError if its result cannot be differentiated or is too large to show."""
        leaf = x.detach().clone().to(torch.float64).requires_grad_()
        with torch.inference_mode(False), torch.enable_grad():
            y = function(leaf)
        if not isinstance(y, Tensor):
            raise ValueError(f"explore_jacobian: {title} returned a {type(y).__name__}. It must return a tensor.")
        if not y.requires_grad:
            raise ValueError(
                f"explore_jacobian: the result of {title} has no graph that leads to its input. Compute it from the "
                "input by torch operations, without detach() or no_grad()."
            )
        for role, tensor in (("input", leaf), ("result", y)):
            if not 1 <= tensor.numel() <= MOST:
                raise ValueError(
                    f"explore_jacobian: the {role} of {title} has {tensor.numel()} entries, and 1 to {MOST} can be "
                    "shown. Try it with fewer."
                )
        return cls(title, leaf, y)

    def pull_back(self, weights: Sequence[float]) -> tuple[float, ...]:
        """What one backward pass gives the input, with a weight for each entry of the result."""
        incoming = torch.tensor(weights, dtype=self.y.dtype).reshape(self.y.shape)
        (gradient,) = torch.autograd.grad(self.y, self.x, incoming, retain_graph=True, materialize_grads=True)
        return tuple(gradient.reshape(-1).tolist())

    def weighted(self, weights: Sequence[float]) -> Weighted:
        """The Jacobian, one backward pass for each row, and the gradient for these weights by a pass of its own."""
        one_hot = torch.eye(self.y.numel(), dtype=torch.float64).tolist()
        return Weighted(
            title=self.title,
            outputs=named_entries("y", self.y),
            inputs=named_entries("x", self.x),
            rows=tuple(self.pull_back(row) for row in one_hot),
            weights=tuple(weights),
            gradient=self.pull_back(weights),
        )


def named_entries(name: str, tensor: Tensor) -> tuple[tuple[str, float], ...]:
    """Each entry of a tensor with its name: y[0], y[1], or y[0, 1], or y alone for a single number."""
    places = product(*map(range, tensor.shape))
    names = [f"{name}[{', '.join(map(str, place))}]" if place else name for place in places]
    return tuple(zip(names, tensor.detach().reshape(-1).tolist(), strict=True))


def sentences(state: Weighted) -> str:
    """What the picture shows, in a few short sentences."""
    at = ", ".join(f"{name} = {brief(value)}" for name, value in state.inputs)
    rows = "; ".join(
        f"{name}: {', '.join(map(brief, row))}" for (name, _), row in zip(state.outputs, state.rows, strict=True)
    )
    weights = ", ".join(
        f"{brief(weight)} for {name}" for (name, _), weight in zip(state.outputs, state.weights, strict=True)
    )
    gradient = ", ".join(
        f"{brief(value)} for {name}" for (name, _), value in zip(state.inputs, state.gradient, strict=True)
    )
    return (
        f"{state.title} at {at}. Rows of its Jacobian: {rows}. Weights g: {weights}. "
        f"The weighted sum of the rows, by torch's backward(g): {gradient}."
    )
