"""What happens at each step of a backward pass, in a sentence or two, with the formula at work."""

from __future__ import annotations

from .data import Place
from .derivation import derive
from .events import Accumulated, ChangedByHook, ChangedInPlace, Entered, Event, Freed, Returned, Sent
from .recording import Recording
from .replay import State
from .text import event_text
from .wording import in_a_sentence


def narrate(recording: Recording, state: State) -> str:
    """What has just happened in this state, and why."""
    event = state.event
    if event is None:
        return _before(recording)
    said = _TELL[type(event)](recording, state, event)
    if state.step == len(recording.events):
        said += f" The pass ends here with an error: {recording.error}" if recording.error else " The pass is complete."
    return said


def _before(recording: Recording) -> str:
    graph = recording.graph
    starts = " and ".join(f"{in_a_sentence(seed.gradient)} to {graph.name_of(seed.place)}" for seed in recording.seeds)
    return f"Before the backward pass. The caller hands {starts}, to start with."


def _entered(recording: Recording, state: State, event: Entered) -> str:
    graph = recording.graph
    node = graph.nodes[event.node]
    arrived = [message for message in state.messages.values() if message.target == event.node]
    received = ", ".join(in_a_sentence(one) for one in event.incoming)
    if len(event.incoming) > 1:
        received = f"for its {len(event.incoming)} results: {received}"
    total = f" It is the sum of {len(arrived)} messages." if len(arrived) > 1 and len(event.incoming) == 1 else ""
    within = "" if event.within is None else f" This happens inside {graph.nodes[event.within].label}."
    if node.kind == "leaf":
        return f"All that the leaf {node.label} waits for has arrived: {received}.{total}{within}"
    note = f" Note: {node.note}." if node.note else ""
    return f"{node.label} starts. Its incoming gradient is complete: {received}.{total}{within}{note}"


def _sent(recording: Recording, state: State, event: Sent) -> str:
    graph, message = recording.graph, event.message
    source, target = graph.nodes[message.source], graph.name_of(message.edge.place)
    if message.gradient is None:
        why = "nobody asked for that gradient"
        if message.needed:
            custom = source.kind == "custom"
            why = "its own backward returned None" if custom else "what it computed does not depend on it"
        return f"{source.label} sends nothing to {target}: {why}. Nothing is not the same as zero."
    derivation = derive(graph, message, state.incoming.get(message.source, ()))
    if derivation is None:
        how = (
            "its own backward made this from what came in"
            if source.kind == "custom"
            else (f"the incoming gradient times the derivative of {source.operation}")
        )
        said = f"{source.label} sends {in_a_sentence(message.gradient)} to {target}: {how}."
    else:
        said = f"{source.label} sends to {target}: {derivation.equation(message)}."
    if event.count > 1:
        said += f" Messages to one place are added up: the sum there is now {in_a_sentence(event.waiting)}."
    return said


def _accumulated(recording: Recording, state: State, event: Accumulated) -> str:
    grad = f"{recording.graph.name_of(event.place)}.grad"
    if event.before is None:
        return f"{grad} was empty. It is now {in_a_sentence(event.after)}."
    before, added, after = map(in_a_sentence, (event.before, event.gradient, event.after))
    return f"{grad} was {before}. {added} is added to it, not put in its place: it is now {after}."


def _freed(recording: Recording, state: State, event: Freed) -> str:
    label = recording.graph.nodes[event.node].label
    return f"{label} is done and frees what it saved. Another backward pass through it would fail."


def _told_as_event(recording: Recording, state: State, event: Event) -> str:
    text = event_text(recording.graph, event)
    return f"{text[0].upper()}{text[1:]}." if text[0].islower() and " " in text.split(".")[0] else f"{text}."


_TELL = {
    Entered: _entered,
    Sent: _sent,
    Accumulated: _accumulated,
    Freed: _freed,
    ChangedByHook: _told_as_event,
    ChangedInPlace: _told_as_event,
    Returned: _told_as_event,
}


def summary(recording: Recording, state: State) -> str:
    """Which `.grad` are filled in this state, and which are not computed yet."""
    graph = recording.graph
    leaves = graph.leaves[:8]
    told = [f"{leaf.label}.grad {_grad(state, Place(leaf.number, 0))}" for leaf in leaves]
    more = len(graph.leaves) - len(leaves)
    return "; ".join(told) + (f"; and {more} more leaves" if more else "")


def _grad(state: State, place: Place) -> str:
    grad = state.grads.get(place)
    return "not computed yet" if grad is None else in_a_sentence(grad)
