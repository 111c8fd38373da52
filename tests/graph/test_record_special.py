"""Graphs with a life of their own: checkpoints, compiled regions, views, errors inside."""

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from course_utils.graph import Accumulated, ChangedByHook, Entered, record


@pytest.fixture
def x():
    return torch.tensor([1.0, 2.0], requires_grad=True)


@pytest.fixture
def w():
    return torch.tensor([1.0, 3.0], requires_grad=True)


def test_checkpoint_sends_the_same_gradients_as_the_plain_piece(x, w):
    def piece(a):
        return (a * w).sin()

    plain = record(piece(x).sum(), with_respect_to=[x, w])
    checked = record(checkpoint(piece, x, use_reentrant=False).sum(), with_respect_to=[x, w])
    assert [m.value for m in checked.messages] == [m.value for m in plain.messages]


def test_reentrant_checkpoint_fills_grad_in_a_pass_of_its_own(x, w):
    y = (checkpoint(lambda a: (a * w).sin(), x, use_reentrant=True) * w).sum()
    backward = record(y, x=x, w=w)
    leaf = backward.graph.node("w").number
    opaque = next(node.number for node in backward.graph if node.kind == "opaque")
    entered = [event for event in backward.of_kind(Entered) if event.node == leaf]
    assert [event.within for event in entered] == [None, opaque]
    assert backward.of_kind(ChangedByHook) == ()
    landed = [e for e in backward.of_kind(Accumulated) if e.place.node == leaf]
    assert landed[0].after == landed[1].before
    assert landed[1].after.value == tuple(w.grad.tolist())
    assert backward.grad("w").value == tuple(w.grad.tolist())
    assert backward.gradient("w") == entered[0].incoming[0]


def test_compiled_region_is_one_step():
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.compile(lambda a: (a * a).sin(), backend="aot_eager")(x)
    backward = record(y, x=x)
    assert len(backward.of_kind(Entered)) == 2
    assert backward.gradient("x").value == pytest.approx(6 * torch.tensor(9.0).cos().item())


def test_change_in_place_through_a_view(x):
    y = x * 1
    y[0].mul_(5)
    backward = record(y.sum(), x=x)
    assert backward.gradient("x").value == (5.0, 1.0)


def test_once_differentiable_fails_at_its_error_node():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**2

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, incoming):
            return 2 * ctx.saved_tensors[0] * incoming

    x = torch.tensor(3.0, requires_grad=True)
    (gradient,) = torch.autograd.grad(Square.apply(x) ** 2, x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable") as caught:
        record(gradient)
    recording = caught.value.recording
    assert recording.graph.nodes[recording.events[-1].node].kind == "error"


def test_result_of_a_functional_transform(x):
    gradient = torch.func.grad(lambda a: (a**3).sum())(x)
    backward = record(gradient.sum(), x=x)
    assert backward.gradient("x").value == (6.0, 12.0)


def test_no_grad_island_gets_no_message():
    x = torch.tensor(3.0, requires_grad=True)
    with torch.no_grad():
        island = x * 2
    backward = record(x * island, x=x)
    assert [m.value for m in backward.messages] == [6.0]
