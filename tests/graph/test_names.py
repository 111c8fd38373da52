"""Tensors get the names that people gave them."""

import weakref

import pytest
import torch
from torch import nn

from course_utils.graph import Place, trace


@pytest.fixture
def x():
    return torch.tensor(3.0, requires_grad=True)


def test_explicit_name_comes_before_the_variable(x):
    assert trace(x * 2, weight=x).leaves[0].label == "weight"


def test_callers_variables_name_leaves_and_results(x):
    hidden = x.exp()
    graph = trace(hidden.sin())
    assert graph.place("hidden") == Place(1, 0)
    assert graph.leaves[0].label == "x"


def test_variables_with_an_underscore_are_not_used(x):
    _hidden = x.exp()
    assert "_hidden" not in trace(_hidden.sin()).places


def test_parameters_of_a_module_passed_in():
    def compute(net):
        return net(torch.ones(1, 2)).sum()

    output = compute(nn.Linear(2, 1))
    assert all(leaf.results[0].name is None for leaf in trace(output).leaves)
    net = nn.Linear(2, 1)
    graph = trace(compute(net), model=net)
    assert sorted(leaf.label for leaf in graph.leaves) == ["model.bias", "model.weight"]


def test_parameters_of_the_callers_module():
    net = nn.Linear(2, 1)
    graph = trace(net(torch.ones(1, 2)).sum())
    assert sorted(leaf.label for leaf in graph.leaves) == ["net.bias", "net.weight"]


def test_two_tensors_never_share_a_name(x):
    other = torch.tensor(1.0, requires_grad=True)
    graph = trace(x * other, other=x)
    assert [leaf.label for leaf in graph.leaves] == ["other", "leaf 2"]


@pytest.mark.parametrize(
    ("tensor", "reason"),
    [
        (torch.ones(2), "does not require a gradient"),
        (torch.ones(2, requires_grad=True), "the output does not depend on it"),
        (torch.ones(2, requires_grad=True)[0], "was not computed from this tensor"),
    ],
)
def test_named_tensor_that_is_not_in_the_graph_is_reported(x, tensor, reason):
    graph = trace(x * 2, stranger=tensor)
    assert reason in dict(graph.absent)["stranger"]
    assert f"stranger is not in this graph: {graph.absent[0][1]}" in str(graph)
    with pytest.raises(KeyError, match=reason):
        graph.place("stranger")


def test_fresh_slice_is_not_the_tensor_the_output_used():
    table = torch.ones(2, 3, requires_grad=True)
    column = table[:, 0]
    graph = trace((table * 2).sum(), column=column)
    assert "column" in dict(graph.absent)


def test_name_for_something_that_is_no_tensor_is_refused(x):
    with pytest.raises(TypeError, match=r"`trace\(\.\.\., rate=\.\.\.\)` got a float"):
        trace(x * 2, rate=0.1)


def test_looking_at_the_callers_variables_does_not_keep_them_alive(x):
    y = x * 2
    trace(y)
    gone = weakref.ref(y)
    del y
    assert gone() is None
