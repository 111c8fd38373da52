"""Finds the live autograd nodes behind some tensors, in the order the engine will visit them."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

from torch import Tensor
from torch.autograd.graph import Node as LiveNode
from torch.autograd.graph import get_gradient_edge

from .memory import release_in_pieces

LiveEdge = tuple[LiveNode, int]


@dataclass(frozen=True)
class Walk:
    """Live nodes in the engine's order; holds them, because torch makes their Python side anew
    as soon as nobody does."""

    roots: list[LiveEdge]
    nodes: list[LiveNode]
    numbers: dict[LiveNode, int]
    following: list[tuple]
    """`next_functions` of each node."""
    sequence: list[int]
    """The engine's priority of each node: later created comes first, leaves before all."""


def walk(outputs: list[Tensor]) -> Walk:
    """The graph behind `outputs`, each of which requires a gradient."""
    roots = [live_place(output) for output in outputs]
    following = _reachable(roots)
    sequence = {node: node._sequence_nr() for node in following}
    nodes = _engine_order(roots, following, sequence)
    found = Walk(
        roots,
        nodes,
        {node: number for number, node in enumerate(nodes)},
        [following[node] for node in nodes],
        [sequence[node] for node in nodes],
    )
    release_in_pieces(found.nodes, found.following)
    return found


def live_place(tensor: Tensor) -> LiveEdge:
    """The node at which the gradient of `tensor` arrives, and which of its results it is."""
    edge = get_gradient_edge(tensor)
    return edge.node, edge.output_nr


def _reachable(roots: list[LiveEdge]) -> dict[LiveNode, tuple]:
    following: dict[LiveNode, tuple] = {}
    stack = [node for node, _ in roots]
    while stack:
        node = stack.pop()
        if node not in following:
            following[node] = edges = node.next_functions
            stack.extend(target for target, _ in edges if target is not None)
    return following


def _engine_order(
    roots: list[LiveEdge], following: dict[LiveNode, tuple], sequence: dict[LiveNode, int]
) -> list[LiveNode]:
    """As torch's engine does it: of the nodes that wait for nothing, the latest created."""
    awaited = dict.fromkeys(following, 0)
    for edges in following.values():
        for target, _ in edges:
            if target is not None:
                awaited[target] += 1
    arrival = count()  # among equals, first come first served
    starts = dict.fromkeys(node for node, _ in roots)
    ready = [(-sequence[node], next(arrival), node) for node in starts if not awaited[node]]
    heapq.heapify(ready)
    order = []
    while ready:
        node = heapq.heappop(ready)[2]
        order.append(node)
        for target, _ in following[node]:
            if target is not None:
                awaited[target] -= 1
                if not awaited[target]:
                    heapq.heappush(ready, (-sequence[target], next(arrival), target))
    return order
