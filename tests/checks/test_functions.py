"""What probes ask of a custom Function: each question finds the fault that it is there for."""

from __future__ import annotations

import pytest
import torch
from torch.autograd.function import once_differentiable

from course_utils.checks.functions import (
    by_autograd,
    function,
    gradients_after_change,
    gradients_beside,
    gradients_of,
    is_custom,
    left_on_context,
    made_by_own,
    own_functions,
    second_derivatives,
)

CUBE = by_autograd("Cube", lambda x: x**3).apply


def keep(ctx, x):
    ctx.x = x
    return x**3


def keep_result(ctx, x):
    ctx.y = x.exp()
    return ctx.y


def overwrite(ctx, grad_output):
    grad_output *= 3 * ctx.x**2
    return grad_output


@pytest.fixture
def x():
    return torch.tensor([0.5, -2.0], dtype=torch.float64)


@pytest.fixture
def incoming():
    return torch.tensor([3.0, 7.0], dtype=torch.float64)


def test_value_and_gradients(x, incoming):
    value, gradient = gradients_of(CUBE, incoming, (x,))
    assert torch.equal(value, x**3)
    assert torch.allclose(gradient, incoming * 3 * x**2)
    assert not x.requires_grad


def test_a_backward_that_writes_hits_the_incoming_gradient_of_the_caller(x, incoming):
    gradients_of(function("Cube", keep, overwrite).apply, incoming, (x,))
    assert incoming.tolist() == [3.0 * 3 * 0.25, 7.0 * 3 * 4.0]


def test_second_derivatives_are_those_behind_a_square(x, incoming):
    (second,) = second_derivatives(CUBE, incoming, (x,))
    assert torch.allclose(second, incoming * 30 * x**4)


def test_beside_an_addition(x, incoming):
    assert torch.allclose(gradients_beside(CUBE, incoming, x), incoming * 3 * x**2 + incoming)
    overwritten = gradients_beside(function("Cube", keep, overwrite).apply, incoming.clone(), x)
    assert torch.allclose(overwritten, 2 * incoming * 3 * x**2)


def test_a_change_that_autograd_refuses_brings_the_gradients_without_it(x, incoming):
    (gradient,) = gradients_after_change(CUBE, incoming, (x,))
    assert torch.allclose(gradient, incoming * 3 * x**2)


def test_a_change_that_passes_brings_wrong_gradients(x, incoming):
    kept = function("Cube", keep, lambda ctx, g: g * 3 * ctx.x**2).apply
    (gradient,) = gradients_after_change(kept, incoming, (x,))
    assert torch.allclose(gradient, incoming * 3 * (x + 1) ** 2)


def test_the_result_can_be_what_is_changed(x, incoming):
    kept = function("Exp", keep_result, lambda ctx, g: g * ctx.y).apply
    (gradient,) = gradients_after_change(kept, incoming, (x,), of_result=True)
    assert torch.allclose(gradient, incoming * (x.exp() + 1))


def test_another_error_is_not_taken_for_a_refusal(x, incoming):
    forgetful = function("Forgetful", lambda ctx, x, n: x**n, lambda ctx, g: g).apply
    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        gradients_after_change(forgetful, incoming, (x,), (2,))


def test_who_made_a_tensor(x):
    x = x.requires_grad_()
    assert is_custom(CUBE(x))
    assert is_custom(CUBE(x) + 2 * CUBE(x * x))
    assert not is_custom(x**3)
    assert not is_custom(CUBE(x) + x)
    assert not is_custom(x)


def test_constants_get_none_and_tensors_without_grad_too(x, incoming):
    wave = by_autograd("Wave", lambda x, a, k: a * torch.sin(k * x)).apply
    a = torch.tensor([1.5, 0.7], dtype=torch.float64)
    _, gradient = gradients_of(lambda x: wave(x, a, 0.3), incoming, (x,))
    assert torch.allclose(gradient, incoming * a * 0.3 * torch.cos(0.3 * x))


def test_own_functions_are_those_that_gradients_meet_first(x):
    square = function("Square", lambda ctx, x: x**2, lambda ctx, g: g)
    cube = function("Cube", lambda ctx, x: x**3, lambda ctx, g: g)
    leaf = x.requires_grad_()
    assert set(own_functions(square.apply(cube.apply(leaf)) + 2 * cube.apply(leaf))) == {square, cube}
    assert own_functions(leaf**2) == []


def test_made_by_own_asks_for_a_function_on_every_way(x):
    assert made_by_own(CUBE, (x,))
    assert not made_by_own(lambda x: CUBE(x) + x, (x,))
    assert not made_by_own(torch.exp, (x,))


@pytest.mark.parametrize(
    ("kept", "count"), [(lambda x: x, 1), (lambda x: [x, {"again": (x,)}], 2), (lambda x: 3.0, 0), (lambda x: None, 0)]
)
def test_tensors_that_stay_on_ctx_are_counted(x, incoming, kept, count):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.kept = kept(x)
        return x * 1

    assert left_on_context(function("Kept", forward, lambda ctx, g: g).apply, incoming, (x,)) == count


def test_a_backward_that_refuses_a_second_pass_is_not_passed_over(x, incoming):
    once = function("Once", lambda ctx, x: x * 1, once_differentiable(lambda ctx, g: g))
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        second_derivatives(once.apply, incoming, (x,))
