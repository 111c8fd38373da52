"""Finds the moments at which the engine set chosen gradients aside, which no hook can see."""

from __future__ import annotations

from .data import Place
from .events import Accumulated, ChangedByHook, Entered, Event, Freed, Returned, Sent
from .hooks import UNSEEN_HOOK
from .values import Snapshot, same

Capture = Accumulated | Returned


def with_captures(events: list[Event], captures: list[Capture], waiting: dict[Place, Snapshot | None]) -> list[Event]:
    """The events with each capture in its place.

    A gradient is set aside when it is complete: just before its node starts, or, if that node never
    runs, when the sender of the last message to it has finished. `waiting` is what was left there
    then; if the capture differs, a hook on the tensor has changed it.
    """
    if not captures:
        return events
    moments = _moments(events)
    inserted: dict[int, list[Event]] = {}
    for capture in captures:
        here = inserted.setdefault(moments.get(capture.place, len(events)), [])
        before = waiting.get(capture.place)
        if capture.place in waiting and not same(before, capture.gradient):
            change = (before, capture.gradient, UNSEEN_HOOK)
            here.append(ChangedByHook(*capture.place, "incoming", *change))
        here.append(capture)
    woven: list[Event] = []
    for index in range(len(events) + 1):
        woven += inserted.get(index, [])
        woven += events[index : index + 1]
    return woven


def _moments(events: list[Event]) -> dict[Place, int]:
    """For each place the index of the event before which its gradient is complete."""
    moments: dict[Place, int] = {}
    sent_to: list[Place] = []
    for index, event in enumerate(events):
        if isinstance(event, Sent):
            sent_to.append(event.message.edge.place)
        elif not isinstance(event, Freed):  # the sender has finished
            moments.update(dict.fromkeys(sent_to, index))
            sent_to.clear()
        if isinstance(event, ChangedByHook) and event.side == "incoming":
            moments[Place(event.node, event.index)] = index + 1
        elif isinstance(event, Entered) and event.within is None:
            for result in range(len(event.incoming)):
                moments[Place(event.node, result)] = index
    return {**moments, **dict.fromkeys(sent_to, len(events))}
