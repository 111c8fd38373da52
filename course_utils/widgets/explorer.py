"""The explorer of one operation: sliders, the numbers going through it, slope against curve."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from course_utils.drawing.axes import Span, round_up
from course_utils.drawing.lettering import number
from course_utils.drawing.picture import Picture
from course_utils.widgets.curves import Window
from course_utils.widgets.operation import Operation, State, evaluate, sentences
from course_utils.widgets.operation_picture import draw
from course_utils.widgets.status import StatusLine

if TYPE_CHECKING:
    from ipywidgets import FloatSlider, VBox

Pair = tuple[Callable[..., object], Callable[..., object]]


def explore(operations: Pair | Mapping[str, Pair], *, incoming: float = 1.0, **values: float) -> OneOperationExplorer:
    """An explorer for one operation, or for several to choose from, with one to three inputs.

    An operation is `(forward, backward)`, with `forward(x, y) -> z` and
    `backward(incoming, x, y) -> (grad_x, grad_y)`; both are called with float64 tensors of no
    dimension. The keywords name the inputs, in their order, and say where they start:
    `explore({"(x*y)**2": (forward, backward)}, x=2.0, y=3.0, incoming=5.0)`.
    """
    return OneOperationExplorer(_named(operations), incoming, values)


class OneOperationExplorer:
    """One operation at one point: `state()` as data, `picture()` as a picture, `set()` to move."""

    def __init__(self, operations: Mapping[str, Operation], incoming: float, values: Mapping[str, float]) -> None:
        if not 1 <= len(values) <= 3:
            raise ValueError(
                f"explore: it shows 1 to 3 inputs and was given {len(values)}. Name each input with "
                "its start value, as in explore((forward, backward), x=2.0, y=3.0)."
            )
        self._operations = dict(operations)
        self._title = next(iter(self._operations))
        self._inputs = {name: _start(name, value) for name, value in values.items()}
        self._incoming = _start("incoming", incoming)
        self._live: _Live | None = None
        self._ranges = {name: _range(value, 4) for name, value in self._inputs.items()}
        self._reach = _range(self._incoming, 5)
        self._windows = {title: self._windows_of(operation) for title, operation in self._operations.items()}

    def state(self) -> State:
        """What is shown, as plain values."""
        return evaluate(self._operations[self._title], self._inputs, self._incoming)

    def picture(self) -> Picture:
        """What is shown, as a picture with its text."""
        return draw(self._operations[self._title], self.state(), self._windows[self._title])

    def set(self, *, operation: str | None = None, incoming: float | None = None, **values: float) -> None:
        """Move to other values, or to another of the operations; a live explorer follows."""
        unknown = [name for name in values if name not in self._inputs]
        if unknown or operation not in (None, *self._operations):
            raise ValueError(
                f"explore: there is no {', '.join(unknown) or repr(operation)} here. "
                f"Inputs: {', '.join(self._inputs)}; operations: {', '.join(self._operations)}."
            )
        incoming = self._incoming if incoming is None else _inside("incoming", incoming, self._reach)
        inputs = {name: _inside(name, value, self._ranges[name]) for name, value in values.items()}
        self._title, self._incoming = operation or self._title, incoming
        self._inputs |= inputs
        if self._live is not None:
            self._live.show()

    def widget(self) -> VBox:
        """The live controls and picture; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self, self._operations, self._ranges, self._reach)
        return self._live.container

    def _windows_of(self, operation: Operation) -> dict[str, Window]:
        return {name: Window.at_start(operation, self._inputs, name, span) for name, span in self._ranges.items()}

    def __repr__(self) -> str:
        return sentences(self.state())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), **self.picture()._repr_mimebundle_()}


