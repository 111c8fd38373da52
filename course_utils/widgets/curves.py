"""How the output varies along one input, and the window through which that is seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from course_utils.drawing.axes import Span, round_span
from course_utils.drawing.canvas import Point
from course_utils.widgets.operation import Numbers, Operation

_SAMPLES = 96  # a multiple of the sliders' steps, so that the point lies on the drawn curve
_FLAT = 1 / 8


def curve(operation: Operation, inputs: Numbers, name: str, across: Span) -> list[Point]:
    """Points of the output along one input, with the others held."""
    xs = [across.low + i * across.length / _SAMPLES for i in range(_SAMPLES + 1)]
    return [(x, operation.height(inputs, **{name: x})) for x in xs]


@dataclass(frozen=True)
class Window:
    """The part of one input's plot that is seen: `across` by `up`, which fits the start values."""

    across: Span
    up: Span

    @classmethod
    def at_start(cls, operation: Operation, inputs: Numbers, name: str, across: Span) -> Window:
        return cls(across, _around(curve(operation, inputs, name, across)))

    def heights(self, points: Sequence[Point], output: float | None) -> Span:
        """The heights to show for this curve: those of the start, while it can be seen there.

        An axis that stays is what lets a curve be seen to grow steeper when another input moves. It
        gives way when the point would leave the plot, or when the curve would look flat.
        """
        here = [(0.0, output)] if output is not None and math.isfinite(output) else []
        needed = _around([*points, *here])
        outside = any(not self.up.low <= z <= self.up.high for _, z in here)
        flat = needed.length < _FLAT * self.up.length
        return needed if outside or flat else self.up


def _around(points: Sequence[Point]) -> Span:
    # Wider, so that a line along the edge is not cut in half.
    return round_span([z for _, z in points]).wider(0.05)
