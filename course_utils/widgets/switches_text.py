"""What was recorded under a setting of the switches, in sentences."""

from __future__ import annotations

from collections.abc import Iterable

from course_utils.graph import Node
from course_utils.graph.modes import Flags, Outcome
from course_utils.graph.wording import saved_text


def sentences(outcome: Outcome) -> str:
    """The setting, what is recorded, where gradients can arrive, and what the result says of itself."""
    return " ".join([_setting(outcome), _operations(outcome), _gradients(outcome), _result(outcome)])


def _setting(outcome: Outcome) -> str:
    flags = ", ".join(f"{name} {flags.requires_grad}" for name, flags in outcome.inputs.items())
    return f"requires_grad: {flags}. Grad mode: {outcome.mode}."


def _operations(outcome: Outcome) -> str:
    operations = [node for node in outcome.part.whole if node.kind != "leaf"]
    there = [node for node in operations if outcome.part.has(node.number)]
    if not there:
        return "Nothing is recorded."
    told = "; ".join(_recorded(outcome, outcome.part.nodes[node.number]) for node in there)
    head = f"Recorded: {len(there)} of {len(operations)} operations: {told}."
    gone = [node.label for node in operations if not outcome.part.has(node.number)]
    return f"{head} Not recorded: {_listed(gone)}." if gone else head


def _recorded(outcome: Outcome, node: Node) -> str:
    kept = [saved_text(outcome.part.mixed, saved)[0] for saved in node.saved if saved.state == "saved"]
    return f"{node.label} has saved {_listed(kept)}" if kept else f"{node.label} has saved nothing"


def _gradients(outcome: Outcome) -> str:
    reached = {leaf.label for leaf in outcome.part.whole.leaves if outcome.part.has(leaf.number)}
    yes = [name for name in outcome.inputs if name in reached]
    no = [name for name in outcome.inputs if name not in reached]
    can = f"A gradient can come back to {_listed(yes)}" if yes else "No gradient can come back"
    return f"{can}, not to {_listed(no)}." if yes and no else f"{can}."


def _result(outcome: Outcome) -> str:
    *_, (name, flags) = outcome.results.items()
    return f"{name}.requires_grad is {flags.requires_grad}, {name}.is_leaf is {flags.is_leaf}{_kind(name, flags)}."


def _kind(name: str, flags: Flags) -> str:
    return f", and {name} is an inference tensor" if flags.is_inference else ""


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
