"""Numbers as people type them, and whether such a number was right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from course_utils.drawing.lettering import shorten


@dataclass(frozen=True)
class Typed:
    """A number, the way it was typed, and the decimals it was given with (None: meant exactly)."""

    text: str
    value: float
    decimals: int | None

    def matches(self, actual: float) -> bool:
        """Whether this is `actual`, either closely or rounded to the decimals that were typed."""
        if math.isnan(actual) or math.isnan(self.value):
            return math.isnan(actual) and math.isnan(self.value)
        if math.isclose(self.value, actual, rel_tol=1e-4, abs_tol=1e-9):
            return True
        near = math.isclose(self.value, actual, rel_tol=0.05)  # else 0 would be right for 0.4
        return near and self.decimals is not None and round(actual, self.decimals) == self.value


def typed(answer: object) -> Typed:
    """What was typed (`"36"`, `"-1.5"`, `"1/3"`) or given as a number. Raises ValueError."""
    if hasattr(answer, "item"):
        answer = answer.item()  # a tensor or an array with one element
    text = " ".join(str(answer).replace("−", "-").split())
    above, slash, below = text.partition("/")
    try:
        if slash:
            return Typed(text, float(above) / float(below), None)
        return Typed(text, float(text), _decimals(text))
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f'"{shorten(text, 30)}" is not a number. Write it as 36, -1.5 or 1/3.'
            if text
            else "It is empty. Write a number, such as 36, -1.5 or 1/3."
        ) from None


def _decimals(text: str) -> int | None:
    try:
        exponent = Decimal(text).as_tuple().exponent
    except InvalidOperation:
        return None
    return max(0, -exponent) if isinstance(exponent, int) else None
