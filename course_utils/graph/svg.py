"""Draws a scene: cards and lines at their places, in the course's one visual language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from course_utils.drawing import language
from course_utils.drawing.canvas import Canvas
from course_utils.drawing.language import Look
from course_utils.drawing.lettering import text_width

from .cards import (
    CHIP,
    GAP,
    HEADER,
    LABEL,
    NAME,
    NAME_HEIGHT,
    NOTE_HEIGHT,
    PADDING,
    PILE,
    ROW_HEIGHT,
    TITLE,
    Card,
    Chip,
    Rooms,
    Row,
    row_width,
)
from .events import Freed
from .layout import Point, Run
from .lines import arrow_head, joined, offset
from .replay import State
from .scene import MARGIN, Placed, Scene
from .wording import NOT_YET

_LEGEND_HEIGHT, _LEGEND_SIZE = 30, 12
# Half the distance between a value's line and its gradient's. Forward to the right, the value's line
# passes above the message; downward it would have to go round it, and goes behind it.
_ACROSS, _DOWN = 8.5, 5.0
_MOST_KEPT = 5_000  # pieces of earlier frames


def svg(scene: Scene, state: State | None = None) -> str:
    """The scene in one state of its recording; without a recording, the graph alone."""
    if len(scene.drawn) > _MOST_KEPT:
        scene.drawn.clear()
    return _Drawing(scene, state).svg()


class _Drawing:
    def __init__(self, scene: Scene, state: State | None) -> None:
        self.scene, self.state = scene, state
        self.rooms: Rooms = scene.describer.rooms
        self.legend = scene.legend or _legend(scene)
        layout = scene.layout
        self.rows = _legend_rows(self.legend, scene.width - 2 * MARGIN)
        height = layout.height + 2 * MARGIN + _LEGEND_HEIGHT * len(self.rows)
        self.canvas = Canvas(round(scene.width), round(height), shared_font=True)

    def svg(self) -> str:
        cards = self.scene.cards(self.state)
        for placed in cards:
            self._halo(placed)
        for number, run in enumerate(self.scene.constant_runs):
            if self._is_there(self.scene.constant_heads[number]):
                self._once(("constant line", number), self._value_lane, run, language.CONSTANT)
        for number, run in enumerate(self.scene.link_runs):
            self._link(number, run)
        for number, run in enumerate(self.scene.seed_runs):
            self._once(("seed line", number), self._gradient_lane, run, 2)
        for number, placed in enumerate(self.scene.constants):
            if self._is_there(self.scene.constant_heads[number]):
                self._once(("constant", number), self._bare_row, placed)
        for number, placed in enumerate(self.scene.seeds):
            self._once(("seed", number), self._bare_row, placed)
        for number, placed in enumerate(cards):
            if self._is_there(number):
                self._once((number, placed.card), self._card, placed)
            else:
                self._ghost(placed)
        self._once("legend", self._draw_legend)
        return self.canvas.svg()

    def _once(self, key: object, draw: Callable[..., None], *what: object) -> None:
        """Draws what most frames have in common from what earlier frames have drawn."""
        self.canvas.once(self.scene.drawn, key, partial(draw, *what))

    def _at(self, point: Point) -> Point:
        return point[0] + self.scene.origin[0], point[1] + self.scene.origin[1]

    def _link(self, number: int, run: Run) -> None:
        link = self.scene.view.links[number]
        if self._is_there(link.source):
            self._once(("value", number), self._value_lane, run, self.scene.line_look(number))
        if self.state is None or run.label is None:
            return
        chip = self.scene.describer.message(link, self.state)
        if any(edge in self.state.messages for edge in link.edges) and chip.look is language.GRADIENT:
            width = 4 if chip.new else 2
            self._once(("gradient", number, width), self._gradient_lane, run, width)
        self._once(("message", number, chip), self._chip, chip, self._pill_centre(run))

    def _pill_centre(self, run: Run) -> Point:
        x, y = self._at(run.label)
        return (x, y + _ACROSS) if self._right else (x, y)

    @property
    def _right(self) -> bool:
        return self.scene.layout.direction == "right"

    def _value_lane(self, run: Run, look: Look) -> None:
        """The solid line of the value, with its head at the operation."""
        lane = 0 if run.label is None else -self._lane
        self._line(run.curves, lane, look, look.width, look.dash)

    def _gradient_lane(self, run: Run, width: float) -> None:
        """The dashed line of the gradient, with its head at the input."""
        back = [curve[::-1] for curve in run.curves][::-1]
        look = language.GRADIENT
        lane = 0 if run.label is None else -self._lane
        self._line(back, lane, look, width, look.dash)

    @property
    def _lane(self) -> float:
        """How far a line keeps from the middle; negative if its right side is the other one."""
        return _ACROSS if self._right else -_DOWN

    def _line(self, curves: Sequence[Sequence[Point]], lane: float, look: Look, width: float, dash: str) -> None:
        course = joined([offset([self._at(point) for point in curve], lane) for curve in curves])
        head, course = arrow_head(course)
        self.canvas.curve(course, stroke=look.ink, width=width, dash=dash)
        self.canvas.polygon(head, fill=look.ink)

    def _bare_row(self, placed: Placed) -> None:
        x, y = self._at(placed.centre)
        row = placed.card.rows[0]
        self._row(row, x - row_width(row, self.rooms) / 2, y)

    def _is_there(self, number: int) -> bool:
        return self.scene.describer.is_there(self.scene.view.boxes[number], self.state)

    def _ghost(self, placed: Placed) -> None:
        """Where a card will be that does not exist yet."""
        (x, y), (width, height) = self._at(placed.centre), placed.size
        look = language.NOT_COMPUTED
        style = {"fill": look.fill, "stroke": look.ink, "dash": look.dash, "radius": 6}
        self.canvas.rect(x - width / 2, y - height / 2, width, height, **style)

    def _halo(self, placed: Placed) -> None:
        """A second frame around the card in which something happens, behind the lines that meet it."""
        if placed.card.new:
            x, y = self._at(placed.centre)
            width, height = (side + 10 for side in placed.size)
            ink = placed.card.look.ink
            self.canvas.rect(x - width / 2, y - height / 2, width, height, stroke=ink, stroke_width=3, radius=9)

    def _card(self, placed: Placed) -> None:
        card, (width, height) = placed.card, placed.size
        x, y = self._at(placed.centre)
        left, top = x - width / 2, y - height / 2
        if card.pile:
            top, width, height = top + PILE, width - PILE, height - PILE
        self._frame(card, left, top, width, height)
        middle = top + 2 + HEADER / 2
        self.canvas.text(left + PADDING, middle, card.title, size=TITLE, bold=True, ink=card.look.ink)
        self._mark(card, left + width - PADDING - 6, middle)
        down = top + HEADER
        if card.name:
            beside = text_width(card.title, TITLE, bold=True) + GAP if card.beside else 0
            name_at = (left + PADDING + beside, middle + 1 if card.beside else down + 5)
            self.canvas.text(*name_at, card.name, size=NAME, code=True, ink=language.QUIET_INK)
            down += 0 if card.beside else NAME_HEIGHT
        for note in card.notes:
            self.canvas.text(left + PADDING, down + 6, note, size=LABEL, ink=language.QUIET_INK)
            down += NOTE_HEIGHT
        for row in card.rows:
            self._row(row, left + PADDING, down + ROW_HEIGHT / 2)
            down += ROW_HEIGHT

    def _frame(self, card: Card, left: float, top: float, width: float, height: float) -> None:
        look = card.look
        radius = 6 if look.shape == "panel" else 3
        style = {"stroke": look.ink, "radius": radius, "dash": look.dash}
        for step in (PILE, PILE / 2) if card.pile else ():
            self.canvas.rect(left + step, top - step, width, height, fill=look.fill, stroke_width=1.5, **style)
        stroke = 3 if card.mark == "running" else 1.5
        self.canvas.rect(left, top, width, height, fill=look.fill, stroke_width=stroke, **style)
        if look.shape == "double box":
            self.canvas.rect(left + 3, top + 3, width - 6, height - 6, stroke=look.ink, radius=2)

    def _mark(self, card: Card, x: float, y: float) -> None:
        """A tick for what is done, an arrow back for what runs now."""
        ink = card.look.ink
        if card.mark == "done":
            self.canvas.polyline([(x - 5, y), (x - 1, y + 4), (x + 6, y - 5)], stroke=ink, width=2)
        elif card.mark == "running":
            tip = (x - 6, y) if self._right else (x, y - 6)
            wings = [(x + 5, y - 6), (x + 5, y + 6)] if self._right else [(x - 6, y + 5), (x + 6, y + 5)]
            self.canvas.polygon([tip, *wings], fill=ink)

    def _row(self, row: Row, left: float, y: float) -> None:
        if row.label:
            if not row.further:
                self.canvas.text(left, y, row.label, size=LABEL, ink=language.QUIET_INK)
            left += text_width(row.label, LABEL) + GAP
        for chip in row.chips:
            width = self.rooms.of(chip)
            self._chip(chip, (left + width / 2, y))
            left += width + GAP

    def _chip(self, chip: Chip, centre: Point) -> None:
        self.canvas.chip(centre, chip.text, chip.look, size=CHIP, width=self.rooms.of(chip), new=chip.new)

    def _draw_legend(self) -> None:
        y = self.canvas.height - _LEGEND_HEIGHT * len(self.rows) + 4
        for row in self.rows:
            x = (self.canvas.width - sum(_entry_width(*entry) for entry in row)) / 2
            for sample, look, words in row:
                width = _sample_width(sample)
                if not sample:
                    self._sample_line(x, y, look)
                else:
                    self.canvas.chip((x + width / 2, y), sample, look, size=10, width=width)
                self.canvas.text(x + width + 6, y, words, size=_LEGEND_SIZE, ink=language.QUIET_INK)
                x += _entry_width(sample, look, words)
            y += _LEGEND_HEIGHT - 8

    def _sample_line(self, x: float, y: float, look: Look) -> None:
        ends = [(x + 34, y), (x, y)] if look is language.GRADIENT else [(x, y), (x + 34, y)]
        start, end = ends
        inner = end[0] - 7 if end[0] > start[0] else end[0] + 7
        self.canvas.line(start, (inner, y), stroke=look.ink, width=look.width, dash=look.dash)
        self.canvas.polygon([end, (inner, y - 4), (inner, y + 4)], fill=look.ink)


Entry = tuple[str, Look, str]


def _legend(scene: Scene) -> list[Entry]:
    """What the looks in this scene mean; the same in all its states."""
    graph = scene.view.graph
    entries: list[Entry] = [("", language.VALUE, "value")]
    leaves = [leaf.results[0] for leaf in graph.leaves]
    if scene.recording is not None:
        entries.append(("", language.GRADIENT, "gradient"))
    elif any(leaf.grad is not None for leaf in leaves):
        entries.append(("1", language.GRADIENT, "gradient"))
    if scene.recording is not None or any(leaf.grad is None for leaf in leaves):
        entries.append((NOT_YET, language.NOT_COMPUTED, language.NOT_COMPUTED.word))
    if _frees(scene):
        entries.append(("x", language.FREED, language.FREED.word))
    if scene.constants:
        entries.append(("2", language.CONSTANT, language.CONSTANT.word))
    return entries


def _frees(scene: Scene) -> bool:
    saved = [tensor.state for node in scene.view.graph.nodes for tensor in node.saved]
    return "freed" in saved or (scene.recording is not None and bool(scene.recording.of_kind(Freed)))


def _sample_width(sample: str) -> float:
    return 26 if sample else 34


def _entry_width(sample: str, look: Look, words: str) -> float:
    return _sample_width(sample) + 6 + text_width(words, _LEGEND_SIZE) + 22


def _legend_rows(entries: list[Entry], room: float) -> list[list[Entry]]:
    rows: list[list[Entry]] = [[]]
    used = 0.0
    for entry in entries:
        width = _entry_width(*entry)
        if used + width > room and rows[-1]:
            rows.append([])
            used = 0
        rows[-1].append(entry)
        used += width
    return rows
