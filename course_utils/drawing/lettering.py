"""How numbers are written in pictures and sentences, and how much room text takes."""

from __future__ import annotations

import math
import textwrap
from functools import lru_cache

# Widths of Arial (and of Helvetica and Liberation Sans), in thousandths of the font size.
_GROUPS = {
    222: "ijl'|",
    278: " I!,./:;[]ft\\",
    333: "-()r`",
    389: "*",
    500: "ckszvxyJ",
    556: "0123456789abdeghnopqu_L$?#",
    584: "+<>=~×−",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    833: "mM",
    889: "%",
    944: "W",
}
_WIDTHS = {letter: width for width, letters in _GROUPS.items() for letter in letters}


@lru_cache(maxsize=4096)
def text_width(text: str, size: float, *, code: bool = False, bold: bool = False) -> float:
    """The width of `text` in pixels at a font size of `size` pixels, within a few per cent."""
    if code:
        return 0.602 * size * len(text)
    width = sum(_WIDTHS.get(letter, 600) for letter in text) * size / 1000
    return width * 1.07 if bold else width


def fitting_size(text: str, room: float, *, sizes: tuple[float, ...] = (13, 12, 11, 10), code: bool = False) -> float:
    """The largest of `sizes` at which `text` fits into `room` pixels; the smallest if none does."""
    return next((s for s in sizes if text_width(text, s, code=code) <= room), sizes[-1])


def wrap(text: str, size: float, width: float) -> list[str]:
    """`text` in lines of about `width` pixels, broken at spaces where there are any."""
    return textwrap.wrap(text, max(8, int(width / (0.5 * size))))


def shorten(text: str, length: int) -> str:
    """`text` on one line, its end replaced by … if it is longer than `length` characters."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def number(value: float) -> str:
    """`value` in at most five digits, never as -0."""
    if not math.isfinite(value):
        return f"{value}"
    return f"{value + 0.0:.5g}".replace("e-0", "e-").replace("e+0", "e+").removeprefix("+")


def measured(value: float) -> str:
    """`value` with three decimals, so that a measured number looks measured."""
    if not math.isfinite(value) or abs(value) >= 1e6 or 0 < abs(value) < 5e-4:
        return number(value)
    return f"{value + 0.0:.3f}"
