"""The Jacobian explorer: its numbers, its picture, and the live controls, without a browser."""

import xml.etree.ElementTree as ElementTree

import pytest
import torch

from course_utils import explore_jacobian
from course_utils.widgets.jacobian import MOST, Differentiated

SVG = "{http://www.w3.org/2000/svg}"
X = torch.tensor([2.0, 3.0, -1.0], dtype=torch.float64)


def products(x):
    return torch.stack([x[0] * x[1], x[0] ** 2, x[1] * x[2]])


def two(x):
    return torch.stack([x.sum(), x.prod()])


def explorer(**more):
    return explore_jacobian({"products": products, "two": two}, X, **{"weights": [1, -2, 0.5], **more})


def shown_by(widget, kind: str) -> list:
    """All widgets of a kind inside a container, in order."""
    found = [widget] if type(widget).__name__ == kind else []
    for child in getattr(widget, "children", ()):
        found += shown_by(child, kind)
    return found


def dropdown(explorer, description):
    (found,) = (one for one in shown_by(explorer.widget(), "Dropdown") if one.description == description)
    return found


def test_rows_are_those_of_jacrev_and_the_gradient_is_their_weighted_sum():
    state = explorer().state()
    jacobian = torch.func.jacrev(products)(X)
    assert torch.tensor(state.rows, dtype=torch.float64).equal(jacobian)
    assert torch.tensor(state.gradient).allclose((torch.tensor([1.0, -2.0, 0.5]).double() @ jacobian).float())


def test_the_last_line_is_a_backward_pass_of_its_own():
    """A function whose backward lies shows it: rows and weighted sum need not agree."""

    class Odd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, incoming):
            return incoming**2

    state = explore_jacobian(Odd.apply, torch.tensor([2.0]), weights=[3.0]).state()
    assert (state.rows, state.gradient) == (((1.0,),), (9.0,))


def test_what_the_picture_shows_in_words():
    assert repr(explorer()) == (
        "products at x[0] = 2, x[1] = 3, x[2] = -1. Rows of its Jacobian: y[0]: 3, 2, 0; y[1]: 4, 0, 0; y[2]: 0, -1, "
        "3. Weights g: 1 for y[0], -2 for y[1], 0.5 for y[2]. The weighted sum of the rows, by torch's backward(g): "
        "-5 for x[0], 1.5 for x[1], 1.5 for x[2]."
    )


def test_the_picture_holds_every_number_inside_its_frame():
    picture = explorer().picture()
    texts = list(ElementTree.fromstring(picture.svg).iter(SVG + "text"))
    words = [text.text for text in texts]
    for word in ("y[0] = 6", "x[2] = -1", "(-2) × 4 = -8", "0.5 × (-1) = -0.5", "-5"):
        assert word in words
    assert words.count("1.5") == 2
    width, height = picture.size()
    assert all(0 <= float(text.attrib["x"]) <= width and 0 <= float(text.attrib["y"]) <= height for text in texts)


@pytest.mark.parametrize("shape", [(), (1,), (MOST,), (2, 3)])
def test_inputs_and_outputs_of_other_shapes(shape):
    x = torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape)
    explored = explore_jacobian({"x**2": torch.square}, x)
    explored.widget()
    state = explored.state()
    assert [row[i] for i, row in enumerate(state.rows)] == (2 * x).reshape(-1).tolist()
    assert ("y[1, 2]" in dict(state.outputs)) == (shape == (2, 3))


def test_an_input_that_plays_no_part_has_zeros():
    assert explore_jacobian(lambda x: x[:1] * 3, torch.tensor([1.0, 2.0])).state().rows == ((3.0, 0.0),)


def test_the_tensor_given_is_left_as_it_is():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    explore_jacobian(torch.square, x).state()
    assert x.grad is None


def test_a_graph_is_recorded_under_no_grad_too():
    with torch.no_grad():
        assert explore_jacobian(torch.square, torch.tensor([3.0])).state().rows == ((6.0,),)


def test_set_moves_and_another_function_has_weights_of_its_own():
    e = explorer()
    e.set(weights=[0, 0, 2])
    assert e.state().gradient == (0.0, -2.0, 6.0)
    e.set(function="two")
    assert e.state().weights == (1.0, 0.0)
    e.set(function="products", weights=[0, 1, 0])
    assert e.state().gradient == (4.0, 0.0, 0.0)


