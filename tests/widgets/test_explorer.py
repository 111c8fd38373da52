import xml.etree.ElementTree as ElementTree

import pytest
import torch

from course_utils import explore
from course_utils.drawing import language

SVG = "{http://www.w3.org/2000/svg}"


def product(x, y):
    return x * y


def product_backward(incoming, x, y):
    return incoming * y, incoming * x


def square_of_product(x, y):
    return (x * y) ** 2


def right(incoming, x, y):
    return incoming * 2 * x * y**2, incoming * 2 * x**2 * y


def swapped(incoming, x, y):
    return right(incoming, x, y)[::-1]


def explorer(backward=right, **values):
    return explore({"(x*y)**2": (square_of_product, backward)}, **{"x": 2.0, "y": 3.0, "incoming": 5.0, **values})


def words_in(picture) -> list[str]:
    return [e.text for e in ElementTree.fromstring(picture.svg).iter(SVG + "text")]


def shown_by(widget, kind: str) -> list:
    """All widgets of a kind inside a container, in order."""
    found = [widget] if type(widget).__name__ == kind else []
    for child in getattr(widget, "children", ()):
        found += shown_by(child, kind)
    return found


def test_state_says_where_it_stands():
    assert explorer().state().gradients == {"x": 180, "y": 120}


def test_picture_has_the_numbers_on_its_arrows():
    words = words_in(explorer().picture())
    for chip in ("x = 2", "y = 3", "z = 36", "gradient of x: 180", "gradient of y: 120", "incoming gradient: 5"):
        assert chip in words


def test_a_right_backward_is_stamped_agree():
    words = words_in(explorer().picture())
    assert words.count("agree") == 4
    assert "DISAGREE" not in words


def test_a_wrong_backward_is_stamped_and_the_measured_slope_drawn_beside_it():
    words = words_in(explorer(swapped).picture())
    assert words.count("DISAGREE") == 2
    assert "measured slope" in words
    assert "measured slope" not in words_in(explorer().picture())


def test_missing_gradients_look_not_computed():
    picture = explorer(lambda g, x, y: None).picture()
    assert "gradient of x: ?" in words_in(picture)
    assert language.NOT_COMPUTED.dash in picture.svg


def test_picture_says_the_problem_in_words():
    words = words_in(explorer(lambda g, x, y: (g,)).picture())
    assert any("backward returned 1 gradient" in word for word in words)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_one_to_three_inputs(count):
    inputs = dict.fromkeys("abc"[:count], 0.5)
    e = explore((lambda *v: sum(v), lambda g, *v: (g,) * count), **inputs)
    assert e.state().agree == dict.fromkeys(inputs, True)
    assert sum(word[1:].startswith(" varies") for word in words_in(e.picture())) == count


def test_all_text_lies_inside_the_picture():
    long = "a rather long title, longer than the box that it should fit in"
    e = explore(
        {long: (lambda w, x, b: 1e6 * w * x + b, lambda g, w, x, b: (1 / 3, -1 / 3, 1e-7))}, w=-1.23, x=3.3, b=2
    )
    picture = e.picture()
    width, height = picture.size()
    for element in ElementTree.fromstring(picture.svg).iter(SVG + "text"):
        assert 0 <= float(element.attrib["x"]) <= width
        assert 0 <= float(element.attrib["y"]) <= height


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e300])
@pytest.mark.parametrize("wrong", ["forward", "backward"])
def test_numbers_that_cannot_be_drawn_are_written_only(value, wrong):
    forward = (lambda x: x * value) if wrong == "forward" else (lambda x: x)
    backward = (lambda g, x: g * value) if wrong == "backward" else (lambda g, x: g)
    picture = explore((forward, backward), x=2.0, incoming=-3.0).picture()
    for element in ElementTree.fromstring(picture.svg).iter():
        assert not any("nan" in v or "inf" in v for v in element.attrib.values())


