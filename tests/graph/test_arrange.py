"""Which layout is taken: the direction that has room, and the inputs in the order that crosses least."""

from __future__ import annotations

import pytest
import torch

from course_utils.graph import record
from course_utils.graph.arrange import arrange, crossings, longest_way
from course_utils.graph.fold import fold
from course_utils.graph.growth import growth
from course_utils.graph.layout import Block, Layout, Run, Wire, layout
from course_utils.graph.scene import Scene

# torch says once per process that `backward(create_graph=True)` makes a reference cycle
pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")

ROW = [Block(100, 40)] * 4
ALONG = [Wire(number, number + 1, label=(50, 20)) for number in range(3)]


def straight(start, end):
    (x, y), (u, v) = start, end
    return Run(((start, ((2 * x + u) / 3, (2 * y + v) / 3), ((x + 2 * u) / 3, (y + 2 * v) / 3), end),), None)


def crossings_of(*runs):
    return crossings(Layout(100, 100, "right", (), tuple(runs)))


def test_what_fits_goes_to_the_right_and_what_does_not_goes_down():
    assert arrange(lambda _: ROW, ALONG, 900).direction == "right"
    assert arrange(lambda _: ROW, ALONG, 600).direction == "down"
    assert arrange(lambda _: ROW, ALONG, 600, "right").direction == "right"


def test_where_neither_fits_it_is_the_narrower_one():
    wide = [Block(40, 40), *[Block(200, 40)] * 6]
    assert arrange(lambda _: wide, [Wire(0, number) for number in range(1, 7)], 100).direction == "right"


@pytest.mark.parametrize(("direction", "side"), [("right", "width"), ("down", "height")])
def test_no_layout_is_shorter_than_its_longest_way(direction, side):
    wires = [*ALONG, Wire(0, 3)]
    least = longest_way(ROW, wires, direction)
    reached = getattr(layout(ROW, wires, direction), side)
    assert least <= reached + 1
    assert least > 0.8 * reached


def test_lines_cross_or_only_touch():
    a, b, c, d = (0.0, 0.0), (10.0, 10.0), (0.0, 10.0), (10.0, 0.0)
    assert crossings_of(straight(a, b), straight(c, d)) == 1
    assert crossings_of(straight(a, d), straight(c, b)) == 0
    assert crossings_of(straight(a, b), straight(a, d)) == 0


def test_inputs_of_an_unordered_block_change_places_rather_than_cross():
    blocks = [Block(60, 40), Block(60, 40), Block(60, 60, inputs=2, unordered=True), Block(60, 60, inputs=2)]
    # the second block feeds the first input, and both feed another block in the opposite order
    wires = [Wire(1, 2, input=0), Wire(0, 2, input=1), Wire(0, 3, input=0), Wire(1, 3, input=1)]
    found = arrange(lambda _: blocks, wires, 800, "right")
    heights = [(found.centres[wire.tail][1], found.runs[n].curves[0][-1][1]) for n, wire in enumerate(wires[:2])]
    assert [end for _, end in sorted(heights)] == sorted(end for _, end in heights)


def large(columns):
    """Many blocks in rows of so many, each of which uses two of the row before, the other way round."""
    rows = 40 // columns
    blocks = [Block(60, 40, inputs=2, unordered=True) for _ in range(columns * rows)]
    wires = [
        Wire(row * columns + (column + shift) % columns, (row + 1) * columns + column, input=1 - shift, label=(30, 20))
        for row in range(rows - 1)
        for column in range(columns)
        for shift in (0, 1)
    ]
    return blocks, wires


@pytest.mark.parametrize("columns", [2, 8])
def test_a_large_graph_goes_down_and_its_lines_cross_less_than_in_the_given_order(columns):
    blocks, wires = large(columns)
    found = arrange(lambda _: blocks, wires, 500)
    assert found.direction == "down" or columns == 8
    assert crossings(found) < crossings(layout(blocks, wires, found.direction))


def test_inputs_in_a_given_order_stay_in_it():
    blocks = [Block(60, 40), Block(60, 40), Block(60, 60, inputs=2), Block(60, 60, inputs=2)]
    wires = [Wire(1, 2, input=0), Wire(0, 2, input=1), Wire(0, 3, input=0), Wire(1, 3, input=1)]
    found = arrange(lambda _: blocks, wires, 800, "right")
    assert found.runs[0].curves[-1][-1][1] < found.runs[1].curves[-1][-1][1]
    assert crossings(found) > 0


@pytest.fixture(scope="module")
def twice():
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    return record((x * x * y) ** 2, create_graph=True, with_respect_to=[x], x=x, y=y)


def test_no_lines_cross_in_the_second_order_graph(twice):
    grown = growth(twice)
    assert crossings(Scene(fold(twice.second_order.graph)).layout) == 0
    assert crossings(Scene(fold(grown.recording.graph), grown.recording, growth=grown).layout) == 0
