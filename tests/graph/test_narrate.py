"""The sentence at each step says what happens, to what, and why."""

from __future__ import annotations

import pytest
import torch

from course_utils.graph import record, replay
from course_utils.graph.narrate import narrate, summary


def leaf(value, grad=None):
    x = torch.tensor(value, requires_grad=True)
    x.grad = None if grad is None else torch.tensor(grad)
    return x


def sentences(recording):
    return [narrate(recording, state) for state in replay(recording)]


@pytest.fixture
def square():
    x, y = leaf(3.0), leaf(2.0)
    p = x * y
    z = p**2
    return record(z, x=x, y=y, p=p, z=z)


def test_the_running_example(square):
    assert sentences(square) == [
        "Before the backward pass. The caller hands 1 to z, to start with.",
        "Pow 0 starts. Its incoming gradient is complete: 1.",
        "Pow 0 sends to p: incoming × exponent × p^(exponent − 1) = 1 × 2 × 6^(2 − 1) = 12.",
        "Pow 0 is done and frees what it saved. Another backward pass through it would fail.",
        "Mul 1 starts. Its incoming gradient is complete: 12.",
        "Mul 1 sends to x: incoming × y = 12 × 2 = 24.",
        "Mul 1 sends to y: incoming × x = 12 × 3 = 36.",
        "Mul 1 is done and frees what it saved. Another backward pass through it would fail.",
        "All that the leaf x waits for has arrived: 24.",
        "x.grad was empty. It is now 24.",
        "All that the leaf y waits for has arrived: 36.",
        "y.grad was empty. It is now 36. The pass is complete.",
    ]


def test_messages_to_one_place_are_added_up():
    x = leaf(3.0)
    told = sentences(record(x * x, x=x))
    assert told[3].endswith("Messages to one place are added up: the sum there is now 6.")
    assert "It is the sum of 2 messages." in told[5]


def test_a_grad_that_was_there_is_added_to():
    x = leaf(3.0, grad=10.0)
    told = sentences(record(x * 2, x=x))
    assert told[-1].startswith("x.grad was 10. 2 is added to it, not put in its place: it is now 12.")


def test_nothing_is_told_apart_from_zero():
    x = leaf([1.0, 2.0, 3.0])
    a, b, _ = x.unbind()
    told = sentences(record(a * b, x=x))
    assert any("for its 3 results: 2, 1, nothing" in sentence for sentence in told)


def test_what_nobody_asked_for_is_not_called_zero():
    x, y = leaf(3.0), leaf(2.0)
    told = sentences(record(x * y, with_respect_to=[x], x=x, y=y))
    assert any("sends nothing to y: nobody asked for that gradient" in sentence for sentence in told)
    assert any("is returned" in sentence for sentence in told)


def test_a_node_without_a_formula_gets_an_honest_general_sentence():
    x = leaf([1.0, 2.0])
    told = sentences(record(x.softmax(0)[0], x=x))
    assert any("the incoming gradient times the derivative of Softmax." in sentence for sentence in told)


def test_a_hook_is_named():
    x = leaf(3.0)
    x.register_hook(lambda grad: grad * 10)
    told = sentences(record(x * 2, x=x))
    assert any("changes the gradient of x from 2 to 20" in sentence for sentence in told)


def test_an_error_ends_the_pass():
    x = leaf(3.0)
    product = x * 2

    def refuse(grad):
        raise RuntimeError("not today")

    product.register_hook(refuse)
    with pytest.raises(RuntimeError) as caught:
        record(product.exp(), x=x)
    assert "ends here with an error: not today" in sentences(caught.value.recording)[-1]


def test_long_tensors_are_told_by_shape_and_norm():
    x = torch.ones(30, 40, requires_grad=True)
    told = sentences(record((x * 2).sum(), x=x))
    assert told[2].endswith("incoming for each element = 1 for each element = 30×40, norm 34.6.")


def test_the_summary_says_which_grads_are_there(square):
    first, *_, last = replay(square)
    assert summary(square, first) == "x.grad not computed yet; y.grad not computed yet"
    assert summary(square, last) == "x.grad 24; y.grad 36"
