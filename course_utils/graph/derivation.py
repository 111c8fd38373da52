"""One message worked out: the formula of its node, filled with the names and numbers of this pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from .data import Graph, Node, SavedTensor
from .events import GradientMessage
from .expression import Expression
from .formulas import formula
from .values import Snapshot, Statistics, Unreadable, show
from .wording import in_a_sentence

_LONGEST_OPERAND = 26


@dataclass(frozen=True)
class Derivation:
    """How one message comes about.

    `names` is the formula in words ("incoming × y"), `numbers` the same with what stood there
    ("12 × 2"), None where that would be too long or is not known. `computed` is what the formula
    gives, None where an operand was too large to keep.
    """

    names: str
    numbers: str | None
    computed: Tensor | None

    def equation(self, message: GradientMessage) -> str:
        """The formula, its numbers, and what was sent, as one line."""
        parts = [self.names, self.numbers, in_a_sentence(message.gradient)]
        return " = ".join(part for part in dict.fromkeys(parts) if part is not None)


def derive(graph: Graph, message: GradientMessage, incoming: tuple[Snapshot | None, ...]) -> Derivation | None:
    """How `message` follows from what its node received; None where no formula is known.

    A formula that does not give what was sent is not shown: a hook changed it, or the node does
    something that the table does not know.
    """
    node = graph.nodes[message.source]
    rule = formula(node, message.edge.position)
    if rule is None or message.gradient is None or len(incoming) != 1 or incoming[0] is None:
        return None
    if message.gradient.dtype.startswith("complex"):
        return None  # the rules for complex numbers conjugate, the table's formulas do not
    known = _operands(node, message, incoming[0])
    if known is None or not set(rule.names) <= set(known):
        return None
    computed = _computed(rule, known)
    if computed is not None and not _agrees(computed, message.gradient):
        return None
    ones = frozenset(name for name, operand in known.items() if operand is _ONE)
    names = {name: _name(graph, node, name) for name in rule.names}
    told = rule.told(names.__getitem__, ones)
    if rule.elementwise and _size(message.gradient) < _size(incoming[0]):
        return Derivation(f"{told}, summed over what was broadcast", None, computed)
    texts = {name: _text(known[name]) for name in rule.names}
    full = computed is not None and None not in texts.values()
    return Derivation(told, rule.told(texts.__getitem__, ones) if full else None, computed)


@dataclass(frozen=True)
class _Known:
    """An operand: a snapshot, a setting, or one that is 1."""

    value: object
    dtype: str | None = None
    shape: tuple[int, ...] = ()


_ONE = _Known(1)
Known = Mapping[str, _Known]


def _operands(node: Node, message: GradientMessage, incoming: Snapshot) -> Known | None:
    known = {name: _ONE if _is_one(value) else _Known(value) for name, value in node.settings}
    for saved in node.saved:
        if saved.state == "changed":
            return None
        if saved.state != "empty":
            known[saved.name] = _Known(saved.value, saved.dtype, saved.shape or ())
            known["count"] = _Known(_count(saved))
    known["incoming"] = _Known(incoming.value, incoming.dtype, incoming.shape)
    if message.shape is not None:
        known["input_sizes"] = _Known(message.shape)
    return known


def _is_one(value: object) -> bool:
    return type(value) in (int, float) and value == 1


def _count(saved: SavedTensor) -> int | None:
    return None if saved.shape is None else torch.Size(saved.shape).numel()


def _computed(rule: Expression, known: Known) -> Tensor | None:
    operands = {name: _tensor(known[name]) for name in rule.names}
    if any(operand is None and known[name].dtype is not None for name, operand in operands.items()):
        return None
    try:
        return rule.compute(operands)
    except (RuntimeError, TypeError):  # a dtype that this processor cannot compute with
        return None


def _tensor(known: _Known) -> object:
    if known.dtype is None:
        return known.value
    if known.value is None or isinstance(known.value, (Statistics, Unreadable)):
        return None
    return torch.tensor(known.value, dtype=getattr(torch, known.dtype)).reshape(known.shape)  # also of no elements


def _agrees(computed: Tensor, sent: Snapshot) -> bool:
    """Whether the formula gives what was sent, summed over what was broadcast if need be."""
    if isinstance(sent.value, (Statistics, Unreadable)):
        return True  # nothing is kept to compare with
    try:
        computed = computed.double().sum_to_size(sent.shape)
    except RuntimeError:
        return False
    there = torch.tensor(sent.value, dtype=torch.float64).reshape(sent.shape)
    near = 1e-2 if sent.dtype in ("float16", "bfloat16") else 1e-4
    return torch.allclose(computed, there, rtol=near, atol=near * 1e-3, equal_nan=True)


def _size(snapshot: Snapshot) -> int:
    return torch.Size(snapshot.shape).numel()


def _name(graph: Graph, node: Node, operand: str) -> str:
    if operand == "incoming":
        return "incoming"
    saved = next((saved for saved in node.saved if saved.name == operand), None)
    if saved is None:
        return _SETTINGS.get(operand, operand)
    if saved.variable is not None:
        return saved.variable
    if saved.result is not None and saved.result.node != node.number:
        return f"(result of {graph.name_of(saved.result)})"
    if operand == "result":
        return node.results[0].name or "result"
    return "value" if operand == "self" else operand


_SETTINGS = {"self_sym_numel": "number of elements", "count": "number of elements"}


def _text(known: _Known) -> str | None:
    """An operand's numbers; None if they take too much room."""
    text = show(known.value) if known.dtype or not isinstance(known.value, (tuple, str)) else ""
    if known.dtype and isinstance(known.value, (Statistics, Unreadable, type(None))):
        return None
    return text if len(text) <= _LONGEST_OPERAND else None
