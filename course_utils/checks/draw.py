"""Random inputs for probes: float64, no two alike in size, away from zero and from each other."""

from __future__ import annotations

import math

import torch


class Draw:
    """A source of random inputs; the same seed gives the same inputs in the same order."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def tensor(self, *shape: int, low: float = 0.5, high: float = 2.5) -> torch.Tensor:
        """A float64 tensor whose entries differ in size, each of random sign, low <= |entry| < high.

        Entries have two decimals, so that a learner can type them, and no tenth is among them: 1.0 would hide a
        missing factor, 2.0 a square taken for a product. The sizes are spread over the range and shuffled.
        """
        count = math.prod(shape)
        choice = [n / 100 for n in range(round(low * 100), round(high * 100)) if n % 10]
        if 2 * count > len(choice):
            raise ValueError(f"{count} entries that differ do not fit between {low} and {high}")
        spread = torch.rand(count, generator=self._generator, dtype=torch.float64)
        # a dtype of its own: a notebook may have changed the default, and would get other inputs than the solution
        places = (torch.arange(count, dtype=torch.float32) + 0.2 + 0.6 * spread) * len(choice) / max(count, 1)
        sizes = torch.tensor(choice, dtype=torch.float64)[places.long()]
        signs = torch.randint(0, 2, (count,), generator=self._generator) * 2 - 1
        order = torch.randperm(count, generator=self._generator)
        return (sizes * signs)[order].reshape(shape)

    def scalars(self, count: int, low: float = 0.5, high: float = 2.5) -> list[torch.Tensor]:
        """So many 0-dimensional float64 tensors, drawn as the entries of one `tensor`."""
        return list(self.tensor(count, low=low, high=high).unbind())

    def whole(self, low: int, high: int) -> int:
        """A whole number, low <= n <= high."""
        return int(torch.randint(low, high + 1, (), generator=self._generator))
