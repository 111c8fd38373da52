"""Draws a surface as a map of level lines, and beside it the slice along a direction, with tangent and parabola."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course_utils.drawing import language
from course_utils.drawing.axes import Axes, Span, round_span
from course_utils.drawing.canvas import Canvas, Point
from course_utils.drawing.heat import brief
from course_utils.drawing.lettering import fitting_size, number, shorten, text_width
from course_utils.drawing.picture import Picture
from course_utils.widgets.curvature import Curved, Pair, Surface, sentences

WIDTH, HEIGHT = 720, 500
_MAP = (52, 76, 300, 300)  # left, top, width, height
_SLICE = (424, 76, 272, 300)
_GRID = 65  # points along each side of the map
_SAMPLES = 80
_LEVELS = (0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.92)  # shares of the map that lie below each line
_PARABOLA = "2 4"


@dataclass(frozen=True)
class Level:
    """A line on which the function has one value."""

    value: float
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Relief:
    """The part of the plane that is shown, and the level lines of a function in it."""

    across: Span
    up: Span
    levels: tuple[Level, ...]

    @classmethod
    def of(cls, surface: Surface, across: Span, up: Span) -> Relief:
        """The level lines, at values that share the map out: a valley and a steep slope both get some."""
        from contourpy import contour_generator

        xs, ys = _steps(across), _steps(up)
        heights = surface.values([(x, y) for y in ys for x in xs])
        finite = sorted(z for z in heights if math.isfinite(z))
        rows = [heights[i * _GRID : (i + 1) * _GRID] for i in range(_GRID)]
        lines = contour_generator(xs, ys, rows)
        chosen = {float(f"{finite[int(share * len(finite))]:.2g}") for share in _LEVELS} if finite else set()
        chosen = sorted(z for z in chosen if z > finite[0])  # a flat bottom has no line around it
        found = [Level(z, tuple(map(tuple, line.tolist()))) for z in chosen for line in lines.lines(z)]
        return cls(across, up, tuple(found))

    @property
    def reach(self) -> float:
        """How far the slice goes to each side of the point."""
        return min(self.across.length, self.up.length) / 2


def draw(surface: Surface, state: Curved, relief: Relief, memory: dict) -> Picture:
    """Map and slice; `memory` keeps what does not change while the point moves."""
    canvas = Canvas(WIDTH, HEIGHT)
    plane = Axes(canvas, *_MAP, relief.across, relief.up)
    canvas.once(memory, state.title, lambda: _draw_relief(canvas, plane, state.title, relief))
    _draw_moves(canvas, plane, state)
    _draw_slice(canvas, surface, state, relief.reach)
    _draw_numbers(canvas, state)
    text = sentences(state)
    return Picture(canvas.svg(), text, text)


def _steps(span: Span) -> list[float]:
    return [span.low + i * span.length / (_GRID - 1) for i in range(_GRID)]


def _draw_relief(canvas: Canvas, plane: Axes, title: str, relief: Relief) -> None:
    left, top, width, height = _MAP
    title = shorten(title, 60)
    canvas.text(24, 26, title, size=fitting_size(title, WIDTH - 48, sizes=(16, 14, 12)), bold=True)
    canvas.text(left + width / 2, top - 18, "seen from above: level lines", anchor="middle")
    plane.frame()
    for level in relief.levels:
        canvas.polyline([plane.at(point) for point in level.points], stroke=language.CARD_EDGE, width=1.2)
    placed: list[Point] = []
    for value in sorted({level.value for level in relief.levels}):
        _draw_label(canvas, plane, value, [level.points for level in relief.levels if level.value == value], placed)
    canvas.text(left + width / 2, top + height + 28, "x[0]", anchor="middle", code=True)
    canvas.text(left - 8, top - 18, "x[1]", anchor="end", code=True)


def _draw_label(
    canvas: Canvas, plane: Axes, value: float, lines: Sequence[tuple[Point, ...]], placed: list[Point]
) -> None:
    """The value of a level, on its line, where no other number stands."""
    text = number(value)
    for points in sorted(lines, key=len, reverse=True):
        for share in (0.5, 0.3, 0.7, 0.15, 0.85):
            x, y = plane.at(points[int(share * (len(points) - 1))])
            free = all(abs(x - a) > 40 or abs(y - b) > 16 for a, b in placed)
            inside = plane.x + 16 < x < plane.x + plane.width - 16 and plane.y + 10 < y < plane.y + plane.height - 10
            if free and inside:
                half = text_width(text, 10) / 2 + 2
                canvas.rect(x - half, y - 6, 2 * half, 12, fill="#ffffff")
                canvas.text(x, y, text, size=10, ink=language.QUIET_INK, anchor="middle")
                placed.append((x, y))
                return


def _draw_moves(canvas: Canvas, plane: Axes, state: Curved) -> None:
    """The direction, the way downhill, and Newton's step, from the point."""
    here = plane.at(state.point)
    scale = plane.width / plane.across.length, plane.height / plane.up.length
    with canvas.clipped(*_MAP):
        v = _pixels(state.along, scale)
        length = math.hypot(*v)
        far = 2 * plane.width / length
        ends = [(here[0] + side * far * v[0], here[1] + side * far * v[1]) for side in (-1, 1)]
        canvas.line(*ends, stroke=language.INK, width=1)
        canvas.arrow(here, (here[0] + 52 * v[0] / length, here[1] + 52 * v[1] / length), language.OPERATION)
        if state.newton is not None and _near(state.newton, plane):
            landing = plane.at(state.newton)
            canvas.line(here, landing, stroke=language.INK, width=2, dash=_PARABOLA)
            _mark(canvas, landing)
            canvas.text(landing[0] + 10, landing[1] - 10, "Newton", size=11)
        downhill = _pixels((-state.gradient[0], -state.gradient[1]), scale)
        steep = math.hypot(*downhill)
        if steep > 0 and math.isfinite(steep):
            tip = (here[0] + 36 * downhill[0] / steep, here[1] + 36 * downhill[1] / steep)
            canvas.arrow(here, tip, language.GRADIENT)
        plane.dot(state.point, language.VALUE)


