"""The stepper: a backward pass to walk through, one event at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from course_utils.drawing.picture import Picture
from course_utils.graph import Diary, Recording, draw
from course_utils.graph.fold import MOST_BOXES
from course_utils.graph.growth import growth
from course_utils.graph.layout import Direction
from course_utils.graph.text import growth_text
from course_utils.widgets.beside import Paired, engine_frames
from course_utils.widgets.frames import Frame, Frames

if TYPE_CHECKING:
    from course_utils.widgets.stepper_view import StepperView


def step(
    recording: Recording,
    *,
    beside: Diary | None = None,
    most: int | None = None,
    direction: Direction | None = None,
) -> Stepper:
    """A stepper through the backward pass in `recording`, which `record(y)` gives.

    `beside` is the diary of an engine of your own, to watch its pass next to torch's. Larger graphs
    are folded into at most about `most` boxes, by itself sixty. `direction` is that of the forward pass in the
    picture, "right" or "down".
    """
    if not isinstance(recording, Recording):
        raise TypeError(
            f"step: it walks through a recorded backward pass and was given a {type(recording).__name__}. "
            "Record one first: `step(record(y))`."
        )
    return Stepper(recording, beside, most, direction)


class Stepper:
    """A recording with a place in it: `frames[i]` is each step, `go(i)` moves a live one.

    `variants` are all its frames by title; after `record(y, create_graph=True)` there are those with
    the second-order graph too, and a switch.
    """

    def __init__(
        self, recording: Recording, beside: Diary | None, most: int | None, direction: Direction | None
    ) -> None:
        self.recording, self.diary = recording, beside
        boxes = most or MOST_BOXES
        self.frames: Sequence[Frame] = Frames(recording, most=boxes, direction=direction)
        if beside is not None:
            self.frames = Paired(self.frames, recording, engine_frames(beside, most=boxes, direction=direction))
        self.variants = {"first order": self.frames}
        if recording.second_order is not None:
            self.variants["second order too"] = Frames(recording, most=boxes, direction=direction, second_order=True)
        self._whole = lambda: draw(recording, most=most, direction=direction)
        self._live: StepperView | None = None

    def picture(self) -> Picture:
        """The whole recording as one picture: the last frame, with every message."""
        return self._whole()

    def go(self, number: int) -> None:
        """Show this step; negative numbers count from the end, as in a list."""
        if not -len(self.frames) <= number < len(self.frames):
            raise IndexError(
                f"step: this recording has the steps 0 to {len(self.frames) - 1}; there is no step {number}."
            )
        self.widget().step = range(len(self.frames))[number]

    def widget(self) -> StepperView:
        """The live controls and picture; made once, and shown as often as you like."""
        if self._live is None:
            from course_utils.widgets.stepper_view import StepperView

            self._live = StepperView(self.variants)
        return self._live

    def __repr__(self) -> str:
        second = [growth_text(growth(self.recording))] if self.recording.second_order is not None else []
        engine = [] if self.diary is None else [str(self.diary)]
        return "\n".join([str(self.recording), *second, *engine])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        live = self.widget()._repr_mimebundle_()
        bundle = live[0] if isinstance(live, tuple) else live
        still = self.picture()._repr_mimebundle_()
        if self.diary is not None:
            still["text/html"] += self.frames[-1].beside.picture.img()
        return {**bundle, **still, "text/plain": repr(self)}
