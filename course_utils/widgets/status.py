"""The line under a live widget: what it shows, in words, for the eye and for a screen reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipywidgets import HTML

CUT_OFF = "The kernel was restarted, so nothing moves here any more. Run this cell again."
# ipywidgets marks what has lost its kernel with this class, and with a small sign that says little
_STYLE = (
    ".course-status.jupyter-widgets-disconnected::before {display: none} "
    f".course-status.jupyter-widgets-disconnected::after {{content: '{CUT_OFF}'; display: block; font-weight: bold}}"
)


class StatusLine:
    """A line of text that is read out when it changes, and says so itself when its kernel is gone."""

    def __init__(self) -> None:
        import ipywidgets as widgets

        self.widget: HTML = widgets.HTML(layout=widgets.Layout(width="auto", max_width="720px"))
        self.widget.add_class("course-status")
        self.say("")

    def say(self, text: str) -> None:
        """Show this text; it is HTML."""
        line = f'<div role="status" aria-live="polite" style="line-height: 1.5">{text}</div>'
        self.widget.value = f"<style>{_STYLE}</style>{line}"
