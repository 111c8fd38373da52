"""What nudging says of a gradient: the judge that needs the forward alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch


def measure(function: Callable[..., torch.Tensor], *inputs: object, h: float = 1e-5) -> list[torch.Tensor]:
    """The slope of `function(*inputs)`, which is one number, along every number in every input.

    For each number it puts in x + h, then x - h, and divides the difference of the results by 2h: the central
    difference. Returns one float64 tensor for each input, in its shape; the inputs stay as they are.
    """
    with torch.no_grad():
        values = [torch.as_tensor(value, dtype=torch.float64).clone() for value in inputs]
        return [_slopes(function, values, place, h) for place in range(len(values))]


def _slopes(function: Callable[..., torch.Tensor], values: list[torch.Tensor], place: int, h: float) -> torch.Tensor:
    slopes = torch.empty_like(values[place])
    for index in np.ndindex(*slopes.shape):
        above, below = (_result(function, values, place, index, step) for step in (h, -h))
        slopes[index] = (above - below) / (2 * h)
    return slopes


def _result(
    function: Callable[..., torch.Tensor],
    values: list[torch.Tensor],
    place: int,
    index: tuple[int, ...],
    step: float,
) -> torch.Tensor:
    """The function's value after one entry of the input at `place` was moved by `step`."""
    moved = [value.clone() for value in values]
    moved[place][index] += step
    return function(*moved)
