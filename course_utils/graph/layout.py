"""Where everything stands in a picture: Graphviz computes positions, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Direction = Literal["right", "down"]
Point = tuple[float, float]

_POINTS_PER_INCH = 72
_NODE_GAP = 18
_RANK_GAP = {"right": 26, "down": 22}
_LABEL_MARGIN = 14  # across the line, for the line of the value


@dataclass(frozen=True)
class Block:
    """A box to find room for, with so many ways in and out, in their order.

    The ways into an `unordered` block may change places where lines would cross.
    """

    width: float
    height: float
    inputs: int = 1
    outputs: int = 1
    unordered: bool = False


@dataclass(frozen=True)
class Wire:
    """A line between two blocks, in the forward direction, with room for a label on it.

    `output` and `input` say which of the ways out of `tail` and into `head` it takes.
    """

    tail: int
    head: int
    output: int = 0
    input: int = 0
    label: tuple[float, float] | None = None


@dataclass(frozen=True)
class Run:
    """The course of a wire: a start, then two control points and an end for each Bézier curve.

    A wire with a label has two runs, one on each side of `label`, the label's centre.
    """

    curves: tuple[tuple[Point, ...], ...]
    label: Point | None


@dataclass(frozen=True)
class Layout:
    """The centre of each block and the course of each wire, from the upper left corner."""

    width: float
    height: float
    direction: Direction
    centres: tuple[Point, ...]
    runs: tuple[Run, ...]


def layout(blocks: Sequence[Block], wires: Sequence[Wire], direction: Direction) -> Layout:
    """Positions for all blocks and wires; the forward pass goes in this direction."""
    found = _laid_out(blocks, wires, direction)
    uncrossed = _uncrossed(blocks, wires, found)
    return found if uncrossed == list(wires) else _laid_out(blocks, uncrossed, direction)


def _uncrossed(blocks: Sequence[Block], wires: Sequence[Wire], found: Layout) -> list[Wire]:
    """The wires, with those into unordered blocks in the order in which they arrive there."""
    across = 1 if found.direction == "right" else 0
    into: dict[int, list[int]] = {}
    for number, wire in enumerate(wires):
        if blocks[wire.head].unordered:
            into.setdefault(wire.head, []).append(number)
    better = list(wires)
    for numbers in into.values():
        inputs = sorted(wires[number].input for number in numbers)
        numbers.sort(key=lambda number: _comes_from(wires[number], found, number)[across])
        for number, way in zip(numbers, inputs, strict=True):
            better[number] = replace(wires[number], input=way)
    return better


def _comes_from(wire: Wire, found: Layout, number: int) -> Point:
    return found.runs[number].label or found.centres[wire.tail]


def _laid_out(blocks: Sequence[Block], wires: Sequence[Wire], direction: Direction) -> Layout:
    import pygraphviz

    sides = ("w", "e") if direction == "right" else ("n", "s")
    graph = pygraphviz.AGraph(
        directed=True,
        strict=False,
        rankdir="LR" if direction == "right" else "TB",
        nodesep=_NODE_GAP / _POINTS_PER_INCH,
        ranksep=_RANK_GAP[direction] / _POINTS_PER_INCH,
        outputorder="nodesfirst",
    )
    for number, block in enumerate(blocks):
        graph.add_node(f"b{number}", shape="plain", label=_table(block, direction))
    for number, wire in enumerate(wires):
        _add_wire(graph, number, wire, blocks, sides)
    graph.layout(prog="dot")
    return _Read(graph, direction).layout(len(blocks), wires)


def _add_wire(graph: object, number: int, wire: Wire, blocks: Sequence[Block], sides: tuple) -> None:
    into, out = sides
    ends = {}
    if blocks[wire.tail].outputs > 1:
        ends["tailport"] = f"o{wire.output}:{out}"
    if blocks[wire.head].inputs > 1:
        ends["headport"] = f"i{wire.input}:{into}"
    tail, head = f"b{wire.tail}", f"b{wire.head}"
    if wire.label is None:
        graph.add_edge(tail, head, key=f"w{number}", dir="none", **ends)
        return
    width, height = (side / _POINTS_PER_INCH for side in wire.label)
    height += _LABEL_MARGIN / _POINTS_PER_INCH if out == "e" else 0
    graph.add_node(f"l{number}", shape="box", fixedsize=True, width=width, height=height, label="")
    first = {name: port for name, port in ends.items() if name == "tailport"}
    last = {name: port for name, port in ends.items() if name == "headport"}
    graph.add_edge(tail, f"l{number}", key=f"w{number}", dir="none", headport=into, **first)
    graph.add_edge(f"l{number}", head, key=f"v{number}", dir="none", tailport=out, **last)


def _table(block: Block, direction: Direction) -> str:
    """A table of empty cells: the ways in along one side, the ways out along the other."""
    width, height = round(block.width), round(block.height)
    if direction == "right":
        sizes = [(width // 2, height // max(1, count)) for count in (block.inputs, block.outputs)]
    else:
        sizes = [(width // max(1, count), height // 2) for count in (block.inputs, block.outputs)]
    sides = [
        _cells(name, max(1, count), *size, stacked=direction == "right")
        for name, count, size in zip("io", (block.inputs, block.outputs), sizes, strict=True)
    ]
    fixed = (
        f'BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0" FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{height}"'
    )
    join = "".join if direction == "right" else "</TR><TR>".join
    return f"<<TABLE {fixed}><TR>{join(f'<TD>{side}</TD>' for side in sides)}</TR></TABLE>>"


def _cells(name: str, count: int, width: int, height: int, *, stacked: bool) -> str:
    cells = [
        f'<TD PORT="{name}{number}" FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{height}"></TD>' for number in range(count)
    ]
    rows = "</TR><TR>".join(cells) if stacked else "".join(cells)
    return f'<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"><TR>{rows}</TR></TABLE>'


class _Read:
    """Reads positions back; Graphviz counts them from the lower left corner."""

    def __init__(self, graph: object, direction: Direction) -> None:
        self.graph, self.direction = graph, direction
        box = graph.graph_attr["bb"].split(",")
        self.left, self.width = float(box[0]), float(box[2]) - float(box[0])
        self.top, self.height = float(box[3]), float(box[3]) - float(box[1])

    def layout(self, blocks: int, wires: Sequence[Wire]) -> Layout:
        centres = tuple(self._centre(f"b{number}") for number in range(blocks))
        runs = tuple(self._run(number, wire) for number, wire in enumerate(wires))
        return Layout(self.width, self.height, self.direction, centres, runs)

    def _centre(self, name: str) -> Point:
        return self._point(self.graph.get_node(name).attr["pos"])

    def _run(self, number: int, wire: Wire) -> Run:
        tail, head, label = f"b{wire.tail}", f"b{wire.head}", f"l{number}"
        if wire.label is None:
            return Run((self._curve(tail, head, f"w{number}"),), None)
        first = self._curve(tail, label, f"w{number}")
        return Run((first, self._curve(label, head, f"v{number}")), self._centre(label))

    def _curve(self, tail: str, head: str, key: str) -> tuple[Point, ...]:
        points = self.graph.get_edge(tail, head, key).attr["pos"].split()
        return tuple(self._point(point) for point in points if not point.startswith(("e,", "s,")))

    def _point(self, text: str) -> Point:
        x, y = map(float, text.split(","))
        return round(x - self.left, 1), round(self.top - y, 1)
