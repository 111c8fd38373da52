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

_LIMITS = (MOST_BOXES, 40, 28, 20, 14)
_HIGHEST = 2_000  # pixels: two windows


def draw(shown: Graph | Recording, *, most: int | None = None, direction: Direction | None = None) -> Picture:
    """The graph, or the whole backward pass with every message, in at most about `most` boxes.

    Without `most` they are about sixty, and fewer where the picture would be much higher than a window.
    `direction` is that of the forward pass: "right", or "down"; by itself it goes to the right as
    long as a notebook has room for it.
    """
    recording = shown if isinstance(shown, Recording) else None
    graph = shown.graph if isinstance(shown, Recording) else shown
    limits = _LIMITS if most is None else [most]
    scenes = (Scene(fold(graph, limit), recording, direction=direction) for limit in limits)
    scene = next((one for one in scenes if one.least_height <= _HIGHEST), None)
    scene = scene or Scene(fold(graph, limits[-1]), recording, direction=direction)
    view = scene.view
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
