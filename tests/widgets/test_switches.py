"""The switches as Python sees them: setting, picture, words, and the live controls."""

from xml.etree import ElementTree

import pytest
import torch

from course_utils import switches
from course_utils.drawing import language

SVG = "{http://www.w3.org/2000/svg}"


def line(x, w, b):
    p = w * x
    return {"p": p, "loss": p + b}


@pytest.fixture
def switched():
    return switches(
        line,
        x=torch.tensor(3.0),
        w=torch.tensor(-2.0, requires_grad=True),
        b=torch.tensor(1.5, requires_grad=True),
    )


def words_in(picture):
    return [element.text for element in ElementTree.fromstring(picture.svg).iter(SVG + "text")]


def dashed_boxes(picture):
    boxes = ElementTree.fromstring(picture.svg).iter(SVG + "rect")
    return sum(box.attrib.get("stroke-dasharray") == language.NOT_RECORDED.dash for box in boxes)


def controls(widget, kind):
    found = [widget] if type(widget).__name__ == kind else []
    return found + [one for child in getattr(widget, "children", ()) for one in controls(child, kind)]


def test_it_starts_with_the_flags_of_the_inputs(switched):
    assert switched.setting == ({"x": False, "w": True, "b": True}, "enabled")
    assert "requires_grad: x False, w True, b True. Grad mode: enabled." in repr(switched)


def test_words_say_what_is_recorded_and_where_gradients_arrive(switched):
    switched.set(w=False)
    assert "Recorded: 1 of 2 operations: Add 0 has saved nothing. Not recorded: Mul 2." in repr(switched)
    assert "A gradient can come back to b, not to x and w." in repr(switched)
    assert "loss.requires_grad is True, loss.is_leaf is False." in repr(switched)


@pytest.mark.parametrize(("mode", "kind"), [("no_grad", ""), ("inference_mode", ", and loss is an inference tensor")])
def test_words_in_a_mode_that_records_nothing(switched, mode, kind):
    switched.set(mode=mode, x=True)
    assert "Nothing is recorded. No gradient can come back." in repr(switched)
    assert f"loss.requires_grad is False, loss.is_leaf is True{kind}." in repr(switched)
    assert repr(switched).startswith("requires_grad: x True")


def test_what_is_not_recorded_is_dashed_and_says_so(switched):
    assert dashed_boxes(switched.picture()) == 1
    assert words_in(switched.picture()).count("gets no gradient") == 1
    switched.set(mode="no_grad")
    assert dashed_boxes(switched.picture()) == 5
    words = words_in(switched.picture())
    assert words.count("gets no gradient") == 3
    assert words.count("not recorded") == 3  # two operations, and the legend
    assert words.count("True") == 2


def test_values_are_there_in_every_mode(switched):
    for mode in ("enabled", "no_grad", "inference_mode"):
        switched.set(mode=mode)
        assert {"p = -6", "loss = -4.5"} <= set(words_in(switched.picture()))


def test_nothing_moves_from_one_setting_to_the_next(switched):
    sizes = {switched.picture().size()}
    for mode in ("enabled", "no_grad"):
        for on in (True, False):
            switched.set(mode=mode, x=on, w=on, b=on)
            sizes.add(switched.picture().size())
    assert len(sizes) == 1


def test_the_same_setting_gives_the_same_bytes(switched):
    before = switched.picture().svg
    switched.set(mode="no_grad")
    assert switched.picture().svg != before
    switched.set(mode="enabled")
    assert switched.picture().svg == before


@pytest.mark.parametrize("direction", ["right", "down"])
def test_all_text_lies_inside_the_picture(direction):
    picture = switches(line, x=torch.tensor(3.0), w=torch.tensor(1.0), b=torch.tensor(2.0), direction=direction)
    picture = picture.picture()
    width, height = picture.size()
    for element in ElementTree.fromstring(picture.svg).iter(SVG + "text"):
        assert 0 <= float(element.attrib["x"]) <= width
        assert 0 <= float(element.attrib["y"]) <= height


def test_one_bundle_carries_the_live_widget_a_still_picture_and_words(switched):
    bundle = switched._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"].startswith("<img alt=")
    assert bundle["text/plain"] == repr(switched)


def test_controls_turn_the_switches(switched):
    widget = switched.widget()
    boxes = {box.description: box for box in controls(widget, "Checkbox")}
    assert list(boxes) == ["x.requires_grad", "w.requires_grad", "b.requires_grad"]
    picture, status = controls(widget, "HTML")
    before = picture.value
    boxes["w.requires_grad"].value = False
    assert switched.setting == ({"x": False, "w": False, "b": True}, "enabled")
    assert picture.value != before
    assert "Not recorded: Mul 2" in status.value
    (mode,) = controls(widget, "RadioButtons")
    mode.value = "no_grad"
    assert switched.setting[1] == "no_grad"
    assert "Nothing is recorded" in status.value


def test_controls_follow_what_is_set_in_code(switched):
    widget = switched.widget()
    switched.set(mode="inference_mode", x=True, b=False)
    assert [box.value for box in controls(widget, "Checkbox")] == [True, True, False]
    assert controls(widget, "RadioButtons")[0].value == "inference_mode"


def test_an_input_of_whole_numbers_has_a_switch_that_cannot_be_turned():
    picked = switches(lambda x, i: x[i].sum(), x=torch.ones(3), i=torch.tensor([0, 2]))
    boxes = controls(picked.widget(), "Checkbox")
    assert [box.disabled for box in boxes] == [False, True]
    with pytest.raises(ValueError, match="i cannot require a gradient"):
        picked.set(i=True)
    picked.set(i=False, x=True)
    assert "A gradient can come back to x, not to i." in repr(picked)


@pytest.mark.parametrize(
    ("change", "says"),
    [({"y": True}, "there is no y here"), ({"mode": "off"}, "there is no 'off' here")],
)
def test_set_refuses_what_is_not_there(switched, change, says):
    with pytest.raises(ValueError, match=says):
        switched.set(**change)
    assert switched.setting == ({"x": False, "w": True, "b": True}, "enabled")


@pytest.mark.parametrize(
    ("function", "inputs", "error", "says"),
    [
        (line, {}, TypeError, "switches: there is no input"),
        (lambda x: x, {"x": 3.0}, TypeError, "switches: x is a float"),
        (lambda x: x.detach(), {"x": torch.ones(2)}, ValueError, "switches: nothing is recorded even when"),
        (lambda x: None, {"x": torch.ones(2)}, TypeError, "switches: the function must return a tensor"),
        (lambda x: sum([x] * 40), {"x": torch.ones(2)}, ValueError, "has room for 30"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(function, inputs, error, says):
    with pytest.raises(error, match=says) as caught:
        switches(function, **inputs)
    assert "\n" not in str(caught.value)
