"""The frames of a recording: for each step a picture, a sentence, and the same in words."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from course_utils.drawing.picture import Picture
from course_utils.graph import Recording, replay
from course_utils.graph.fold import MOST_BOXES, fold
from course_utils.graph.layout import Direction
from course_utils.graph.narrate import narrate, summary
from course_utils.graph.scene import Scene
from course_utils.graph.svg import svg

_KEPT = 64


@dataclass(frozen=True)
class Frame:
    """One step: its picture, the sentence that says what has just happened, and where in the picture."""

    step: int
    picture: Picture
    sentence: str
    focus: tuple[float, float] | None = None


class Frames(Sequence[Frame]):
    """`frames[i]` is the frame after i events; made when asked for, in one layout for all."""

    def __init__(self, recording: Recording, *, most: int = MOST_BOXES, direction: Direction | None = None) -> None:
        self.recording = recording
        self._states = replay(recording)
        self._scene = Scene(fold(recording.graph, most), recording, direction=direction)
        self._made: OrderedDict[int, Frame] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        if isinstance(index, slice):
            return [self[step] for step in range(len(self))[index]]
        step = range(len(self))[index]
        if step not in self._made:
            self._made[step] = self._make(step)
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return self._made[step]

    def _make(self, step: int) -> Frame:
        state = self._states[step]
        sentence = narrate(self.recording, state)
        text = f"Step {step} of {len(self) - 1}. {sentence} {summary(self.recording, state)}."
        return Frame(step, Picture(svg(self._scene, state), text, text), sentence, self._scene.focus(state))
