"""Unit 09: right answers written differently, and mutants of the solutions that are still right."""

import numpy as np
import torch

# mixed_partial


def sliced_first(f, x, i, j):
    columns = [column.clone().requires_grad_() for column in x.unbind(1)]
    values = f(torch.stack(columns, dim=1))
    (first,) = torch.autograd.grad(values, columns[i], torch.ones_like(values), create_graph=True)
    return torch.autograd.grad(first, columns[j], torch.ones_like(first))[0].detach()


def entry_of_each_hessian(f, x, i, j):
    return torch.stack([torch.autograd.functional.hessian(lambda row: f(row[None])[0], row)[i, j] for row in x])


def with_backward(f, x, i, j):
    leaf = x.detach().clone().requires_grad_()
    first = torch.autograd.grad(f(leaf).sum(), leaf, create_graph=True)[0]
    first[:, i].sum().backward()
    return leaf.grad[:, j]


def one_hot_weights(f, x, i, j):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    weights = torch.zeros_like(first)
    weights[:, i] = 1
    return torch.autograd.grad(first, x, weights)[0][:, j]


# mend_order


def order_by_torch_func(f, x, n):
    if n == 0:
        return f(x)
    return order_by_torch_func(torch.func.grad(lambda x: f(x).sum()), x, n - 1)


def order_with_an_exception(f, x, n):
    x = x.clone().requires_grad_()
    value = f(x)
    for _ in range(n):
        try:
            value = torch.autograd.grad(value.sum(), x, create_graph=True)[0]
        except RuntimeError:
            return torch.zeros_like(x)
    return value.detach()


def order_with_nothing_added(f, x, n):
    x = x.clone().requires_grad_()
    value = f(x)
    while n > 0:
        value = torch.autograd.grad((value + 0 * x).sum(), x, create_graph=True)[0]
        n -= 1
    return value


def order_with_none_replaced(f, x, n):
    leaf = x.detach().clone().requires_grad_()
    value = f(leaf)
    for _ in range(n):
        found = None
        if value.requires_grad:
            weights = torch.ones_like(value)
            found = torch.autograd.grad(value, leaf, weights, allow_unused=True, create_graph=True)[0]
        value = torch.zeros(x.shape, dtype=x.dtype) if found is None else found
    return value


# heat_residual


def residual_from_slices(u, x, k):
    t, place = (column.clone().requires_grad_() for column in x.unbind(1))
    values = u(torch.stack([t, place], dim=1))
    u_t, u_x = torch.autograd.grad(values.sum(), (t, place), create_graph=True)
    u_xx = torch.autograd.grad(u_x.sum(), place, create_graph=True)[0]
    return u_t - k * u_xx


def residual_asked_three_times(u, x, k):
    x = x.clone().requires_grad_()
    values = u(x)
    ones = torch.ones_like(values)
    u_t = torch.autograd.grad(values, x, ones, create_graph=True)[0][:, 0]
    u_x = torch.autograd.grad(values, x, ones, create_graph=True)[0][:, 1]
    u_xx = torch.autograd.grad(u_x, x, ones, create_graph=True)[0][:, 1]
    return -k * u_xx + u_t


def residual_by_torch_func(u, x, k):
    gradient = torch.func.vmap(torch.func.grad(lambda row: u(row[None])[0]))(x)
    hessian = torch.func.vmap(torch.func.hessian(lambda row: u(row[None])[0]))(x)
    return gradient[:, 0] - k * hessian[:, 1, 1]


# hessian_times


def of_a_number(f, x, v):
    x = x.detach().clone().requires_grad_()
    gradient = torch.autograd.grad(f(x), x, create_graph=True)[0]
    return torch.autograd.grad((gradient * v).sum(), x)[0].detach()


def forward_over_reverse(f, x, v):
    return torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]


def by_functional(f, x, v):
    return torch.autograd.functional.hvp(f, x, v)[1]


def by_backward(f, x, v):
    leaf = x.clone().requires_grad_()
    gradient = torch.autograd.grad(f(leaf), leaf, create_graph=True)[0]
    gradient.backward(v)
    return leaf.grad


def by_nudging_the_gradient(f, x, v):
    h = 1e-5
    return (torch.func.grad(f)(x + h * v) - torch.func.grad(f)(x - h * v)) / (2 * h)


