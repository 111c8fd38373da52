"""Mistakes of unit 02 as learners write them, in other words than the witnesses: each is told its own idea."""

from __future__ import annotations

import pytest
import torch

from course_utils.checks import check
from course_utils.checks.given import in_order, sum_to_shape


def head(line: str):
    names: dict[str, object] = {}
    exec(
        "def gradient_of_x(x, head):\n    x = x.clone().requires_grad_()\n    y = x * x\n    z = 3 * y\n"
        f"    {line}\n    return x.grad\n",
        names,
    )
    return names["gradient_of_x"]


def engine(start: str = "incoming", meet: str = "gradient if parent.grad is None else parent.grad + gradient"):
    names: dict[str, object] = {"in_order": in_order, "torch": torch}
    exec(
        f"def backward(result, incoming):\n    result.grad = {start}\n    for node in reversed(in_order(result)):\n"
        "        for parent, gradient in zip(node.parents, node.pass_back(node.grad)):\n"
        f"            parent.grad = {meet}\n",
        names,
    )
    return names["backward"]


def receive(node, gradient):
    node.grad = gradient if node.grad is None else node.grad + gradient


def level_after_level(result, incoming):
    result.grad = incoming
    level, seen = [result], {result}
    while level:
        following = []
        for node in level:
            for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
                receive(parent, gradient)
                if parent not in seen:
                    seen.add(parent)
                    following.append(parent)
        level = following


def stack_without_memory(result, incoming):
    result.grad = incoming
    stack = [result]
    while stack:
        node = stack.pop()
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            receive(parent, gradient)
            stack.append(parent)


def straight_ahead(result, incoming):
    receive(result, incoming)

    def go(node):
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            receive(parent, gradient)
            go(parent)

    go(result)


def each_message_on_its_own(result, incoming):
    receive(result, incoming)
    for parent, gradient in zip(result.parents, result.pass_back(incoming), strict=True):
        each_message_on_its_own(parent, gradient)


def adds_to_none(result, incoming):
    result.grad = incoming
    for node in reversed(in_order(result)):
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            parent.grad += gradient


class Value:
    """The solution of exercise 8, but for what is still to be spoilt."""

    def __init__(self, data, parents=(), pass_back=lambda incoming: ()):
        self.data, self.parents, self.pass_back = data, parents, pass_back

    def __add__(self, other):
        return Value(self.data + other.data, (self, other), lambda g: (self.fit(g), other.fit(g)))

    def __mul__(self, other):
        data = self.data * other.data
        return Value(data, (self, other), lambda g: (self.fit(g * other.data), other.fit(g * self.data)))

    def __pow__(self, n):
        return Value(self.data**n, (self,), lambda g: (g * n * self.data ** (n - 1),))

    def __matmul__(self, other):
        return Value(self.data @ other.data, (self, other), lambda g: (g @ other.data.T, self.data.T @ g))

    def exp(self):
        return Value(self.data.exp(), (self,), lambda g: (g * self.data.exp(),))

    def relu(self):
        return Value(self.data.clamp(min=0), (self,), lambda g: (g * (self.data > 0),))

    def sum(self):
        return Value(self.data.sum(), (self,), lambda g: (g.expand(self.data.shape),))

    def fit(self, gradient):
        return sum_to_shape(gradient, self.data.shape)


SPOILT = {
    "swapped_factors": [
        {
            "__mul__": lambda self, other: Value(
                self.data * other.data, (self, other), lambda g: (self.fit(g * self.data), other.fit(g * other.data))
            )
        }
    ],
    "incoming_ignored": [
        {"__pow__": lambda self, n: Value(self.data**n, (self,), lambda g: (n * self.data ** (n - 1),))},
        {"sum": lambda self: Value(self.data.sum(), (self,), lambda g: (torch.ones_like(self.data),))},
    ],
}


@pytest.mark.parametrize(("label", "methods"), [(label, one) for label, those in SPOILT.items() for one in those])
def test_operations(monkeypatch, label, methods):
    for name, method in methods.items():
        monkeypatch.setattr(Value, name, method)
    assert check("operations", Value).diagnosis.label == label


def test_the_class_that_is_spoilt_is_right():
    assert check("operations", Value).status == "right"


def every_leaf_is_an_end(result, x):
    if len(result.parents) == 0:
        return 1
    return sum(slope * every_leaf_is_an_end(node, x) for node, slope in zip(result.parents, result.slopes, strict=True))


def collected_in_a_set(result, x):
    products = set()

    def walk(node, product):
        if node is x:
            products.add(product)
        for parent, slope in zip(node.parents, node.slopes, strict=True):
            walk(parent, product * slope)

    walk(result, 1.0)
    return sum(products)


def stops_at_the_first(result, x):
    if result is x:
        return 1.0
    for parent, slope in zip(result.parents, result.slopes, strict=True):
        if x in in_order(parent):
            return slope * stops_at_the_first(parent, x)
    return 0.0


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        ("head_gradient", head("y.backward()"), "no_incoming_gradient"),
        ("head_gradient", head("z.backward()"), "no_incoming_gradient"),
        ("head_gradient", head("y.backward(head.reshape(-1, 1, 1, 1))"), "raises"),
        ("engine_backward", engine(start="torch.tensor(1.0)"), "incoming_of_another_shape"),
        ("engine_backward", level_after_level, "passes_on_too_early"),
        ("engine_backward", stack_without_memory, "passes_on_too_often"),
        ("engine_backward", straight_ahead, "passes_on_too_often"),
        ("engine_backward", each_message_on_its_own, "calls_too_deep"),
        ("engine_backward", adds_to_none, "added_to_none"),
        ("engine_backward", engine(meet="parent.grad + gradient"), "added_to_none"),
        ("engine_backward", lambda result: None, "raises"),
        ("engine_backward", lambda result, incoming: 1 + None, "raises"),
        ("sum_over_paths", every_leaf_is_an_end, "other_leaves_counted"),
        ("sum_over_paths", collected_in_a_set, "equal_products_merged"),
        ("sum_over_paths", stops_at_the_first, "first_path_only"),
    ],
)
def test_the_idea_behind_a_mistake(name, answer, label):
    assert check(name, answer).diagnosis.label == label


def test_a_wrong_gradient_of_a_small_program_comes_before_the_calls_for_the_long_chain():
    given = dict(check("engine_backward", straight_ahead).mine.given)
    assert given["program"] == "t = a * a; u = t * t; L = t + u"


@pytest.mark.parametrize("answer", [head("z.backward(head)"), head("y.backward(3 * head)")])
def test_code_that_does_what_the_given_code_did_is_told_so_with_a_thought(answer):
    result = check("head_gradient", answer)
    assert result.status == "not attempted"
    assert "it still does what the given code did" in result.html()
    assert "<code>head</code> holds the factor 3 already" in result.html()
