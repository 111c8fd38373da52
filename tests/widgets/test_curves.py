import math

import pytest

from course_utils.drawing.axes import Span
from course_utils.widgets.curves import Window, curve
from course_utils.widgets.operation import Operation

ACROSS = Span(-4, 4)
OPERATION = Operation("(x*y)**2", lambda x, y: (x * y) ** 2, lambda *given: None)
START = {"x": 2.0, "y": 3.0}


def window() -> Window:
    return Window.at_start(OPERATION, START, "x", ACROSS)


def heights(**inputs: float) -> Span:
    points = curve(OPERATION, inputs, "x", ACROSS)
    return window().heights(points, OPERATION.output(inputs))


def test_curve_varies_one_input_and_holds_the_other():
    points = curve(OPERATION, START, "x", ACROSS)
    assert points[0] == (-4, 144)
    assert points[-1] == (4, 144)
    assert min(z for _, z in points) == 0


def test_curve_is_not_a_number_where_the_forward_fails():
    fails = Operation("f", lambda x: 1 / 0, lambda *given: None)
    assert all(math.isnan(z) for _, z in curve(fails, {"x": 1.0}, "x", ACROSS))


@pytest.mark.parametrize("x", [-4.0, 0.0, 1.25, 4.0])
def test_the_axis_stays_while_its_own_input_moves(x):
    assert heights(x=x, y=3.0) == window().up


@pytest.mark.parametrize("y", [1.25, 2.0, 3.5, 4.0])
def test_the_axis_stays_while_another_input_moves_a_little(y):
    assert heights(x=2.0, y=y) == window().up


def test_the_axis_gives_way_when_the_point_would_leave_the_plot():
    assert heights(x=4.0, y=4.0).high >= 256


def test_the_axis_gives_way_when_the_curve_would_look_flat():
    assert heights(x=2.0, y=0.25).high < 2
