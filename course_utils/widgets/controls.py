"""What ipywidgets' controls lack: names for screen readers, and arrow keys that Notebook 7 leaves to them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anywidget

if TYPE_CHECKING:
    from ipywidgets import Box


class _Helper(anywidget.AnyWidget):
    """Nothing to see; its page half looks after the controls in the same box."""

    _esm = Path(__file__).parent / "controls.js"


def help_controls(box: Box) -> None:
    """Gives the sliders and choices in `box` their names, and their arrow keys, in every notebook front end."""
    box.add_class("course-controls")
    box.children = (*box.children, _Helper(layout={"display": "none"}))
