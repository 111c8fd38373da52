"""How much of a graph is there under other settings: the whole graph, and the part that is recorded now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from .data import Edge, Graph, Node, Place, SavedTensor


@dataclass(frozen=True)
class RecordedPart:
    """The part of `whole` that is recorded.

    `nodes` has each recorded node by its number in `whole`, as it is now: it may save less than there. `edges` are
    those edges of `whole` along which a gradient can travel.
    """

    whole: Graph
    nodes: Mapping[int, Node]
    edges: frozenset[Edge]

    def has(self, number: int) -> bool:
        """Whether the node with this number is recorded."""
        return number in self.nodes

    @property
    def mixed(self) -> Graph:
        """The whole graph, with each recorded node as it is now."""
        nodes = tuple(self.nodes.get(node.number, node) for node in self.whole.nodes)
        return replace(self.whole, nodes=nodes)


def everything_of(whole: Graph) -> RecordedPart:
    """The part that is all of it."""
    return RecordedPart(whole, {node.number: node for node in whole.nodes}, frozenset(whole.edges))


def nothing_of(whole: Graph) -> RecordedPart:
    """The part that has no node."""
    return RecordedPart(whole, {}, frozenset())


def recorded_part(whole: Graph, recorded: Graph) -> RecordedPart:
    """Where the nodes of `recorded` are in `whole`, found by going both ways down at once.

    ValueError if torch has recorded something that is not in `whole`.
    """
    places: dict[int, int] = {}
    edges: set[Edge] = set()
    waiting = [(there.node, here.node) for there, here in zip(whole.roots, recorded.roots, strict=True)]
    while waiting:
        there, here = waiting.pop()
        if here in places:
            continue
        if whole.nodes[there].name != recorded.nodes[here].name:
            raise _other_operation(whole.nodes[there], recorded.nodes[here])
        places[here] = there
        for edge, found in _pairs(whole, there, recorded, here):
            edges.add(edge)
            waiting.append((edge.target, found.target))
    nodes = {there: _moved(recorded.nodes[here], there, places) for here, there in places.items()}
    return RecordedPart(whole, nodes, frozenset(edges))


def _pairs(whole: Graph, there: int, recorded: Graph, here: int) -> Iterator[tuple[Edge, Edge]]:
    """Each recorded edge from a node, behind the edge of the whole graph for the same input."""
    by_position = {edge.position: edge for edge in whole.edges_from(there)}
    for edge in recorded.edges_from(here):
        if edge.position not in by_position:
            raise _other_operation(whole.nodes[there], recorded.nodes[here])
        yield by_position[edge.position], edge


def _other_operation(expected: Node, found: Node) -> ValueError:
    return ValueError(
        f"with these settings torch records {found.name} where it records {expected.name} when everything is recorded, "
        "so the two graphs cannot be shown as one. Write the function with other operations."
    )


def _moved(node: Node, number: int, places: Mapping[int, int]) -> Node:
    return replace(node, number=number, saved=tuple(_saved_at(saved, places) for saved in node.saved))


def _saved_at(saved: SavedTensor, places: Mapping[int, int]) -> SavedTensor:
    if saved.result is None:
        return saved
    return replace(saved, result=Place(places[saved.result.node], saved.result.result))
