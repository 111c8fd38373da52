import math

import pytest
import torch

from course_utils.widgets.operation import Operation, evaluate, sentences


def square_of_product(x, y):
    return (x * y) ** 2


def right(incoming, x, y):
    return incoming * 2 * x * y**2, incoming * 2 * x**2 * y


def swapped(incoming, x, y):
    return right(incoming, x, y)[::-1]


def forgets_incoming(incoming, x, y):
    return right(1.0, x, y)


def raises(*arguments):
    raise KeyError("the learner's own error")


def stub(*arguments):
    raise NotImplementedError("write your answer here")


def state(forward=square_of_product, backward=right, incoming=5.0, **inputs):
    operation = Operation("f", forward, backward)
    return evaluate(operation, inputs or {"x": 2.0, "y": 3.0}, incoming)


def test_a_right_backward_agrees_with_the_measured_slopes():
    s = state()
    assert s.output == 36
    assert s.gradients == {"x": 180, "y": 120}
    assert s.slopes == {"x": 36, "y": 24}
    assert s.measured == pytest.approx({"x": 36, "y": 24})
    assert s.agree == s.scales == {"x": True, "y": True}
    assert s.problems == ()


def test_swapped_gradients_disagree():
    s = state(backward=swapped)
    assert s.agree == {"x": False, "y": False}
    assert s.scales == {"x": True, "y": True}


def test_swapped_gradients_are_not_seen_where_the_inputs_are_equal():
    assert state(backward=swapped, x=3.0, y=3.0).agree == {"x": True, "y": True}


def test_a_forgotten_incoming_gradient_is_seen_unless_it_is_1():
    s = state(backward=forgets_incoming)
    assert s.agree == {"x": True, "y": True}
    assert s.scales == {"x": False, "y": False}
    assert "x is sent 36, not 5 times 36: DISAGREE" in sentences(s)
    assert state(backward=forgets_incoming, incoming=1.0).scales == {"x": True, "y": True}


def test_functions_get_float64_tensors_and_may_use_torch():
    def forward(x):
        assert x.dtype == torch.float64
        assert x.shape == ()
        return torch.exp(x)

    assert state(forward, lambda g, x: g * torch.exp(x), x=1.0).agree == {"x": True}


def test_one_input_may_have_its_gradient_bare_or_in_a_tuple():
    for backward in (lambda g, x: g * 2 * x, lambda g, x: (g * 2 * x,), lambda g, x: [g * 2 * x]):
        assert state(lambda x: x * x, backward, x=3.0).gradients == {"x": 30}


def test_results_that_require_grad_or_have_one_element_are_numbers():
    weight = torch.ones(1, requires_grad=True)
    assert state(lambda x: x * weight, lambda g, x: g * weight, x=2.0).agree == {"x": True}


def test_float32_in_the_forward_does_not_spoil_the_measurement():
    s = state(lambda x, y: square_of_product(x.float(), y.float()))
    assert s.agree == {"x": True, "y": True}


@pytest.mark.parametrize(
    ("backward", "problem"),
    [
        (raises, 'backward raised KeyError: "the learner\'s own error"'),
        (stub, "backward is not written yet."),
        (..., "backward is not a function yet, but Ellipsis."),
        (lambda g, x, y: None, "backward returned None; it must return 2 gradients"),
        (lambda g, x, y: (g,), "backward returned 1 gradient; it must return 2 gradients"),
        (lambda g, x, y: (g, x, y), "in this order: for x, y."),
        (lambda g, x, y: g, "backward returned one Tensor; it must return 2 gradients"),
        (lambda g, x, y: ("a", y), "backward returned str 'a' for x, not a number."),
        (lambda g, x, y: (torch.ones(3), y), "a tensor of shape (3,) for x, not a single number"),
        (lambda g, x, y: (1j, y), "backward returned a complex number for x"),
        (lambda x, y: (x, y), "backward raised TypeError"),
    ],
)
def test_what_is_wrong_with_a_backward_is_said_in_words(backward, problem):
    s = state(backward=backward)
    assert problem in s.problems[0]
    assert problem in sentences(s)
    assert s.gradients == s.slopes == s.agree == {"x": None, "y": None}
    assert s.output == 36
    assert s.measured == pytest.approx({"x": 36, "y": 24})


