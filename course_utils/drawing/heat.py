"""A heat map on a canvas: a grid of numbers, each on a shade that tells its sign and its size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course_utils.drawing import language
from course_utils.drawing.canvas import Canvas, Point
from course_utils.drawing.lettering import fitting_size, number

# tints of no role of the visual language; dark text is readable on the strongest of them
POSITIVE, NEGATIVE, NONE = "#7cc7bb", "#cba9e6", "#ffffff"
_NOTHING = 1e-9  # beside the largest number of a map, this is rounding noise


def brief(value: float, largest: float = 1.0) -> str:
    """`value` in three digits; 0 where it is rounding noise beside the largest number shown."""
    if math.isfinite(value) and abs(value) <= _NOTHING * max(largest, 1e-300):
        return "0"
    return number(float(f"{value:.3g}"))


def largest_of(rows: Sequence[Sequence[float]]) -> float:
    """The largest size among the finite numbers of a map; 0 if there is none."""
    return max((abs(value) for row in rows for value in row if math.isfinite(value)), default=0.0)


def shade(value: float, largest: float) -> str:
    """The colour for a value: white for 0, the full tint of its sign for `largest`."""
    if not math.isfinite(value) or not largest:
        return NONE
    strength = min(1.0, abs(value) / largest)
    if strength <= _NOTHING:
        return NONE
    return _mixed(NONE, POSITIVE if value > 0 else NEGATIVE, 0.15 + 0.85 * strength)


@dataclass(frozen=True)
class HeatMap:
    """A grid of cells `width` by `height` pixels with its upper left corner at (x, y)."""

    canvas: Canvas
    x: float
    y: float
    width: float
    height: float
    rows: Sequence[Sequence[float]]

    @property
    def right(self) -> float:
        return self.x + self.width * len(self.rows[0])

    @property
    def bottom(self) -> float:
        return self.y + self.height * len(self.rows)

    def centre(self, row: int, column: int) -> Point:
        """The middle of a cell; rows and columns outside the grid go on at the same distance."""
        return self.x + (column + 0.5) * self.width, self.y + (row + 0.5) * self.height

    def draw(self, notes: Sequence[Sequence[str]] | None = None) -> None:
        """Every number on its shade, with a smaller note under it if there are notes."""
        largest = largest_of(self.rows)
        for i, row in enumerate(self.rows):
            for j, value in enumerate(row):
                self._cell(i, j, value, largest, notes[i][j] if notes else "")

    def outline(self, row: int, column: int) -> None:
        """A strong line around one cell."""
        x, y = self.x + column * self.width, self.y + row * self.height
        self.canvas.rect(x + 2, y + 2, self.width - 4, self.height - 4, stroke=language.INK, stroke_width=2.5, radius=2)

    def _cell(self, row: int, column: int, value: float, largest: float, note: str) -> None:
        x, y = self.x + column * self.width, self.y + row * self.height
        self.canvas.rect(x, y, self.width, self.height, fill=shade(value, largest), stroke=language.CARD_EDGE)
        middle, level = self.centre(row, column)
        text = brief(value, largest)
        ink = language.QUIET_INK if text == "0" else language.INK
        size = fitting_size(text, self.width - 12, sizes=(16, 14, 12, 10))
        above = 9 if note else 0
        self.canvas.text(middle, level - above, text, size=size, ink=ink, anchor="middle", bold=text != "0")
        if note:
            size = fitting_size(note, self.width - 10, sizes=(12, 11, 10, 9))
            self.canvas.text(middle, level + 12, note, size=size, anchor="middle")


def _mixed(one: str, other: str, share: float) -> str:
    """The colour that lies this share of the way from one `#rrggbb` to the other."""
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)
