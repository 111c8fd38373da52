"""A hook that changes a gradient is named, with the value before and after it."""

import pytest
import torch

from course_utils.graph import ChangedByHook, Place, record


@pytest.fixture
def x():
    return torch.tensor(3.0, requires_grad=True)


def changes(backward):
    return [
        (event.hook, event.side, event.before.value, event.after and event.after.value)
        for event in backward.of_kind(ChangedByHook)
    ]


def double(gradient):
    return gradient * 2


def look_only(gradient):
    return None


def in_place(gradient):
    gradient.mul_(10)


def test_hook_on_a_leaf(x):
    x.register_hook(double)
    backward = record(x * 5, x=x)
    assert changes(backward) == [("double", "incoming", 5.0, 10.0)]
    assert backward.gradient("x").value == x.grad.item() == 10.0


def test_hook_on_a_result(x):
    hidden = x * 2
    hidden.register_hook(look_only)
    hidden.register_hook(double)
    hidden.register_hook(in_place)
    assert changes(record(hidden * 5)) == [
        ("double", "incoming", 5.0, 10.0),
        ("in_place", "incoming", 10.0, 100.0),
    ]


def test_hook_on_a_tensor_that_nobody_can_see_any_more(x):
    def build():
        hidden = x * 2
        hidden.register_hook(double)
        return hidden * 5

    backward = record(build(), x=x)
    assert changes(backward) == [("a hook on the tensor", "incoming", 5.0, 10.0)]


def test_hooks_on_a_node(x):
    def before(incoming):
        return (incoming[0] + 1,)

    def after(outgoing, incoming):
        return (outgoing[0] * 100, outgoing[1])

    y = x * x
    y.grad_fn.register_prehook(before)
    y.grad_fn.register_hook(after)
    backward = record(y, x=x)
    assert changes(backward) == [
        ("before", "incoming", 1.0, 2.0),
        ("after", "outgoing", 6.0, 600.0),
    ]
    assert [m.value for m in backward.messages_to("x")] == [600.0, 6.0]


def test_hook_that_empties_grad(x):
    def empty(leaf):
        leaf.grad = None

    x.register_post_accumulate_grad_hook(empty)
    backward = record(x * 5, x=x)
    assert changes(backward) == [("empty", ".grad", 5.0, None)]
    assert x.grad is None


def test_hook_on_a_tensor_whose_gradient_is_returned(x):
    x.register_hook(double)
    backward = record(x * 5, with_respect_to=x)
    assert changes(backward) == [("double", "incoming", 5.0, 10.0)]
    assert backward.gradient("x").value == 10.0


def test_hook_that_changes_a_large_gradient_in_place():
    big = torch.ones(1000, requires_grad=True)
    big.register_hook(in_place)
    (change,) = record((big * 2).sum()).of_kind(ChangedByHook)
    assert (change.before.value.maximum, change.after.value.maximum) == (2.0, 20.0)


@pytest.mark.parametrize("size", [3, 1000])
def test_sum_of_messages_is_no_change(size):
    x = torch.linspace(-1, 1, size, requires_grad=True)
    assert record((x.sin() * x.exp() + x).sum()).of_kind(ChangedByHook) == ()


@pytest.mark.parametrize("size", [3, 1000])
def test_nan_is_no_change(size):
    x = torch.zeros(size, requires_grad=True)
    assert record((x / x + x).sum()).of_kind(ChangedByHook) == ()


def test_hooks_run_once_and_in_their_order(x):
    calls = []
    for name in "abc":
        x.register_hook(lambda gradient, name=name: calls.append(name))
    y = x * 5
    for name in "de":
        y.grad_fn.register_prehook(lambda incoming, name=name: calls.append(name))
    for name in "fg":
        y.grad_fn.register_hook(lambda outgoing, incoming, name=name: calls.append(name))
    record(y, retain_graph=True)
    recorded, calls[:] = list(calls), []
    y.backward()
    assert recorded == calls == list("defgabc")


def test_hook_in_place_reaches_every_gradient_that_shares_its_memory(x):
    hidden = x * 2
    sine = hidden.sin()
    spoiled = x * 1
    spoiled.register_hook(in_place)
    backward = record((hidden + spoiled) + sine)
    changed = backward.of_kind(ChangedByHook)
    names = [backward.graph.name_of(Place(event.node, event.index)) for event in changed]
    assert names == ["spoiled", "sine", "hidden"]
    assert changed[-1].hook == "a hook on the tensor"


def test_hook_on_a_chosen_tensor_without_a_name(x):
    holder = [x * 2]
    holder[0].register_hook(double)
    backward = record(holder[0] * 5, with_respect_to=holder[0])
    assert changes(backward) == [("a hook on the tensor", "incoming", 5.0, 10.0)]
