import math
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.drawing import language
from course_utils.drawing.axes import Axes, Span, round_span, round_up, ticks
from course_utils.drawing.canvas import Canvas

numbers = st.floats(-1e9, 1e9).filter(lambda v: v == 0 or abs(v) > 1e-6)


def axes() -> Axes:
    return Axes(Canvas(200, 120), 20, 10, 160, 100, Span(-4, 4), Span(0, 100))


def drawn(area: Axes, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(area.canvas.svg()).iter("{http://www.w3.org/2000/svg}" + tag))


@pytest.mark.parametrize(("value", "up"), [(1, 1), (1.1, 2), (36, 50), (51, 100), (0.03, 0.05)])
def test_round_up(value, up):
    assert round_up(value) == pytest.approx(up)


@given(st.lists(numbers, min_size=1))
def test_round_span_holds_all_values(values):
    span = round_span(values)
    slack = 0.03 * max(map(abs, values)) + 1e-9
    assert span.low < span.high
    assert span.low - slack <= min(values) <= max(values) <= span.high + slack


def test_round_span_includes_zero_unless_that_would_flatten_the_values():
    assert round_span([9, 81]) == Span(0, 100)
    assert round_span([-2, 7]) == Span(-2, 8)
    assert round_span([100.2, 101.9]).low >= 100


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf, 0], [0.0]])
def test_round_span_without_finite_values_is_still_a_span(values):
    assert round_span(values) == Span(-1, 1)


@given(numbers, st.floats(1e-3, 1e6))
def test_ticks_are_few_and_inside(low, length):
    span = Span(low, low + length)
    inside = ticks(span)
    assert len(inside) <= 6
    assert all(span.low - 1e-6 * length <= t <= span.high + 1e-6 * length for t in inside)


def test_corners_of_the_data_are_corners_of_the_plot():
    area = axes()
    assert area.at((-4, 0)) == (20, 110)
    assert area.at((4, 100)) == (180, 10)


def test_line_through_a_point_has_the_slope_in_data_units():
    area = axes()
    area.line_through((2, 36), 36, ink="#000000", dash="", width=1)
    line = drawn(area, "line")[-1].attrib
    across = (float(line["x2"]) - float(line["x1"])) / area.width * area.across.length
    up = -(float(line["y2"]) - float(line["y1"])) / area.height * area.up.length
    assert up / across == pytest.approx(36, rel=1e-3)


def test_curve_has_a_gap_where_a_value_is_not_finite():
    area = axes()
    area.curve([(-2, 1), (-1, 2), (0, math.nan), (1, math.inf), (2, 3), (3, 4)], language.VALUE)
    assert len(drawn(area, "polyline")) == 2
