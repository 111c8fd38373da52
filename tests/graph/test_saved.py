"""What nodes saved is read without running anybody's code."""

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from course_utils.graph import Place, trace
from course_utils.graph.fold import fold
from course_utils.graph.saved import CAN_SEE_HOOKS
from course_utils.graph.scene import Scene
from course_utils.graph.svg import svg

pytestmark = pytest.mark.skipif(not CAN_SEE_HOOKS, reason="this torch cannot say whether reading would run code")


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0], requires_grad=True)


def saved(graph, node=0):
    return {tensor.name: tensor for tensor in graph.nodes[node].saved}


def test_saved_tensor_has_shape_dtype_version_value_and_source(x):
    y = torch.ones(2, requires_grad=True) * 1
    y.add_(2)
    graph = trace(x * y)
    other = saved(graph)["other"]
    assert (other.state, other.shape, other.dtype, other.version) == ("saved", (2,), "float32", 1)
    assert (other.value, other.variable) == ((3.0, 3.0), "y")
    assert other.result == graph.place("y")
    assert saved(graph)["self"].result == graph.place("x")


def test_value_nobody_named_is_known_because_an_operation_saved_it(x):
    graph = trace((x * 3) ** 2)
    assert graph.nodes[1].results[0].value == (3.0, 6.0)


def test_result_that_an_operation_saved_of_itself(x):
    graph = trace(x.exp())
    assert saved(graph)["result"].result == Place(0, 0)


def test_constant_that_was_saved_keeps_its_name(x):
    mask = torch.tensor([0.0, 1.0])
    assert saved(trace(x * mask))["other"].variable == "mask"


def test_freed_after_backward_and_the_graph_is_still_there(x):
    y = (x**2).sum()
    before = trace(y)
    y.backward()
    after = trace(y)
    assert saved(before, 1)["self"].state == "saved"
    assert saved(after, 1)["self"].state == "freed"
    assert after.edges == before.edges


def test_change_in_place_after_saving_is_seen(x):
    w = x * 1
    y = w.sin()
    w.add_(1)
    graph = trace(y)
    changed = saved(graph)["self"]
    assert (changed.state, changed.shape, changed.version, changed.version_now) == ("changed", (2,), 0, 1)
    assert "saved, then changed in place: self float32 [2], version 0 then and 1 now" in str(graph)
    assert "self: version 0 → 1" in svg(Scene(fold(graph)))


def test_leaf_that_was_changed_since_it_was_saved_keeps_its_name(x):
    y = x.sin()
    with torch.no_grad():
        x.add_(1)
        x.mul_(2)
    graph = trace(y)
    assert saved(graph)["self"].result == graph.place("x")
    assert "self (x) float32 [2], version 0 then and 2 now" in str(graph)


def test_nothing_to_save_is_empty(x):
    assert saved(trace(torch.nn.functional.layer_norm(x, (2,))))["weight"].state == "empty"


def test_list_of_saved_tensors(x):
    graph = trace(x[torch.tensor([1, 0])])
    assert saved(graph)["indices[0]"].value == (1, 0)
    x.exp()[torch.tensor([1, 0])].sum().backward()


def test_freed_list_of_saved_tensors(x):
    y = x[torch.tensor([1, 0])].sum()
    y.backward()
    assert saved(trace(y), 1)["indices"].state == "freed"


def test_large_saved_tensor_has_no_values():
    big = torch.ones(1000, requires_grad=True)
    assert saved(trace(big.sin()))["self"].value is None


def test_checkpointed_piece_is_not_computed_again(x):
    runs = []

    def piece(a):
        runs.append(1)
        return (a * a).sin()

    graph = trace(checkpoint(piece, x, use_reentrant=False))
    assert len(runs) == 1
    assert {tensor.state for tensor in graph.nodes[0].saved} == {"packed"}


def test_unpack_hooks_are_not_called(x):
    def unpack(packed):
        raise AssertionError("unpacked")

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        y = x * x
    assert saved(trace(y))["self"].state == "packed"


def test_reentrant_checkpoint_is_one_opaque_node(x):
    graph = trace(checkpoint(lambda a: (a * a).sin(), x, use_reentrant=True))
    assert [node.kind for node in graph] == ["opaque", "leaf"]
    assert "runs a backward pass of its own" in graph.nodes[0].note


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, factor, owner):
        result = a * factor
        ctx.save_for_backward(a, None, result)
        ctx.factor, ctx.half, ctx.owner = factor, a / 2, owner
        return result

    @staticmethod
    def backward(ctx, incoming):
        return incoming * ctx.factor, None, None


class Owner:
    def __repr__(self):
        raise AssertionError("asked for its repr")


def test_custom_function_shows_what_it_saved_and_what_it_kept(x):
    node = trace(Scale.apply(x, 3.0, Owner())).nodes[0]
    states = {tensor.name: (tensor.state, tensor.value) for tensor in node.saved}
    assert node.kind == "custom"
    assert node.name == "ScaleBackward"
    assert states == {
        "saved_tensors[0]": ("saved", (1.0, 2.0)),
        "saved_tensors[1]": ("empty", None),
        "saved_tensors[2]": ("saved", (3.0, 6.0)),
        "ctx.half": ("kept", (0.5, 1.0)),
    }
    assert node.settings == (("ctx.factor", 3.0), ("ctx.owner", "<Owner>"))


def test_custom_function_after_backward(x):
    y = Scale.apply(x, 3.0, None)
    y.sum().backward()
    assert {tensor.name: tensor.state for tensor in trace(y).nodes[0].saved} == {
        "saved_tensors": "freed",
        "ctx.half": "kept",
    }
