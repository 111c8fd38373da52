"""The batch explorer: switch between functions of a batch, and see which samples depend on which."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from course_utils.drawing.picture import Picture
from course_utils.widgets.batch import Batched, Function, Mixing, sentences
from course_utils.widgets.batch_picture import draw
from course_utils.widgets.named import functions_by_title
from course_utils.widgets.status import StatusLine

if TYPE_CHECKING:
    from ipywidgets import VBox


def explore_batch(functions: Function | Mapping[str, Function], x: Tensor, *, column: int = 0) -> BatchExplorer:
    """An explorer of how a function of a batch `x` mixes its samples, or several functions to switch between.

    `x` has one sample in each row, and each function returns a tensor of its shape. Shown are the derivatives of one
    column of the result by the same column of the batch: `explore_batch({"batch norm": batch_norm}, x)`.
    """
    if not isinstance(x, Tensor):
        raise TypeError(
            f"explore_batch: x is a {type(x).__name__}. Give the batch as a tensor, one sample in each row."
        )
    titled = functions_by_title(functions, "explore_batch")
    return BatchExplorer([Batched.at(title, function, x) for title, function in titled.items()], column)


class BatchExplorer:
    """One function of one batch: `state()` as data, `picture()` as a picture, `set()` to switch."""

    def __init__(self, functions: Sequence[Batched], column: int) -> None:
        self._functions = {one.title: one for one in functions}
        self._title = functions[0].title
        self._columns = functions[0].columns
        self._column = self._inside(column)
        self._live: _Live | None = None

    def state(self) -> Mixing:
        """What is shown, as plain values."""
        return self._functions[self._title].mixing(self._column)

    def picture(self) -> Picture:
        """What is shown, as a picture with its text."""
        return draw(self.state())

    def set(self, *, function: str | None = None, column: int | None = None) -> None:
        """Switch to another function or column; a live explorer follows."""
        if function is not None and function not in self._functions:
            raise ValueError(f"explore_batch: there is no {function!r} here. Functions: {', '.join(self._functions)}.")
        if column is not None:
            self._column = self._inside(column)
        self._title = function or self._title
        if self._live is not None:
            self._live.show()

    def widget(self) -> VBox:
        """The live controls and picture; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self, list(self._functions), self._columns)
        return self._live.container

    def _inside(self, column: int) -> int:
        if column not in range(self._columns):
            raise ValueError(
                f"explore_batch: there is no column {column!r}. This batch has {self._columns}, counted from 0."
            )
        return column

    def __repr__(self) -> str:
        return sentences(self.state())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), **self.picture()._repr_mimebundle_()}


class _Live:
    """The widgets of one explorer."""

    def __init__(self, explorer: BatchExplorer, titles: Sequence[str], columns: int) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._explorer = explorer
        self._following = False
        self._choice = widgets.RadioButtons(options=list(titles), layout=widgets.Layout(width="auto", max_width="100%"))
        self._column = widgets.Dropdown(
            options=[(str(number), number) for number in range(columns)],
            description="column",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto", max_width="200px"),
        )
        for control in (self._choice, self._column):
            control.observe(self._moved, "value")
        self._picture = widgets.HTML(layout=widgets.Layout(width="auto"))
        self._words = StatusLine()
        controls = [*([self._choice] if len(titles) > 1 else []), *([self._column] if columns > 1 else [])]
        self.container = widgets.VBox([*controls, self._picture, self._words.widget])
        help_controls(self.container)
        self.show()

    def show(self) -> None:
        """Put the explorer's present state on the screen."""
        state, picture = self._explorer.state(), self._explorer.picture()
        self._following = True
        try:
            self._choice.value, self._column.value = state.title, state.column
        finally:
            self._following = False
        self._picture.value = picture.img()
        self._words.say(html.escape(picture.text))

    def _moved(self, change: object) -> None:
        if not self._following:  # else the controls are being put where the explorer already is
            self._explorer.set(function=self._choice.value, column=self._column.value)
