import xml.etree.ElementTree as ElementTree

import pytest

from course_utils.drawing import language
from course_utils.drawing.canvas import Canvas, coordinate

NAMESPACE = "{http://www.w3.org/2000/svg}"


def everything() -> Canvas:
    """A canvas on which every method has drawn something."""
    canvas = Canvas(200, 100)
    for look in language.ROLES:
        canvas.chip((100, 50), look.word, look)
        canvas.arrow((0, 10), (90, 40), look)
    canvas.circle((3, 4), 5, fill="#ffffff")
    canvas.text(1, 2, "a < b & c", bold=True, code=True, anchor="end")
    with canvas.clipped(0, 0, 10, 10):
        canvas.polyline([(0, 0), (1, 1 / 3)], stroke="#000000", dash="1 2")
    canvas.strokes([((0, 0), (3, 4)), ((5, 5), (1 / 3, 7))], stroke="#000000")
    canvas.stamps([(2, 3), (8, 9)], "h4v4h-4z", fill="none", stroke="#000000")
    return canvas


def elements(canvas: Canvas) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(canvas.svg()).iter())


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.0, "1"), (1 / 3, "0.33"), (-0.001, "0"), (-2.5, "-2.5"), (12345.678, "12346"), (0.1 + 0.2, "0.3")],
)
def test_coordinates_have_few_decimals_and_no_negative_zero(value, written):
    assert coordinate(value) == written


def test_svg_is_well_formed_and_uses_presentation_attributes_only():
    found = elements(everything())
    assert {e.tag for e in found}.isdisjoint({NAMESPACE + "style", NAMESPACE + "use"})
    assert not any("style" in e.attrib or "class" in e.attrib for e in found)


def test_the_same_drawing_gives_the_same_bytes():
    assert everything().svg() == everything().svg()


def test_first_of_all_an_opaque_card_is_drawn():
    card = elements(Canvas(200, 100))[1]
    assert card.attrib["fill"] == language.CARD
    assert float(card.attrib["width"]) >= 199


def test_many_lines_and_many_shapes_are_one_element_each():
    lines, shapes = (e.attrib["d"] for e in elements(everything())[-2:])
    assert lines == "M0,0 3,4M5,5 0.33,7"
    assert shapes == "M2,3h4v4h-4zM8,9h4v4h-4z"


def test_text_is_escaped():
    assert "a < b & c" in [e.text for e in elements(everything())]


def test_clipped_drawing_names_a_clip_path_that_exists():
    found = elements(everything())
    names = {e.attrib["id"] for e in found if e.tag == NAMESPACE + "clipPath"}
    used = {e.attrib["clip-path"] for e in found if "clip-path" in e.attrib}
    assert used == {f"url(#{name})" for name in names} != set()


def test_arrow_head_ends_where_the_arrow_ends():
    canvas = Canvas(100, 100)
    canvas.arrow((0, 50), (80, 50), language.VALUE)
    head = elements(canvas)[-1]
    assert head.tag == NAMESPACE + "polygon"
    assert "80,50" in head.attrib["points"].split()


def test_a_freed_chip_is_struck_through():
    canvas = Canvas(100, 100)
    canvas.chip((50, 50), "freed", language.FREED)
    assert elements(canvas)[-1].tag == NAMESPACE + "line"


def test_a_chip_can_be_wider_than_its_text():
    canvas = Canvas(200, 100)
    assert canvas.chip((100, 50), "24", language.GRADIENT, width=90) == 90
    assert elements(canvas)[2].attrib["width"] == "90"


def test_what_is_not_kept_stands_without_a_box():
    canvas = Canvas(200, 100)
    canvas.chip((100, 50), "value not kept", language.NOT_KEPT)
    assert [e.tag for e in elements(canvas)[2:]] == [NAMESPACE + "text"]


def test_a_new_chip_is_light_on_dark_with_a_second_line_around_it():
    old, new = Canvas(200, 100), Canvas(200, 100)
    old.chip((100, 50), "24", language.GRADIENT)
    new.chip((100, 50), "24", language.GRADIENT, new=True)
    assert elements(old)[2].attrib["fill"] == language.GRADIENT.fill
    ring, chip, text = elements(new)[2:]
    assert chip.attrib["fill"] == language.GRADIENT.ink
    assert text.attrib["fill"] == language.CARD
    assert float(ring.attrib["width"]) == float(chip.attrib["width"]) + 6


def test_a_curve_goes_through_its_points():
    canvas = Canvas(100, 100)
    canvas.curve([(0, 0), (10, 0), (20, 5), (30, 5)], stroke="#000000", dash="2 3")
    (path,) = (e for e in elements(canvas) if e.tag == NAMESPACE + "path")
    assert path.attrib["d"] == "M0,0C10,0 20,5 30,5"
    assert path.attrib["stroke-dasharray"] == "2 3"
