"""The one visual language of the course: what each thing in a picture looks like, everywhere.

Every role differs from the others in its shape or line as well as in its colour, and has one word,
so that a picture can be read without colour, on a projector and aloud.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Shape = Literal["box", "pill", "double box", "panel", "bare"]


@dataclass(frozen=True)
class Look:
    """How one role is drawn: its word, `ink` on `fill`, the shape around it, and its line.

    `dash` is an SVG dash pattern (empty: a solid line); `struck` draws a line through the text.
    """

    word: str
    ink: str
    fill: str
    shape: Shape
    dash: str = ""
    width: float = 1.5
    struck: bool = False


CARD = "#fdfcf9"  # opaque: an image cannot follow the page's theme
CARD_EDGE = "#8b867a"
INK = "#22262b"
QUIET_INK = "#5a5f66"
GRID = "#e6e2d8"

VALUE = Look("value", ink="#0f4c8a", fill="#e4effb", shape="box")
GRADIENT = Look("gradient", ink="#9a3700", fill="#fdebdd", shape="pill", dash="7 4", width=2)
LEAF = Look("leaf", ink="#1b6237", fill="#e2f3e7", shape="double box")
OPERATION = Look("operation", ink=INK, fill="#efece4", shape="panel", width=2)
NOT_COMPUTED = Look("not computed yet", ink=QUIET_INK, fill=CARD, shape="pill", dash="1.5 4")
FREED = Look("freed", ink="#63605a", fill="#e9e7e1", shape="box", dash="10 3 2 3", struck=True)
CONSTANT = Look("needs no gradient", ink=QUIET_INK, fill="#f1efea", shape="box", dash="2 3")
NOT_RECORDED = Look("not recorded", ink=QUIET_INK, fill="#f4f3f0", shape="panel", dash="5 4")
NOT_KEPT = Look("value not kept", ink=QUIET_INK, fill=OPERATION.fill, shape="bare")

ROLES = (VALUE, GRADIENT, LEAF, OPERATION, NOT_COMPUTED, FREED, CONSTANT, NOT_RECORDED, NOT_KEPT)

# Verdicts stand apart by being outlined or filled, and by their words.
AGREE = Look("agree", ink=INK, fill=CARD, shape="box")
DISAGREE = Look("DISAGREE", ink="#ffffff", fill="#8c1d18", shape="box")

# Helvetica, Arial and Liberation Sans have the same letter widths, so that text keeps its place.
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
CODE_FONT = "'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"


def contrast(one: str, other: str) -> float:
    """The WCAG 2 contrast ratio of two `#rrggbb` colours, from 1 (the same) to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
