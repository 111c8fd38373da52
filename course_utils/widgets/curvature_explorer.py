"""The curvature explorer: a point to move on a surface and a direction to turn, with slope and curvature along it."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from course_utils.drawing.axes import Span, round_up
from course_utils.drawing.lettering import number
from course_utils.drawing.picture import Picture
from course_utils.widgets.curvature import BY_ANGLE, DIRECTIONS, Curved, Function, Pair, Surface, sentences
from course_utils.widgets.curvature_picture import Relief, draw
from course_utils.widgets.named import functions_by_title
from course_utils.widgets.status import StatusLine

if TYPE_CHECKING:
    from ipywidgets import Dropdown, FloatSlider, VBox

_ROUNDING = 1e-6


def explore_curvature(
    functions: Function | Mapping[str, Function],
    at: Sequence[float],
    *,
    angle: float = 0.0,
    direction: str = BY_ANGLE,
    across: Sequence[float] = (-2.0, 2.0),
    up: Sequence[float] = (-2.0, 2.0),
) -> CurvatureExplorer:
    """An explorer of slope and curvature of a function of two numbers, or of several to choose from by title.

    A function takes a tensor with two entries and gives one number. The point starts at `at` and moves inside
    `across` (for x[0]) by `up` (for x[1]): `explore_curvature({"a bowl": lambda x: (x**2).sum()}, at=(1.0, 0.5))`.
    """
    spans = _span("across", across), _span("up", up)
    surfaces = [Surface(title, f) for title, f in functions_by_title(functions, "explore_curvature").items()]
    return CurvatureExplorer(surfaces, spans, _pair("at", at), direction, angle)


class CurvatureExplorer:
    """A function at a point, in a direction: `state()` as data, `picture()` as a picture, `set()` to move."""

    def __init__(
        self, surfaces: Sequence[Surface], spans: tuple[Span, Span], point: Pair, direction: str, angle: float
    ) -> None:
        self._surfaces = {surface.title: surface for surface in surfaces}
        self._spans = spans
        self._title = surfaces[0].title
        self._point = self._inside(point)
        self._direction, self._angle = _known(direction), _turned(angle)
        self._memory: dict = {}
        self._live: _Live | None = None
        for surface in surfaces:
            surface.at(self._point)  # a function that cannot be shown is found out now
        self._reliefs = {surface.title: Relief.of(surface, *spans) for surface in surfaces}

    def state(self) -> Curved:
        """What is shown, as plain values."""
        return self._surfaces[self._title].at(self._point, self._direction, self._angle)

    def picture(self) -> Picture:
        """What is shown, as a picture with its text."""
        return draw(self._surfaces[self._title], self.state(), self._reliefs[self._title], self._memory)

    def set(
        self,
        *,
        function: str | None = None,
        at: Sequence[float] | None = None,
        direction: str | None = None,
        angle: float | None = None,
    ) -> None:
        """Move the point, turn the direction, or take another function; a live explorer follows."""
        if function is not None and function not in self._surfaces:
            raise ValueError(
                f"explore_curvature: there is no {function!r} here. Functions: {', '.join(self._surfaces)}."
            )
        point = self._point if at is None else self._inside(_pair("at", at))
        if angle is not None and direction is None:
            direction = BY_ANGLE
        direction = self._direction if direction is None else _known(direction)
        angle = self.state().angle if angle is None else _turned(angle)
        self._title, self._point, self._direction, self._angle = function or self._title, point, direction, angle
        if self._live is not None:
            self._live.show()

    def widget(self) -> VBox:
        """The live controls and picture; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self, list(self._surfaces), self._spans)
        return self._live.container

    def _inside(self, point: Pair) -> Pair:
        for name, value, span in zip(("x[0]", "x[1]"), point, self._spans, strict=True):
            if not span.low <= value <= span.high:
                raise ValueError(
                    f"explore_curvature: {name} goes from {number(span.low)} to {number(span.high)} here, and "
                    f"{number(value)} is outside. `across` and `up` say what is shown."
                )
        return point

    def __repr__(self) -> str:
        return sentences(self.state())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), **self.picture()._repr_mimebundle_()}


