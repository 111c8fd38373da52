"""The graph behind a tensor is found whole, in order, and as plain values."""

import pickle

import pytest
import torch
from torch import nn

from course_utils.graph import Edge, NoGraphError, Place, trace


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, requires_grad=True)


def test_nodes_are_numbered_in_the_order_of_the_backward_pass():
    x, y = scalar(3.0), scalar(2.0)
    graph = trace((x * y) ** 2, x=x, y=y)
    assert [node.name for node in graph] == [
        "PowBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
        "torch::autograd::AccumulateGrad",
    ]
    assert graph.edges == (Edge(0, 0, 1, 0), Edge(1, 0, 2, 0), Edge(1, 1, 3, 0))
    assert [leaf.label for leaf in graph.leaves] == ["x", "y"]
    assert graph.roots == (Place(0, 0),)


def test_shared_input_has_two_edges_to_one_leaf():
    x = scalar(3.0)
    graph = trace(x * x, x=x)
    assert len(graph) == 2
    assert [edge.position for edge in graph.edges_to(graph.node("x").number)] == [0, 1]


def test_every_edge_leads_to_a_later_node_in_a_diamond():
    x = scalar(2.0)
    shared = x.exp()
    late, early = shared.sin(), shared.cos()
    graph = trace(early * late + shared)
    assert all(edge.source < edge.target for edge in graph.edges)
    assert len(graph.edges_to(graph.node("shared").number)) == 3


def test_input_that_needs_no_gradient_is_a_constant_input():
    x = scalar(3.0)
    graph = trace(x * torch.tensor(5.0))
    assert graph.nodes[0].constant_inputs == (1,)
    assert len(graph.edges) == 1


def test_no_grad_island_cuts_the_graph():
    x = scalar(3.0)
    with torch.no_grad():
        island = x * 2
    graph = trace(x * island)
    assert graph.nodes[0].constant_inputs == (1,)
    assert [node.label for node in graph] == ["Mul 0", "x"]


def test_result_of_a_multi_output_operation_is_named_by_its_number():
    x = torch.ones(3, 2, requires_grad=True)
    first, _, last = x.unbind(0)
    graph = trace((first * last).sum())
    unbind = graph.node("last")
    assert graph.place("first") == Place(unbind.number, 0)
    assert graph.place("last") == Place(unbind.number, 2)
    assert [result.shape for result in unbind.results] == [(2,)] * 3


def test_several_roots_make_one_graph():
    x = scalar(3.0)
    a = x * 2
    b = a * 3
    graph = trace([a, b])
    assert len(graph) == 3
    assert [graph.name_of(root) for root in graph.roots] == ["a", "b"]


def test_leaf_alone_is_a_graph_of_one_node():
    x = scalar(3.0)
    assert [node.kind for node in trace(x)] == ["leaf"]


def test_broadcast_operation_keeps_the_shapes_of_both_inputs():
    row, column = torch.ones(3, requires_grad=True), torch.ones(2, 1, requires_grad=True)
    graph = trace(row + column)
    assert graph.nodes[0].results[0].shape == (2, 3)
    assert [leaf.results[0].shape for leaf in graph.leaves] == [(3,), (2, 1)]


def test_change_in_place_through_a_view_is_explained():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y[0].mul_(3)
    node = trace(y.sum()).nodes[1]
    assert node.name == "torch::autograd::CopySlices"
    assert "through a view" in node.note


def test_view_of_a_base_that_was_changed_is_traced():
    base = torch.ones(3, requires_grad=True) * 1
    view = base[1:]
    base.mul_(2)
    assert trace(view.sum()).nodes[1].operation == "AsStrided"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_dtype_of_values_and_results(dtype):
    x = torch.ones(2, dtype=dtype, requires_grad=True)
    graph = trace(x * x, x=x)
    assert graph.nodes[0].results[0].dtype == str(dtype).removeprefix("torch.")
    assert graph.node("x").results[0].value == (1, 1)


def test_settings_of_an_operation():
    x = torch.ones(2, 3, requires_grad=True)
    graph = trace((x**2).sum(-1))
    assert dict(graph.nodes[1].settings)["exponent"] == 2
    assert dict(graph.nodes[0].settings)["dim"] == (-1,)


def test_grad_of_a_leaf_is_none_before_and_a_value_after():
    x = scalar(3.0)
    y = x + 1
    assert trace(y).node("x").results[0].grad is None
    y.backward()
    assert trace(y).node("x").results[0].grad.value == 1.0


