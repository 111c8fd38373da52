"""The kink explorer: a point to move along a curve, with the lines that support it and the one that torch picks."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from course_utils.drawing.axes import Span
from course_utils.drawing.lettering import number
from course_utils.drawing.picture import Picture
from course_utils.widgets.kink import Function, Kinked, Kinky, sentences
from course_utils.widgets.kink_picture import draw
from course_utils.widgets.named import functions_by_title
from course_utils.widgets.status import StatusLine

if TYPE_CHECKING:
    from ipywidgets import VBox

_STEPS = 80


def explore_kink(
    functions: Function | Mapping[str, Function], x: float = 0.0, *, across: Sequence[float] = (-2.0, 2.0)
) -> KinkExplorer:
    """An explorer of a function of one number around its kinks, or of several to choose from by title.

    A function takes a tensor of numbers and gives one number for each. The point starts at `x` and moves inside
    `across`: `explore_kink({"relu": torch.relu, "abs": torch.abs})`.
    """
    low, high = across
    if not low < high:
        raise ValueError(f"explore_kink: across is {across!r}. Give it the lower end, then the upper one.")
    titled = functions_by_title(functions, "explore_kink")
    return KinkExplorer([Kinky(title, function) for title, function in titled.items()], Span(low, high), x)


class KinkExplorer:
    """A function at a point: `state()` as data, `picture()` as a picture, `set()` to move."""

    def __init__(self, functions: Sequence[Kinky], across: Span, x: float) -> None:
        self._functions = {one.title: one for one in functions}
        self._title = functions[0].title
        self._across = across
        self._x = self._inside(x)
        self._live: _Live | None = None
        for one in functions:
            one.at(self._x)  # a function that cannot be shown is found out now

    def state(self) -> Kinked:
        """What is shown, as plain values."""
        return self._functions[self._title].at(self._x)

    def picture(self) -> Picture:
        """What is shown, as a picture with its text."""
        return draw(self._functions[self._title], self.state(), self._across)

    def set(self, *, function: str | None = None, x: float | None = None) -> None:
        """Move the point, or take another function; a live explorer follows."""
        if function is not None and function not in self._functions:
            raise ValueError(f"explore_kink: there is no {function!r} here. Functions: {', '.join(self._functions)}.")
        if x is not None:
            self._x = self._inside(x)
        self._title = function or self._title
        if self._live is not None:
            self._live.show()

    def widget(self) -> VBox:
        """The live controls and picture; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self, list(self._functions), self._across)
        return self._live.container

    def _inside(self, x: float) -> float:
        low, high = self._across.low, self._across.high
        if not (math.isfinite(x) and low <= x <= high):
            raise ValueError(
                f"explore_kink: x goes from {number(low)} to {number(high)} here, and {number(x)} is outside. `across` "
                "says what is shown."
            )
        return round(float(x), 9) + 0.0  # a slider's 0 may come as 1e-17, and the kink is at 0 itself

    def __repr__(self) -> str:
        return sentences(self.state())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), **self.picture()._repr_mimebundle_()}


class _Live:
    """The widgets of one explorer."""

    def __init__(self, explorer: KinkExplorer, titles: Sequence[str], across: Span) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._explorer = explorer
        self._following = False
        style = {"description_width": "initial"}
        layout = widgets.Layout(width="auto", max_width="420px")
        self._choice = widgets.Dropdown(options=list(titles), description="function", style=style, layout=layout)
        self._x = widgets.FloatSlider(
            value=across.low,
            min=across.low,
            max=across.high,
            step=across.length / _STEPS,
            description="x",
            readout_format=".2f",
            style=style,
            layout=layout,
        )
        for control in (self._choice, self._x):
            control.observe(self._moved, "value")
        self._picture = widgets.HTML(layout=widgets.Layout(width="auto"))
        self._words = StatusLine()
        several = [self._choice] if len(titles) > 1 else []
        self.container = widgets.VBox([*several, self._x, self._picture, self._words.widget])
        help_controls(self.container)
        self.show()

    def show(self) -> None:
        """Put the explorer's present state on the screen."""
        state, picture = self._explorer.state(), self._explorer.picture()
        self._following = True
        try:
            self._choice.value = state.title
            if abs(self._x.value - state.x) > 1e-9:  # what is sent back would undo the next key that is pressed
                self._x.value = state.x
        finally:
            self._following = False
        self._picture.value = picture.img()
        self._words.say(html.escape(picture.text))

    def _moved(self, change: object) -> None:
        if not self._following:  # else the controls are being put where the explorer already is
            self._explorer.set(function=self._choice.value, x=self._x.value)
