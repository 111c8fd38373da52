"""Says of each node of the second-order graph which node of the first gave birth to it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from types import FrameType

from torch import Tensor

from .data import Place
from .recorder import Recorder, Span
from .recording import Origin, SecondOrder
from .trace import Survey, survey
from .walk import LiveEdge

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
    sums = _sums(found, recorder.contributions)
    spans = sorted(recorder.spans, key=lambda span: span.first)
    starts = [span.first for span in spans]
    first = recorder.survey.walk.numbers

    def origin(number: int) -> Origin:
        node = found.walk.nodes[number]
        if node in first:
            return Origin("first graph", first[node])
        if number in sums:
            return Origin("sum", place=sums[number])
        parent = _parent(found.walk.sequence[number], spans, starts)
        return Origin("elsewhere") if parent is None else Origin("node", parent)

    return SecondOrder(found.graph, tuple(map(origin, range(len(found.graph)))))


def _parent(sequence: int, spans: list[Span], starts: list[int]) -> int | None:
    index = bisect_right(starts, sequence) - 1
    if index >= 0 and sequence < spans[index].after_last:
        return spans[index].node
    return None


def _sums(found: Survey, contributions: Mapping[Place, list[LiveEdge]]) -> dict[int, Place]:
    """The additions that join the messages to one place, found by what they add."""
    additions = {}
    for node, number in found.walk.numbers.items():
        if node.name() == _ADDITION:
            additions[frozenset(found.walk.following[number])] = node
    sums = {}
    for place, edges in contributions.items():
        total = edges[0]
        for edge in edges[1:]:
            node = additions.get(frozenset((total, edge)))
            if node is None:
                break
            sums[found.walk.numbers[node]] = place
            total = (node, 0)
    return sums
