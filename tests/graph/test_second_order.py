"""With create_graph the backward pass is recorded by torch, and we know what came from what."""

import pytest
import torch

from course_utils.graph import Entered, Origin, record, trace

# torch says once per process that `backward(create_graph=True)` makes a reference cycle
pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")


@pytest.fixture
def x():
    return torch.tensor(3.0, requires_grad=True)


@pytest.fixture
def y():
    return torch.tensor(2.0, requires_grad=True)


def test_double_backward_of_the_running_example(x, y):
    first = record((x * x * y) ** 2, create_graph=True, with_respect_to=[x], x=x, y=y)
    assert len(first.graph) == 5
    assert first.gradient("x").value == 432.0
    second = first.second_order
    assert len(second.graph) == 11
    assert [second.graph.nodes[n].operation for n in second.sums] == ["Add"]
    assert second.origins[second.sums[0]].place == first.graph.place("x")
    births = {
        node.number: [second.graph.nodes[n].operation for n in second.offspring(node.number)] for node in first.graph
    }
    pow_, outer, inner = 0, 1, 3
    assert births[pow_] == ["Mul", "Mul", "Pow"]
    assert births[outer] == ["Mul"]
    assert births[inner] == ["Mul", "Mul"]
    assert {second.origins[n].node for n in second.shared} == {first.graph.node(name).number for name in "xy"} | {
        outer,
        inner,
    }


def test_recording_the_gradient_gives_the_second_derivative(x, y):
    record((x * x * y) ** 2, create_graph=True, x=x, y=y)
    assert x.grad.item() == 432.0
    second = record(x.grad, with_respect_to=[x, y], x=x, y=y)
    assert second.gradient("x").value == 12 * 3.0**2 * 2.0**2
    assert second.gradient("y").value == 8 * 3.0**3 * 2.0


def test_graph_behind_grad_is_the_second_order_graph(x, y):
    first = record(x * x * y, create_graph=True, x=x, y=y)
    assert first.second_order.graph.place("x.grad") in first.second_order.graph.roots
    alone = trace(x.grad)
    names = [node.name for node in first.second_order.graph]
    assert {node.name for node in alone} <= set(names)


def test_sum_of_three_messages_is_two_additions_by_the_engine(x):
    first = record(x.sin() + x.exp() + x**3, create_graph=True, with_respect_to=x)
    assert len(first.second_order.sums) == 2


def test_node_born_in_a_hook_is_nobodys_offspring(x):
    x.register_hook(lambda gradient: gradient * 5)
    first = record(x**3, create_graph=True, with_respect_to=x)
    births = [origin.birth for origin in first.second_order.origins]
    assert births.count("elsewhere") == 1


def test_constant_gradient_has_no_second_order_graph(x):
    assert record(x * 5, create_graph=True).second_order is None


def test_plain_pass_has_no_second_order_graph(x):
    assert record(x**2).second_order is None


def test_create_graph_frees_nothing(x):
    y = x**2
    record(y, create_graph=True)
    y.backward()
    assert x.grad.item() == 12.0


def test_recorder_adds_no_node_to_the_second_order_graph(x):
    (plain,) = torch.autograd.grad(x.sin() * x.exp(), x, create_graph=True)
    recorded = record(x.sin() * x.exp(), create_graph=True, with_respect_to=x)
    expected = [node.name for node in trace(plain)]
    assert [node.name for node in recorded.second_order.graph] == expected


def test_second_order_nodes_run_inside_the_span_of_their_parent(x):
    first = record(x.sin(), create_graph=True, with_respect_to=x)
    sine = first.of_kind(Entered)[0].node
    assert Origin("node", sine) in first.second_order.origins


def test_two_places_that_add_up_the_same_messages_have_a_sum_each(x):
    one, other = x * 2, x * 3
    first = record(((one + other) + (one + other)) ** 2, create_graph=True, with_respect_to=x, a=one, b=other)
    graph = first.second_order.graph
    for name in "ab":
        (product,) = first.second_order.offspring(first.graph.node(name).number)
        (edge,) = graph.edges_from(product)
        origin = first.second_order.origins[edge.target]
        assert (origin.birth, origin.place) == ("sum", first.graph.place(name))