def test_the_same_state_gives_the_same_bytes():
    assert explorer().picture().svg == explorer().picture().svg


def test_set_moves_and_refuses_what_is_not_there():
    e = explorer()
    e.set(x=-1.0, incoming=2.0)
    assert e.state().inputs == {"x": -1.0, "y": 3.0}
    assert e.state().incoming == 2.0
    with pytest.raises(ValueError, match=r"there is no w here\. Inputs: x, y"):
        e.set(w=1.0)
    with pytest.raises(ValueError, match="there is no 'x/y' here"):
        e.set(operation="x/y")
    with pytest.raises(ValueError, match="x goes from -4 to 4 here, and 9 is outside"):
        e.set(x=9, incoming=1.0)
    with pytest.raises(ValueError, match="incoming goes from -5 to 5 here, and 7 is outside"):
        e.set(x=1.0, incoming=7.0)
    assert (e.state().inputs["x"], e.state().incoming) == (-1.0, 2.0)


@pytest.mark.parametrize("start", [2.0, 0.3, 1 / 3, -7.0, 123.456])
def test_a_slider_can_stand_on_its_start_value(start):
    slider = shown_by(explorer(x=start).widget(), "FloatSlider")[0]
    steps = (start - slider.min) / slider.step
    assert steps == pytest.approx(round(steps), abs=1e-6)
    assert slider.min <= slider.value == start <= slider.max


def test_one_bundle_has_text_still_picture_and_live_view():
    e = explorer()
    bundle = e._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(e) == e.picture().text
    assert bundle["text/html"] == e.picture().img()


def test_sliders_move_the_picture_and_the_words():
    e = explorer()
    box = e.widget()
    sliders = {s.description: s for s in shown_by(box, "FloatSlider")}
    picture, words = shown_by(box, "HTML")
    before = picture.value
    sliders["x"].value = 1.0
    sliders["incoming gradient"].value = -1.0
    assert e.state().inputs["x"] == 1.0
    assert picture.value == e.picture().img() != before
    assert 'role="status"' in words.value
    assert "x = 1, y = 3 gives z = 9" in words.value


def test_set_moves_the_sliders():
    e = explorer()
    sliders = {s.description: s for s in shown_by(e.widget(), "FloatSlider")}
    e.set(y=-2.0)
    assert sliders["y"].value == -2.0


def test_a_dropdown_chooses_among_several_operations():
    e = explore({"f": (square_of_product, right), "x*y": (product, product_backward)}, x=2.0, y=3.0)
    (choice,) = shown_by(e.widget(), "Dropdown")
    choice.value = "x*y"
    assert e.state().output == 6
    assert shown_by(explorer().widget(), "Dropdown") == []


def test_words_from_outside_are_escaped():
    e = explore({"<b>f</b>": (product, product_backward)}, x=1.0, y=2.0)
    assert "<b>" not in e.picture().img()
    assert "<b>" not in shown_by(e.widget(), "HTML")[1].value


@pytest.mark.parametrize(
    ("operations", "values", "error", "message"),
    [
        ((product, product_backward), {}, ValueError, "1 to 3 inputs and was given 0"),
        ((product, product_backward), dict.fromkeys("abcd", 1.0), ValueError, "was given 4"),
        ((product, product_backward), {"x": "two"}, ValueError, "x is 'two'"),
        ((product, product_backward), {"x": float("nan")}, ValueError, "x is nan"),
        (product, {"x": 1.0}, TypeError, r"a pair \(forward, backward\)"),
        ({"f": (product,)}, {"x": 1.0}, TypeError, r"a pair \(forward, backward\)"),
        ({}, {"x": 1.0}, TypeError, r"a pair \(forward, backward\)"),
    ],
)
def test_wrong_calls_say_what_to_write(operations, values, error, message):
    with pytest.raises(error, match=message):
        explore(operations, **values)


def test_start_values_may_be_tensors():
    assert explorer(x=torch.tensor(2.0)).state().output == 36
