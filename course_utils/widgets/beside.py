"""The frames of somebody's own engine, each beside the frame of torch's pass that it belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from course_utils.drawing.picture import Picture
from course_utils.graph import Recording, Sent
from course_utils.graph.diary import Diary, Turn
from course_utils.graph.fold import MOST_BOXES, fold
from course_utils.graph.layout import Direction
from course_utils.graph.scene import Scene
from course_utils.graph.svg import svg
from course_utils.graph.wording import gradient_text
from course_utils.widgets.frames import Frame, FrameSequence


def engine_frames(diary: Diary, *, most: int = MOST_BOXES, direction: Direction | None = None) -> list[Frame]:
    """A frame for each turn of the engine, all in one layout."""
    scenes = [Scene(fold(turn.graph, most), changed=turn.changed, direction=direction) for turn in diary.turns]
    for scene in scenes:  # every scene gives each chip the room that it needs in any of them
        for turn in diary.turns:
            for node in turn.graph.nodes:
                if node.results[0].grad is not None:
                    slot = ("grad", (node.number, 0))
                    scene.describer.rooms.reserve(slot, gradient_text(node.results[0].grad))
    return [_frame(number, *pair) for number, pair in enumerate(zip(diary.turns, scenes, strict=True))]


def _frame(number: int, turn: Turn, scene: Scene) -> Frame:
    return Frame(number, Picture(svg(scene), turn.sentence, turn.sentence), turn.sentence)


class Paired(FrameSequence):
    """The frames of torch's pass, each with the engine's frame that belongs beside it.

    The engine's next turn is shown when torch's next operation has sent its last message; at the end
    all turns are.
    """

    def __init__(self, frames: Sequence[Frame], recording: Recording, turns: Sequence[Frame]) -> None:
        self._frames, self._turns = frames, turns
        self._turn_at = _turns_at(recording, len(turns) - 1)

    def __len__(self) -> int:
        return len(self._frames)

    def _at(self, step: int) -> Frame:
        return replace(self._frames[step], beside=self._turns[self._turn_at[step]])


def _turns_at(recording: Recording, last: int) -> list[int]:
    """For each step the number of operations that have sent all they send, at most `last`."""
    left = {node.number: len(recording.graph.edges_from(node.number)) for node in recording.graph.nodes}
    turns = [0]
    for event in recording.events:
        finished = False
        if isinstance(event, Sent):
            left[event.message.source] -= 1
            finished = left[event.message.source] == 0
        turns.append(min(turns[-1] + finished, last))
    return [*turns[:-1], last]
