"""Chooses among layouts: the direction that has room, and the inputs' order in which fewest lines cross."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from .layout import RANK_GAP, Block, Direction, Layout, Point, Wire, layout, places

_MOST_WIRES = 30  # beyond them nobody can follow single lines, and every attempt takes long
_MOST_ATTEMPTS = 10
_PIECES = 7  # straight ones to each curve, to find where lines cross

Blocks = Callable[[Direction], Sequence[Block]]


def arrange(blocks: Blocks, wires: Sequence[Wire], room: float, wanted: Direction | None = None) -> Layout:
    """All blocks and wires, to the right if they are not wider than `room` that way, else downward.

    Where both are too wide it is the narrower one; `wanted` decides it beforehand.
    """
    if wanted is None and len(wires) > _MOST_WIRES:
        found = _quickly(blocks, wires, room)
        if found is not None:
            return found
    placed = places(blocks(wanted), wires, wanted) if wanted else _where_there_is_room(blocks, wires, room)
    return _uncrossed(blocks(placed.direction), wires, placed)


def _quickly(blocks: Blocks, wires: Sequence[Wire], room: float) -> Layout | None:
    """A large graph downward, its inputs in the order found without labels; None if it may go another way."""
    if longest_way(blocks("right"), wires, "right") <= room:
        return None
    unlabelled = [replace(wire, label=None) for wire in wires]
    placed = places(blocks("down"), unlabelled, "down")
    if placed.width > room:
        return None
    found = layout(blocks("down"), _as_they_arrive(blocks("down"), wires, placed), "down")
    return found if found.width <= room else None


def _where_there_is_room(blocks: Blocks, wires: Sequence[Wire], room: float) -> Layout:
    ways: tuple[Direction, ...] = ("right", "down")
    if longest_way(blocks("right"), wires, "right") > room:
        ways = ("down", "right")  # to the right it is surely too wide, which needs no layout
    first = places(blocks(ways[0]), wires, ways[0])
    if first.width <= room:
        return first
    return min(first, places(blocks(ways[1]), wires, ways[1]), key=lambda found: found.width)


def longest_way(blocks: Sequence[Block], wires: Sequence[Wire], direction: Direction) -> float:
    """How far a layout in this direction reaches at least: along its longest path, with the gaps on it."""
    after: dict[int, list[Wire]] = {}
    waits = [0] * len(blocks)
    for wire in wires:
        after.setdefault(wire.tail, []).append(wire)
        waits[wire.head] += 1
    ways = [0.0] * len(blocks)
    ready = [number for number, count in enumerate(waits) if not count]
    while ready:
        number = ready.pop()
        ways[number] += _length((blocks[number].width, blocks[number].height), direction)
        for wire in after.get(number, ()):
            gap = RANK_GAP[direction] + (_length(wire.label, direction) + RANK_GAP[direction] if wire.label else 0)
            ways[wire.head] = max(ways[wire.head], ways[number] + gap)
            waits[wire.head] -= 1
            if not waits[wire.head]:
                ready.append(wire.head)
    return max(ways)


def _length(size: tuple[float, float], direction: Direction) -> float:
    return size[0] if direction == "right" else size[1]


def _uncrossed(blocks: Sequence[Block], wires: Sequence[Wire], placed: Layout) -> Layout:
    """The layout in which inputs that may change places stand as lines cross least."""
    best_wires = _as_they_arrive(blocks, wires, placed)
    best = layout(blocks, best_wires, placed.direction)
    if len(wires) > _MOST_WIRES:
        return best
    fewest = crossings(best)
    for head in _exchangeable(blocks, wires)[:_MOST_ATTEMPTS]:
        if not fewest:
            break
        tried_wires = _exchanged(best_wires, head)
        tried = layout(blocks, tried_wires, placed.direction)
        if (count := crossings(tried)) < fewest:
            best, best_wires, fewest = tried, tried_wires, count
    return best


def _as_they_arrive(blocks: Sequence[Block], wires: Sequence[Wire], found: Layout) -> list[Wire]:
    """The wires, with those into unordered blocks in the order in which they arrive there."""
    across = 1 if found.direction == "right" else 0
    better = list(wires)
    for numbers in _into_unordered(blocks, wires).values():
        inputs = sorted(wires[number].input for number in numbers)
        numbers.sort(key=lambda number: _comes_from(wires[number], found, number)[across])
        for number, way in zip(numbers, inputs, strict=True):
            better[number] = replace(wires[number], input=way)
    return better


def _comes_from(wire: Wire, found: Layout, number: int) -> Point:
    return found.runs[number].label or found.centres[wire.tail]


def _into_unordered(blocks: Sequence[Block], wires: Sequence[Wire]) -> dict[int, list[int]]:
    into: dict[int, list[int]] = {}
    for number, wire in enumerate(wires):
        if blocks[wire.head].unordered:
            into.setdefault(wire.head, []).append(number)
    return into


def _exchangeable(blocks: Sequence[Block], wires: Sequence[Wire]) -> list[int]:
    """The blocks that have two inputs, from different blocks, which may change places."""
    into = _into_unordered(blocks, wires).items()
    return [head for head, numbers in into if len(numbers) == 2 and len({wires[n].tail for n in numbers}) == 2]


def _exchanged(wires: Sequence[Wire], head: int) -> list[Wire]:
    inputs = [wire.input for wire in wires if wire.head == head]
    return [replace(wire, input=sum(inputs) - wire.input) if wire.head == head else wire for wire in wires]


def crossings(found: Layout) -> int:
    """How many pairs of wires cross each other."""
    courses = [[piece for curve in run.curves for piece in _straightened(curve)] for run in found.runs]
    bounds = [_bounds([end for piece in course for end in piece]) for course in courses]
    return sum(
        _overlap(bounds[one], bounds[other]) and _meet(courses[one], courses[other])
        for one, other in combinations(range(len(courses)), 2)
    )


Piece = tuple[Point, Point]


def _straightened(curve: Sequence[Point]) -> list[Piece]:
    """Straight pieces along Bézier curves."""
    points = [curve[0]]
    for start in range(0, len(curve) - 1, 3):
        points += [_along(curve[start : start + 4], step / _PIECES) for step in range(1, _PIECES + 1)]
    return list(pairwise(points))


def _along(curve: Sequence[Point], share: float) -> Point:
    """The point of one Bézier curve at this share of its parameter."""
    rest = 1 - share
    weights = (rest**3, 3 * rest**2 * share, 3 * rest * share**2, share**3)
    x, y = (sum(weight * point[axis] for weight, point in zip(weights, curve, strict=True)) for axis in (0, 1))
    return x, y


def _bounds(points: Sequence[Point]) -> tuple[float, float, float, float]:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)


def _overlap(one: tuple, other: tuple) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _meet(one: Sequence[Piece], other: Sequence[Piece]) -> bool:
    return any(_overlap(_bounds(a), _bounds(b)) and _cross(a, b) for a in one for b in other)


def _cross(one: Piece, other: Piece) -> bool:
    """Whether each piece has its ends on both sides of the other; a common end is no crossing."""
    return _side(*one, other[0]) * _side(*one, other[1]) < 0 and _side(*other, one[0]) * _side(*other, one[1]) < 0


def _side(start: Point, end: Point, point: Point) -> float:
    return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (point[0] - start[0])
