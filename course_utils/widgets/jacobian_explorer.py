"""The Jacobian explorer: a weight to drag for each row, and the weighted sum that one backward pass gives."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from torch import Tensor

from course_utils.drawing.picture import Picture
from course_utils.widgets.jacobian import Differentiated, Weighted, sentences
from course_utils.widgets.jacobian_picture import draw
from course_utils.widgets.named import functions_by_title
from course_utils.widgets.status import StatusLine

if TYPE_CHECKING:
    from ipywidgets import Dropdown, FloatSlider, VBox

Function = Callable[[Tensor], Tensor]
REACH = 3.0  # of a weight's slider
# by the number of outputs, so that a slider can stand on the weight of the mean; else a quarter
_STEPS = {3: 1 / 6, 5: 1 / 5, 6: 1 / 6}
_OWN = "by the sliders"


def explore_jacobian(
    functions: Function | Mapping[str, Function], x: Tensor, *, weights: Sequence[float] | None = None
) -> JacobianExplorer:
    """An explorer for the Jacobian of a function of one tensor at `x`, or of several to choose from by title.

    Input and result have up to six entries each. The weights, one for each entry of the result, start at `weights`,
    or at 1 for the first and 0 for the others: `explore_jacobian({"x**2": torch.square}, torch.tensor([2.0, 3.0]))`.
    """
    if not isinstance(x, Tensor):
        raise TypeError(
            f"explore_jacobian: x is a {type(x).__name__}. Give the input as a tensor, as in torch.tensor([2.0, 3.0])."
        )
    titled = functions_by_title(functions, "explore_jacobian")
    return JacobianExplorer([Differentiated.at(title, function, x) for title, function in titled.items()], weights)


class JacobianExplorer:
    """One function with a weight for each output: `state()` as data, `picture()` as a picture, `set()` to move."""

    def __init__(self, functions: Sequence[Differentiated], weights: Sequence[float] | None) -> None:
        self._functions = {one.title: one for one in functions}
        self._title = functions[0].title
        first = _one_hot(0, functions[0].y.numel())
        self._weights = first if weights is None else self._fitting(weights, functions[0])
        self._live: _Live | None = None

    def state(self) -> Weighted:
        """What is shown, as plain values."""
        return self._functions[self._title].weighted(self._weights)

    def picture(self) -> Picture:
        """What is shown, as a picture with its text."""
        return draw(self.state())

    def set(self, *, function: str | None = None, weights: Sequence[float] | None = None) -> None:
        """Move to other weights, or to another of the functions; a live explorer follows."""
        if function is not None and function not in self._functions:
            raise ValueError(
                f"explore_jacobian: there is no {function!r} here. Functions: {', '.join(self._functions)}."
            )
        chosen = self._functions[function or self._title]
        if weights is not None:
            weights = self._fitting(weights, chosen)
        elif len(self._weights) != chosen.y.numel():
            weights = _one_hot(0, chosen.y.numel())
        self._title, self._weights = chosen.title, weights or self._weights
        if self._live is not None:
            self._live.show()

    def widget(self) -> VBox:
        """The live controls and picture; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self, list(self._functions))
        return self._live.container

    def _fitting(self, weights: Sequence[float], function: Differentiated) -> tuple[float, ...]:
        numbers = tuple(float(weight) for weight in weights)
        if len(numbers) != function.y.numel():
            raise ValueError(
                f"explore_jacobian: {len(numbers)} weights are given, and {function.title} has {function.y.numel()} "
                "outputs. Give one weight for each."
            )
        if not all(math.isfinite(number) and abs(number) <= REACH for number in numbers):
            raise ValueError(f"explore_jacobian: a weight goes from {-REACH:g} to {REACH:g} here. Give smaller ones.")
        return numbers

    def __repr__(self) -> str:
        return sentences(self.state())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), **self.picture()._repr_mimebundle_()}


class _Live:
    """The widgets of one explorer; the sliders are made anew when another function has other outputs."""

    def __init__(self, explorer: JacobianExplorer, titles: Sequence[str]) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._explorer = explorer
        self._following = False
        self._sliders: list[FloatSlider] = []
        self._choice = _dropdown("function", titles)
        self._preset = _dropdown("weights", [_OWN])
        self._choice.observe(self._chosen, "value")
        self._preset.observe(self._preset_chosen, "value")
        self._weights = widgets.Box(layout=widgets.Layout(flex_flow="row wrap", max_width="720px"))
        self._picture = widgets.HTML(layout=widgets.Layout(width="auto"))
        self._words = StatusLine()
        several = [self._choice] if len(titles) > 1 else []
        self.container = widgets.VBox([*several, self._preset, self._weights, self._picture, self._words.widget])
        help_controls(self.container)
        self.show()

    def show(self) -> None:
        """Put the explorer's present state on the screen."""
        state, picture = self._explorer.state(), self._explorer.picture()
        names = [name for name, _ in state.outputs]
        self._following = True
        try:
            if [slider.description for slider in self._sliders] != [_label(name) for name in names]:
                self._make_sliders(names)
            for slider, weight in zip(self._sliders, state.weights, strict=True):
                slider.value = weight
            self._choice.value = state.title
            self._preset.value = _preset_of(state.weights, names)
        finally:
            self._following = False
        self._picture.value = picture.img()
        self._words.say(html.escape(picture.text))

    def _make_sliders(self, names: Sequence[str]) -> None:
        self._sliders = [_slider(_label(name), _STEPS.get(len(names), 1 / 4)) for name in names]
        for slider in self._sliders:
            slider.observe(self._moved, "value")
        self._weights.children = tuple(self._sliders)
        self._preset.options = [_OWN, *_presets(names)]

    def _moved(self, change: object) -> None:
        if not self._following:  # else the sliders are being put where the explorer already is
            self._explorer.set(weights=[slider.value for slider in self._sliders])

    def _chosen(self, change: object) -> None:
        if not self._following:
            self._explorer.set(function=self._choice.value)

    def _preset_chosen(self, change: object) -> None:
        if not self._following and self._preset.value != _OWN:
            names = [name for name, _ in self._explorer.state().outputs]
            self._explorer.set(weights=_presets(names)[self._preset.value])


def _one_hot(place: int, count: int) -> tuple[float, ...]:
    return tuple(float(i == place) for i in range(count))


def _presets(names: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Weights that have a name: one row alone, the sum of all rows, their mean."""
    count = len(names)
    rows = {f"only {name}": _one_hot(place, count) for place, name in enumerate(names)}
    if count == 1:
        return rows
    return {**rows, "all 1: the sum": (1.0,) * count, f"all 1/{count}: the mean": (1 / count,) * count}


def _preset_of(weights: tuple[float, ...], names: Sequence[str]) -> str:
    presets = _presets(names).items()
    return next((title for title, preset in presets if all(map(math.isclose, preset, weights))), _OWN)


def _label(name: str) -> str:
    return f"weight of {name}"


def _dropdown(description: str, options: Sequence[str]) -> Dropdown:
    import ipywidgets as widgets

    return widgets.Dropdown(
        options=list(options),
        description=description,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="auto", max_width="342px"),
    )


def _slider(description: str, step: float) -> FloatSlider:
    import ipywidgets as widgets

    return widgets.FloatSlider(
        min=-REACH,
        max=REACH,
        step=step,
        description=description,
        readout_format=".2f",
        style={"description_width": "initial"},
        layout=widgets.Layout(flex="1 1 300px", max_width="352px"),
    )
