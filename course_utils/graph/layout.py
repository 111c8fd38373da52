"""Where everything stands in a picture: Graphviz computes positions, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Direction = Literal["right", "down"]
Point = tuple[float, float]

_POINTS_PER_INCH = 72
_NODE_GAP = 18
RANK_GAP = {"right": 34, "down": 24}
_LABEL_MARGIN = 15  # across the line, for the line of the value


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
    return _Read(_solved(blocks, wires, direction, splines="true"), direction).layout(len(blocks), wires)


def places(blocks: Sequence[Block], wires: Sequence[Wire], direction: Direction) -> Layout:
    """As `layout`, but only the positions of blocks and labels: runs have no curves. It is quicker."""
    return _Read(_solved(blocks, wires, direction, splines="false"), direction).layout(len(blocks), wires, bare=True)


def _solved(blocks: Sequence[Block], wires: Sequence[Wire], direction: Direction, splines: str) -> str:
    """The graph in Graphviz's language, with the positions that Graphviz gives it."""
    import pygraphviz

    head = (
        f"digraph {{ graph [rankdir={'LR' if direction == 'right' else 'TB'}, splines={splines}, "
        f"nodesep={_inches(_NODE_GAP)}, ranksep={_inches(RANK_GAP[direction])}, outputorder=nodesfirst]"
    )
    lines = [f"b{number} {_shape(block, direction)}" for number, block in enumerate(blocks)]
    for number, wire in enumerate(wires):
        lines += _wire(number, wire, blocks, direction)
    graph = pygraphviz.AGraph("\n".join([head, *lines, "}"]))  # as text, which is quicker than call by call
    graph.layout(prog="dot")
    return graph.to_string()


def _wire(number: int, wire: Wire, blocks: Sequence[Block], direction: Direction) -> list[str]:
    """A line, or one to the label and one from there."""
    into, out = ("w", "e") if direction == "right" else ("n", "s")
    tail, head = f"b{wire.tail}", f"b{wire.head}"
    tail += f":o{wire.output}:{out}" if blocks[wire.tail].outputs > 1 else ""
    head += f":i{wire.input}:{into}" if blocks[wire.head].inputs > 1 else ""
    if wire.label is None:
        return [f"{tail} -> {head} [key=w{number}, dir=none]"]
    width, height = wire.label
    height += _LABEL_MARGIN if direction == "right" else 0
    return [
        f"l{number} {_box(width, height)}",
        f"{tail} -> l{number}:{into} [key=w{number}, dir=none]",
        f"l{number}:{out} -> {head} [key=v{number}, dir=none]",
    ]


def _shape(block: Block, direction: Direction) -> str:
    if block.inputs > 1 or block.outputs > 1:
        return f"[shape=plain, label={_table(block, direction)}]"
    return _box(round(block.width), round(block.height))


def _box(width: float, height: float) -> str:
    return f'[shape=box, fixedsize=true, width={_inches(width)}, height={_inches(height)}, label=""]'


def _inches(points: float) -> str:
    return f"{points / _POINTS_PER_INCH:.5f}"


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


def _smooth(curve: Sequence[Point], direction: Direction) -> tuple[Point, ...]:
    """The curve, or an even S in its place where it only crosses the gap between two ranks.

    There nothing stands in the way, and Graphviz turns more sharply than it must.
    """
    (x, y), (u, v) = curve[0], curve[-1]
    right = direction == "right"
    if abs(u - x if right else v - y) > 1.5 * RANK_GAP[direction]:
        return tuple(curve)
    half = ((u - x) / 2, 0) if right else (0, (v - y) / 2)
    return (x, y), (x + half[0], y + half[1]), (u - half[0], v - half[1]), (u, v)


_STATEMENT = re.compile(r"^\s*(?:([bl]\d+)\s+\[|[bl]\d+(?::\w+)* -> )")
_KEY, _POSITION = re.compile(r"\bkey=(\w+)"), re.compile(r'\bpos="([^"]*)"')
_BOX = re.compile(r'\bbb="([^"]*)"')


class _Read:
    """Reads positions back; Graphviz counts them from the lower left corner."""

    def __init__(self, solved: str, direction: Direction) -> None:
        text = solved.replace("\\\n", "")  # how Graphviz breaks long lines
        self.direction = direction
        left, bottom, right, top = map(float, _BOX.search(text)[1].split(","))
        self.left, self.top = left, top
        self.width, self.height = right - left, top - bottom
        self.positions: dict[str, str] = {}
        for statement in text.split(";\n"):
            found = _STATEMENT.search(statement)
            position = found and _POSITION.search(statement)
            if position:
                self.positions[found[1] or _KEY.search(statement)[1]] = position[1]

    def layout(self, blocks: int, wires: Sequence[Wire], *, bare: bool = False) -> Layout:
        centres = tuple(self._point(self.positions[f"b{number}"]) for number in range(blocks))
        runs = tuple(self._run(number, wire, bare) for number, wire in enumerate(wires))
        return Layout(self.width, self.height, self.direction, centres, runs)

    def _run(self, number: int, wire: Wire, bare: bool) -> Run:
        keys = [f"w{number}"] if wire.label is None else [f"w{number}", f"v{number}"]
        label = None if wire.label is None else self._point(self.positions[f"l{number}"])
        return Run(() if bare else tuple(map(self._curve, keys)), label)

    def _curve(self, key: str) -> tuple[Point, ...]:
        points = self.positions[key].split()
        return _smooth([self._point(point) for point in points if not point.startswith(("e,", "s,"))], self.direction)

    def _point(self, text: str) -> Point:
        x, y = map(float, text.split(","))
        return round(x - self.left, 1), round(self.top - y, 1)
