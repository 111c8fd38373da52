"""The frames of a recording: for each step a picture, a sentence, and the same in words."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from course_utils.drawing.picture import Picture
from course_utils.graph import Recording, replay
from course_utils.graph.fold import MOST_BOXES, fold
from course_utils.graph.growth import growth
from course_utils.graph.layout import Direction
from course_utils.graph.narrate import narrate, summary
from course_utils.graph.scene import Scene
from course_utils.graph.svg import svg

_KEPT = 64


@dataclass(frozen=True)
class Frame:
    """One step: its picture, the sentence that says what has just happened, and where in the picture.

    `beside` is the frame of another engine that is to be shown at the same time.
    """

    step: int
    picture: Picture
    sentence: str
    focus: tuple[float, float] | None = None
    beside: Frame | None = None


class FrameSequence(Sequence[Frame]):
    """Frames by number, from either end or as a slice; a subclass makes one in `_at`, when it is asked for."""

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        chosen = range(len(self))[index]
        return [self._at(step) for step in chosen] if isinstance(chosen, range) else self._at(chosen)

    @abstractmethod
    def _at(self, step: int) -> Frame: ...


class Frames(FrameSequence):
    """`frames[i]` is the frame after i events; made when asked for, in one layout for all.

    With `second_order`, the graph that the pass itself builds grows out of the first.
    """

    def __init__(
        self,
        recording: Recording,
        *,
        most: int = MOST_BOXES,
        direction: Direction | None = None,
        second_order: bool = False,
    ) -> None:
        self.recording = recording
        self._states = replay(recording)
        self._growth = growth(recording) if second_order else None
        drawn = self._growth.recording if self._growth else recording
        self._drawn = replay(drawn)
        self._scene = Scene(fold(drawn.graph, most), drawn, growth=self._growth, direction=direction)
        self._made: OrderedDict[int, Frame] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    def _at(self, step: int) -> Frame:
        if step not in self._made:
            self._made[step] = self._make(step)
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        return self._made[step]

    def _make(self, step: int) -> Frame:
        state = self._states[step]
        drawn = self._drawn[step] if self._growth else state
        sentence = narrate(self.recording, state) + self._births(step)
        text = f"Step {step} of {len(self) - 1}. {sentence} {summary(self.recording, state)}."
        return Frame(step, Picture(svg(self._scene, drawn), text, text), sentence, self._scene.focus(drawn))

    def _births(self, step: int) -> str:
        """What the step adds to the second-order graph, in words."""
        newborn = self._growth.newborn(step) if self._growth and step else ()
        return f" This builds new nodes, to differentiate again: {', '.join(newborn)}." if newborn else ""
