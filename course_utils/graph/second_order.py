"""Says of each node of the second-order graph which node of the first gave birth to it."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping
from types import FrameType

from torch import Tensor

from .data import Place
from .recorder import Recorder, Span
from .recording import Origin, SecondOrder
from .trace import survey
from .walk import LiveEdge, Walk

_ADDITION = "AddBackward0"


def second_order(
    recorder: Recorder,
    gradients: Mapping[str, Tensor],
    named: Mapping[str, object],
    caller: FrameType | None,
) -> SecondOrder | None:
    """The graph behind the `gradients`, with the origin of each node; None if they have none."""
    roots = {name: grad for name, grad in gradients.items() if grad.requires_grad}
    if not roots:
        return None
    found = survey("record", list(roots.values()), {**named, **roots}, caller)
    origins = _origins(recorder, found.walk)
    return SecondOrder(found.graph, tuple(map(origins.__getitem__, range(len(found.graph)))))


def _origins(recorder: Recorder, walk: Walk) -> dict[int, Origin]:
    first = recorder.survey.walk.numbers
    spans = sorted(recorder.spans, key=lambda span: span.first)
    starts = [span.first for span in spans]
    origins = {}
    orphans = []
    for number, node in enumerate(walk.nodes):
        if node in first:
            origins[number] = Origin("first graph", first[node])
        elif (parent := _parent(walk.sequence[number], spans, starts)) is not None:
            origins[number] = Origin("node", parent)
        else:
            origins[number] = Origin("elsewhere")
            orphans.append(number)
    return {**origins, **_sums(walk, orphans, recorder.contributions)}


def _parent(sequence: int, spans: list[Span], starts: list[int]) -> int | None:
    index = bisect_right(starts, sequence) - 1
    if index >= 0 and sequence < spans[index].after_last:
        return spans[index].node
    return None


def _sums(walk: Walk, orphans: list[int], contributions: list[tuple[Place, LiveEdge]]) -> dict[int, Origin]:
    """The additions that join the messages to one place, found by what they add.

    Two places may add up the very same messages, so the order of birth decides which is whose.
    """
    additions: dict[frozenset[LiveEdge], deque[int]] = {}
    for number in sorted(orphans, key=walk.sequence.__getitem__):
        if walk.nodes[number].name() == _ADDITION:
            parts = frozenset(walk.following[number])
            additions.setdefault(parts, deque()).append(number)
    totals: dict[Place, LiveEdge] = {}
    sums = {}
    for place, edge in contributions:
        numbers = additions.get(frozenset((totals[place], edge))) if place in totals else None
        if numbers:
            number = numbers.popleft()
            sums[number] = Origin("sum", place=place)
            edge = walk.nodes[number], 0
        totals[place] = edge
    return sums
