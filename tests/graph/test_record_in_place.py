"""A backward that writes into a gradient it does not own: who wrote, into what, and whom else it hit."""

from __future__ import annotations

import pytest
import torch

from course_utils.graph import ChangedByHook, ChangedInPlace, Place, record, replay
from course_utils.graph.growth import growth
from course_utils.graph.narrate import narrate


class Halved(torch.autograd.Function):
    """Multiplies by 1/2, and writes the gradient of that over the gradient that came in."""

    @staticmethod
    def forward(ctx, x):
        return x / 2

    @staticmethod
    def backward(ctx, incoming):
        with torch.no_grad():
            incoming /= 2
        return incoming


class Unchanged(Halved):
    """Writes in place what was there before."""

    @staticmethod
    def backward(ctx, incoming):
        with torch.no_grad():
            incoming *= 1
        return incoming / 2


@pytest.fixture
def x():
    return torch.tensor([3.0, 4.0], requires_grad=True)


def changes(backward):
    graph = backward.graph
    return [
        (graph.name_of(Place(event.node, event.index)), event.before.value, event.after.value)
        for event in backward.of_kind(ChangedInPlace)
    ]


def test_the_gradient_that_was_given_and_the_one_that_waits_beside_it(x):
    half = Halved.apply(x)
    backward = record(half + x, torch.tensor([8.0, 6.0]))
    assert changes(backward) == [("half", (8.0, 6.0), (4.0, 3.0)), ("x", (8.0, 6.0), (4.0, 3.0))]
    assert backward.of_kind(ChangedByHook) == ()
    assert backward.grad("x").value == (8.0, 6.0) == tuple(x.grad.tolist())


def test_a_gradient_with_memory_of_its_own_is_not_hit(x):
    half = Halved.apply(x)
    backward = record(half - x, torch.tensor([8.0, 6.0]))
    assert changes(backward) == [("half", (8.0, 6.0), (4.0, 3.0))]
    assert backward.grad("x").value == (-4.0, -3.0) == tuple(x.grad.tolist())


def test_large_gradients(x):
    big = torch.ones(1000, requires_grad=True)
    half = Halved.apply(big)
    backward = record((half + big), torch.full((1000,), 8.0))
    assert [name for name, *_ in changes(backward)] == ["half", "big"]
    assert backward.grad("big").value.maximum == 8.0


def test_a_sum_of_messages_is_nobodys_tensor(x):
    hidden = x * 1
    half = Halved.apply(hidden)
    backward = record((hidden + half) + (hidden * 3), torch.tensor([8.0, 6.0]))
    assert [name for name, *_ in changes(backward)] == ["half"]


def test_writing_what_was_there_is_no_change(x):
    assert changes(record(Unchanged.apply(x), torch.tensor([8.0, 6.0]))) == []


def test_gradients_that_are_returned(x):
    half = Halved.apply(x)
    backward = record(half + x, torch.tensor([8.0, 6.0]), with_respect_to=x)
    assert len(changes(backward)) == 2
    assert backward.of_kind(ChangedByHook) == ()
    assert backward.gradient("x").value == (8.0, 6.0)


def test_grad_that_takes_over_the_gradient_is_no_change(x):
    x.grad = torch.ones(2)
    assert record((x * 2) + x, torch.tensor([1.0, 1.0])).of_kind(ChangedInPlace) == ()


def test_the_states_show_the_new_values(x):
    half = Halved.apply(x)
    backward = record(half + x, torch.tensor([8.0, 6.0]))
    steps = [state for state in replay(backward) if isinstance(state.event, ChangedInPlace)]
    assert steps[0].waiting[backward.graph.place("half")].value == (4.0, 3.0)
    assert steps[0].waiting[backward.graph.place("x")].value == (8.0, 6.0)
    assert steps[1].waiting[backward.graph.place("x")].value == (4.0, 3.0)


def test_it_is_told_in_words(x):
    half = Halved.apply(x)
    backward = record(half + x, torch.tensor([8.0, 6.0]))
    told = [narrate(backward, state) for state in replay(backward) if isinstance(state.event, ChangedInPlace)]
    assert told == [
        "Halved 1 writes in place into the gradient it was given, which goes from [8, 6] to [4, 3].",
        "The gradient that waits at x is the same tensor, so Halved 1 has changed it too, from [8, 6] to [4, 3].",
    ]


def test_beside_a_second_order_graph(x):
    half = Halved.apply(x)
    backward = record((half * x).sum(), create_graph=True, with_respect_to=x)
    (event,) = backward.of_kind(ChangedInPlace)
    both = growth(backward).recording
    (moved,) = both.of_kind(ChangedInPlace)
    assert (moved.before, moved.after) == (event.before, event.after)
    assert both.graph.nodes[moved.writer].name == both.graph.nodes[moved.node].name == "HalvedBackward"
    assert moved.node > event.node


def test_none_from_a_custom_backward_is_not_said_to_be_independence(x):
    class Forgetful(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, incoming):
            return None

    backward = record(Forgetful.apply(x).sum() + x.sum())
    told = [narrate(backward, state) for state in replay(backward)]
    (sentence,) = (one for one in told if "sends nothing" in one)
    assert "sends nothing to x: its own backward returned None." in sentence
