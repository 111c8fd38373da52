"""The live half of the stepper: it hands frames to the page, which has the controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import anywidget
import traitlets

from course_utils.widgets.frames import Frame

_HERE = Path(__file__).parent


class StepperView(anywidget.AnyWidget):
    """Shows one step of one variant; the page asks for it by setting `step` and `variant`."""

    _esm = _HERE / "stepper.js"
    _css = _HERE / "stepper.css"

    variants = traitlets.List(traitlets.Unicode()).tag(sync=True)
    variant = traitlets.Int().tag(sync=True)
    last = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)
    frame = traitlets.Dict().tag(sync=True)

    def __init__(self, variants: Mapping[str, Sequence[Frame]]) -> None:
        self._frames = list(variants.values())
        super().__init__(variants=list(variants), last=len(self._frames[0]) - 1, frame=self._made(0, 0))

    @traitlets.validate("step")
    def _inside(self, proposal: dict) -> int:
        return min(max(proposal["value"], 0), self.last)

    @traitlets.validate("variant")
    def _known(self, proposal: dict) -> int:
        return min(max(proposal["value"], 0), len(self._frames) - 1)

    @traitlets.observe("step", "variant")
    def _show(self, change: dict) -> None:
        self.frame = self._made(self.variant, self.step)

    def _made(self, variant: int, step: int) -> dict[str, object]:
        frame = self._frames[variant][step]
        return {
            "variant": variant,
            "step": step,
            "svg": frame.picture.svg,
            "alt": frame.picture.alt,
            "sentence": frame.sentence,
            "focus": frame.focus,
        }