class _Live:
    """The widgets of one explorer."""

    def __init__(self, explorer: CurvatureExplorer, titles: Sequence[str], spans: tuple[Span, Span]) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._explorer = explorer
        self._following = False
        self._choice = _dropdown("function", titles)
        self._direction = _dropdown("direction", DIRECTIONS)
        self._direction.layout.flex = "1 1 300px"  # beside the angle
        self._places = [_slider(name, span) for name, span in zip(("x[0]", "x[1]"), spans, strict=True)]
        self._angle = _slider("angle", Span(-180, 180), step=1.0, readout=".0f")
        self._choice.observe(self._function_chosen, "value")
        self._direction.observe(self._direction_chosen, "value")
        self._angle.observe(self._turned, "value")
        for slider in self._places:
            slider.observe(self._moved, "value")
        self._picture = widgets.HTML(layout=widgets.Layout(width="auto"))
        self._words = StatusLine()
        row = widgets.Layout(flex_flow="row wrap", max_width="720px")
        several = [self._choice] if len(titles) > 1 else []
        controls = [
            *several,
            widgets.Box(self._places, layout=row),
            widgets.Box([self._direction, self._angle], layout=row),
        ]
        self.container = widgets.VBox([*controls, self._picture, self._words.widget])
        help_controls(self.container)
        self.show()

    def show(self) -> None:
        """Put the explorer's present state on the screen."""
        state, picture = self._explorer.state(), self._explorer.picture()
        self._following = True
        try:
            self._choice.value, self._direction.value = state.title, state.direction
            _put(self._angle, float(round(state.angle)))  # where its steps are: it would move there by itself
            for slider, value in zip(self._places, state.point, strict=True):
                _put(slider, value)
        finally:
            self._following = False
        self._picture.value = picture.img()
        self._words.say(html.escape(picture.text))

    def _moved(self, change: dict[str, object]) -> None:
        if not self._following and not _same(change):  # else the controls are being put where the explorer already is
            self._explorer.set(at=[slider.value for slider in self._places])

    def _turned(self, change: dict[str, object]) -> None:
        if not self._following and not _same(change):
            self._explorer.set(angle=self._angle.value)

    def _direction_chosen(self, change: object) -> None:
        if not self._following:
            self._explorer.set(direction=self._direction.value)

    def _function_chosen(self, change: object) -> None:
        if not self._following:
            self._explorer.set(function=self._choice.value)


def _put(slider: FloatSlider, value: float) -> None:
    """Move the slider, unless it stands there already: what is sent back would undo the next key that is pressed."""
    if abs(slider.value - value) > _ROUNDING:
        slider.value = value


def _same(change: dict[str, object]) -> bool:
    """Whether a slider has only sent back where it was put, as the page rounds that."""
    return abs(change["new"] - change["old"]) <= _ROUNDING


def _pair(name: str, given: Sequence[float]) -> Pair:
    try:
        first, second = (float(value) for value in given)
    except (TypeError, ValueError):
        first = second = math.nan
    if not (math.isfinite(first) and math.isfinite(second)):
        raise ValueError(f"explore_curvature: {name} is {given!r}. Give it two numbers, such as {name}=(1.0, 0.5).")
    return first, second


def _span(name: str, given: Sequence[float]) -> Span:
    low, high = _pair(name, given)
    if low >= high:
        raise ValueError(f"explore_curvature: {name} is {given!r}. Give it the lower end, then the upper one.")
    return Span(low, high)


def _known(direction: str) -> str:
    if direction not in DIRECTIONS:
        raise ValueError(
            f"explore_curvature: there is no direction {direction!r} here. Directions: {'; '.join(DIRECTIONS)}."
        )
    return direction


def _turned(angle: float) -> float:
    turned = float(angle)
    if not math.isfinite(turned):
        raise ValueError(f"explore_curvature: the angle is {angle!r}. Give it in degrees, such as angle=45.0.")
    return turned if -180 <= turned <= 180 else (turned + 180) % 360 - 180


def _dropdown(description: str, options: Sequence[str]) -> Dropdown:
    import ipywidgets as widgets

    return widgets.Dropdown(
        options=list(options),
        description=description,
        style={"description_width": "initial"},
        layout=widgets.Layout(width="auto", max_width="342px"),
    )


def _slider(description: str, span: Span, *, step: float = 0.0, readout: str = ".2f") -> FloatSlider:
    import ipywidgets as widgets

    return widgets.FloatSlider(
        value=span.low,
        min=span.low,
        max=span.high,
        step=step or round_up(span.length / 100),
        description=description,
        readout_format=readout,
        style={"description_width": "initial"},
        layout=widgets.Layout(flex="1 1 300px", max_width="352px"),
    )
