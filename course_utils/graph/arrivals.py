"""Adds up what arrives at each place, as the engine does, and notices what is not that sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from .data import Graph, Place
from .values import Snapshot, same, snapshot

Where = tuple[int, Place]
"""How deep inside other nodes' backward passes, and at which place."""
Memory = tuple[int, tuple[int, ...], tuple[int, ...]]
"""Where a tensor's numbers are, its shape, and its strides: together they tell its values."""


@dataclass(slots=True)
class Waiting:
    """What has arrived at one place so far.

    `tensor` is there to add to and to compare with, where the snapshot alone would not do;
    `version` tells whether it has been changed in place since. `memory` is that of the one tensor
    which has arrived, as long as it is alone.
    """

    snapshot: Snapshot | None
    tensor: Tensor | None
    count: int = 1
    memory: Memory | None = None
    version: int | None = None

    def __post_init__(self) -> None:
        self.version = version_of(self.tensor)

    def surely_holds(self, tensor: Tensor) -> bool:
        """Whether `tensor` has the values that arrived; False if it takes a closer look."""
        held = self.tensor
        if held is None or tensor.layout is not torch.strided or held.layout is not torch.strided:
            return False
        if held.data_ptr() == tensor.data_ptr() and held.stride() == tensor.stride():
            return held.shape == tensor.shape and self.version == version_of(tensor)
        return held.dtype == tensor.dtype and torch.equal(held, tensor)


class Arrivals:
    """What waits at every place of a graph whose node has not started."""

    def __init__(self, graph: Graph, keep: int) -> None:
        self._keep = keep
        self._waiting: dict[Where, Waiting] = {}
        self._expected: dict[Place, int] = {}
        for edge in graph.edges:
            self.expect(edge.place)

    def expect(self, place: Place) -> None:
        """Counts one more message or seed that will arrive at `place`."""
        self._expected[place] = self._expected.get(place, 0) + 1

    def add(self, where: Where, gradient: Tensor | None, seen: Snapshot | None) -> Waiting:
        """What waits there once `gradient`, of which `seen` is the snapshot, has arrived."""
        waiting = self._waiting.get(where)
        count = waiting.count + 1 if waiting else 1
        if waiting is None or waiting.snapshot is None:
            waiting = Waiting(seen, self._hold(where[1], gradient), count, memory_of(gradient))
        elif gradient is None:
            waiting = Waiting(waiting.snapshot, waiting.tensor, count, waiting.memory)
        else:
            total = _sum(waiting.tensor, gradient.detach())
            waiting = Waiting(snapshot(total, self._keep), total, count)
        self._waiting[where] = waiting
        return waiting

    def replaced(self, where: Where, gradient: Tensor | None) -> tuple[Snapshot | None, ...]:
        """The snapshots before and after, if `gradient` is not what waits there; it then does."""
        waiting = self._waiting.get(where)
        if waiting is None:  # nothing arrived, or it came by a pass whose nodes are not ours
            if gradient is not None:
                self._waiting[where] = Waiting(snapshot(gradient, self._keep), None)
            return ()
        after = self._settle(waiting, gradient)
        if after is waiting.snapshot:
            return ()
        tensor = None if gradient is None else gradient.detach()
        self._waiting[where] = Waiting(after, tensor, waiting.count)
        return waiting.snapshot, after

    def rewritten(self, gradient: Tensor) -> Iterator[tuple[Place, Snapshot | None, Snapshot]]:
        """The places at which this very tensor waits, with the snapshots before and after; it was written into."""
        memory = memory_of(gradient)
        after = snapshot(gradient, self._keep)
        for (depth, place), waiting in list(self._waiting.items()):
            if memory is not None and waiting.memory == memory:
                held = self._hold(place, gradient)
                self._waiting[depth, place] = Waiting(after, held, waiting.count, memory)
                yield place, waiting.snapshot, after

    def take(self, where: Where) -> Snapshot | None:
        """What waits there, and no longer does."""
        waiting = self._waiting.pop(where, None)
        return waiting.snapshot if waiting else None

    def left(self) -> dict[Place, Snapshot | None]:
        """What waits at places whose nodes did not run."""
        waiting = self._waiting.items()
        return {place: arrived.snapshot for (depth, place), arrived in waiting if depth == 0}

    def _hold(self, place: Place, gradient: Tensor | None) -> Tensor | None:
        if gradient is None:
            return None
        if self._expected[place] > 1:
            # a copy, because the engine may add the next message into this very tensor
            return gradient.detach().clone()
        return gradient.detach() if gradient.numel() > self._keep else None

    def _settle(self, waiting: Waiting, gradient: Tensor | None) -> Snapshot | None:
        """`waiting.snapshot` itself if `gradient` holds the same values, else a new snapshot."""
        if gradient is None:
            return None
        if gradient.numel() > self._keep and waiting.surely_holds(gradient.detach()):
            return waiting.snapshot
        seen = snapshot(gradient, self._keep)
        return waiting.snapshot if same(waiting.snapshot, seen) else seen


def memory_of(tensor: Tensor | None) -> Memory | None:
    """Where the tensor's numbers are; None for one that has no plain memory."""
    if tensor is None or tensor.layout is not torch.strided or tensor.is_meta:
        return None
    try:
        return tensor.data_ptr(), tuple(tensor.shape), tensor.stride()
    except RuntimeError:  # inside a transform, or not made of numbers
        return None


def version_of(tensor: Tensor | None) -> int | None:
    """How often the tensor has been changed in place; None where nobody counts."""
    return None if tensor is None or tensor.is_inference() else tensor._version


@torch.no_grad()
def _sum(one: Tensor, other: Tensor) -> Tensor:
    """As the engine adds: in the order of arrival, but dense before sparse."""
    if one.is_sparse and not other.is_sparse:
        return other + one
    return one + other
