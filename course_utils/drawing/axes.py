"""A plot area on a canvas: data coordinates, round ticks, a curve and a line clipped to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course_utils.drawing import language
from course_utils.drawing.canvas import Canvas, Point
from course_utils.drawing.language import Look
from course_utils.drawing.lettering import number

_ENDS = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True)
class Span:
    """An interval of numbers, `low < high`."""

    low: float
    high: float

    @property
    def length(self) -> float:
        return self.high - self.low

    def wider(self, share: float) -> Span:
        """This span and the given share of its length more at each end."""
        more = share * self.length
        return Span(self.low - more, self.high + more)


def round_up(value: float, steps: Sequence[float] = (1, 2, 5, 10)) -> float:
    """The smallest of `steps` times a power of ten that is not below `value` (which is positive)."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(m * power for m in (*steps, 20) if m * power >= value * (1 - 1e-9))


def ticks(span: Span, about: int = 4) -> list[float]:
    """Round numbers inside the span, `about` as many as asked."""
    step = round_up(span.length / about, (1, 2, 2.5, 5, 10))
    first, last = math.ceil(span.low / step - 1e-9), math.floor(span.high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def round_span(values: Sequence[float]) -> Span:
    """A span with round ends that holds all finite values.

    Its ends move in a few steps (1, 1.5, 2, 3, 4, ...): an axis then stays where it is while the values
    change a little. It includes zero, unless that would flatten the values.
    """
    finite = [v for v in values if abs(v) < 1e300] or [0.0]  # leaves out nan too
    low, high = min(finite), max(finite)
    far = max(abs(low), abs(high))
    if high - low < 0.25 * far and (high - low) > 1e-9 * far and low * high > 0:
        step = round_up((high - low) / 2)
        return Span(math.floor(low / step) * step, math.ceil(high / step + 1e-9) * step)
    if far < 1e-12:
        return Span(-1, 1)
    small = 0.02 * far  # a value this near to zero needs no side of its own
    return Span(
        -round_up(-low, _ENDS) if low < -small else min(0.0, low),
        round_up(high, _ENDS) if high > small else max(0.0, high),
    )


@dataclass(frozen=True)
class Axes:
    """A rectangle of pixels that shows `across` by `up`."""

    canvas: Canvas
    x: float
    y: float
    width: float
    height: float
    across: Span
    up: Span

    def at(self, point: Point) -> Point:
        """The pixel that shows a point of the data."""
        over = (point[0] - self.across.low) / self.across.length
        above = (point[1] - self.up.low) / self.up.length
        return self.x + over * self.width, self.y + self.height - above * self.height

    def frame(self, tick_size: float = 11) -> None:
        """The paper: grid, ticks with their numbers, and a stronger line at zero."""
        canvas, bottom, right = self.canvas, self.y + self.height, self.x + self.width
        canvas.rect(self.x, self.y, self.width, self.height, fill="#ffffff", stroke=language.GRID)
        style = {"size": tick_size, "ink": language.QUIET_INK}
        for tick in ticks(self.across, 6):
            x, _ = self.at((tick, self.up.low))
            canvas.line((x, self.y), (x, bottom), stroke=_grid(tick))
            canvas.text(x, bottom + 10, number(tick), anchor="middle", **style)
        for tick in ticks(self.up):
            _, y = self.at((self.across.low, tick))
            canvas.line((self.x, y), (right, y), stroke=_grid(tick))
            canvas.text(self.x - 6, y, number(tick), anchor="end", **style)

    def curve(self, points: Sequence[Point], look: Look, dash: str = "") -> None:
        """The points joined, with gaps where a value is not finite."""
        run: list[Point] = []
        with self.canvas.clipped(self.x, self.y, self.width, self.height):
            for point in [*points, (0.0, math.nan)]:
                if math.isfinite(point[1]):
                    run.append(self._near(point))
                elif run:
                    self.canvas.polyline(run, stroke=look.ink, width=2.5, dash=dash)
                    run = []

    def line_through(self, point: Point, slope: float, *, ink: str, dash: str, width: float) -> None:
        """The straight line through `point` with this slope, from edge to edge."""
        reach = 2 * self.across.length
        pixels_per_unit = self.width / self.across.length
        rise = slope * (self.height / self.up.length) / pixels_per_unit
        # Measured in pixels, so that a steep line ends near the plot and its dashes keep their place.
        run = min(reach * pixels_per_unit, 2 * self.height / abs(rise)) if rise else self.width * 2
        x, y = self.at(point)
        with self.canvas.clipped(self.x, self.y, self.width, self.height):
            for side in (-1, 1):
                end = (x + side * run, y - side * run * rise)
                self.canvas.line((x, y), end, stroke=ink, width=width, dash=dash)

    def dot(self, point: Point, look: Look) -> None:
        """A point that stands out from the lines through it."""
        x, y = self.at(point)
        self.canvas.circle((x, y), 5.5, fill=look.ink, stroke="#ffffff", width=2)

    def _near(self, point: Point) -> Point:
        """The pixel of a point, brought near to the plot if it is far outside."""
        x, y = self.at(point)
        return x, min(max(y, self.y - 10 * self.height), self.y + 11 * self.height)


def _grid(tick: float) -> str:
    return "#b9b3a5" if abs(tick) < 1e-12 else language.GRID
