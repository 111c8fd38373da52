"""A backward pass as data: the graph, its events in the engine's order, and questions to ask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeVar

from .data import Graph, Place
from .events import Accumulated, Entered, Event, GradientMessage, Returned, Seed, Sent
from .values import Snapshot

EventKind = TypeVar("EventKind")
Birth = Literal["first graph", "node", "sum", "elsewhere"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a node of the second-order graph comes from.

    "first graph": it is the node with the number `node` of the first graph, shared by both.
    "node": it was born while that node computed. "sum": the engine made it, adding up what arrived
    at `place`. "elsewhere": it was born outside, in a hook or before the backward pass.
    """

    birth: Birth
    node: int | None = None
    place: Place | None = None


@dataclass(frozen=True)
class SecondOrder:
    """The graph behind the gradients themselves, and where each of its nodes comes from."""

    graph: Graph
    origins: tuple[Origin, ...]

    def offspring(self, node: int) -> tuple[int, ...]:
        """The second-order nodes that the first-order node gave birth to."""
        return self._numbers("node", node)

    @cached_property
    def sums(self) -> tuple[int, ...]:
        """The additions that the engine made itself, where several messages arrived."""
        return tuple(n for n, origin in enumerate(self.origins) if origin.birth == "sum")

    @cached_property
    def shared(self) -> tuple[int, ...]:
        """The nodes that belong to the first graph as well."""
        return tuple(n for n, origin in enumerate(self.origins) if origin.birth == "first graph")

    def _numbers(self, birth: Birth, node: int) -> tuple[int, ...]:
        return tuple(n for n, origin in enumerate(self.origins) if origin == Origin(birth, node))


@dataclass(frozen=True)
class Recording:
    """Everything that happened in one backward pass.

    `graph` is the graph as it was before. `error` is the first line of the exception that ended the
    pass, if one did; the events are then those before it.
    """

    graph: Graph
    seeds: tuple[Seed, ...]
    events: tuple[Event, ...]
    second_order: SecondOrder | None = None
    error: str | None = None

    @cached_property
    def messages(self) -> tuple[GradientMessage, ...]:
        """All messages, in the order they were sent."""
        return tuple(event.message for event in self.of_kind(Sent))

    def of_kind(self, kind: type[EventKind]) -> tuple[EventKind, ...]:
        """The events of one kind, in order: `recording.of_kind(Entered)`."""
        return tuple(event for event in self.events if isinstance(event, kind))

    def messages_to(self, key: str | int) -> tuple[GradientMessage, ...]:
        """The messages to the tensor with this name, or to the node with this number."""
        if isinstance(key, int):
            return tuple(message for message in self.messages if message.target == key)
        place = self.graph.place(key)
        return tuple(message for message in self.messages if message.edge.place == place)

    def messages_from(self, key: str | int) -> tuple[GradientMessage, ...]:
        """The messages that a node sends, found by its number or the name of its result."""
        number = self.graph.node(key).number
        return tuple(message for message in self.messages if message.source == number)

    def gradient(self, key: str | Place) -> Snapshot | None:
        """The complete gradient that arrived at a tensor: the sum of its messages, after hooks."""
        place = self.graph.place(key) if isinstance(key, str) else key
        for event in self.of_kind(Entered):
            if event.node == place.node and event.within is None:
                return event.incoming[place.result]
        for event in self.events:
            if isinstance(event, (Returned, Accumulated)) and event.place == place:
                return event.gradient
        return None

    def grad(self, name: str) -> Snapshot | None:
        """The tensor's `.grad` after the pass; None if it was never computed."""
        place = self.graph.place(name)
        landed = [event for event in self.of_kind(Accumulated) if event.place == place]
        result = self.graph.result(place)
        return landed[-1].after if landed else result.grad if result else None

    def __len__(self) -> int:
        return len(self.events)

    def __str__(self) -> str:
        from .text import recording_text

        return recording_text(self)

    def __repr__(self) -> str:
        roots = ", ".join(self.graph.name_of(seed.place) for seed in self.seeds)
        end = f"; ended by: {self.error}" if self.error else ""
        counts = f"{len(self.events)} events, {len(self.messages)} messages"
        return f"<Recording of a backward pass from {roots}: {counts}{end}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .draw import draw

        return draw(self)._repr_mimebundle_()
