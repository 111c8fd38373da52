"""What somebody's own engine did, turn by turn, as graphs of plain values: to lay beside torch's.

An engine's node is any object with `value`, `grad`, `parents` and `op`, and a `name` if it has one; the
names that micrograd gives them (`data`, `_prev`, `_op`, `label`) will do as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .data import Edge, Graph, Node, Place, Result
from .values import Snapshot, show

_ATTRIBUTES = {
    "value": ("value", "data"),
    "grad": ("grad",),
    "parents": ("parents", "_prev"),
    "op": ("op", "_op"),
}
_OPERATIONS = {"**": "Pow", "+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "@": "MatMul"}


@dataclass(frozen=True)
class Turn:
    """The engine's graph after one node had its turn; `node` is None before the first.

    `changed` are the places whose gradient is another than before; `sentence` tells them.
    """

    graph: Graph
    sentence: str = "Your engine, before its first node has its turn."
    node: int | None = None
    changed: frozenset[Place] = frozenset()


class Diary:
    """Watches an engine's backward pass: `note(node)` after each node's turn.

        diary = Diary(z)
        for node in reversed(topological_order(z)):
            node.backward()
            diary.note(node)

    `turns` is then what happened. A node without parents has nothing to send, so its turn is not kept.
    """

    def __init__(self, root: object, **names: object) -> None:
        self._nodes = _reached(root)
        self._numbers = {id(node): number for number, node in enumerate(self._nodes)}
        self._names = {id(node): name for name, node in names.items()}
        self.turns: list[Turn] = [Turn(self._graph())]

    def note(self, node: object) -> None:
        """Keeps every gradient as it is now, after `node` had its turn."""
        if id(node) not in self._numbers:
            raise ValueError("Diary.note: this node is not among those that the diary's root was computed from.")
        if not _parents(node):
            return
        before, graph = self.turns[-1].graph, self._graph()
        pairs = zip(before.nodes, graph.nodes, strict=True)
        changed = frozenset(Place(new.number, 0) for old, new in pairs if old.results[0].grad != new.results[0].grad)
        number = self._numbers[id(node)]
        told = [f"{graph.name_of(place)}.grad {_move(before, graph, place)}" for place in sorted(changed)]
        sentence = f"Your {graph.nodes[number].label}: {', '.join(told) or 'no gradient changes'}."
        self.turns.append(Turn(graph, sentence, number, changed))

    def __str__(self) -> str:
        return "\n".join(turn.sentence for turn in self.turns)

    def _graph(self) -> Graph:
        nodes = tuple(self._node(number, node) for number, node in enumerate(self._nodes))
        edges = tuple(
            Edge(number, position, self._numbers[id(parent)], 0)
            for number, node in enumerate(self._nodes)
            for position, parent in enumerate(_parents(node))
        )
        return Graph(nodes, edges, (Place(0, 0),))

    def _node(self, number: int, node: object) -> Node:
        name = self._names.get(id(node)) or getattr(node, "name", None) or getattr(node, "label", None) or None
        value, grad = _plain(_read(node, "value")), _read(node, "grad")
        result = Result((), None, name, value, None if grad is None else Snapshot((), "", _plain(grad)))
        if not _parents(node):
            return Node(number, "", "leaf", (result,))
        return Node(number, _operation(str(_read(node, "op"))), "operation", (result,))


def _reached(root: object) -> list[object]:
    """All nodes behind `root`, each before those it was computed from."""
    order: list[object] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(parent, False) for parent in _parents(node)]
    return order[::-1]


def _parents(node: object) -> list[object]:
    """The parents in their order; micrograd keeps them as a set, which has none of its own."""
    found = _read(node, "parents")
    if isinstance(found, (set, frozenset)):
        return sorted(found, key=lambda parent: _plain(_read(parent, "value")))
    return list(found) if isinstance(found, Iterable) else []


def _operation(op: str) -> str:
    """`Mul` for `*`, as torch would call it; `Pow` for micrograd's `**2`; other names as they are."""
    return next((name for sign, name in _OPERATIONS.items() if op.startswith(sign)), op) or "operation"


def _read(node: object, what: str) -> object:
    for name in _ATTRIBUTES[what]:
        if hasattr(node, name):
            return getattr(node, name)
    raise TypeError(
        f"Diary: a {type(node).__name__} has no `{_ATTRIBUTES[what][0]}`. A node needs value, grad, parents and op."
    )


def _plain(number: object) -> float:
    return float(number)


def _move(before: Graph, after: Graph, place: Place) -> str:
    grads = (graph.nodes[place.node].results[0].grad for graph in (before, after))
    old, new = ("nothing" if grad is None else show(grad.value) for grad in grads)
    return f"goes from {old} to {new}"
