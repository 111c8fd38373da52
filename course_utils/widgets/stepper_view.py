"""The live half of the stepper: it hands frames to the page, which has the controls."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anywidget
import traitlets

from course_utils.widgets.frames import Frame

_HERE = Path(__file__).parent


class StepperView(anywidget.AnyWidget):
    """Shows `frames[step]`; the page asks for a step by setting `step`."""

    _esm = _HERE / "stepper.js"
    _css = _HERE / "stepper.css"

    last = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)
    frame = traitlets.Dict().tag(sync=True)

    def __init__(self, frames: Sequence[Frame]) -> None:
        self._frames = frames
        super().__init__(last=len(frames) - 1, step=0, frame=_sent(frames[0]))

    @traitlets.validate("step")
    def _inside(self, proposal: dict) -> int:
        return min(max(proposal["value"], 0), self.last)

    @traitlets.observe("step")
    def _show(self, change: dict) -> None:
        self.frame = _sent(self._frames[change["new"]])


def _sent(frame: Frame) -> dict[str, object]:
    return {
        "step": frame.step,
        "svg": frame.picture.svg,
        "alt": frame.picture.alt,
        "sentence": frame.sentence,
        "focus": frame.focus,
    }
