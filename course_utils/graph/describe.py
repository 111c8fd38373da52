"""From a graph and a state of its backward pass to the cards of a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from course_utils.drawing import language
from course_utils.drawing.lettering import shorten

from .cards import Card, Chip, Rooms, Row
from .data import Graph, Node, Place, SavedTensor
from .events import Accumulated, Entered, Freed, Returned, Sent
from .fold import Box, Link, View
from .formulas import argument
from .growth import Growth
from .recording import Recording
from .replay import State
from .spotlight import fills_grad, is_new, message_text, node_of, texts_of
from .values import Snapshot
from .wording import NOT_YET, gradient_text, is_kept, result_text, saved_text, value_text

_STATES = {"kept": "ctx", "packed": "packed", "not read": "saved", "changed": "changed!"}
_FREEABLE = ("saved", "packed", "not read")
_MOST_CONSTANTS = 3
_LINE = 150  # pixels of saved tensors side by side


class Describer:
    """The cards of one view; `recording` is None where only the graph is shown.

    `growth` tells which of the nodes are born on the way, if there are such; `changed` is for a
    graph in which every node has a `.grad`: those that have just changed.
    """

    def __init__(
        self,
        view: View,
        recording: Recording | None,
        growth: Growth | None = None,
        changed: frozenset[Place] | None = None,
    ) -> None:
        self.view, self.recording = view, recording
        self._changed = changed or frozenset()
        self._all_have_grad = changed is not None
        self.graph: Graph = view.graph
        self.born: Mapping[int, int] = growth.born if growth else {}
        self._why: Mapping[int, str] = growth.why if growth else {}

    def is_there(self, box: Box, state: State | None) -> bool:
        """Whether any node in the box has been born."""
        return state is None or any(self.born.get(number, 0) <= state.step for number in box.nodes)

    def carries_messages(self, link: Link) -> bool:
        """Whether gradients are sent along the line in this pass."""
        return self.recording is not None and any(edge.source not in self.born for edge in link.edges)

    @cached_property
    def rooms(self) -> Rooms:
        """Room for every text that will appear, so that nothing moves."""
        rooms = Rooms()
        if self.recording is None:
            return rooms
        for seed in self.recording.seeds:
            rooms.reserve(seed.place, gradient_text(seed.gradient))
        for event in self.recording.events:
            for slot, text in texts_of(event):
                rooms.reserve(slot, text)
        for node in self.graph.nodes:
            for saved in node.saved:
                rooms.reserve(("saved", node.number, saved.name), shorten(saved_text(self.graph, saved)[0], 22))
        return rooms

    def card(self, box: Box, state: State | None) -> Card:
        """What a box says in this state."""
        if box.is_fold:
            return self._fold(box, state)
        node = self.graph.nodes[box.nodes[0]]
        if node.number in self.born:
            return self._fresh(node, state)
        return self._leaf(node, state) if node.kind == "leaf" else self._operation(node, state)

    def _fresh(self, node: Node, state: State | None) -> Card:
        """A node of the second order: the pass makes it, and nothing runs through it yet."""
        card = self._operation(node, None)
        new = state is not None and state.event is not None and self.born[node.number] == state.step
        return replace(card, notes=(*card.notes, self._why[node.number]), new=new)

    def message(self, link: Link, state: State) -> Chip:
        """What has been sent along a line."""
        sent = [edge for edge in link.edges if edge in state.messages]
        new = isinstance(state.event, Sent) and state.event.message.edge in link.edges
        if len(link.edges) > 1:
            text = f"{len(sent)} of {len(link.edges)} sent"
            return Chip(text, language.GRADIENT if sent else language.NOT_COMPUTED, link, new)
        edge = link.edges[0]
        if not sent:
            return Chip(NOT_YET, language.NOT_COMPUTED, edge)
        message = state.messages[edge]
        look = language.NOT_COMPUTED if message.gradient is None else language.GRADIENT
        return Chip(message_text(message), look, edge, new)

    def constants(self, node: Node) -> list[tuple[int, str]]:
        """The inputs that need no gradient: their positions, and what is known of them."""
        positions = node.constant_inputs
        known = [(position, self._constant(node, position)) for position in positions]
        if len(known) <= _MOST_CONSTANTS:
            return known
        return [(positions[0], f"{len(positions)} constants")]

    def _constant(self, node: Node, position: int) -> str:
        name = argument(node, position)
        for saved in node.saved:
            if saved.name == name and saved.result is None and saved.shape is not None:
                value = value_text(saved.value)
                if value is not None and saved.variable is None:
                    return value
                return saved_text(self.graph, saved)[0]
        return "constant"

    def _operation(self, node: Node, state: State | None) -> Card:
        rows = [self._result_row(Place(node.number, index), state) for index in range(len(node.results))]
        places = (Place(node.number, index) for index in range(len(node.results)))
        rows += [self._grad_row(place, state) for place in places if self._retains(place)]
        rows += self._saved_rows(node, state)
        kind = {"custom": ("custom Function",), "opaque": ("one closed box",), "error": ("raises an error",)}
        settings = ", ".join(f"{name} {_setting(value)}" for name, value in node.settings if _tells(name, value))
        notes = kind.get(node.kind, ()) + ((shorten(settings, 26),) if settings else ())
        name = node.name.rpartition("::")[2]
        mark, new = self._mark(node, state)
        return Card(
            language.OPERATION,
            shorten(node.label, 36),
            "" if name == node.operation else name,
            notes,
            tuple(rows),
            mark,
            new,
        )

    def _result_row(self, place: Place, state: State | None) -> Row:
        result = self.graph.result(place)
        look = language.VALUE if is_kept(result) else language.NOT_KEPT
        value = Chip(shorten(result_text(result), 28), look)
        if state is None:
            return Row((value,))
        new = is_new(state.event, place)
        if place in state.waiting:
            return Row((value, _gradient(state.waiting[place], place, new)))
        if place.node in state.incoming:
            return Row((value, _gradient(state.incoming[place.node][place.result], place, new)))
        if place in state.returned:
            return Row((value, _gradient(state.returned[place], place, new)))
        return Row((value, Chip(NOT_YET, language.NOT_COMPUTED, place)))

    def _saved_rows(self, node: Node, state: State | None) -> list[Row]:
        """What the node saved, under the word that says how; short ones side by side."""
        gone = state is not None and node.number in state.freed
        new = gone and isinstance(state.event, Freed) and state.event.node == node.number
        groups: dict[str, list[Chip]] = {}
        for saved in node.saved:
            if saved.state != "empty":
                freed = saved.state == "freed" or (gone and saved.state in _FREEABLE)
                word = "freed" if freed else _STATES.get(saved.state, "saved")
                groups.setdefault(word, []).append(self._saved_chip(node, saved, freed, new and freed))
        return [
            Row(chips, word, further=not first)
            for word, group in groups.items()
            for first, chips in _in_lines(group, self.rooms)
        ]

    def _saved_chip(self, node: Node, saved: SavedTensor, freed: bool, new: bool) -> Chip:
        full, name = saved_text(self.graph, saved)
        slot = ("saved", node.number, saved.name)
        if freed:
            return Chip(shorten(name, 22), language.FREED, slot, new)
        return Chip(shorten(full, 22), language.VALUE, slot)

    def _leaf(self, node: Node, state: State | None) -> Card:
        leaf = node.results[0]
        place = Place(node.number, 0)
        rows = [Row((Chip(result_text(replace(leaf, name=None)), language.VALUE),))]
        if self._adds_up(node):
            rows.append(self._arriving_row(place, state))
        if state is None or not self._is_returned(place):
            rows.append(self._grad_row(place, state))
        mark, entered = self._mark(node, state)
        return Card(language.LEAF, shorten(node.label, 36), "", (), tuple(rows), mark, entered or rows[-1].chips[0].new)

    def _grad_row(self, place: Place, state: State | None) -> Row:
        """The tensor's `.grad`."""
        grad = self.graph.result(place).grad if state is None else state.grads.get(place)
        new = place in self._changed or (state is not None and fills_grad(state.event, place))
        look = language.NOT_COMPUTED if grad is None else language.GRADIENT
        text = NOT_YET if grad is None else gradient_text(grad)
        return Row((Chip(text, look, ("grad", place), new),), ".grad")

    def _retains(self, place: Place) -> bool:
        """Whether a tensor that is no leaf has a `.grad`, now or later."""
        return self._all_have_grad or self.graph.result(place).grad is not None or place in self._filled

    @cached_property
    def _filled(self) -> frozenset[Place]:
        events = self.recording.of_kind(Accumulated) if self.recording else ()
        return frozenset(event.place for event in events)

    def _arriving_row(self, place: Place, state: State | None) -> Row:
        row = self._result_row(place, state)
        return Row(row.chips[1:], "returned" if self._is_returned(place) else "arrives")

    def _adds_up(self, node: Node) -> bool:
        """Whether what lands in a leaf is not simply the one message that arrives."""
        if self.recording is None:
            return False
        several = sum(edge.source not in self.born for edge in self.graph.edges_to(node.number)) > 1
        return several or node.results[0].grad is not None or self._is_returned(Place(node.number, 0))

    def _is_returned(self, place: Place) -> bool:
        return self.recording is not None and place in self._returned

    @cached_property
    def _returned(self) -> frozenset[Place]:
        return frozenset(event.place for event in self.recording.of_kind(Returned))

    def _fold(self, box: Box, state: State | None) -> Card:
        rows = ()
        new = False
        if state is not None:
            done = sum(state.status[number] == "done" for number in box.nodes)
            new = node_of(state.event) in box.nodes
            chip = Chip(f"{done:,} of {len(box.nodes):,}", language.GRADIENT, ("fold", box), new)
            self.rooms.reserve(("fold", box), f"{len(box.nodes):,} of {len(box.nodes):,}")
            look = language.GRADIENT if done else language.NOT_COMPUTED
            rows = (Row((Chip(chip.text, look, chip.slot, new),), "done"),)
        return Card(language.OPERATION, shorten(box.title, 30), "", box.hides, rows, "", new, pile=True)

    def _mark(self, node: Node, state: State | None) -> tuple[str, bool]:
        if state is None:
            return "", False
        status = state.status[node.number]
        mark = status if status in ("running", "done") else ""
        return mark, isinstance(state.event, Entered) and state.event.node == node.number


def _gradient(gradient: Snapshot | None, place: Place, new: bool) -> Chip:
    look = language.NOT_COMPUTED if gradient is None else language.GRADIENT
    return Chip(gradient_text(gradient), look, place, new)


def _in_lines(chips: list[Chip], rooms: Rooms) -> Iterator[tuple[bool, tuple[Chip, ...]]]:
    """The chips in lines of a card's usual width, and whether each line is the first."""
    line: list[Chip] = []
    first = True
    for chip in chips:
        if line and sum(map(rooms.of, [*line, chip])) > _LINE:
            yield first, tuple(line)
            line, first = [], False
        line.append(chip)
    yield first, tuple(line)


def _tells(name: str, value: object) -> bool:
    quiet = name.endswith(("strides", "sym_sizes", "sym_numel", "keepdim", "ignore_index"))
    return not quiet and not (name in ("alpha", "beta") and value == 1) and value is not None


def _setting(value: object) -> str:
    if isinstance(value, tuple):
        return "×".join(map(_setting, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
