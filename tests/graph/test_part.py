"""The part of a graph that is recorded under other settings, read from torch's own tensors."""

import pytest
import torch

from course_utils.graph import Place, trace
from course_utils.graph.modes import MODES, Experiment
from course_utils.graph.part import everything_of, nothing_of, recorded_part


def line(x, w, b):
    p = w * x
    return {"p": p, "loss": (p + b) ** 2}


@pytest.fixture
def experiment():
    return Experiment(line, {"x": torch.tensor(3.0), "w": torch.tensor(-2.0), "b": torch.tensor(1.5)})


def flags(names):
    return {name: name in names for name in "xwb"}


def recorded(outcome):
    whole = outcome.part.whole
    return {node.label for node in whole if outcome.part.has(node.number)}


def test_whole_is_the_graph_with_every_input_on(experiment):
    assert {node.label for node in experiment.whole} == {"Pow 0", "Add 1", "b", "Mul 3", "w", "x"}


@pytest.mark.parametrize(
    ("on", "there"),
    [
        ("xwb", {"Pow 0", "Add 1", "Mul 3", "x", "w", "b"}),
        ("w", {"Pow 0", "Add 1", "Mul 3", "w"}),
        ("b", {"Pow 0", "Add 1", "b"}),
        ("", set()),
    ],
)
def test_an_operation_is_recorded_if_one_input_requires_it(experiment, on, there):
    assert recorded(experiment.run(flags(on), "enabled")) == there


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_nothing_is_recorded_outside_enabled(experiment, mode):
    outcome = experiment.run(flags("xwb"), mode)
    assert recorded(outcome) == set()
    assert outcome.part.edges == frozenset()
    assert all(seen.requires_grad for seen in outcome.inputs.values())
    assert not outcome.results["loss"].requires_grad
    assert outcome.results["loss"].is_leaf
    assert outcome.results["loss"].is_inference == (mode == "inference_mode")


@pytest.mark.parametrize(("on", "saved"), [("w", ["x"]), ("x", ["w"]), ("xw", ["x", "w"])])
def test_a_product_saves_the_other_factor_of_what_requires_a_gradient(experiment, on, saved):
    part = experiment.run(flags(on), "enabled").part
    (product,) = (node for node in part.nodes.values() if node.operation == "Mul")
    assert [tensor.variable for tensor in product.saved if tensor.state == "saved"] == saved


def test_places_of_saved_tensors_are_those_of_the_whole_graph(experiment):
    part = experiment.run(flags("b"), "enabled").part
    (saved,) = part.nodes[0].saved
    assert saved.result == Place(1, 0)
    assert part.whole.nodes[1].operation == "Add"


def test_edges_are_those_along_which_a_gradient_travels(experiment):
    whole = experiment.whole
    part = experiment.run(flags("w"), "enabled").part
    gone = set(whole.edges) - part.edges
    assert {whole.nodes[edge.target].label for edge in gone} == {"x", "b"}


@pytest.mark.parametrize("mode", MODES)
def test_runs_are_independent_of_the_callers_mode(experiment, mode):
    with torch.inference_mode():
        outcome = experiment.run(flags("w"), mode)
    assert outcome.results["loss"].requires_grad == (mode == "enabled")
    with torch.no_grad():
        assert recorded(experiment.run(flags("b"), "enabled")) == {"Pow 0", "Add 1", "b"}


def test_inputs_are_left_as_they_are():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    Experiment(lambda x: (x * x).sum(), {"x": x}).run({"x": False}, "enabled")
    assert x.requires_grad
    assert x.grad is None


def test_everything_and_nothing_are_parts_too(experiment):
    whole = experiment.whole
    assert everything_of(whole).edges == frozenset(whole.edges)
    assert not any(nothing_of(whole).has(node.number) for node in whole)
    assert nothing_of(whole).mixed == whole


def test_a_value_used_twice_is_one_node():
    experiment = Experiment(lambda x, w: (x * w) * (x * w + x), {"x": torch.tensor(2.0), "w": torch.tensor(5.0)})
    part = experiment.run({"x": True, "w": False}, "enabled").part
    assert set(part.nodes) == {node.number for node in experiment.whole if node.label != "w"}


def test_a_graph_cut_inside_the_function_is_refused():
    with pytest.raises(ValueError, match="cut inside the function"):
        Experiment(lambda x: x.detach() * 2, {"x": torch.tensor(1.0)})


@pytest.mark.parametrize("returned", [None, 3.0, {}, {"y": 1.0}])
def test_a_function_must_return_tensors(returned):
    with pytest.raises(TypeError, match="must return a tensor"):
        Experiment(lambda x: returned, {"x": torch.tensor(1.0)})


def test_whole_numbers_cannot_require_a_gradient():
    experiment = Experiment(lambda x, i: x[i].sum(), {"x": torch.ones(3), "i": torch.tensor([0, 2])})
    assert experiment.can_require_grad("x")
    assert not experiment.can_require_grad("i")


def test_another_operation_than_in_the_whole_graph_is_not_passed_over():
    x = torch.tensor(2.0, requires_grad=True)
    w = torch.tensor(5.0, requires_grad=True)
    with pytest.raises(ValueError, match="records AddBackward0 where it records MulBackward0"):
        recorded_part(trace(x * w), trace(x + w))
    with pytest.raises(ValueError, match="cannot be shown as one"):
        recorded_part(trace(x * w.detach()), trace(x * w))
