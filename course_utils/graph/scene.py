"""A view laid out once: where each card, constant, starting gradient and line stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from course_utils.drawing import language
from course_utils.drawing.language import Look

from .arrange import arrange, longest_way
from .cards import CHIP_HEIGHT, Card, Chip, Row, card_size, plain
from .data import Place
from .describe import Describer
from .events import Seed, Sent
from .fold import Box, View
from .growth import Growth
from .layout import Block, Direction, Layout, Point, Run, Wire
from .recording import Recording
from .replay import State
from .spotlight import node_of
from .wording import gradient_text

MARGIN = 20
_NARROWEST = 300
WIDTH = 800
"""What a notebook has room for, also in a window of 1024 pixels beside the file list."""


@dataclass(frozen=True)
class Placed:
    """A card and its centre."""

    card: Card
    centre: Point
    size: tuple[float, float]


class Scene:
    """Everything in one picture, in any state of the recording."""

    def __init__(
        self,
        view: View,
        recording: Recording | None = None,
        *,
        growth: Growth | None = None,
        changed: frozenset[Place] | None = None,
        width: float = WIDTH,
        direction: Direction | None = None,
    ) -> None:
        self.view, self.recording = view, recording
        self.describer = Describer(view, recording, growth, changed)
        self._room, self._wanted = width, direction
        self.drawn: dict[object, list[str]] = {}
        """Pieces of SVG that `svg` keeps from one frame to the next."""
        self._found_sizes: dict[Direction, list[tuple[float, float]]] = {}

    legend: tuple[tuple[str, Look, str], ...] = ()
    """What the looks mean, each with a sample; empty for what the state of the recording calls for."""

    def line_look(self, number: int) -> Look:
        """The look of the value's line for a link of the view."""
        return language.VALUE

    def cards(self, state: State | None) -> list[Placed]:
        """The boxes of the graph as they are in this state."""
        direction = self.layout.direction
        cards = [self._card(box, state, direction) for box in self.view.boxes]
        sizes = self._sizes(direction)
        return list(map(Placed, cards, self.layout.centres[: len(cards)], sizes))

    def _card(self, box: Box, state: State | None, direction: Direction) -> Card:
        return replace(self.describer.card(box, state), beside=direction == "down")

    @property
    def constants(self) -> list[Placed]:
        """The inputs that need no gradient."""
        start = len(self.view.boxes)
        return self._placed([card for card, *_ in self._constants], start)

    @property
    def constant_heads(self) -> list[int]:
        """The number of the box that each constant goes into."""
        return [head for _, head, _ in self._constants]

    @property
    def seeds(self) -> list[Placed]:
        """The gradients that the caller starts with."""
        start = len(self.view.boxes) + len(self._constants)
        return self._placed([_seed_card(seed) for seed in self._seeds], start)

    @cached_property
    def layout(self) -> Layout:
        """The positions, the same in every state: forward to the right, or down where that is too wide."""
        return arrange(lambda way: self._blocks(self._sizes(way)), self._wires, self._room, self._wanted)

    @property
    def least_height(self) -> float:
        """How high the picture will be at least, which needs no layout."""
        right, down = (longest_way(self._blocks(self._sizes(way)), self._wires, way) for way in ("right", "down"))
        goes_right = self._wanted == "right" or (self._wanted is None and right <= self._room)
        return max(height for _, height in self._sizes("right")) if goes_right else down

    @cached_property
    def width(self) -> float:
        """The width of the whole picture."""
        return max(self.layout.width + 2 * MARGIN, _NARROWEST)

    @cached_property
    def origin(self) -> Point:
        """Where in the picture the layout begins."""
        return (self.width - self.layout.width) / 2, MARGIN

    @cached_property
    def link_runs(self) -> tuple[Run, ...]:
        """The course of each link of the view."""
        return self.layout.runs[: len(self.view.links)]

    @property
    def constant_runs(self) -> tuple[Run, ...]:
        """The course of the line from each constant."""
        return self.layout.runs[len(self.view.links) :][: len(self._constants)]

    @property
    def seed_runs(self) -> tuple[Run, ...]:
        """The course of the line from each root to what it starts with."""
        return self.layout.runs[len(self.view.links) + len(self._constants) :]

    def focus(self, state: State) -> Point | None:
        """Where something has just happened; None before the first event."""
        match state.event:
            case None:
                return None
            case Sent(message=message) if message.edge in self.view.link_of:
                found = self.link_runs[self.view.link_of[message.edge]].label
            case event:
                found = self.layout.centres[self.view.box_of[node_of(event)]]
        return found[0] + self.origin[0], found[1] + self.origin[1]

    def _placed(self, cards: list[Card], start: int) -> list[Placed]:
        rooms = self.describer.rooms
        return [
            Placed(card, self.layout.centres[start + number], card_size(card, rooms))
            for number, card in enumerate(cards)
        ]

    @cached_property
    def _first(self) -> State | None:
        from .replay import replay

        return None if self.recording is None else replay(self.recording)[0]

    def _sizes(self, direction: Direction) -> list[tuple[float, float]]:
        if direction not in self._found_sizes:
            cards = [self._card(box, self._first, direction) for box in self.view.boxes]
            self._found_sizes[direction] = [card_size(card, self.describer.rooms) for card in cards]
        return self._found_sizes[direction]

    @cached_property
    def _constants(self) -> list[tuple[Card, int, int]]:
        """A card, the number of the box it goes into, and at which position."""
        found = []
        for number, box in enumerate(self.view.boxes):
            if not box.is_fold:
                for position, text in self.describer.constants(self.view.graph.nodes[box.nodes[0]]):
                    found.append(
                        (Card(language.CONSTANT, "", rows=(Row((plain(text, language.CONSTANT),)),)), number, position)
                    )
        return found

    @property
    def _seeds(self) -> tuple[Seed, ...]:
        return () if self.recording is None else self.recording.seeds

    def _blocks(self, sizes: list[tuple[float, float]]) -> list[Block]:
        rooms = self.describer.rooms
        blocks = [
            Block(width, height, len(self._ways_in(number)), self._ways_out(number), self._is_unordered(number))
            for number, (width, height) in enumerate(sizes)
        ]
        small = [card for card, *_ in self._constants] + [_seed_card(seed) for seed in self._seeds]
        return blocks + [Block(*card_size(card, rooms)) for card in small]

    @cached_property
    def _wires(self) -> list[Wire]:
        boxes = len(self.view.boxes)
        wires = [self._wire(number) for number in range(len(self.view.links))]
        for number, (_, head, position) in enumerate(self._constants):
            wires.append(Wire(boxes + number, head, 0, self._ways_in(head).index(position)))
        start = boxes + len(self._constants)
        for number, seed in enumerate(self._seeds):
            tail = self.view.box_of[seed.place.node]
            wires.append(Wire(tail, start + number, self._way_out(seed.place)))
        return wires

    def _wire(self, number: int) -> Wire:
        link = self.view.links[number]
        ways = self._ways_in(link.source)
        way = 0 if self.view.boxes[link.source].is_fold else ways.index(link.edges[0].position)
        return Wire(link.target, link.source, self._way_out(link.edges[0].place), way, self._label(number))

    def _label(self, number: int) -> tuple[float, float] | None:
        if self._first is None or not self.describer.carries_messages(self.view.links[number]):
            return None
        chip = self.describer.message(self.view.links[number], self._first)
        if len(self.view.links[number].edges) > 1:
            count = len(self.view.links[number].edges)
            self.describer.rooms.reserve(chip.slot, f"{count} of {count} sent")
        return self.describer.rooms.of(chip), CHIP_HEIGHT

    def _ways_in(self, number: int) -> list[int]:
        """The positions of the inputs that a box shows, in their order."""
        box = self.view.boxes[number]
        if box.is_fold:
            return [0]
        node = self.view.graph.nodes[box.nodes[0]]
        used = {edge.position for edge in self.view.graph.edges_from(node.number)}
        constants = {position for position, _ in self.describer.constants(node)}
        return sorted(used | constants) or [0]

    def _is_unordered(self, number: int) -> bool:
        box = self.view.boxes[number]
        return not box.is_fold and self.view.graph.nodes[box.nodes[0]].operation in ("Add", "Mul")

    def _ways_out(self, number: int) -> int:
        box = self.view.boxes[number]
        return 1 if box.is_fold else len(self.view.graph.nodes[box.nodes[0]].results)

    def _way_out(self, place: Place) -> int:
        box = self.view.boxes[self.view.box_of[place.node]]
        return 0 if box.is_fold else place.result


def _seed_card(seed: Seed) -> Card:
    chip = Chip(gradient_text(seed.gradient), language.GRADIENT)
    return Card(language.GRADIENT, "", rows=(Row((chip,), "start"),))