def _pixels(vector: Pair, scale: Pair) -> Pair:
    return vector[0] * scale[0], -vector[1] * scale[1]


def _near(point: Pair, plane: Axes) -> bool:
    """Whether a point is near enough for a line to it to be drawn."""
    spans = ((point[0], plane.across), (point[1], plane.up))
    return all(span.low - 20 * span.length <= value <= span.high + 20 * span.length for value, span in spans)


def _mark(canvas: Canvas, centre: Point) -> None:
    """A hollow diamond: where a model has its turning point."""
    x, y = centre
    corners = [(x, y - 7), (x + 7, y), (x, y + 7), (x - 7, y)]
    canvas.polygon(corners, fill=language.CARD)
    canvas.polyline([*corners, corners[0]], stroke=language.INK, width=2)


def _draw_slice(canvas: Canvas, surface: Surface, state: Curved, reach: float) -> None:
    left, top, width, height = _SLICE
    steps = [reach * i / _SAMPLES for i in range(-_SAMPLES, _SAMPLES + 1)]
    v0, v1 = state.along
    heights = surface.values([(state.point[0] + t * v0, state.point[1] + t * v1) for t in steps])
    curve = list(zip(steps, heights, strict=True))
    parabola = [(t, state.parabola(t)) for t in steps]
    near = [z for points in (curve, parabola) for t, z in points if abs(t) <= 0.4 * reach]
    area = Axes(canvas, left, top, width, height, Span(-reach, reach), round_span(near).wider(0.08))
    canvas.text(left + width / 2, top - 18, "the slice along v", anchor="middle")
    area.frame()
    area.curve(curve, language.VALUE)
    gradient = language.GRADIENT
    area.line_through((0.0, state.value), state.slope, ink=gradient.ink, dash=gradient.dash, width=2)
    area.curve(parabola, language.OPERATION, dash=_PARABOLA)
    if state.turn is not None and abs(state.turn) <= reach:
        with canvas.clipped(*_SLICE):
            _mark(canvas, area.at((state.turn, state.parabola(state.turn))))
    area.dot((0.0, state.value), language.VALUE)
    canvas.text(left + width / 2, top + height + 28, "distance from the point, along v", anchor="middle")


def _draw_numbers(canvas: Canvas, state: Curved) -> None:
    """What the lines are, each with its number."""
    rows = [
        (language.VALUE.ink, "", f"value {brief(state.value)}"),
        (language.GRADIENT.ink, language.GRADIENT.dash, f"slope {brief(state.slope)}: the tangent"),
        (language.INK, _PARABOLA, f"curvature {brief(state.curvature)}: the parabola"),
    ]
    y = HEIGHT - 66
    for x, (ink, dash, text) in zip((24, 190, 440), rows, strict=True):
        canvas.line((x, y), (x + 26, y), stroke=ink, width=2.5, dash=dash)
        canvas.text(x + 34, y, text, bold=True)
    y += 34
    canvas.line((24, y), (50, y), stroke=language.INK, width=1)
    canvas.text(58, y, f"direction v: {round(state.angle)}°")
    canvas.line((190, y), (216, y), stroke=language.GRADIENT.ink, width=2, dash=language.GRADIENT.dash)
    canvas.text(224, y, "downhill")
    if state.newton is not None:
        _mark(canvas, (453, y))
    landing = "no Newton step here" if state.newton is None else f"Newton: {state.landing}"
    canvas.text(474, y, landing)
