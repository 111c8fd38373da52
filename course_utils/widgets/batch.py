"""How the outputs of a batch change with its inputs, sample by sample: a square of derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from course_utils.drawing.heat import brief, largest_of

MOST = 6  # samples; beyond these the numbers in a picture become too small
_NOTHING = 1e-9

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Mixing:
    """For one column of a batch, the derivative of each sample's output with respect to each sample's input.

    `rows[i][j]` is the derivative of output y[i, column] by input x[j, column]. `summed` is what a backward pass from
    the sum of all y[i, column] gives x[:, column]. `mixes`: some output, in any column, has a gradient at another one.
    """

    title: str
    column: int
    columns: int
    rows: tuple[tuple[float, ...], ...]
    summed: tuple[float, ...]
    mixes: bool

    @property
    def own(self) -> tuple[float, ...]:
        """The derivative of each sample's output with respect to its own input: the diagonal."""
        return tuple(row[place] for place, row in enumerate(self.rows))

    @property
    def agree(self) -> tuple[bool, ...]:
        """For each sample, whether the sum's gradient is the sample's own derivative."""
        scale = max(1.0, largest_of(self.rows))
        return tuple(abs(one - other) <= 1e-6 * scale for one, other in zip(self.own, self.summed, strict=True))


@dataclass(frozen=True)
class Batched:
    """A function of a batch, computed at one batch, whose graph is kept for backward passes."""

    title: str
    x: Tensor
    y: Tensor

    @classmethod
    def at(cls, title: str, function: Function, x: Tensor) -> Batched:
        """The function at the batch `x`; ValueError if it cannot be shown."""
        leaf = x.detach().clone().to(torch.float64).requires_grad_()
        if leaf.ndim not in (1, 2) or not 2 <= len(leaf) <= MOST:
            raise ValueError(
                f"explore_batch: x has the shape {tuple(x.shape)}. Give 2 to {MOST} samples, one in each row: the "
                "shape (samples, columns)."
            )
        with torch.inference_mode(False), torch.enable_grad():
            y = function(leaf)
        if not isinstance(y, Tensor) or y.shape != leaf.shape:
            what = tuple(y.shape) if isinstance(y, Tensor) else type(y).__name__
            raise ValueError(
                f"explore_batch: {title} gave {what} for a batch of shape {tuple(leaf.shape)}. Its result must have "
                "the shape of the batch."
            )
        if not y.requires_grad:
            raise ValueError(
                f"explore_batch: the result of {title} has no graph that leads to the batch. Compute it from the batch "
                "by torch operations, without detaching the batch itself."
            )
        return cls(title, leaf, y)

    @property
    def columns(self) -> int:
        return self.x[0].numel()

    def mixing(self, column: int) -> Mixing:
        """The derivatives in one column, one backward pass for each output, and the pass from their sum."""
        samples, columns = len(self.x), self.columns
        blocks = self._blocks()  # output sample, output column, input sample, input column
        across = blocks.abs().amax((1, 3)).masked_fill(torch.eye(samples, dtype=torch.bool), 0.0)
        in_column = self.y.reshape(samples, columns)[:, column]
        summed = self._pull_back(in_column.sum())[:, column]
        return Mixing(
            title=self.title,
            column=column,
            columns=columns,
            rows=tuple(map(tuple, blocks[:, column, :, column].tolist())),
            summed=tuple(summed.tolist()),
            mixes=bool(across.max() > _NOTHING * max(1.0, blocks.abs().max().item())),
        )

    def _blocks(self) -> Tensor:
        shape = (len(self.x), self.columns)
        rows = [self._pull_back(entry) for entry in self.y.reshape(-1)]
        return torch.stack(rows).reshape(*shape, *shape)

    def _pull_back(self, number: Tensor) -> Tensor:
        (gradient,) = torch.autograd.grad(number, self.x, retain_graph=True, materialize_grads=True)
        return gradient.reshape(len(self.x), self.columns)


def sentences(state: Mixing) -> str:
    """What the picture shows, in a few short sentences."""
    largest = largest_of([*state.rows, state.summed])
    rows = "; ".join(f"y[{i}]: {_listed(row, largest)}" for i, row in enumerate(state.rows))
    where = f" in column {state.column}" if state.columns > 1 else ""
    verdict = "The samples mix" if state.mixes else "In the backward pass no output meets another sample"
    said = "agree" if all(state.agree) else "DISAGREE"
    return (
        f"{state.title}: derivatives of each output by the inputs x[0] to x[{len(state.rows) - 1}]{where}. {rows}. "
        f"{verdict}. Each sample's own derivative: {_listed(state.own, largest)}. "
        f"Gradient of the sum: {_listed(state.summed, largest)}: {said}."
    )


def _listed(values: tuple[float, ...], largest: float) -> str:
    return ", ".join(brief(value, largest) for value in values)
