"""Chooses what of a graph is drawn as one box, so that a picture stays readable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap

from .data import Edge, Graph, Node

MOST_BOXES = 60
_LONGEST_CHAIN, _KEPT_AT_ENDS = 10, 2
_LINE = 32  # letters in a line of a fold's text
_JOINED = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class Box:
    """What is drawn in one place: one node, or several that are folded together.

    `title` is empty for a single node; `hides` says, line by line, what a fold hides.
    """

    nodes: tuple[int, ...]
    title: str = ""
    hides: tuple[str, ...] = ()

    @property
    def is_fold(self) -> bool:
        return bool(self.title)


@dataclass(frozen=True)
class Link:
    """One line between two boxes, numbered as in `View.boxes`; a fold may gather several edges.

    As an edge does, it leads from the box that sends gradients to the one that gets them.
    """

    source: int
    target: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class View:
    """A graph as it is drawn: boxes in the order of the backward pass, and links between them."""

    graph: Graph
    boxes: tuple[Box, ...]

    @cached_property
    def box_of(self) -> dict[int, int]:
        """The number of the box that each node is drawn in."""
        return {node: number for number, box in enumerate(self.boxes) for node in box.nodes}

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The lines between boxes; what goes on inside a fold has none."""
        groups: dict[tuple, list[Edge]] = {}
        for edge in self.graph.edges:
            source, target = self.box_of[edge.source], self.box_of[edge.target]
            if source != target:
                folded = self.boxes[source].is_fold or self.boxes[target].is_fold
                key = (source, target) if folded else (source, target, edge.position)
                groups.setdefault(key, []).append(edge)
        return tuple(Link(key[0], key[1], tuple(edges)) for key, edges in groups.items())

    @cached_property
    def link_of(self) -> dict[Edge, int]:
        """The number of the link that each edge is drawn as; edges inside a fold are not in it."""
        return {edge: number for number, link in enumerate(self.links) for edge in link.edges}

    @property
    def hidden(self) -> int:
        """How many nodes are folded away."""
        return sum(len(box.nodes) for box in self.boxes if box.is_fold)


def fold(graph: Graph, most: int = MOST_BOXES) -> View:
    """The graph in at most about `most` boxes: chains first, then modules, then even pieces.

    A graph that is small enough is shown in full, except for the middles of long chains.
    """
    groups = _chains(graph)
    if _count(graph, groups) > most:
        groups = _modules(graph, most) or _pieces(graph, most)
    return _without_rows(graph, groups)


Group = tuple[str, tuple[int, ...]]
"""A title, which may be empty, and the nodes to fold under it."""


def _count(graph: Graph, groups: Sequence[Group]) -> int:
    return len(graph) - sum(len(nodes) - 1 for _, nodes in groups)


def _view(graph: Graph, groups: Sequence[Group]) -> View:
    folded = {node for _, nodes in groups for node in nodes}
    boxes = [Box((node.number,)) for node in graph.nodes if node.number not in folded]
    boxes += [_fold(graph, title, nodes) for title, nodes in groups]
    return View(graph, tuple(sorted(boxes, key=lambda box: box.nodes)))


def _without_rows(graph: Graph, groups: list[Group]) -> View:
    """The view of these folds, with the middle of each long row of them made into one."""
    view = _view(graph, groups)
    titles = {tuple(sorted(nodes)): title for title, nodes in groups}
    before, after = Counter(), Counter()
    for link in view.links:
        after[link.source] += 1
        before[link.target] += 1
    target = {link.source: link.target for link in view.links}
    rows, row = [], []
    for number, box in enumerate(view.boxes):
        joins = box.is_fold and (before[number], after[number]) == (1, 1)
        if row and not (joins and target[row[-1]] == number):
            rows.append(row)
            row = []
        if joins:
            row.append(number)
    for long in (found for found in [*rows, row] if len(found) > _LONGEST_CHAIN):
        middle = [view.boxes[number] for number in long[_KEPT_AT_ENDS:-_KEPT_AT_ENDS]]
        hidden = {box.nodes for box in middle}
        groups = [group for group in groups if tuple(sorted(group[1])) not in hidden]
        first, last = (titles[box.nodes] for box in (middle[-1], middle[0]))
        title = f"{first} to {last}" if first and last else ""
        groups.append((title, tuple(node for box in middle for node in box.nodes)))
    return _view(graph, groups)


