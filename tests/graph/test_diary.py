"""A diary of somebody's own engine: its graph, its turns, and what each turn changed."""

from __future__ import annotations

import pytest

from course_utils.graph import Diary


class Value:
    """A number that knows where it came from, as a learner writes it."""

    def __init__(self, value, parents=(), op="", name=None):
        self.value, self.parents, self.op, self.name = value, parents, op, name
        self.grad = 0.0
        self.send = lambda: None

    def __mul__(self, other):
        product = Value(self.value * other.value, (self, other), "*")

        def send():
            self.grad += product.grad * other.value
            other.grad += product.grad * self.value

        product.send = send
        return product


class Micrograd:
    """The same with micrograd's names, and its set of parents."""

    def __init__(self, data, _prev=(), _op="", label=""):
        self.data, self._prev, self._op, self.label = data, set(_prev), _op, label
        self.grad = 0.0


def watched():
    x, y = Value(3.0, name="x"), Value(2.0, name="y")
    p = x * y
    z = p * p
    z.grad = 1.0
    diary = Diary(z, p=p, z=z)
    for node in (z, p, x, y):
        node.send()
        diary.note(node)
    return diary


def test_the_graph_is_numbered_as_torch_numbers_it():
    graph = watched().turns[0].graph
    assert [node.label for node in graph.nodes] == ["Mul 0", "Mul 1", "x", "y"]
    assert [(edge.source, edge.target, edge.position) for edge in graph.edges] == [
        (0, 1, 0), (0, 1, 1), (1, 2, 0), (1, 3, 1)
    ]  # fmt: skip


def test_each_turn_of_an_operation_is_kept_and_those_of_leaves_are_not():
    turns = watched().turns
    assert [turn.node for turn in turns] == [None, 0, 1]
    assert [len(turn.changed) for turn in turns] == [0, 1, 2]


def test_gradients_are_kept_as_they_were():
    grads = [[node.results[0].grad.value for node in turn.graph.nodes] for turn in watched().turns]
    assert grads == [[1, 0, 0, 0], [1, 12, 0, 0], [1, 12, 24, 36]]


def test_it_is_told_in_words():
    assert str(watched()).splitlines() == [
        "Your engine, before its first node has its turn.",
        "Your Mul 0: p.grad goes from 0 to 12.",
        "Your Mul 1: x.grad goes from 0 to 24, y.grad goes from 0 to 36.",
    ]


def test_a_turn_that_changes_nothing_says_so():
    x = Value(3.0)
    square = x * x
    diary = Diary(square)  # nobody has set its gradient to 1
    square.send()
    diary.note(square)
    assert diary.turns[1].sentence == "Your Mul 0: no gradient changes."


def test_the_names_of_micrograd_will_do():
    x = Micrograd(3.0, label="x")
    graph = Diary(Micrograd(9.0, (x,), "**2", label="z")).turns[0].graph
    assert [node.label for node in graph.nodes] == ["Pow 0", "x"]
    assert graph.nodes[0].results[0].value == 9.0


def test_a_long_chain_needs_no_recursion():
    node = Value(1.0)
    for _ in range(5000):
        node = Value(1.0, (node,), "neg")
    assert len(Diary(node).turns[0].graph) == 5001


def test_a_node_from_elsewhere_is_refused():
    x = Value(3.0)
    with pytest.raises(ValueError, match="not among those"):
        Diary(x * x).note(Value(1.0))


def test_an_object_that_is_no_node_is_refused_by_what_it_lacks():
    with pytest.raises(TypeError, match="a str has no `parents`"):
        Diary("z")
