import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.drawing import language
from course_utils.drawing.canvas import Canvas
from course_utils.drawing.heat import NEGATIVE, NONE, POSITIVE, HeatMap, brief, largest_of, shade

SVG = "{http://www.w3.org/2000/svg}"


def heat(rows) -> HeatMap:
    return HeatMap(Canvas(300, 200), 20, 10, 60, 40, rows)


def elements(drawn: HeatMap, tag: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawn.canvas.svg()).iter(SVG + tag))


@pytest.mark.parametrize(
    ("value", "largest", "text"),
    [
        (0.49631, 1, "0.496"),
        (-2.0, 3, "-2"),
        (1e-17, 1, "0"),
        (-0.0, 1, "0"),
        (1e-17, 2e-17, "1e-17"),
        (1234, 1, "1230"),
    ],
)
def test_numbers_have_three_digits_and_rounding_noise_is_zero(value, largest, text):
    assert brief(value, largest) == text


def test_the_largest_number_has_the_full_tint_of_its_sign_and_zero_none():
    assert [shade(value, 4.0) for value in (4.0, -4.0, 0.0, 1e-12)] == [POSITIVE, NEGATIVE, NONE, NONE]
    assert shade(1.0, 0.0) == NONE


@given(st.floats(-1e6, 1e6), st.floats(0.1, 1e6))
def test_dark_text_is_readable_on_every_shade(value, largest):
    assert language.contrast(language.INK, shade(value, largest)) >= 4.5


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_number_is_never_lighter(one, other):
    small, large = sorted((one, other))
    contrast = [language.contrast("#ffffff", shade(value, 1.0)) for value in (small, large)]
    assert contrast[0] <= contrast[1] + 0.02  # colours are whole numbers


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_written_and_has_no_shade(value):
    assert shade(value, 1.0) == NONE
    assert largest_of([[value, -2.0]]) == 2.0
    drawn = heat([[value, 1.0]])
    drawn.draw()
    assert str(value) in [text.text for text in elements(drawn, "text")]


def test_every_number_stands_in_its_cell_with_its_note():
    drawn = heat([[1.5, -2.0], [0.0, 3.0]])
    drawn.draw([["a", "b"], ["c", "d"]])
    places = {text.text: (float(text.attrib["x"]), float(text.attrib["y"])) for text in elements(drawn, "text")}
    assert set(places) == {"1.5", "-2", "0", "3", *"abcd"}
    for text, (row, column) in {"1.5": (0, 0), "-2": (0, 1), "c": (1, 0), "3": (1, 1)}.items():
        x, y = places[text]
        assert x == drawn.centre(row, column)[0]
        assert abs(y - drawn.centre(row, column)[1]) < drawn.height / 2
    assert (drawn.right, drawn.bottom) == (140, 90)


def test_an_outline_surrounds_its_cell():
    drawn = heat([[1.0, 2.0]])
    drawn.outline(0, 1)
    box = elements(drawn, "rect")[-1].attrib
    assert float(box["x"]) + float(box["width"]) / 2 == drawn.centre(0, 1)[0]
    assert box["stroke"] == language.INK
