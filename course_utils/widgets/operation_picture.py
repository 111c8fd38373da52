"""Draws one operation: numbers going through it both ways, and each slope beside its curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_utils.drawing import language
from course_utils.drawing.axes import Axes
from course_utils.drawing.canvas import Canvas, Point
from course_utils.drawing.language import Look
from course_utils.drawing.lettering import fitting_size, measured, number, shorten, text_width, wrap
from course_utils.drawing.picture import Picture
from course_utils.widgets.curves import Window, curve
from course_utils.widgets.operation import Operation, State, sentences, shown

WIDTH = 720
_MARGIN = 24
_GAP = 28
_LANE = 34
_HEADER = 40
_BOX_WIDTH = 216
_TOP = 20
_PLOT_HEIGHT = 164
_NOTE_LINE = 20
_VERDICT_HEIGHT = 137


def draw(operation: Operation, state: State, windows: Mapping[str, Window]) -> Picture:
    """The operation at this point, with a plot for each input, seen through its window."""
    box = _Box.around(state)
    notes = [line for p in state.problems for line in wrap(p, 13, WIDTH - 2 * _MARGIN - 60)]
    columns = _columns(len(state.inputs), box.bottom + 52)
    notes_top = max(column.bottom for column in columns) + 20
    notes_height = len(notes) * _NOTE_LINE + 14
    canvas = Canvas(WIDTH, notes_top + (notes_height + 20 if notes else 0))
    _draw_box(canvas, box, state.title)
    _draw_lanes(canvas, box, state)
    _draw_legend(canvas, box.bottom + 28, state)
    for name, column in zip(state.inputs, columns, strict=True):
        points = curve(operation, state.inputs, name, windows[name].across)
        _draw_plot(canvas, column, state, name, points, windows[name])
        _draw_verdict(canvas, state, name, column)
    if notes:
        _draw_notes(canvas, notes, notes_top)
    text = sentences(state)
    return Picture(canvas.svg(), text, text)


@dataclass(frozen=True)
class _Column:
    """Where one input's plot and verdict stand."""

    left: float
    top: float
    width: float
    verdict_left: float
    verdict_top: float
    verdict_width: float

    @property
    def bottom(self) -> float:
        return max(self.top + _PLOT_HEIGHT + 36, self.verdict_top + _VERDICT_HEIGHT)


def _columns(count: int, top: float) -> list[_Column]:
    """Side by side, each verdict below its plot; a single plot has its verdict beside it."""
    room = WIDTH - 2 * _MARGIN
    if count == 1:
        width = 0.58 * room
        beside = _MARGIN + width + _GAP
        return [_Column(_MARGIN, top, width, beside, top + 16, room - width - _GAP)]
    width = (room - (count - 1) * _GAP) / count
    lefts = [_MARGIN + i * (width + _GAP) for i in range(count)]
    below = top + _PLOT_HEIGHT + 56
    return [_Column(left, top, width, left, below, width) for left in lefts]


@dataclass(frozen=True)
class _Box:
    """Where the operation stands: the header, and under it a row for each direction."""

    left: float
    right: float
    forward: float
    backward: float
    bottom: float

    @classmethod
    def around(cls, state: State) -> _Box:
        row = len(state.inputs) * _LANE + 12
        forward = _TOP + _HEADER
        left = (WIDTH - _BOX_WIDTH) / 2
        return cls(left, left + _BOX_WIDTH, forward, forward + row, forward + 2 * row)

    def lane(self, top: float, i: int) -> float:
        return top + 6 + (i + 0.5) * _LANE

    @property
    def row(self) -> float:
        return self.backward - self.forward


def _draw_box(canvas: Canvas, box: _Box, title: str) -> None:
    look, width, middle = language.OPERATION, box.right - box.left, WIDTH / 2
    canvas.rect(
        box.left,
        _TOP,
        width,
        box.bottom - _TOP,
        fill=look.fill,
        stroke=look.ink,
        stroke_width=look.width,
        radius=6,
    )
    title = shorten(title, 30)
    size = fitting_size(title, width - 16, sizes=(17, 14, 11), code=True)
    y = _TOP + _HEADER / 2
    canvas.text(middle, y, title, size=size, code=True, bold=True, anchor="middle")
    for top, word in ((box.forward, "forward"), (box.backward, "backward")):
        canvas.line((box.left, top), (box.right, top), stroke=look.ink, width=1)
        canvas.text(middle, top + box.row / 2, word, size=14, anchor="middle")


def _draw_lanes(canvas: Canvas, box: _Box, state: State) -> None:
    """Values from left to right in the upper row, gradients from right to left in the lower one."""
    near, far = _MARGIN, WIDTH - _MARGIN
    for i, (name, value) in enumerate(state.inputs.items()):
        y = box.lane(box.forward, i)
        _lane(canvas, near, box.left, y, f"{name} = {number(value)}", language.VALUE)
        y, gradient = box.lane(box.backward, i), state.gradients[name]
        text = f"gradient of {name}: {shown(gradient)}"
        _lane(canvas, box.left, near, y, text, _known(gradient, language.GRADIENT))
    y = box.forward + box.row / 2
    text = f"{state.output_name} = {shown(state.output)}"
    _lane(canvas, box.right, far, y, text, _known(state.output, language.VALUE))
    text = f"incoming gradient: {number(state.incoming)}"
    _lane(canvas, far, box.right, y + box.row, text, language.GRADIENT)


