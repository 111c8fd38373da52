"""Bézier curves beside other Bézier curves, and heads at their ends."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .layout import Point

_HEAD_LENGTH, _HEAD_HALF = 8.0, 4.5


def offset(curve: Sequence[Point], distance: float) -> list[Point]:
    """The curve moved sideways; seen along the curve, positive is to the right.

    It is not exact for sharp bends, which Graphviz does not draw.
    """
    moved = []
    for index, (x, y) in enumerate(curve):
        dx, dy = _direction(curve, index)
        moved.append((x - distance * dy, y + distance * dx))
    return moved


def joined(curves: Sequence[Sequence[Point]]) -> list[Point]:
    """The curves as one, with straight pieces from the end of each to the start of the next."""
    course = list(curves[0])
    for curve in curves[1:]:
        course += [course[-1], curve[0], *curve]
    return course


def arrow_head(curve: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    """The triangle at the end of the curve, and the curve shortened to end inside it."""
    dx, dy = _direction(curve, len(curve) - 1)
    tip = curve[-1]
    neck = (tip[0] - _HEAD_LENGTH * dx, tip[1] - _HEAD_LENGTH * dy)
    wings = [(neck[0] - side * _HEAD_HALF * dy, neck[1] + side * _HEAD_HALF * dx) for side in (1, -1)]
    shift = (neck[0] - tip[0], neck[1] - tip[1])
    near = curve[-2]
    bent = (near[0] + shift[0], near[1] + shift[1])
    return [wings[0], tip, wings[1]], [*curve[:-2], bent, neck]


def _direction(curve: Sequence[Point], index: int) -> Point:
    """Where the curve goes at one of its points, as a vector of length 1."""
    last = len(curve) - 1
    knot = index - index % 3 if index % 3 != 2 else index + 1  # control points share their end's direction
    before, after = max(0, knot - 1), min(last, knot + 1)
    for reach in range(last + 1):
        start, end = curve[max(0, before - reach)], curve[min(last, after + reach)]
        length = math.hypot(end[0] - start[0], end[1] - start[1])
        if length > 1e-6:
            return (end[0] - start[0]) / length, (end[1] - start[1]) / length
    return 1.0, 0.0
