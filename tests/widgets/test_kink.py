"""The kink explorer, tested without a browser."""

from __future__ import annotations

import math

import pytest
import torch

from course_utils import explore_kink
from course_utils.widgets.kink import Kinky

FUNCTIONS = {
    "relu": torch.relu,
    "min(x, 0)": lambda x: -torch.relu(-x),
    "square": torch.square,
    "round": torch.round,
    "sqrt": torch.sqrt,
    "relu(x) - relu(-x)": lambda x: torch.relu(x) - torch.relu(-x),
}


def at(title: str, x: float):
    return Kinky(title, FUNCTIONS[title]).at(x)


def words(title: str, x: float) -> str:
    explorer = explore_kink(FUNCTIONS, x)
    explorer.set(function=title)
    return repr(explorer)


@pytest.mark.parametrize(
    ("title", "x", "sides"),
    [("relu", 0, (0, 1)), ("relu", 0.5, (1, 1)), ("min(x, 0)", 0, (1, 0)), ("square", -1, (-2, -2))],
)
def test_the_slopes_on_both_sides(title, x, sides):
    state = at(title, x)
    assert (state.left, state.right) == sides
    assert state.is_kink == (sides[0] != sides[1])


def test_at_a_kink_the_fan_spreads_from_one_side_to_the_other_and_nowhere_else():
    assert at("relu", 0.0).fan == (0.0, 0.25, 0.5, 0.75, 1.0)
    assert at("relu", 0.1).fan == ()
    assert at("round", 0.5).fan == ()


def test_a_kink_in_words():
    assert words("relu", 0.0) == (
        "relu at x = 0: y = 0. The slope is 0 on the left and 1 on the right: a kink. Near here, each line with a "
        "slope between the two stays below the curve, or touches it. torch gives 0."
    )
    assert "stays above the curve" in words("min(x, 0)", 0.0)


def test_where_there_is_none_the_slopes_agree():
    assert words("square", 1.0).endswith("The slope is 2 on both sides. torch gives 2, too.")


def test_a_slope_that_the_function_does_not_have_is_called_so():
    assert words("relu(x) - relu(-x)", 0.0).endswith(
        "The slope is 1 on both sides. torch gives 0, which is not its slope."
    )


def test_jumps_and_slopes_that_are_not_finite():
    assert "The function jumps here" in words("round", 0.5)
    assert "torch gives 0" in words("round", 0.5)
    state = at("sqrt", 0.0)
    assert math.isnan(state.left)
    assert state.torch == math.inf
    assert "no finite slope" in words("sqrt", 0.0)
    for title in FUNCTIONS:  # and all of them can be drawn
        explorer = explore_kink(FUNCTIONS)
        explorer.set(function=title)
        assert "<svg" in explorer.picture().svg


def test_the_picture_has_the_fan_and_the_same_words():
    kink, smooth = explore_kink(torch.relu, 0.0).picture(), explore_kink(torch.relu, 1.0).picture()
    assert "slopes in between" in kink.svg
    assert "slopes in between" not in smooth.svg
    assert kink.text == repr(explore_kink(torch.relu, 0.0))


def test_the_controls_move_the_point_and_follow_it():
    explorer = explore_kink(FUNCTIONS, -1.0)
    choice, slider, picture, line, *_ = explorer.widget().children
    slider.value = 1e-17  # as a page may send 0
    assert explorer.state().x == 0.0
    assert "a kink" in line.value
    choice.value = "square"
    assert explorer.state().title == "square"
    explorer.set(function="relu", x=0.5)
    assert (choice.value, slider.value) == ("relu", 0.5)
    assert "relu at x = 0.5" in picture.value


def test_zero_is_one_of_the_sliders_steps():
    _, slider, *_ = explore_kink(FUNCTIONS).widget().children
    steps = (0 - slider.min) / slider.step
    assert steps == pytest.approx(round(steps))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: explore_kink(torch.relu, 3.0), "3 is outside"),
        (lambda: explore_kink(torch.relu, across=(1, -1)), "lower end"),
        (lambda: explore_kink(lambda x: x.sum()), "one number for each"),
        (lambda: explore_kink(FUNCTIONS).set(function="cube"), "there is no 'cube'"),
    ],
)
def test_what_cannot_be_shown_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()
