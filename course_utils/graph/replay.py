"""The state of a backward pass after each of its events; what a stepper, a test or prose shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, overload

from .data import Edge, Graph, Place
from .events import (
    Accumulated,
    ChangedByHook,
    ChangedInPlace,
    Entered,
    Event,
    Freed,
    GradientMessage,
    Returned,
    Sent,
)
from .recording import Recording
from .values import Snapshot

NodeStatus = Literal["idle", "waiting", "running", "done"]


@dataclass(frozen=True)
class State:
    """Where everything stands after `step` events; `event` is the one that has just happened.

    `waiting` is the sum so far at each place whose node has not started, `incoming` what each node
    that has started received, `grads` every `.grad` that is not empty, `freed` the nodes that have
    freed what they saved. A node is "idle" until a message or seed is there for it, then "waiting",
    "running" and "done".
    """

    step: int
    event: Event | None
    status: tuple[NodeStatus, ...]
    messages: Mapping[Edge, GradientMessage]
    waiting: Mapping[Place, Snapshot | None]
    incoming: Mapping[int, tuple[Snapshot | None, ...]]
    grads: Mapping[Place, Snapshot]
    returned: Mapping[Place, Snapshot | None]
    freed: frozenset[int]


class Replay(Sequence[State]):
    """The states of a recording: `replay[0]` before the first event, `replay[-1]` at the end."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def __len__(self) -> int:
        return len(self.recording.events) + 1

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> list[State]: ...
    def __getitem__(self, index: int | slice) -> State | list[State]:
        if isinstance(index, slice):
            return [self[step] for step in range(len(self))[index]]
        step = range(len(self))[index]
        progress = _Progress(self.recording)
        for event in self.recording.events[:step]:
            progress.apply(event)
        return progress.state()

    def __iter__(self) -> Iterator[State]:
        progress = _Progress(self.recording)
        yield progress.state()
        for event in self.recording.events:
            progress.apply(event)
            yield progress.state()


def replay(recording: Recording) -> Replay:
    """The state after each event of `recording`, made when asked for."""
    return Replay(recording)


@dataclass
class _Progress:
    """A state in the making."""

    recording: Recording
    step: int = 0
    event: Event | None = None
    messages: dict[Edge, GradientMessage] = field(default_factory=dict)
    waiting: dict[Place, Snapshot | None] = field(default_factory=dict)
    incoming: dict[int, tuple[Snapshot | None, ...]] = field(default_factory=dict)
    returned: dict[Place, Snapshot | None] = field(default_factory=dict)
    freed: set[int] = field(default_factory=set)
    running: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.grads = _grads_before(self.recording.graph)
        for seed in self.recording.seeds:
            self.waiting[seed.place] = seed.gradient

    def apply(self, event: Event) -> None:
        self.step += 1
        self.event = event
        self._leave_finished(event)
        match event:
            case Entered(node=node, incoming=incoming):
                self.incoming[node] = incoming
                self.running.append(node)
                for place in [place for place in self.waiting if place.node == node]:
                    del self.waiting[place]
            case Sent(message=message, waiting=waiting):
                self.messages[message.edge] = message
                self.waiting[message.edge.place] = waiting
            case Accumulated(place=place, after=after):
                self._set_grad(place, after)
            case ChangedByHook():
                self._change(event)
            case ChangedInPlace(node=node, index=index, after=after):
                self.waiting[Place(node, index)] = after
            case Returned(place=place, gradient=gradient):
                self.returned[place] = gradient
                self.waiting.pop(place, None)
            case Freed(node=node):
                self.freed.add(node)

    def state(self) -> State:
        return State(
            self.step,
            self.event,
            self._statuses(),
            MappingProxyType(dict(self.messages)),
            MappingProxyType(dict(self.waiting)),
            MappingProxyType(dict(self.incoming)),
            MappingProxyType(dict(self.grads)),
            MappingProxyType(dict(self.returned)),
            frozenset(self.freed),
        )

    def _leave_finished(self, event: Event) -> None:
        """Ends every node that the event shows to be done: a new one starts, outside of it."""
        if isinstance(event, Entered):
            while self.running and self.running[-1] != event.within:
                self.running.pop()

    def _change(self, event: ChangedByHook) -> None:
        place = Place(event.node, event.index)
        if event.side == "incoming":
            self.waiting[place] = event.after
        elif event.side == ".grad":
            self._set_grad(place, event.after)

    def _set_grad(self, place: Place, grad: Snapshot | None) -> None:
        if grad is None:
            self.grads.pop(place, None)
        else:
            self.grads[place] = grad

    def _statuses(self) -> tuple[NodeStatus, ...]:
        status: list[NodeStatus] = ["idle"] * len(self.recording.graph)
        for place in self.waiting:
            status[place.node] = "waiting"
        for node in self.incoming:
            status[node] = "done"
        finished = self.step == len(self.recording.events) and self.recording.error is None
        for node in [] if finished else self.running:
            status[node] = "running"
        return tuple(status)


def _grads_before(graph: Graph) -> dict[Place, Snapshot]:
    return {
        Place(node.number, index): result.grad
        for node in graph.nodes
        for index, result in enumerate(node.results)
        if result.grad is not None
    }
