"""Curves beside curves, and heads at their ends."""

import pytest

from course_utils.graph.lines import arrow_head, joined, offset

STRAIGHT = [(0, 0), (10, 0), (20, 0), (30, 0)]
TURN = [(0, 0), (10, 0), (20, 0), (20, 10), (20, 20), (20, 30), (20, 40)]


def test_positive_is_to_the_right_of_who_goes_along():
    assert offset(STRAIGHT, 5) == [(0, 5), (10, 5), (20, 5), (30, 5)]
    assert offset(STRAIGHT[::-1], 5) == [(30, -5), (20, -5), (10, -5), (0, -5)]


def test_both_ends_of_a_turn_keep_their_distance():
    moved = offset(TURN, 4)
    assert moved[0] == pytest.approx((0, 4))
    assert moved[-1] == pytest.approx((16, 40))


def test_points_on_one_spot_do_no_harm():
    assert offset([(1, 1)] * 4, 3) == [(1, 4)] * 4


def test_the_head_ends_where_the_curve_ended():
    (left, tip, right), shaft = arrow_head(STRAIGHT)
    assert tip == (30, 0)
    assert shaft[-1] == ((left[0] + right[0]) / 2, 0)
    assert shaft[0] == STRAIGHT[0]
    assert 20 < shaft[-1][0] < 30


def test_curves_are_joined_by_straight_pieces():
    further = [(x + 50, y) for x, y in STRAIGHT]
    course = joined([STRAIGHT, further])
    assert len(course) == 4 + 2 + 4
    assert course[3:7] == [(30, 0), (30, 0), (50, 0), (50, 0)]
