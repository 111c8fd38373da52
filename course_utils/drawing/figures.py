"""matplotlib figures as pictures: the course's colours, and the same bytes every time."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from course_utils.drawing import language
from course_utils.drawing.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Layout is computed with DejaVu Sans, which matplotlib brings along; Verdana is as wide.
_FONTS = "'DejaVu Sans', Verdana, Arial, sans-serif"
_LINES = [
    (language.VALUE.ink, "-", "o"),
    (language.GRADIENT.ink, (0, (5, 2)), "s"),
    (language.LEAF.ink, "-.", "^"),
    (language.INK, ":", "D"),
]


def blank(width: float = 7.2, height: float = 3.8) -> tuple[Figure, Axes]:
    """An empty figure of this size in inches, with axes in the course's colours.

    Its lines differ in dashes and markers as well as in colour. It belongs to no window and to no
    pyplot state: draw on the axes, then hand the figure to `figure`.
    """
    from matplotlib.figure import Figure

    with _style():
        fig = Figure(figsize=(width, height), layout="constrained")
        return fig, fig.add_subplot()


def figure(fig: Figure, text: str, alt: str) -> Picture:
    """The figure as a picture: `text` for terminals and diffs, `alt` for who cannot see it."""
    target = io.StringIO()
    fig.set_facecolor(language.CARD)
    fig.set_edgecolor(language.CARD_EDGE)
    fig.set_linewidth(1)
    with _style():  # again: some parts of a figure are made only when it is saved
        fig.savefig(target, format="svg", metadata={"Date": None, "Creator": None})
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(fig)  # else a notebook shows it a second time
    return Picture(target.getvalue().replace("'DejaVu Sans'", _FONTS), text, alt)


@contextmanager
def _style() -> Iterator[None]:
    """The course's colours and stable output, whatever a person's own matplotlibrc says."""
    import matplotlib as mpl
    from cycler import cycler

    colours, styles, markers = zip(*_LINES, strict=True)
    style = {
        "svg.hashsalt": "autograd, step by step",
        "svg.fonttype": "none",
        "font.size": 11,
        "text.color": language.INK,
        "axes.labelcolor": language.INK,
        "axes.edgecolor": language.CARD_EDGE,
        "axes.facecolor": "#ffffff",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": cycler(color=colours) + cycler(linestyle=styles) + cycler(marker=markers),
        "grid.color": language.GRID,
        "xtick.color": language.QUIET_INK,
        "ytick.color": language.QUIET_INK,
    }
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(style)
        yield
