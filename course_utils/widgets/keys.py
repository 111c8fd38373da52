"""What ipywidgets' controls lack: arrow keys that Notebook 7 does not take, and names for sliders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anywidget

if TYPE_CHECKING:
    from ipywidgets import Box


class _KeptKeys(anywidget.AnyWidget):
    """Nothing to see; its page half marks the control that gets the focus, and names the sliders."""

    _esm = Path(__file__).parent / "keys.js"


def keep_keys(box: Box) -> None:
    """Leaves the arrow keys to the controls in `box`, in every notebook front end, and names its sliders."""
    box.add_class("course-keys")
    box.children = (*box.children, _KeptKeys(layout={"display": "none"}))
