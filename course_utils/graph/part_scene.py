"""A whole graph laid out once, in which all that is not recorded is grey, dashed, and says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

from course_utils.drawing import language
from course_utils.drawing.language import Look

from .cards import Card, Chip, Row, card_size
from .data import Node, Place
from .describe import Describer
from .fold import Box, View
from .layout import Direction, Layout
from .part import RecordedPart, everything_of, nothing_of
from .replay import State
from .scene import Scene
from .wording import result_text


class PartScene(Scene):
    """The whole graph; `requires_grad` are the flags of its inputs by name.

    With the `layout` of another scene of the same graph, nothing moves from one to the next.
    """

    def __init__(
        self,
        part: RecordedPart,
        requires_grad: Mapping[str, bool],
        *,
        layout: Layout | None = None,
        direction: Direction | None = None,
    ) -> None:
        boxes = tuple(Box((node.number,)) for node in part.whole.nodes)
        super().__init__(View(part.whole, boxes), direction=direction)
        self._part, self._flags = part, requires_grad
        if layout is not None:
            self.layout = layout

    @property
    def legend(self) -> tuple[tuple[str, Look, str], ...]:
        """What the looks mean; the same in every setting."""
        entries = (("", language.VALUE, "recorded"), ("", language.NOT_RECORDED, language.NOT_RECORDED.word))
        return (*entries, ("2", language.CONSTANT, "constant")) if self.constants else entries

    def line_look(self, number: int) -> Look:
        """Solid where a gradient can come back."""
        (edge,) = self.view.links[number].edges
        return language.VALUE if edge in self._part.edges else language.NOT_RECORDED

    def _card(self, box: Box, state: State | None, direction: Direction) -> Card:
        return replace(self._shown(box, self._part, self._flags), beside=direction == "down")

    def _sizes(self, direction: Direction) -> list[tuple[float, float]]:
        """Room for each card both where it is recorded and where it is not."""
        if direction not in self._found_sizes:
            on, off = (dict.fromkeys(self._flags, flag) for flag in (True, False))
            whole = self._part.whole
            both = [(everything_of(whole), on), (nothing_of(whole), off), (nothing_of(whole), on)]
            self._found_sizes[direction] = [self._room_for(box, direction, both) for box in self.view.boxes]
        return self._found_sizes[direction]

    def _room_for(
        self, box: Box, direction: Direction, settings: list[tuple[RecordedPart, Mapping[str, bool]]]
    ) -> tuple[float, float]:
        cards = [replace(self._shown(box, *setting), beside=direction == "down") for setting in settings]
        widths, heights = zip(*(card_size(card, self.describer.rooms) for card in cards), strict=True)
        return max(widths), max(heights)

    def _shown(self, box: Box, part: RecordedPart, flags: Mapping[str, bool]) -> Card:
        node = self.view.graph.nodes[box.nodes[0]]
        if node.kind == "leaf":
            return self._leaf(node, part.has(node.number), flags)
        if part.has(node.number):
            return self._now.card(box, None) if part is self._part else self.describer.card(box, None)
        values = tuple(Row((self._value(node, index),)) for index in range(len(node.results)))
        return Card(language.NOT_RECORDED, node.label, language.NOT_RECORDED.word, (), values)

    @cached_property
    def _now(self) -> Describer:
        """Tells each recorded node as it is now."""
        return Describer(View(self._part.mixed, self.view.boxes), None)

    def _value(self, node: Node, index: int) -> Chip:
        return Chip(result_text(node.results[index]), language.VALUE, ("value", Place(node.number, index)))

    def _leaf(self, node: Node, reached: bool, flags: Mapping[str, bool]) -> Card:
        look = language.LEAF if reached else language.NOT_RECORDED
        note = "can get a gradient" if reached else "gets no gradient"
        rows = [Row((Chip(result_text(replace(node.results[0], name=None)), language.VALUE),))]
        if node.label in flags:
            rows.append(Row((Chip(str(flags[node.label]), language.OPERATION),), "requires_grad"))
        return Card(look, node.label, "", (note,), tuple(rows))