def _lane(canvas: Canvas, start: float, end: float, y: float, text: str, look: Look) -> None:
    canvas.arrow((start, y), (end, y), look)
    size = fitting_size(text, abs(end - start) - 64)
    canvas.chip(((start + end) / 2, y), text, look, size=size)


def _known(value: float | None, look: Look) -> Look:
    return language.NOT_COMPUTED if value is None else look


def _draw_legend(canvas: Canvas, y: float, state: State) -> None:
    entries = [
        (f"{state.output_name} as one input varies", language.VALUE.ink, "", 2.5),
        ("slope by the backward", language.GRADIENT.ink, language.GRADIENT.dash, 2.5),
    ]
    if False in state.agree.values():
        entries.append(("measured slope", language.INK, "2 4", 2))
    widths = [34 + text_width(text, 13) for text, *_ in entries]
    x = (WIDTH - sum(widths) - 32 * (len(entries) - 1)) / 2
    for (text, ink, dash, width), room in zip(entries, widths, strict=True):
        canvas.line((x, y - 6), (x + 26, y - 6), stroke=ink, width=width, dash=dash)
        canvas.text(x + 34, y - 6, text)
        x += room + 32


def _draw_plot(
    canvas: Canvas, column: _Column, state: State, name: str, points: Sequence[Point], window: Window
) -> None:
    """The curve along one input, with the point and the line whose slope the backward gives."""
    left, width = column.left + 44, column.width - 50
    up = window.heights(points, state.output)
    area = Axes(canvas, left, column.top, width, _PLOT_HEIGHT, window.across, up)
    area.frame()
    area.curve(points, language.VALUE)
    if state.output is not None and math.isfinite(state.output):
        point = (state.inputs[name], state.output)
        slope, nudged = state.slopes[name], state.measured[name]
        if state.agree[name] is False and nudged is not None:
            area.line_through(point, nudged, ink=language.INK, dash="2 4", width=2)
        if slope is not None and math.isfinite(slope):
            look = language.GRADIENT
            area.line_through(point, slope, ink=look.ink, dash=look.dash, width=2.5)
        area.dot(point, language.VALUE)
    others = [f"{n} = {number(value)}" for n, value in state.inputs.items() if n != name]
    caption = ", ".join([f"{name} varies", *others])
    size = fitting_size(caption, column.width + 16)
    canvas.text(left + width / 2, column.top + _PLOT_HEIGHT + 28, caption, anchor="middle", size=size)


def _draw_verdict(canvas: Canvas, state: State, name: str, column: _Column) -> None:
    """Two comparisons: slope against measurement, and gradient against incoming times slope."""
    slope, nudged, gradient = state.slopes[name], state.measured[name], state.gradients[name]
    left, top = column.verdict_left + 8, column.verdict_top
    right = column.verdict_left + column.verdict_width - 6
    rows = [
        ("slope by the backward", shown(slope)),
        ("measured by nudging", "?" if nudged is None else measured(nudged)),
        _product(state.incoming, slope, right - left),
        (f"gradient of {name}", shown(gradient)),
    ]
    for (words, value), y in zip(rows, (0, 20, 80, 100), strict=True):
        canvas.text(left, top + y, words)
        canvas.text(right, top + y, value, anchor="end", bold=True)
    _draw_stamp(canvas, state.agree[name], right, top + 45)
    _draw_stamp(canvas, state.scales[name], right, top + 125)


def _product(incoming: float, slope: float | None, room: float) -> tuple[str, str]:
    """Incoming times slope, as words and formula, or as formula and number where room is short."""
    words = "incoming × slope"
    if slope is None:
        return words, "?"
    factor = f"({number(slope)})" if slope < 0 else number(slope)
    formula, product = f"{number(incoming)} × {factor}", number(incoming * slope)
    equation = f"{formula} = {product}"
    fits = text_width(words, 13) + 12 + text_width(equation, 13, bold=True) <= room
    return (words, equation) if fits else (formula, product)


def _draw_stamp(canvas: Canvas, agree: bool | None, right: float, y: float) -> None:
    """The verdict as a mark and a word: outlined if the slopes agree, filled if they do not."""
    if agree is None:
        canvas.text(right, y, "nothing to compare", anchor="end", ink=language.QUIET_INK)
        return
    look = language.AGREE if agree else language.DISAGREE
    width = text_width(look.word, 13, bold=True) + 44
    x = right - width
    canvas.rect(x, y - 12, width, 24, fill=look.fill, stroke=look.ink, stroke_width=1.5, radius=3)
    if agree:
        mark = [(x + 12, y), (x + 16, y + 5), (x + 24, y - 5)]
        canvas.polyline(mark, stroke=look.ink, width=2)
    else:
        for side in (-1, 1):
            ends = (x + 13, y - 5 * side), (x + 23, y + 5 * side)
            canvas.line(*ends, stroke=look.ink, width=2)
    canvas.text(x + 32, y, look.word, ink=look.ink, bold=True)


def _draw_notes(canvas: Canvas, lines: list[str], top: float) -> None:
    height = len(lines) * _NOTE_LINE + 14
    ink = language.INK
    canvas.rect(_MARGIN, top, WIDTH - 2 * _MARGIN, height, fill="#ffffff", stroke=ink, stroke_width=2, radius=4)
    canvas.text(_MARGIN + 16, top + 7 + _NOTE_LINE / 2, "!", size=18, ink=ink, bold=True)
    for i, line in enumerate(lines):
        canvas.text(_MARGIN + 36, top + 7 + (i + 0.5) * _NOTE_LINE, line)
