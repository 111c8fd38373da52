"""The live half of the stepper: it hands frames to the page, which has the controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import anywidget
import traitlets

from course_utils.widgets.frames import Frame
from course_utils.widgets.status import CUT_OFF

_HERE = Path(__file__).parent


class StepperView(anywidget.AnyWidget):
    """A place in the steps of several variants; the page asks for frames by their variant and step.

    It asks for the one it shows and for those that may come next, so that a click finds its picture
    there.
    """

    _esm = _HERE / "stepper.js"
    _css = _HERE / "stepper.css"

    variants = traitlets.List(traitlets.Unicode()).tag(sync=True)
    variant = traitlets.Int().tag(sync=True)
    last = traitlets.Int().tag(sync=True)
    step = traitlets.Int().tag(sync=True)
    cut_off = traitlets.Unicode(CUT_OFF).tag(sync=True)  # words for when nobody can be asked any more

    def __init__(self, variants: Mapping[str, Sequence[Frame]]) -> None:
        self._frames = list(variants.values())
        super().__init__(variants=list(variants), last=len(self._frames[0]) - 1)
        self.on_msg(self._asked)

    @traitlets.validate("step")
    def _inside(self, proposal: dict) -> int:
        return min(max(proposal["value"], 0), self.last)

    @traitlets.validate("variant")
    def _known(self, proposal: dict) -> int:
        return min(max(proposal["value"], 0), len(self._frames) - 1)

    def _asked(self, _: object, question: dict, __: object) -> None:
        for variant, step in question.get("frames", ()):
            self.send({"frame": self.made(variant, step)})

    def made(self, variant: int, step: int) -> dict[str, object]:
        """One frame as the page gets it."""
        frame = self._frames[variant][step]
        return {
            "variant": variant,
            "step": step,
            "svg": frame.picture.svg,
            "alt": frame.picture.alt,
            "sentence": frame.sentence,
            "focus": frame.focus,
            "beside": frame.beside and _beside(frame.beside),
        }


def _beside(frame: Frame) -> dict[str, str]:
    return {"svg": frame.picture.svg, "alt": frame.picture.alt, "sentence": frame.sentence}
