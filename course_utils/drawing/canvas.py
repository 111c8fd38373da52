"""Builds SVG that survives everywhere: presentation attributes only, the same bytes every time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from html import escape
from typing import Literal

from course_utils.drawing import language
from course_utils.drawing.language import Look
from course_utils.drawing.lettering import text_width

Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]


@lru_cache(maxsize=8192)
def coordinate(value: float) -> str:
    """`value` with at most two decimals and no -0."""
    return f"{round(value, 2) + 0.0:g}" if abs(value) < 1e4 else f"{value:.0f}"


class Canvas:
    """A card of `width` by `height` pixels to draw on; `svg()` gives the document.

    With `shared_font` the document names its font once, which makes pictures with much text smaller.
    """

    def __init__(self, width: float, height: float, *, shared_font: bool = False) -> None:
        self._shared_font = shared_font
        self._parts: list[str] = []
        self._clips = 0
        self.width, self.height = width, height
        card = {"fill": language.CARD, "stroke": language.CARD_EDGE, "radius": 8}
        self.rect(0.5, 0.5, width - 1, height - 1, **card)

    def svg(self) -> str:
        """The finished document."""
        width, height = coordinate(self.width), coordinate(self.height)
        font = f' font-family="{escape(language.FONT)}"' if self._shared_font else ""
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}{font}>'
        return "\n".join([head, *self._parts, "</svg>"])

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str = "none",
        stroke: str = "none",
        stroke_width: float = 1,
        dash: str = "",
        radius: float = 0,
    ) -> None:
        """A rectangle with its upper left corner at (x, y)."""
        self._add(
            "rect",
            x=x,
            y=y,
            width=width,
            height=height,
            rx=radius or None,
            fill=fill,
            **_line(stroke, stroke_width, dash),
        )

    def circle(self, centre: Point, radius: float, *, fill: str, stroke: str = "none", width: float = 1) -> None:
        """A filled circle."""
        self._add("circle", cx=centre[0], cy=centre[1], r=radius, fill=fill, **_line(stroke, width))

    def line(self, start: Point, end: Point, *, stroke: str, width: float = 1, dash: str = "") -> None:
        """A straight line."""
        ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
        self._add("line", **ends, **_line(stroke, width, dash))

    def polyline(self, points: Iterable[Point], *, stroke: str, width: float = 1, dash: str = "") -> None:
        """A line through all points."""
        style = _line(stroke, width, dash)
        self._add("polyline", points=_points(points), fill="none", stroke_linejoin="round", **style)

    def curve(self, points: Sequence[Point], *, stroke: str, width: float = 1, dash: str = "") -> None:
        """Cubic Bézier curves end to end: a start, then two control points and an end for each."""
        first, *rest = points
        path = f"M{_points([first])}C{_points(rest)}"
        self._add("path", d=path, fill="none", **_line(stroke, width, dash))

    def strokes(self, lines: Iterable[tuple[Point, Point]], *, stroke: str, width: float = 1) -> None:
        """Many straight lines as one element."""
        self._add("path", d="".join(f"M{_points(ends)}" for ends in lines), fill="none", **_line(stroke, width))

    def stamps(
        self, points: Iterable[Point], outline: str, *, fill: str, stroke: str = "none", width: float = 1
    ) -> None:
        """One small shape at many points, as one element; `outline` is a path relative to the point, as in `h4v4h-4z`.

        A thousand circles of their own make a page slow.
        """
        places = "".join(f"M{_points([point])}{outline}" for point in points)
        self._add("path", d=places, fill=fill, **_line(stroke, width))

    def polygon(self, points: Iterable[Point], *, fill: str) -> None:
        """A filled polygon."""
        self._add("polygon", points=_points(points), fill=fill)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 13,
        ink: str = language.INK,
        anchor: Anchor = "start",
        bold: bool = False,
        code: bool = False,
    ) -> None:
        """One line of text, vertically centred on `y`."""
        self._add(
            "text",
            escape(text),
            x=x,
            y=y + 0.35 * size,  # by hand: dominant-baseline is not the same in every viewer
            font_family=language.CODE_FONT if code else None if self._shared_font else language.FONT,
            font_size=size,
            font_weight="bold" if bold else None,
            text_anchor=None if anchor == "start" else anchor,
            fill=ink,
        )

    def arrow(self, start: Point, end: Point, look: Look) -> None:
        """A line from `start` with its head at `end`: a filled head if solid, an open one if not."""
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = math.hypot(dx, dy)
        dx, dy = dx / length, dy / length
        neck = (end[0] - 10 * dx, end[1] - 10 * dy)
        wings = [(neck[0] - side * 5 * dy, neck[1] + side * 5 * dx) for side in (1, -1)]
        if look.dash:
            tip = (end[0] - dx, end[1] - dy)
            self.line(start, tip, stroke=look.ink, width=look.width, dash=look.dash)
            self.polyline([wings[0], tip, wings[1]], stroke=look.ink, width=look.width)
        else:
            self.line(start, neck, stroke=look.ink, width=look.width)
            self.polygon([wings[0], end, wings[1]], fill=look.ink)

    def chip(
        self, centre: Point, text: str, look: Look, *, size: float = 13, width: float | None = None, new: bool = False
    ) -> float:
        """`text` in the shape of its role, centred; returns the chip's width.

        `new` is for what has just changed: light text on a dark ground, and a second line around it.
        """
        width, height = width or text_width(text, size) + 2 * size, 2 * size
        x, y = centre[0] - width / 2, centre[1] - height / 2
        radius = {"pill": height / 2, "panel": 6}.get(look.shape, 3)
        dash = look.dash if look in (language.NOT_COMPUTED, language.FREED, language.CONSTANT) else ""
        style = {"stroke": look.ink, "stroke_width": 1.5, "radius": radius}
        if new:
            self.rect(x - 3, y - 3, width + 6, height + 6, fill=language.CARD, **{**style, "radius": radius + 3})
            look = replace(look, ink=language.CARD, fill=look.ink)
            dash = ""
        if look.shape != "bare":
            self.rect(x, y, width, height, fill=look.fill, dash=dash, **style)
        if look.shape == "double box":
            self.rect(x + 3, y + 3, width - 6, height - 6, stroke=look.ink, radius=2)
        self.text(*centre, text, size=size, ink=look.ink, anchor="middle")
        if look.struck:
            half = width / 2 - size / 2
            ends = (centre[0] - half, centre[1]), (centre[0] + half, centre[1])
            self.line(*ends, stroke=look.ink, width=1.5)
        return width

    @contextmanager
    def clipped(self, x: float, y: float, width: float, height: float) -> Iterator[None]:
        """What is drawn inside the `with` block shows inside this rectangle only."""
        self._clips += 1
        name = f"clip{self._clips}"
        self._parts.append(f'<clipPath id="{name}">')
        self.rect(x, y, width, height)
        self._parts.append(f'</clipPath><g clip-path="url(#{name})">')
        yield
        self._parts.append("</g>")

    def once(self, memory: dict, key: Hashable, draw: Callable[[], None]) -> None:
        """What `draw` draws, kept in `memory`; it is not called again for the same key."""
        if key not in memory:
            start = len(self._parts)
            draw()
            memory[key] = self._parts[start:]
        else:
            self._parts += memory[key]

    def _add(self, tag: str, content: str = "", /, **attributes: object) -> None:
        written = "".join(
            f' {name.replace("_", "-")}="{_attribute(value)}"'
            for name, value in attributes.items()
            if value is not None
        )
        self._parts.append(f"<{tag}{written}>{content}</{tag}>")


@lru_cache(maxsize=8192)
def _attribute(value: object) -> str:
    return coordinate(value) if isinstance(value, int | float) else escape(str(value))


def _line(stroke: str, width: float, dash: str = "") -> dict[str, object]:
    if stroke == "none":
        return {}
    return {"stroke": stroke, "stroke_width": width, "stroke_dasharray": dash or None}


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{coordinate(x)},{coordinate(y)}" for x, y in points)
