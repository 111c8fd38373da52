"""Draws a curve with a point on it, the fan of lines that support it there, and the line with torch's slope."""

from __future__ import annotations

import math

from course_utils.drawing import language
from course_utils.drawing.axes import Axes, Span, round_span
from course_utils.drawing.canvas import Canvas, Point
from course_utils.drawing.lettering import fitting_size, number, shorten
from course_utils.drawing.picture import Picture
from course_utils.widgets.kink import Kinked, Kinky, sentences

WIDTH, HEIGHT = 720, 440
_PLOT = (56, 52, 640, 300)
_SAMPLES = 200
_FAN = "2 4"


def draw(kinky: Kinky, state: Kinked, across: Span) -> Picture:
    """The curve over `across`, with what is said of the point."""
    canvas = Canvas(WIDTH, HEIGHT)
    title = shorten(state.title, 60)
    canvas.text(24, 26, title, size=fitting_size(title, WIDTH - 48, sizes=(16, 14, 12)), bold=True)
    curve = _curve(kinky, across)
    area = Axes(canvas, *_PLOT, across, round_span([y for _, y in curve]).wider(0.25))
    area.frame()
    area.curve(curve, language.VALUE)
    here = (state.x, state.value)
    if math.isfinite(state.value):
        for slope in state.fan:
            area.line_through(here, slope, ink=language.INK, dash=_FAN, width=1.2)
        if math.isfinite(state.torch):
            gradient = language.GRADIENT
            area.line_through(here, state.torch, ink=gradient.ink, dash=gradient.dash, width=2.5)
        area.dot(here, language.VALUE)
    _draw_legend(canvas, state)
    text = sentences(state)
    return Picture(canvas.svg(), text, text)


def _curve(kinky: Kinky, across: Span) -> list[Point]:
    """Points of the curve, with a gap where it jumps."""
    xs = [across.low + i * across.length / _SAMPLES for i in range(_SAMPLES + 1)]
    points: list[Point] = []
    for x, y in zip(xs, kinky.values(xs), strict=True):
        if points and abs(y - points[-1][1]) > 0.15 * across.length:
            points.append((x, math.nan))
        points.append((x, y))
    return points


def _draw_legend(canvas: Canvas, state: Kinked) -> None:
    left, top, _, height = _PLOT
    y = top + height + 46
    rows = [
        (24, language.GRADIENT.ink, language.GRADIENT.dash, f"torch: slope {number(state.torch)}"),
        (250, language.VALUE.ink, "", f"left {_side(state.left)}, right {_side(state.right)}"),
    ]
    if state.is_kink:
        rows.append((490, language.INK, _FAN, "slopes in between"))
    for x, ink, dash, text in rows:
        canvas.line((x, y), (x + 30, y), stroke=ink, width=2.5, dash=dash)
        canvas.text(x + 38, y, text, bold=True)
    canvas.text(left + 320, top + height + 26, "x", anchor="middle", code=True)


def _side(slope: float) -> str:
    return "no slope" if math.isnan(slope) else number(slope)
