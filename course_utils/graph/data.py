"""The graph as frozen plain values, so that everything later works on data and not on autograd."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from .values import PlainValue, Snapshot

NodeKind = Literal["operation", "leaf", "custom", "opaque", "error"]
SavedState = Literal["saved", "freed", "changed", "kept", "packed", "empty", "not read"]
Setting = bool | int | float | complex | str | None | tuple


class Place(NamedTuple):
    """Where the gradient of one tensor arrives: a node, and which result of its operation.

    Torch calls the pair `(grad_fn, output_nr)`, and `(function, input_nr)` in `next_functions`.
    """

    node: int
    result: int


@dataclass(frozen=True, slots=True)
class Result:
    """One tensor that a node's operation gave in the forward pass; for a leaf, the leaf itself.

    `shape` and `dtype` are also those of the gradient that arrives here. `value` is None where
    nothing that autograd keeps tells it. `grad` is None for "not computed yet", which is not zero.
    """

    shape: tuple[int, ...] | None
    dtype: str | None
    name: str | None = None
    value: PlainValue | None = None
    grad: Snapshot | None = None


@dataclass(frozen=True, slots=True)
class SavedTensor:
    """A tensor that a node keeps for its derivative, or kept until it was freed.

    The states: "saved"; "freed" by a backward pass; "changed" in place since it was saved, so that
    a backward pass will fail; "kept" on a custom Function's ctx, where nothing frees or watches it;
    "packed" by saved-tensor hooks, as checkpointing does, and not unpacked here because that would
    run code; "empty" where there was nothing to save; "not read" where this version of torch cannot
    say whether reading would run code. `version` is the tensor's version when it was saved, and
    `version_now`, of a "changed" one, that which it has when the graph is traced.

    `result` is the place in the graph this tensor came from, `variable` its name; both None if
    unknown. `value` is None for a tensor that is too large or cannot be read.
    """

    name: str
    state: SavedState
    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    version: int | None = None
    value: PlainValue | None = None
    result: Place | None = None
    variable: str | None = None
    version_now: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """One function of the backward pass; it turns the gradients of its operation's results into
    gradients of the operation's inputs.

    `name` is what torch calls it. `constant_inputs` are the positions of inputs that need no
    gradient. `settings` are the plain arguments it remembers, such as an exponent or a dimension.
    `note` explains what the name alone does not.
    """

    number: int
    name: str
    kind: NodeKind
    results: tuple[Result, ...]
    constant_inputs: tuple[int, ...] = ()
    saved: tuple[SavedTensor, ...] = ()
    settings: tuple[tuple[str, Setting], ...] = ()
    note: str = ""

    @property
    def operation(self) -> str:
        """The forward operation: `Mul` for `MulBackward0`."""
        name = self.name.rpartition("::")[2]
        return name.rstrip("0123456789").removesuffix("Backward") or name

    @property
    def label(self) -> str:
        """`x` for a leaf called x, `Mul 1` for the node numbered 1."""
        if self.kind == "leaf":
            return self.results[0].name or f"leaf {self.number}"
        return f"{self.operation} {self.number}"


@dataclass(frozen=True, slots=True)
class Edge:
    """A way for a gradient: torch's `source.next_functions[position] == (target, result)`.

    Forward, the input at `position` of the source's operation was the given result of the
    target's. Backward, a gradient travels from source to target.
    """

    source: int
    position: int
    target: int
    result: int

    @property
    def place(self) -> Place:
        """Where a gradient that travels along this edge arrives."""
        return Place(self.target, self.result)


@dataclass(frozen=True)
class Graph:
    """The graph behind one or several tensors.

    Nodes are numbered in the order in which a backward pass visits them, so every edge leads to a
    higher number. `roots` are the places of the traced tensors. `absent` are the names that were
    passed in but are not in the graph, each with the reason.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    roots: tuple[Place, ...]
    absent: tuple[tuple[str, str], ...] = field(default=())

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    @cached_property
    def leaves(self) -> tuple[Node, ...]:
        """The nodes that add a gradient to a leaf's `.grad`."""
        return tuple(node for node in self.nodes if node.kind == "leaf")

    @cached_property
    def places(self) -> dict[str, Place]:
        """Where the gradient of each named tensor arrives."""
        return {
            result.name: Place(node.number, index)
            for node in self.nodes
            for index, result in enumerate(node.results)
            if result.name is not None
        }

    def place(self, name: str) -> Place:
        """Where the gradient of the tensor called `name` arrives."""
        if name in self.places:
            return self.places[name]
        reason = dict(self.absent).get(name)
        if reason is not None:
            raise KeyError(f"`{name}` is not in this graph: {reason}.")
        known = ", ".join(self.places) or "no names at all"
        raise KeyError(
            f"No tensor called `{name}` in this graph; it has {known}. Name it when you trace: `trace(y, {name}=...)`."
        )

    def node(self, key: str | int) -> Node:
        """The node with this number, or the one at which the named tensor's gradient arrives."""
        return self.nodes[key if isinstance(key, int) else self.place(key).node]

    def result(self, place: Place) -> Result | None:
        """The tensor whose gradient arrives at `place`; None if the node says nothing of it."""
        results = self.nodes[place.node].results
        return results[place.result] if place.result < len(results) else None

    def name_of(self, place: Place) -> str:
        """The tensor's name, or which result of which node it is."""
        result = self.result(place)
        if result is not None and result.name is not None:
            return result.name
        node = self.nodes[place.node]
        which = f", result {place.result}" if len(node.results) > 1 else ""
        return f"{node.label}{which}"

    def edges_from(self, number: int) -> tuple[Edge, ...]:
        """The edges along which a node sends gradients, in the order of its inputs."""
        return self._edges_by_source.get(number, ())

    def edges_to(self, number: int) -> tuple[Edge, ...]:
        """The edges along which gradients arrive at a node, in the order they are sent."""
        return self._edges_by_target.get(number, ())

    @cached_property
    def _edges_by_source(self) -> dict[int, tuple[Edge, ...]]:
        return _grouped(self.edges, "source")

    @cached_property
    def _edges_by_target(self) -> dict[int, tuple[Edge, ...]]:
        return _grouped(self.edges, "target")

    def __str__(self) -> str:
        from .text import graph_text

        return graph_text(self)

    def __repr__(self) -> str:
        roots = ", ".join(map(self.name_of, self.roots))
        leaves = ", ".join(leaf.label for leaf in self.leaves[:8])
        more = ", ..." if len(self.leaves) > 8 else ""
        return f"<Graph of {roots}: {len(self)} nodes, {len(self.edges)} edges; {leaves}{more}>"

    def to_dot(self) -> str:
        """The graph in Graphviz's language."""
        from .dot import dot_text

        return dot_text(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from .draw import draw

        return draw(self)._repr_mimebundle_()


def _grouped(edges: tuple[Edge, ...], end: str) -> dict[int, tuple[Edge, ...]]:
    groups: dict[int, list[Edge]] = {}
    for edge in edges:
        groups.setdefault(getattr(edge, end), []).append(edge)
    return {number: tuple(group) for number, group in groups.items()}