def _fold(graph: Graph, title: str, nodes: Sequence[int]) -> Box:
    """One box for all these nodes; without a title it is called by how many they are."""
    inside = [graph.nodes[number] for number in sorted(nodes)]
    operations = [node for node in inside if node.kind != "leaf"]
    count, leaves = _counted(len(operations), "operation"), len(inside) - len(operations)
    with_leaves = f"{leaves:,} {'leaf' if leaves == 1 else 'leaves'}"
    inner = [f"from {operations[-1].label} to {operations[0].label}"] if not title else []
    inner += [f"{count}, {with_leaves}" if leaves else count] if title else [f"and {with_leaves}"] * bool(leaves)
    lines = [line.replace(_JOINED, " ") for text in (*inner, _kinds(operations)) for line in wrap(text, _LINE)]
    return Box(tuple(sorted(nodes)), title or count, tuple(lines))


def _kinds(operations: Sequence[Node]) -> str:
    """`50 Sin, 44 Cos`, the most frequent first."""
    kinds = Counter(node.operation for node in operations).most_common()
    more = sum(count for _, count in kinds[4:])
    told = [f"{count:,}{_JOINED}{name}" for name, count in kinds[:4]]
    return ", ".join([*told, f"{more:,} more"] if more else told)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + "s" * (count != 1)


def _chains(graph: Graph) -> list[Group]:
    """The middles of long runs of operations that hand on one gradient each."""
    groups, seen = [], set()
    for node in graph.nodes:
        run = []
        while node is not None and node.number not in seen and _is_link(graph, node):
            seen.add(node.number)
            run.append(node.number)
            node = graph.nodes[graph.edges_from(node.number)[0].target]
        if len(run) > _LONGEST_CHAIN:
            middle = tuple(run[_KEPT_AT_ENDS:-_KEPT_AT_ENDS])
            groups.append(("", middle))
    return groups


def _is_link(graph: Graph, node: Node) -> bool:
    """Whether the node takes one gradient from one place and sends one on."""
    one_way = len(graph.edges_from(node.number)) == 1 and len(node.results) == 1
    is_root = any(root.node == node.number for root in graph.roots)
    return one_way and (len(graph.edges_to(node.number)) == 1 or is_root)


def _modules(graph: Graph, most: int) -> list[Group]:
    """One fold for each module, as deep in the model as fits; none if no names tell of modules.

    Half of `most` is aimed at, because folds are larger than single nodes.
    """
    paths = {leaf.number: _path(leaf) for leaf in graph.leaves}
    depths = range(max(map(len, paths.values()), default=0), 0, -1)
    found = [_modules_at(graph, paths, depth) for depth in depths]
    for limit in (most // 2, most):
        for groups in found:
            if groups and _count(graph, groups) <= limit:
                return groups
    return []


def _modules_at(graph: Graph, paths: dict[int, tuple[str, ...]], depth: int) -> list[Group]:
    runs = _runs(graph, {number: path[:depth] for number, path in paths.items() if path})
    groups = [_with_own_leaves(graph, ".".join(path), run) for path, run in runs if path]
    return [group for group in groups if len(group[1]) > 1]


def _path(leaf: Node) -> tuple[str, ...]:
    """`("net", "0")` for a parameter called net.0.weight."""
    return tuple((leaf.results[0].name or "").split(".")[:-1])


def _runs(graph: Graph, module_of: dict[int, tuple]) -> list[tuple[tuple, list[int]]]:
    """The operations in forward order, cut wherever the module changes.

    Pieces that follow each other in that order never wait for each other in a circle. An operation
    without parameters goes with the module before it.
    """
    runs: list[tuple[tuple, list[int]]] = []
    for node in reversed(graph.nodes):
        if node.kind == "leaf":
            continue
        used = (edge.target for edge in graph.edges_from(node.number))
        found = next((module_of[number] for number in used if number in module_of), None)
        before = runs[-1][0] if runs else ()
        module = before if found is None else found
        if not runs or module != before:
            runs.append((module, []))
        runs[-1][1].append(node.number)
    return runs


def _with_own_leaves(graph: Graph, title: str, operations: Sequence[int]) -> Group:
    """The operations, and the leaves that only they use."""
    inside = set(operations)
    near = {edge.target for number in operations for edge in graph.edges_from(number)}
    own = sorted(number for number in near if _is_own_leaf(graph, number, inside))
    return title, (*operations, *own)


def _is_own_leaf(graph: Graph, number: int, inside: set[int]) -> bool:
    users = graph.edges_to(number)
    return graph.nodes[number].kind == "leaf" and all(edge.source in inside for edge in users)


def _pieces(graph: Graph, most: int) -> list[Group]:
    """The operations in forward order, cut into pieces of the same length."""
    operations = [node.number for node in reversed(graph.nodes) if node.kind != "leaf"]
    for pieces in range(most // 2, 0, -1):
        length = -(-len(operations) // pieces)
        cuts = [operations[start : start + length] for start in range(0, len(operations), length)]
        groups = [_with_own_leaves(graph, "", cut) for cut in cuts]
        groups = [group for group in groups if len(group[1]) > 1]
        if _count(graph, groups) <= most:
            break
    return groups
