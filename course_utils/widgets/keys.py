"""Arrow keys for ipywidgets' controls: Notebook 7 would take them to move to another cell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import anywidget

if TYPE_CHECKING:
    from ipywidgets import Box


class _KeptKeys(anywidget.AnyWidget):
    """Nothing to see; its page half marks the control that gets the focus."""

    _esm = Path(__file__).parent / "keys.js"


def keep_keys(box: Box) -> None:
    """Leaves the arrow keys to the controls in `box`, in every notebook front end."""
    box.add_class("course-keys")
    box.children = (*box.children, _KeptKeys(layout={"display": "none"}))