def test_grad_of_a_result_that_retains_it():
    x = scalar(3.0)
    hidden = x * 2
    hidden.retain_grad()
    y = hidden**2
    y.backward()
    assert trace(y).node("hidden").results[0].grad.value == 12.0


def test_graph_is_equal_however_often_it_is_traced_and_survives_pickling():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    y = model(torch.ones(4, 2)).sum()
    graph = trace(y)
    assert graph == trace(y)
    assert pickle.loads(pickle.dumps(graph)) == graph


def test_text_tells_the_story_in_order():
    x, y = scalar(3.0), scalar(2.0)
    z = x + y
    assert str(trace(z)).splitlines() == [
        "Graph of z: 3 nodes, 2 edges",
        "  Add 0: gives z = 5; alpha 1; sends to x, y",
        "  x: leaf 3; grad not computed yet",
        "  y: leaf 2; grad not computed yet",
    ]
    assert repr(trace(z)) == "<Graph of z: 3 nodes, 2 edges; x, y>"


def test_text_of_a_long_graph_says_what_it_leaves_out():
    x = scalar(1.0)
    y = x
    for _ in range(200):
        y = y.sin()
    lines = str(trace(y)).splitlines()
    assert "  ... 151 more nodes ..." in lines
    assert lines[-1].startswith("  x: leaf")


def test_unknown_name_lists_the_known_ones():
    x = scalar(3.0)
    y = x * x
    with pytest.raises(KeyError, match=r"No tensor called `q`.*it has y, x"):
        trace(y).place("q")


def test_meta_tensors_have_shapes_and_no_values():
    x = torch.ones(3, device="meta", requires_grad=True)
    leaf = trace(x * x).node("x").results[0]
    assert leaf.shape == (3,)
    assert "meta device" in str(leaf.value)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: torch.ones(2), "Create an input with `requires_grad=True` before computing `y`"),
        (lambda: torch.ones(2).int(), "only floating point and complex"),
        (lambda: scalar(1.0).detach(), r"`\.detach\(\)`"),
        (lambda: torch.inference_mode()(lambda: scalar(1.0) * 2)(), "inference_mode"),
    ],
)
def test_nothing_to_trace_says_why_and_what_to_do(make, says):
    y = make()
    with pytest.raises(NoGraphError, match=says):
        trace(y)


def test_nothing_to_trace_where_recording_is_off():
    x = scalar(1.0)
    with torch.no_grad(), pytest.raises(NoGraphError, match="recording is switched off here"):
        trace(x * 2)


@pytest.mark.parametrize(
    ("thing", "says"),
    [
        (3.0, r"before `\.item\(\)`"),
        ("x", "Pass the tensor you would call"),
        ([], "Pass at least one output"),
    ],
)
def test_what_is_no_tensor_is_refused_with_the_next_move(thing, says):
    with pytest.raises(TypeError, match=says):
        trace(thing)


def test_output_of_a_functional_transform_is_traced_if_the_input_asked_for_it():
    x = torch.ones(3, requires_grad=True)
    graph = trace(torch.func.grad(lambda a: (a**3).sum())(x))
    assert graph.node("x").kind == "leaf"


def test_inside_a_functional_transform_the_graph_is_traced():
    traced = []

    def function(a):
        traced.append(trace(a * a))
        return (a * a).sum()

    torch.func.grad(function)(torch.ones(3))
    assert [node.label for node in traced[0]] == ["Mul 0", "a"]


def test_value_inside_a_transform_that_records_nothing_is_explained():
    with pytest.raises(NoGraphError, match=r"inside a `torch\.func` transform"):
        torch.func.vmap(lambda a: trace(a * 2))(torch.ones(3))


def test_gradient_through_once_differentiable_is_an_error_node():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, incoming):
            return 2 * ctx.saved_tensors[0] * incoming

    x = scalar(3.0)
    (gradient,) = torch.autograd.grad(Square.apply(x) ** 2, x, create_graph=True)
    node = next(node for node in trace(gradient) if node.kind == "error")
    assert "once_differentiable" in node.note


def test_compiled_region_is_one_opaque_node():
    x = scalar(3.0)
    y = torch.compile(lambda a: (a * a).sin(), backend="aot_eager")(x)
    graph = trace(y)
    assert [node.kind for node in graph] == ["opaque", "leaf"]
    assert "torch.compile" in graph.nodes[0].note