def test_sliders_move_the_picture_and_the_words():
    e = explorer()
    picture, words = shown_by(e.widget(), "HTML")
    before = picture.value
    sliders = shown_by(e.widget(), "FloatSlider")
    assert [slider.description for slider in sliders] == ["weight of y[0]", "weight of y[1]", "weight of y[2]"]
    sliders[1].value = 0.5
    assert e.state().weights == (1.0, 0.5, 0.5)
    assert picture.value == e.picture().img() != before
    assert 'role="status"' in words.value
    assert "0.5 for y[1]" in words.value


def test_a_preset_sets_the_sliders_and_a_slider_leaves_the_preset():
    e = explorer()
    preset = dropdown(e, "weights")
    assert preset.options == (
        "by the sliders",
        "only y[0]",
        "only y[1]",
        "only y[2]",
        "all 1: the sum",
        "all 1/3: the mean",
    )
    sliders = shown_by(e.widget(), "FloatSlider")
    preset.value = "only y[1]"
    assert [slider.value for slider in sliders] == [0, 1, 0]
    preset.value = "all 1/3: the mean"
    assert e.state().weights == pytest.approx((1 / 3,) * 3)
    sliders[0].value = 2.0
    assert preset.value == "by the sliders"


@pytest.mark.parametrize("count", range(1, MOST + 1))
def test_a_slider_can_stand_on_the_weight_of_the_mean(count):
    e = explore_jacobian(torch.square, torch.arange(1.0, count + 1))
    for slider in shown_by(e.widget(), "FloatSlider"):
        for weight in (0, 1, 1 / count):
            steps = (weight - slider.min) / slider.step
            assert steps == pytest.approx(round(steps), abs=1e-6)


def test_another_function_brings_other_sliders():
    e = explorer()
    dropdown(e, "function").value = "two"
    assert [s.description for s in shown_by(e.widget(), "FloatSlider")] == ["weight of y[0]", "weight of y[1]"]
    assert "all 1/2: the mean" in dropdown(e, "weights").options
    shown_by(e.widget(), "FloatSlider")[1].value = 1.0
    assert e.state().gradient == (1 - 3, 1 - 2, 1 + 6)


def test_one_function_alone_has_no_list_and_its_own_name():
    e = explore_jacobian(products, X)
    assert e.state().title == "products"
    assert [one.description for one in shown_by(e.widget(), "Dropdown")] == ["weights"]
    assert explore_jacobian(lambda x: x, X).state().title == "the function"


def test_one_bundle_has_text_still_picture_and_live_view():
    bundle = explorer()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(explorer())
    assert bundle["text/html"] == explorer().picture().img()


def test_words_from_outside_are_escaped():
    e = explore_jacobian({"<b>f</b>": torch.square}, X)
    assert "<b>" not in e.picture().img()
    assert "<b>" not in shown_by(e.widget(), "HTML")[1].value


@pytest.mark.parametrize(
    ("functions", "x", "more", "error", "message"),
    [
        (torch.square, [1.0], {}, TypeError, "x is a list"),
        ({}, X, {}, TypeError, "give a function of one tensor"),
        ({"f": 3}, X, {}, TypeError, "give a function of one tensor"),
        (lambda x: 3.0, X, {}, ValueError, "returned a float"),
        (lambda x: x.detach(), X, {}, ValueError, "has no graph that leads to its input"),
        (torch.square, torch.ones(MOST + 1), {}, ValueError, "the input of square has 7 entries"),
        (lambda x: x.repeat(3), X, {}, ValueError, "the result of the function has 9 entries"),
        (torch.square, X, {"weights": [1.0]}, ValueError, "1 weights are given, and square has 3 outputs"),
        (torch.square, X, {"weights": [1.0, 9.0, 0.0]}, ValueError, "a weight goes from -3 to 3"),
        (torch.square, X, {"weights": [1.0, float("nan"), 0.0]}, ValueError, "a weight goes from -3 to 3"),
    ],
)
def test_wrong_calls_say_what_to_do(functions, x, more, error, message):
    with pytest.raises(error, match=message):
        explore_jacobian(functions, x, **more)


def test_set_refuses_what_is_not_there_and_stays():
    e = explorer()
    with pytest.raises(ValueError, match=r"there is no 'three' here\. Functions: products, two"):
        e.set(function="three")
    with pytest.raises(ValueError, match="3 weights are given, and two has 2 outputs"):
        e.set(function="two", weights=[1, 1, 1])
    assert e.state().title == "products"


def test_a_pass_leaves_the_graph_for_the_next_one():
    one = Differentiated.at("x**2", torch.square, torch.tensor([2.0]))
    assert one.pull_back([1.0]) == one.pull_back([1.0]) == (4.0,)