def test_one_missing_gradient_leaves_the_other_to_be_judged():
    s = state(backward=lambda g, x, y: (g * 2 * x * y**2, None))
    assert s.agree == {"x": True, "y": None}
    assert s.problems == ("backward gave None for y: nothing goes back to it.",)


@pytest.mark.parametrize("forward", [raises, stub, None, lambda x, y: None, lambda x, y: (x, y)])
def test_what_is_wrong_with_a_forward_is_said_in_words(forward):
    s = state(forward=forward)
    assert s.output is None
    assert s.problems[0].startswith("forward ")
    assert s.gradients == {"x": 180, "y": 120}
    assert s.agree == {"x": None, "y": None}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_shown_and_disagree(value):
    s = state(backward=lambda g, x, y: (value, value))
    assert str(s.gradients["x"]) == str(value)
    assert s.agree == {"x": False, "y": False}


def test_a_forward_that_is_not_finite_cannot_be_measured():
    s = state(lambda x: torch.log(x), lambda g, x: g / x, x=-1.0)
    assert math.isnan(s.output)
    assert s.measured == s.agree == {"x": None}


@pytest.mark.parametrize("kinked", [torch.relu, torch.abs], ids=["relu", "abs"])
def test_a_kink_has_no_single_slope(kinked):
    s = state(kinked, lambda g, x: g * 0, x=0.0)
    assert s.measured == s.agree == {"x": None}
    assert "kink" in s.problems[0]


@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        (lambda x: 1e4 * x**2, lambda g, x: g * 2e4 * x),
        (lambda x: torch.exp(3 * x), lambda g, x: g * 3 * torch.exp(3 * x)),
        (lambda x: x**3, lambda g, x: g * 3 * x**2),
    ],
)
@pytest.mark.parametrize("x", [0.0, 0.25, 3.0])
def test_a_smooth_curve_is_not_taken_for_a_kink(forward, backward, x):
    assert state(forward, backward, x=x).agree == {"x": True}


def test_a_slope_of_zero_is_not_accepted_for_a_small_one():
    s = state(lambda x: torch.sigmoid(x), lambda g, x: g * 0, x=4.0)
    assert s.agree == {"x": False}


def test_what_the_functions_print_is_not_shown(capsys):
    def chatty(x):
        print("debug", x)
        return x

    state(chatty, lambda g, x: g, x=1.0)
    assert capsys.readouterr().out == ""


def test_in_place_changes_of_the_arguments_do_no_harm():
    def spoils(incoming, x, y):
        x *= 0
        incoming += 1
        return x, y

    assert state(backward=spoils).inputs == {"x": 2.0, "y": 3.0}


def test_an_input_called_z_leaves_its_name_to_the_input():
    assert state(lambda z: z, lambda g, z: g, z=1.0).output_name == "result"


def test_sentences_say_what_the_picture_shows():
    assert sentences(state()) == (
        "f at x = 2, y = 3 gives z = 36. An incoming gradient of 5 goes back as 180 for x and 120 "
        "for y. Slope along x: backward 36, measured 36: agree. Slope along y: backward 24, "
        "measured 24: agree."
    )


def test_sentences_of_what_is_missing():
    assert "Nothing goes back. Slope along x: measured 36." in sentences(state(backward=stub))
    assert "goes back as 1 for a, 2 for b and ? for c." in sentences(
        state(lambda a, b, c: a, lambda g, a, b, c: (1, 2, None), a=1.0, b=1.0, c=1.0)
    )
