"""Switches for requires_grad and for the grad mode, and the graph that torch really records under them."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import TYPE_CHECKING

from torch import Tensor

from course_utils.drawing.picture import Picture
from course_utils.graph.layout import Direction, Layout
from course_utils.graph.modes import MODES, Experiment, Function, GradMode, Outcome
from course_utils.graph.part_scene import PartScene
from course_utils.graph.svg import svg
from course_utils.widgets.status import StatusLine
from course_utils.widgets.switches_text import sentences

if TYPE_CHECKING:
    from ipywidgets import Checkbox, VBox

_MOST_NODES = 30


def switches(function: Function, /, *, direction: Direction | None = None, **inputs: Tensor) -> RecordingSwitches:
    """Switches for each of the `inputs` and for the grad mode, with what torch records of `function(**inputs)`.

    The function returns a tensor, or a mapping from names to tensors, the last of which is the result:
    `switches(line, x=x, w=w, b=b)`. Each setting runs it anew on copies of the inputs. `direction` is that of the
    forward pass in the picture: "right", or "down".
    """
    for name, value in inputs.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"switches: {name} is a {type(value).__name__}. Give a tensor, as in {name}=torch.ones(2).")
    if not inputs:
        raise TypeError("switches: there is no input. Name each of them, as in switches(line, x=x, w=w).")
    try:
        return RecordingSwitches(Experiment(function, inputs), inputs, direction)
    except (TypeError, ValueError) as error:
        raise type(error)(f"switches: {error}") from error


class RecordingSwitches:
    """One setting of the switches: `outcome()` as data, `picture()` as a picture, `set()` to turn them."""

    def __init__(self, experiment: Experiment, inputs: Mapping[str, Tensor], direction: Direction | None) -> None:
        if len(experiment.whole) > _MOST_NODES:
            raise ValueError(
                f"the graph has {len(experiment.whole)} nodes, and the picture has room for {_MOST_NODES}. Give a "
                "smaller function."
            )
        self._experiment, self._direction = experiment, direction
        self._requires_grad = {name: value.requires_grad for name, value in inputs.items()}
        self._mode: GradMode = "enabled"
        self._layout: Layout | None = None
        self._live: _Live | None = None

    @property
    def setting(self) -> tuple[Mapping[str, bool], GradMode]:
        """The flag of each input, and the grad mode."""
        return dict(self._requires_grad), self._mode

    def outcome(self) -> Outcome:
        """What torch does under this setting: it is run now."""
        return self._experiment.run(self._requires_grad, self._mode)

    def picture(self) -> Picture:
        """What torch records under this setting, as a picture with its text."""
        return self._drawn(self.outcome())

    def _drawn(self, outcome: Outcome) -> Picture:
        flags = {name: seen.requires_grad for name, seen in outcome.inputs.items()}
        scene = PartScene(outcome.part, flags, layout=self._layout, direction=self._direction)
        self._layout = scene.layout
        text = sentences(outcome)
        return Picture(svg(scene), text, text)

    def set(self, *, mode: GradMode | None = None, **requires_grad: bool) -> None:
        """Turn some of the switches; the live ones follow."""
        unknown = [name for name in requires_grad if name not in self._requires_grad]
        if unknown or mode not in (None, *MODES):
            raise ValueError(
                f"switches: there is no {', '.join(unknown) or repr(mode)} here. "
                f"Inputs: {', '.join(self._requires_grad)}; modes: {', '.join(MODES)}."
            )
        never = [name for name, flag in requires_grad.items() if flag and not self.can_require_grad(name)]
        if never:
            raise ValueError(
                f"switches: {', '.join(never)} cannot require a gradient. Only floating point and complex tensors can."
            )
        self._requires_grad |= requires_grad
        self._mode = mode or self._mode
        if self._live is not None:
            self._live.show()

    def can_require_grad(self, name: str) -> bool:
        """Whether the input's switch can be turned on."""
        return self._experiment.can_require_grad(name)

    def widget(self) -> VBox:
        """The live switches and picture; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self)
        return self._live.container

    def __repr__(self) -> str:
        return sentences(self.outcome())

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), **self.picture()._repr_mimebundle_()}


class _Live:
    """The widgets of one set of switches."""

    def __init__(self, switched: RecordingSwitches) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._switched = switched
        self._following = False
        flags, mode = switched.setting
        self._boxes = {name: _checkbox(name, flags[name], switched.can_require_grad(name)) for name in flags}
        self._mode = widgets.RadioButtons(
            options=list(MODES),
            value=mode,
            description="grad mode",
            orientation="horizontal",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto"),
        )
        self._picture = widgets.HTML(layout=widgets.Layout(width="auto"))
        self._words = StatusLine()
        for control in (*self._boxes.values(), self._mode):
            control.observe(self._moved, "value")
        row = widgets.Layout(flex_flow="row wrap", max_width="720px")
        controls = widgets.VBox([widgets.Box(list(self._boxes.values()), layout=row), self._mode])
        self.container = widgets.VBox([controls, self._picture, self._words.widget])
        help_controls(self.container)
        self.show()

    def show(self) -> None:
        """Put the present setting on the screen."""
        flags, mode = self._switched.setting
        self._following = True
        try:
            for name, box in self._boxes.items():
                box.value = flags[name]
            self._mode.value = mode
        finally:
            self._following = False
        picture = self._switched.picture()
        self._picture.value = picture.img()
        self._words.say(html.escape(picture.text))

    def _moved(self, change: object) -> None:
        if self._following:  # the switches are being put where the setting already is
            return
        self._switched.set(mode=self._mode.value, **{name: box.value for name, box in self._boxes.items()})


def _checkbox(name: str, value: bool, possible: bool) -> Checkbox:
    import ipywidgets as widgets

    why = "" if possible else " (no: whole numbers)"
    return widgets.Checkbox(
        value=value,
        description=f"{name}.requires_grad{why}",
        disabled=not possible,
        indent=False,
        layout=widgets.Layout(width="auto", margin="2px 24px 2px 2px"),
    )
