"""A graph or a recording as one picture, with the same story in words."""

from __future__ import annotations

from dataclasses import replace

from course_utils.drawing.picture import Picture

from .data import Graph
from .fold import MOST_BOXES, View, fold
from .layout import Direction
from .recording import Recording
from .replay import replay
from .scene import Scene
from .svg import svg


def draw(shown: Graph | Recording, *, most: int = MOST_BOXES, direction: Direction | None = None) -> Picture:
    """The graph, or the whole backward pass with every message, in at most about `most` boxes.

    `direction` is that of the forward pass: "right", or "down"; by itself it goes to the right as
    long as a notebook has room for it.
    """
    recording = shown if isinstance(shown, Recording) else None
    graph = shown.graph if isinstance(shown, Recording) else shown
    view = fold(graph, most)
    scene = Scene(view, recording, direction=direction)
    state = None if recording is None else replace(replay(recording)[-1], event=None)
    text = str(shown)
    if view.hidden:
        text += f"\n{_folded(view)}"
    return Picture(svg(scene, state), text, " ".join(text.split()))


def _folded(view: View) -> str:
    """What the picture hides, and where."""
    boxes = [box for box in view.boxes if box.is_fold]
    told = [f"{box.title} ({', '.join(line.rstrip(',') for line in box.hides)})" for box in boxes]
    count = f"{len(boxes)} box" + "es" * (len(boxes) != 1)
    return f"The picture folds {view.hidden:,} nodes into {count}: {'; '.join(told)}"
