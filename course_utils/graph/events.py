"""What happens in a backward pass, event by event, as frozen plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .data import Edge, Place
from .values import PlainValue, Snapshot


@dataclass(frozen=True, slots=True)
class GradientMessage:
    """A gradient that one node sends to another along an edge.

    `gradient` is None where the node sends nothing, which is not zero. Then `needed` says whether
    anybody asked for it: `torch.autograd.grad(y, [x])` leaves out what does not lead to x.
    """

    edge: Edge
    gradient: Snapshot | None
    needed: bool = True

    @property
    def source(self) -> int:
        """The number of the node that sends it."""
        return self.edge.source

    @property
    def target(self) -> int:
        """The number of the node that gets it."""
        return self.edge.target

    @property
    def value(self) -> PlainValue | None:
        """The gradient as plain numbers."""
        return None if self.gradient is None else self.gradient.value

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of the gradient."""
        return None if self.gradient is None else self.gradient.shape


@dataclass(frozen=True, slots=True)
class Seed:
    """The gradient that the caller hands to a root to start with; 1 if the caller says nothing."""

    place: Place
    gradient: Snapshot


@dataclass(frozen=True, slots=True)
class Entered:
    """A node starts: all it waits for has arrived, and been added up.

    `incoming` has an entry for each result of the node's operation, None where nothing arrived.
    `within` is the node whose own backward pass this happens in, as a checkpoint runs one.
    """

    node: int
    incoming: tuple[Snapshot | None, ...]
    within: int | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """A message is on its way and is added to what already waits at its end.

    `waiting` is the sum there from now on, `count` of how many messages and seeds.
    """

    message: GradientMessage
    waiting: Snapshot | None
    count: int = 1


@dataclass(frozen=True, slots=True)
class ChangedByHook:
    """A hook put one gradient in the place of another.

    `side` says which: "incoming" of the node, "outgoing" (then `index` is the position of the
    input), or the leaf's ".grad" after the gradient was added to it.
    """

    node: int
    index: int
    side: Literal["incoming", "outgoing", ".grad"]
    before: Snapshot | None
    after: Snapshot | None
    hook: str


@dataclass(frozen=True, slots=True)
class ChangedInPlace:
    """The backward of the node `writer` wrote into a gradient that others hold as well.

    First comes the gradient that it was given itself; then each that waits at another node, and is
    the same tensor: an addition sends one tensor to both of its inputs.
    """

    node: int
    index: int
    before: Snapshot | None
    after: Snapshot
    writer: int


@dataclass(frozen=True, slots=True)
class Accumulated:
    """A gradient was added to the `.grad` of a tensor: a leaf, or one that asked to retain it."""

    place: Place
    gradient: Snapshot | None
    before: Snapshot | None
    after: Snapshot | None


@dataclass(frozen=True, slots=True)
class Returned:
    """A gradient is complete and goes back to the caller of `torch.autograd.grad`."""

    place: Place
    gradient: Snapshot | None


@dataclass(frozen=True, slots=True)
class Freed:
    """A node is done and has freed the tensors it had saved."""

    node: int
    saved: tuple[str, ...]


Event = Entered | Sent | ChangedByHook | ChangedInPlace | Accumulated | Returned | Freed