# mend_nested


def nested_view(g, x):
    y = x.view_as(x)
    return torch.autograd.grad(g(x, y).sum(), y, create_graph=True)[0]


def nested_by_argument(g, x):
    return torch.func.grad(lambda y: g(x, y).sum())(x)


def nested_times_one(g, x):
    y = x * 1
    value = g(x, y)
    return torch.autograd.grad(value, [y], torch.ones_like(value), create_graph=True)[0]


def nested_with_x_cloned(g, x):
    first = x.clone()
    y = x + 0
    return torch.autograd.grad(g(first, y).sum(), y, create_graph=True)[0]


# mend_penalty


def penalty_by_hand(critic, x):
    x = x.detach().clone().requires_grad_()
    values = critic(x)
    gradient = torch.autograd.grad(values, x, torch.ones_like(values), create_graph=True)[0]
    length = torch.sqrt((gradient**2).sum(dim=(1, 2)))
    return torch.mean((length - 1).square())


def penalty_over_all_axes(critic, x):
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return (torch.linalg.vector_norm(gradient, dim=(1, 2)) - 1).pow(2).mean()


def penalty_in_rows(critic, x):
    x = x.clone().requires_grad_()
    gradient = torch.autograd.grad(critic(x).sum(), x, create_graph=True)[0].reshape(len(x), -1)
    return sum((row.norm() - 1) ** 2 for row in gradient) / len(x)


# after_training


def by_torch_func(inner, outer, w, lr, steps):
    for _ in range(steps):
        w = w - lr * torch.func.grad(inner)(w)
    return outer(w)


def with_another_name(inner, outer, w, lr, steps):
    weights = w
    while steps:
        gradient = torch.autograd.grad(inner(weights), weights, create_graph=True)[0]
        weights = torch.sub(weights, gradient, alpha=lr)
        steps -= 1
    return outer(weights)


def from_a_clone(inner, outer, w, lr, steps):
    weights = w.clone()
    for _ in range(steps):
        weights = weights - torch.autograd.grad(inner(weights), weights, create_graph=True)[0] * lr
    return outer(weights)


def by_recursion(inner, outer, w, lr, steps):
    if steps == 0:
        return outer(w)
    (gradient,) = torch.autograd.grad(inner(w), w, create_graph=True)
    return by_recursion(inner, outer, w - lr * gradient, lr, steps - 1)


RIGHT = {
    "mixed_partial": (sliced_first, entry_of_each_hessian, with_backward, one_hot_weights),
    "predict_accumulated": ([32, 48, 32, 80], torch.tensor([32.0, 48.0, 32.0, 80.0]), np.array([32, 48, 32, 80])),
    "mend_order": (
        order_by_torch_func,
        order_with_an_exception,
        order_with_nothing_added,
        order_with_none_replaced,
    ),
    "choose_curvature": ("c", "C", " (c) ", "c."),
    "heat_residual": (residual_from_slices, residual_asked_three_times, residual_by_torch_func),
    "hessian_times": (of_a_number, forward_over_reverse, by_functional, by_backward, by_nudging_the_gradient),
    "mend_nested": (nested_view, nested_by_argument, nested_times_one, nested_with_x_cloned),
    "mend_penalty": (penalty_by_hand, penalty_over_all_axes, penalty_in_rows),
    "after_training": (by_torch_func, with_another_name, from_a_clone, by_recursion),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
_ONLY_ONE = "with one input, the tuple of gradients has one member: it is the last one too"
_NO_SIGN = "0 has no sign"
EQUIVALENT: dict[str, dict[str, str]] = {
    "mend_order": {"`return torch.zeros_like(x)`: sign changed": _NO_SIGN},
    "heat_residual": {
        "`(:, 1)`: sign changed": "of two columns, the one with number 1 is the last",
        "`(:, 0)`: sign changed": _NO_SIGN,
    },
    "hessian_times": {"`0`: -1 instead": _ONLY_ONE},
    "mend_penalty": {
        "`gradient.flatten(1).norm(2, dim=1)`: argument `2` dropped": "2 is what norm takes by itself",
        "`1`: -1 instead": "of two dimensions, the one with number 1 is the last",
    },
}