class _Live:
    """The widgets of one explorer."""

    def __init__(
        self, explorer: OneOperationExplorer, titles: Iterable[str], ranges: Mapping[str, Span], reach: Span
    ) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._explorer = explorer
        self._following = False
        state = explorer.state()
        self._picture = widgets.HTML(layout=widgets.Layout(width="auto"))
        self._words = StatusLine()
        self._sliders = {name: _slider(name, value, ranges[name]) for name, value in state.inputs.items()}
        self._incoming = _slider("incoming gradient", state.incoming, reach)
        self._choice = widgets.Dropdown(
            options=list(titles),
            value=state.title,
            description="operation",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto", max_width="342px"),
        )
        for control in (*self._sliders.values(), self._incoming, self._choice):
            control.observe(self._moved, "value")
        self.container = widgets.VBox([self._controls(), self._picture, self._words.widget])
        help_controls(self.container)
        self.show()

    def _controls(self) -> VBox:
        """Inputs on the left and the incoming gradient on the right, as they are in the picture."""
        import ipywidgets as widgets

        half = widgets.Layout(flex="1 1 300px", max_width="360px")
        sides = [
            widgets.VBox(list(self._sliders.values()), layout=half),
            widgets.VBox([self._incoming], layout=half),
        ]
        row = widgets.Layout(flex_flow="row wrap", max_width="720px", margin="0 0 8px 0")
        several = [self._choice] if len(self._choice.options) > 1 else []
        return widgets.VBox([*several, widgets.Box(sides, layout=row)])

    def show(self) -> None:
        """Put the explorer's present state on the screen."""
        explorer, state = self._explorer, self._explorer.state()
        self._following = True
        try:
            for name, slider in self._sliders.items():
                slider.value = state.inputs[name]
            self._incoming.value = state.incoming
            self._choice.value = state.title
        finally:
            self._following = False
        picture = explorer.picture()
        self._picture.value = picture.img()
        self._words.say(html.escape(picture.text))

    def _moved(self, change: object) -> None:
        if self._following:  # the sliders are being put where the explorer already is
            return
        self._explorer.set(
            operation=self._choice.value,
            incoming=self._incoming.value,
            **{name: slider.value for name, slider in self._sliders.items()},
        )


def _named(operations: Pair | Mapping[str, Pair]) -> dict[str, Operation]:
    pairs = operations
    if not isinstance(operations, Mapping):
        name = getattr(_first(operations), "__name__", "forward")
        pairs = {"operation" if name in ("forward", "<lambda>") else name: operations}
    if not pairs or not all(isinstance(p, tuple | list) and len(p) == 2 for p in pairs.values()):
        raise TypeError(
            "explore: an operation is a pair (forward, backward), and several are a mapping from "
            "titles to such pairs, as in {'(x*y)**2': (forward, backward)}."
        )
    return {str(title): Operation(str(title), *pair) for title, pair in pairs.items()}


def _first(pair: object) -> object:
    return pair[0] if isinstance(pair, tuple | list) and pair else None


def _start(name: str, value: float) -> float:
    try:
        start = float(value)
    except (TypeError, ValueError):
        start = math.nan
    if not math.isfinite(start):
        raise ValueError(f"explore: {name} is {value!r}. Give it a finite number, such as {name}=2.0.")
    return start


def _inside(name: str, value: float, span: Span) -> float:
    inside = _start(name, value)
    if not span.low <= inside <= span.high:
        raise ValueError(
            f"explore: {name} goes from {number(span.low)} to {number(span.high)} here, and {number(inside)} is "
            "outside. To go further, give explore(...) a larger start value."
        )
    return inside


def _range(start: float, usual: float) -> Span:
    reach = usual if abs(start) <= usual else round_up(abs(start))
    return Span(-reach, reach)


def _grid(start: float, span: Span) -> tuple[Span, float]:
    """A slider's range and step such that it can stand on `start`: it would move to its next step."""
    for step in (0.25, 0.1, 0.05) if span.high <= 5 else (round_up(span.length / 50),):
        if abs((start - span.low) / step - round((start - span.low) / step)) < 1e-9:
            return span, step
    below = math.floor((start - span.low) / step)
    above = math.floor((span.high - start) / step)
    return Span(start - below * step, start + above * step), step


def _slider(name: str, value: float, span: Span) -> FloatSlider:
    import ipywidgets as widgets

    span, step = _grid(value, span)
    return widgets.FloatSlider(
        value=value,
        min=span.low,
        max=span.high,
        step=step,
        description=name,
        readout_format=".2f",
        style={"description_width": "initial"},
        layout=widgets.Layout(width="auto"),
    )
