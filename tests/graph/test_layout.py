"""Positions: nothing overlaps, everything is inside, inputs keep their order, and each run is the same."""

from __future__ import annotations

from itertools import combinations

import pytest

from course_utils.graph.layout import Block, Wire, layout, places

BLOCKS = [Block(100, 60), Block(90, 70), Block(120, 80, inputs=2), Block(110, 64), Block(80, 40)]
WIRES = [
    Wire(0, 2, input=0, label=(50, 22)),
    Wire(1, 2, input=1, label=(50, 22)),
    Wire(2, 3, label=(60, 22)),
    Wire(3, 4),
]
DIRECTIONS = ["right", "down"]


def rectangle(centre, width, height):
    x, y = centre
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def rectangles(found, blocks, wires):
    boxes = [rectangle(at, block.width, block.height) for at, block in zip(found.centres, blocks, strict=True)]
    labels = [
        rectangle(run.label, *wire.label) for run, wire in zip(found.runs, wires, strict=True) if wire.label is not None
    ]
    return boxes + labels


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_nothing_overlaps_and_everything_is_inside(direction):
    found = layout(BLOCKS, WIRES, direction)
    places = rectangles(found, BLOCKS, WIRES)
    assert not [pair for pair in combinations(places, 2) if overlap(*pair)]
    for left, top, right, bottom in places:
        assert left >= -1 and top >= -1
        assert right <= found.width + 1 and bottom <= found.height + 1


def test_forward_goes_to_the_right_or_down():
    right, down = (layout(BLOCKS, WIRES, direction) for direction in DIRECTIONS)
    for wire in WIRES:
        assert right.centres[wire.tail][0] < right.centres[wire.head][0]
        assert down.centres[wire.tail][1] < down.centres[wire.head][1]


@pytest.mark.parametrize(("direction", "across"), [("right", 1), ("down", 0)])
def test_inputs_arrive_in_their_order(direction, across):
    found = layout(BLOCKS, WIRES, direction)
    first, second = (found.runs[number].curves[-1][-1] for number in (0, 1))
    assert first[across] < second[across]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_wire_begins_and_ends_at_its_blocks(direction):
    found = layout(BLOCKS, WIRES, direction)
    for wire, run in zip(WIRES, found.runs, strict=True):
        for number, (x, y) in ((wire.tail, run.curves[0][0]), (wire.head, run.curves[-1][-1])):
            block = BLOCKS[number]
            left, top, right, bottom = rectangle(found.centres[number], block.width, block.height)
            assert left - 2 <= x <= right + 2 and top - 2 <= y <= bottom + 2


def test_two_wires_between_the_same_blocks_keep_apart():
    blocks = [Block(60, 60), Block(60, 60, inputs=2)]
    wires = [Wire(0, 1, input=0, label=(40, 22)), Wire(0, 1, input=1, label=(40, 22))]
    first, second = layout(blocks, wires, "right").runs
    assert abs(first.label[1] - second.label[1]) >= 22


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_same_blocks_get_the_same_places(direction):
    assert layout(BLOCKS, WIRES, direction) == layout(BLOCKS, WIRES, direction)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_places_alone_are_those_of_the_whole_layout(direction):
    alone, whole = places(BLOCKS, WIRES, direction), layout(BLOCKS, WIRES, direction)
    assert alone.centres == whole.centres
    assert [run.label for run in alone.runs] == [run.label for run in whole.runs]
    assert {run.curves for run in alone.runs} == {()}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_line_that_only_crosses_a_gap_leaves_and_arrives_straight(direction):
    found = layout(BLOCKS, WIRES, direction)
    along = 0 if direction == "right" else 1
    start, leaves, arrives, end = found.runs[3].curves[0]
    assert leaves[1 - along] == start[1 - along]
    assert arrives[1 - along] == end[1 - along]
    assert start[along] < leaves[along] == arrives[along] < end[along]


def test_a_single_block_needs_no_wire():
    assert layout([Block(100, 50)], [], "right").centres == ((50, 25),)
