"""Listens to a running backward pass and writes down its events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from .arrivals import Arrivals, version_of
from .data import Edge, Place
from .events import Accumulated, ChangedByHook, ChangedInPlace, Entered, Event, Freed, GradientMessage, Seed, Sent
from .hooks import UNSEEN_HOOK, Probes
from .trace import Survey
from .values import Snapshot, same, snapshot
from .walk import LiveEdge, live_place

_FREEABLE = ("saved", "packed", "not read")


@dataclass(frozen=True, slots=True)
class Span:
    """The nodes born while one node computed: torch numbers them in the order of birth."""

    node: int
    first: int
    after_last: int


class Recorder:
    """Writes events while the engine runs; `attach` it before the pass and `detach` it after."""

    def __init__(self, survey: Survey, *, create_graph: bool, frees: bool, wanted: set[Place], keep: int) -> None:
        self.survey = survey
        self.graph = survey.graph
        self.create_graph = create_graph
        self.frees = frees
        self.keep = keep
        self.events: list[Event] = []
        self.seeds: list[Seed] = []
        self.spans: list[Span] = []
        self.contributions: list[tuple[Place, LiveEdge]] = []
        """With `create_graph`: what arrives at each place, as a node of the second-order graph."""
        self._edges = [[None] * len(following) for following in survey.walk.following]
        for edge in self.graph.edges:
            self._edges[edge.source][edge.position] = edge
        self._wanted = wanted
        self._needed = self._nodes_needed()
        self._arrivals = Arrivals(self.graph, keep)
        self._open: list[int] = []
        self._born_from: dict[int, int] = {}
        self._outgoing: dict[int, list[Snapshot | None]] = {}
        self._arrived: dict[int, tuple[Snapshot | None, ...]] = {}
        self._grad_before: dict[int, Snapshot | None] = {}
        self._landed: dict[int, Snapshot | None] = {}
        self._versions: dict[int, list[int | None]] = {}
        self.retained = {
            place: tensor for place, tensor in survey.tensors.items() if tensor.retains_grad and not tensor.is_leaf
        }
        self._probes = Probes()

    def attach(self) -> None:
        """Hangs probes on every node, and on tensors whose hooks could change a gradient."""
        for place, tensor in self.survey.tensors.items():
            if tensor._backward_hooks:
                self._probes.add(tensor.register_hook, partial(self._tensor_hook, place))
            if tensor.is_leaf and tensor._post_accumulate_grad_hooks:
                register = tensor.register_post_accumulate_grad_hook
                self._probes.add(register, partial(self._grad_hook, place.node))
        for number, node in enumerate(self.survey.walk.nodes):
            self._probes.add(node.register_prehook, partial(self._before_node, number))
            self._probes.add(node.register_hook, partial(self._after_node, number))

    def detach(self) -> None:
        """Takes every probe off."""
        self._probes.remove()

    def seed(self, place: Place, gradient: Tensor) -> None:
        """Notes the gradient that the caller starts with at a root."""
        seen = snapshot(gradient, self.keep)
        self.seeds.append(Seed(place, seen))
        self._arrivals.expect(place)
        self._contribute(place, gradient)
        self._arrivals.add((0, place), gradient, seen)

    def left_waiting(self) -> dict[Place, Snapshot | None]:
        """What has arrived at places whose nodes did not run."""
        return self._arrivals.left()

    def arrived(self, place: Place) -> Snapshot | None:
        """The complete gradient at a place, whether its node has run or not."""
        incoming = self._arrived.get(place.node)
        return self.left_waiting().get(place) if incoming is None else incoming[place.result]

    def grad_before(self, place: Place) -> Snapshot | None:
        """The `.grad` of a tensor before the pass, as the graph has it."""
        result = self.graph.result(place)
        return result.grad if result else None

    def grad(self, tensor: Tensor) -> Snapshot | None:
        """The `.grad` of a tensor as it is now; None if it can have none."""
        return self.snapshot(tensor.grad) if tensor.is_leaf or tensor.retains_grad else None

    def snapshot(self, tensor: Tensor | None) -> Snapshot | None:
        """`tensor` as it is now; None stays None."""
        return None if tensor is None else snapshot(tensor, self.keep)

    # What the probes see, in the order in which torch calls them for one node.

    def _tensor_hook(self, place: Place, hook: str | None, last: bool, seen: tuple) -> None:
        self._compare_incoming(place, seen[0], hook)

    def _before_node(self, number: int, hook: str | None, last: bool, seen: tuple) -> None:
        gradients = seen[0]
        for result, gradient in enumerate(gradients):
            self._compare_incoming(Place(number, result), gradient, hook)
        if last:
            self._enter(number, len(gradients))
            self._versions[number] = [version_of(gradient) for gradient in gradients]

    def _after_node(self, number: int, hook: str | None, last: bool, seen: tuple) -> None:
        gradients = seen[0]
        if hook is None:
            self._compare_own(number, seen[1])
            if self.create_graph:
                born = Span(number, self._born_from[number], torch._C._autograd._get_sequence_nr())
                self.spans.append(born)
            self._outgoing[number] = [self.snapshot(gradient) for gradient in gradients]
        else:
            self._compare_outgoing(number, gradients, hook)
        if last:
            self._leave(number, gradients)

    def _grad_hook(self, number: int, hook: str | None, last: bool, seen: tuple) -> None:
        grad = self.snapshot(seen[0].grad)
        if hook is None:
            self._land(number, grad)
        elif not same(self._landed[number], grad):
            before, self._landed[number] = self._landed[number], grad
            self.events.append(ChangedByHook(number, 0, ".grad", before, grad, hook))

    def _enter(self, number: int, results: int) -> None:
        depth = len(self._open)
        places = [Place(number, result) for result in range(results)]
        incoming = tuple(self._arrivals.take((depth, place)) for place in places)
        for place in places:
            if place in self.retained:
                self._retain(place, incoming[place.result])
        self.events.append(Entered(number, incoming, self._open[-1] if self._open else None))
        self._open.append(number)
        self._arrived[number] = incoming
        if self.graph.nodes[number].kind == "leaf":
            self._grad_before[number] = self.grad(self._variable(number))
        if self.create_graph:
            self._born_from[number] = torch._C._autograd._get_sequence_nr()

    def _leave(self, number: int, gradients: tuple[Tensor | None, ...]) -> None:
        while self._open.pop() != number:  # a node that raised inside a pass of its own stays open
            continue
        depth = len(self._open)
        outgoing = self._outgoing.pop(number)
        for edge, gradient, seen in zip(self._edges[number], gradients, outgoing, strict=False):
            if edge is not None:
                self._send(depth, edge, gradient, seen)
        node = self.graph.nodes[number]
        if node.kind == "leaf":
            if number not in self._landed:
                self._land(number, self.grad(self._variable(number)))
            del self._landed[number]
        elif self.frees:
            held = tuple(saved.name for saved in node.saved if saved.state in _FREEABLE)
            if held:  # freed by the engine as soon as this hook, the last, has returned
                self.events.append(Freed(number, held))

    def _send(self, depth: int, edge: Edge, gradient: Tensor | None, seen: Snapshot | None) -> None:
        needed = self._needed[edge.target] or edge.place in self._wanted
        self._contribute(edge.place, gradient)
        waiting = self._arrivals.add((depth, edge.place), gradient, seen)
        message = GradientMessage(edge, seen, needed)
        self.events.append(Sent(message, waiting.snapshot, waiting.count))

    def _land(self, number: int, after: Snapshot | None) -> None:
        before, gradient = self._grad_before[number], self._arrived[number][0]
        self.events.append(Accumulated(Place(number, 0), gradient, before, after))
        self._landed[number] = after

    def _retain(self, place: Place, gradient: Snapshot | None) -> None:
        before, after = self.grad_before(place), self.grad(self.retained[place])
        self.events.append(Accumulated(place, gradient, before, after))

    def _contribute(self, place: Place, gradient: Tensor | None) -> None:
        if self.create_graph and gradient is not None:
            edge = live_place(gradient) if gradient.requires_grad else (None, 0)
            self.contributions.append((place, edge))

    def _compare_incoming(self, place: Place, gradient: Tensor | None, hook: str | None) -> None:
        replaced = self._arrivals.replaced((len(self._open), place), gradient)
        if replaced:
            change = ChangedByHook(*place, "incoming", *replaced, hook or UNSEEN_HOOK)
            self.events.append(change)

    def _compare_own(self, number: int, gradients: tuple[Tensor | None, ...]) -> None:
        """Notes what the node itself has written into the gradients that it was given."""
        versions = self._versions.pop(number)
        if self.graph.nodes[number].kind == "leaf":  # `.grad` may be the very tensor that arrived
            return
        for index, (gradient, version) in enumerate(zip(gradients, versions, strict=True)):
            before = self._arrived[number][index]
            if gradient is None or version == version_of(gradient) or same(before, after := self.snapshot(gradient)):
                continue
            self.events.append(ChangedInPlace(number, index, before, after, number))
            for place, *values in self._arrivals.rewritten(gradient):
                self.events.append(ChangedInPlace(*place, *values, number))

    def _compare_outgoing(self, number: int, gradients: tuple, hook: str) -> None:
        known = self._outgoing[number]
        for position, gradient in enumerate(gradients):
            before, after = known[position], self.snapshot(gradient)
            if not same(before, after):
                known[position] = after
                self.events.append(ChangedByHook(number, position, "outgoing", before, after, hook))

    def _nodes_needed(self) -> list[bool]:
        """Which nodes run: all, unless gradients are wanted at certain places only."""
        if not self._wanted:
            return [True] * len(self.graph)
        needed = [False] * len(self.graph)
        for edge in reversed(self.graph.edges):  # sources in falling order, so targets are decided
            if edge.place in self._wanted or needed[edge.target]:
                needed[edge.source] = True
        return needed

    def _variable(self, number: int) -> Tensor:
        return self.survey.tensors[Place(number, 0)]
