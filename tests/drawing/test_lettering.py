import math

import pytest

from course_utils.drawing.lettering import measured, number, shorten, text_width, wrap


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (36.0, "36"),
        (-0.0, "0"),
        (1 / 3, "0.33333"),
        (-2.5, "-2.5"),
        (27.5, "27.5"),
        (1e-7, "1e-7"),
        (3e20, "3e+20"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
    ],
)
def test_number(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [(36.0000004, "36.000"), (-0.0, "0.000"), (1e-5, "1e-5"), (5e7, "5e+7"), (math.nan, "nan")],
)
def test_measured_numbers_look_measured(value, written):
    assert measured(value) == written


def test_text_width_is_near_what_arial_has():
    assert text_width("incoming gradient", 1000) == pytest.approx(7892, rel=0.02)
    assert text_width("i", 10) < text_width("W", 10)
    assert text_width("(x*y)**2", 10, code=True) == pytest.approx(48.16)


def test_wrapped_lines_keep_all_words():
    text = "backward returned 1 gradient; it must return 2 gradients, in this order: for x, y."
    lines = wrap(text, 13, 200)
    assert " ".join(lines) == text
    assert all(text_width(line, 13) <= 230 for line in lines)


def test_shorten_gives_one_line_of_at_most_that_length():
    assert shorten("a\nb", 10) == "a b"
    assert shorten("abcdefghij", 5) == "abcd…"
