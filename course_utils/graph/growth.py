"""The second-order graph beside the first, and at which step each of its nodes is born."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from .data import Edge, Graph, Node, Place, SavedTensor
from .events import Accumulated, ChangedByHook, ChangedInPlace, Entered, Event, Freed, Returned, Seed, Sent
from .recording import Origin, Recording, SecondOrder


@dataclass(frozen=True, slots=True)
class GrownNode(Node):
    """A node in a graph of both orders; it keeps the label it has in its own."""

    own_label: str = ""

    @property
    def label(self) -> str:
        """The label in the graph that the node comes from, with ′ if that is the second."""
        return self.own_label


@dataclass(frozen=True)
class Growth:
    """Both graphs as one, and when what appears.

    `recording` is the same backward pass in that graph. `born` gives the step for every node of the
    second order, `why` the word on its card.
    """

    recording: Recording
    born: dict[int, int]
    why: dict[int, str]

    def newborn(self, step: int) -> tuple[str, ...]:
        """The labels of the nodes that this step brought."""
        nodes = self.recording.graph.nodes
        return tuple(nodes[number].label for number, when in self.born.items() if when == step)


def growth(recording: Recording) -> Growth:
    """The backward pass with the graph that it built; `recording` was made with `create_graph=True`."""
    if recording.second_order is None:
        raise ValueError("This recording has no second-order graph. Record it with `record(y, create_graph=True)`.")
    return _Grower(recording, recording.second_order).grow()


class _Grower:
    """Numbers the new nodes first, as a backward pass through both would visit them."""

    def __init__(self, recording: Recording, second: SecondOrder) -> None:
        self.recording, self.second = recording, second
        fresh = [n for n, origin in enumerate(second.origins) if origin.birth != "first graph"]
        self.fresh = {number: place for place, number in enumerate(fresh)}
        self.shift = len(fresh)

    def grow(self) -> Growth:
        first = self.recording.graph
        nodes = [self._fresh_node(self.second.graph.nodes[number]) for number in self.fresh]
        nodes += [self._shifted_node(node) for node in first.nodes]
        edges = [self._fresh_edge(edge) for edge in self.second.graph.edges if edge.source in self.fresh]
        edges += [self._edge(edge) for edge in first.edges]
        graph = Graph(tuple(nodes), tuple(edges), tuple(map(self._place, first.roots)))
        seeds = tuple(Seed(self._place(seed.place), seed.gradient) for seed in self.recording.seeds)
        events = tuple(map(self._event, self.recording.events))
        born = {self.fresh[number]: self._born(self.second.origins[number]) for number in self.fresh}
        why = {self.fresh[number]: self._why(self.second.origins[number]) for number in self.fresh}
        return Growth(Recording(graph, seeds, events, None, self.recording.error), born, why)

    def _fresh_node(self, node: Node) -> GrownNode:
        saved = tuple(self._saved(tensor, self._fresh_place) for tensor in node.saved)
        return _grown(replace(node, number=self.fresh[node.number], saved=saved), f"{node.label}′")

    def _shifted_node(self, node: Node) -> GrownNode:
        saved = tuple(self._saved(tensor, self._place) for tensor in node.saved)
        return _grown(replace(node, number=node.number + self.shift, saved=saved), node.label)

    def _saved(self, tensor: SavedTensor, moved: object) -> SavedTensor:
        return tensor if tensor.result is None else replace(tensor, result=moved(tensor.result))

    def _place(self, place: Place) -> Place:
        return Place(place.node + self.shift, place.result)

    def _fresh_place(self, place: Place) -> Place:
        """Where a place of the second-order graph is in the graph of both."""
        if place.node in self.fresh:
            return Place(self.fresh[place.node], place.result)
        return Place(self.second.origins[place.node].node + self.shift, place.result)

    def _edge(self, edge: Edge) -> Edge:
        return replace(edge, source=edge.source + self.shift, target=edge.target + self.shift)

    def _fresh_edge(self, edge: Edge) -> Edge:
        return Edge(self.fresh[edge.source], edge.position, *self._fresh_place(edge.place))

    def _event(self, event: Event) -> Event:
        match event:
            case Entered(node=node, within=within):
                return replace(event, node=node + self.shift, within=None if within is None else within + self.shift)
            case Sent(message=message):
                return replace(event, message=replace(message, edge=self._edge(message.edge)))
            case ChangedByHook(node=node) | Freed(node=node):
                return replace(event, node=node + self.shift)
            case ChangedInPlace(node=node, writer=writer):
                return replace(event, node=node + self.shift, writer=writer + self.shift)
            case Accumulated(place=place) | Returned(place=place):
                return replace(event, place=self._place(place))
        raise TypeError(f"no such event: {event!r}")

    def _born(self, origin: Origin) -> int:
        if origin.birth == "node":
            return self._last_step.get(origin.node, 0) if self._is_leaf(origin.node) else self._first_sent(origin.node)
        if origin.birth == "sum":
            return self._sums.get(origin.place, 0)
        return 0  # born before the pass, or in a hook of which nobody knows when it ran

    def _why(self, origin: Origin) -> str:
        first = self.recording.graph
        if origin.birth == "node":
            return f"from {first.nodes[origin.node].label}"
        return f"sum at {first.name_of(origin.place)}" if origin.birth == "sum" else "from elsewhere"

    def _is_leaf(self, node: int) -> bool:
        return self.recording.graph.nodes[node].kind == "leaf"

    def _first_sent(self, node: int) -> int:
        """The first step at which something comes out of the node: what it built is there by then."""
        steps = (step for step, event in self._steps if isinstance(event, Sent) and event.message.source == node)
        return next(steps, self._last_step.get(node, 0))

    @cached_property
    def _steps(self) -> Sequence[tuple[int, Event]]:
        return tuple(enumerate(self.recording.events, 1))

    @cached_property
    def _last_step(self) -> dict[int, int]:
        """The last step at which each node enters or puts something into `.grad`."""
        found = {}
        for step, event in self._steps:
            match event:
                case Entered(node=node) | Accumulated(place=Place(node=node)) | Returned(place=Place(node=node)):
                    found[node] = step
        return found

    @cached_property
    def _sums(self) -> dict[Place, int]:
        """The step at which the last message to each place was added to the others."""
        return {
            event.message.edge.place: step for step, event in self._steps if isinstance(event, Sent) and event.count > 1
        }


def _grown(node: Node, label: str) -> GrownNode:
    values = {name: getattr(node, name) for name in Node.__dataclass_fields__}
    return GrownNode(**values, own_label=label)
