"""Unit 05: right answers written differently, and mutants of the solutions that are still right."""

import numpy as np
import torch

# mend_training


def with_an_optimizer(loss_of, w, steps, lr):
    optimizer = torch.optim.SGD([w], lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(w).backward()
        optimizer.step()
    return w


def without_dot_grad(loss_of, w, steps, lr):
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(loss_of(w), w)
        with torch.no_grad():
            w.sub_(gradient, alpha=lr)
    return w


def with_zeros(loss_of, w, steps, lr):
    for _ in range(steps):
        if w.grad is not None:
            w.grad.zero_()
        loss_of(w).backward()
        w.data -= lr * w.grad
    return w


def cleared_before_and_after(loss_of, w, steps, lr):
    w.grad = None
    for _ in range(steps):
        loss_of(w).sum().backward()
        with torch.no_grad():
            w.copy_(w - lr * w.grad)
        w.grad = None
    return w


def without_what_was_there(loss_of, w, steps, lr):
    for _ in range(steps):
        before = torch.zeros_like(w) if w.grad is None else w.grad.clone()
        loss_of(w).backward()
        with torch.inference_mode():
            w -= lr * (w.grad - before)
    return w


# mend_jacobian


def row_by_row(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    jacobian = torch.zeros(len(y), len(x), dtype=x.dtype)
    for i in range(len(y)):
        g = torch.zeros_like(y)
        g[i] = 1.0
        jacobian[i, :] = torch.autograd.grad(y, x, grad_outputs=g, retain_graph=True)[0]
    return jacobian


def by_jacrev(f, x):
    return torch.func.jacrev(f)(x)


def with_a_graph_each(f, x):
    rows = []
    for i in range(len(f(x))):
        leaf = x.clone().requires_grad_()
        f(leaf)[i].backward()
        rows.append(leaf.grad)
    return torch.stack(rows)


def by_vjp(f, x):
    y, pull_back = torch.func.vjp(f, x)
    return torch.func.vmap(pull_back)(torch.eye(len(y), dtype=x.dtype))[0]


def input_by_input(f, x):
    columns = [torch.func.jvp(f, (x,), (step,))[1] for step in torch.eye(len(x), dtype=x.dtype)]
    return torch.stack(columns, dim=1)


def from_dot_grad(f, x):
    x = x.clone().requires_grad_()
    rows = []
    for entry in f(x):
        x.grad = None
        entry.backward(retain_graph=True)
        rows.append(x.grad)
    return torch.stack(rows)


# gradient_for_each


def with_backward(f, inputs):
    leaves = [tensor.detach().clone().requires_grad_() for tensor in inputs]
    f(*leaves).backward()
    return [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in leaves]


def with_nones_replaced(f, inputs):
    leaves = tuple(tensor.detach().requires_grad_() for tensor in inputs)
    found = torch.autograd.grad(f(*leaves), leaves, allow_unused=True)
    return tuple(
        leaf.new_zeros(leaf.shape) if gradient is None else gradient
        for leaf, gradient in zip(leaves, found, strict=True)
    )


def one_after_the_other(f, inputs):
    return [torch.func.grad(f, argnums=place)(*inputs) for place in range(len(inputs))]


# by_column


def sliced_before(f, x, k):
    column = x[:, k].clone().requires_grad_()
    columns = [column if j == k else x[:, j] for j in range(x.shape[1])]
    return torch.autograd.grad(f(torch.stack(columns, dim=1)).sum(), column)[0]


def with_dot_grad(f, x, k):
    x = x.clone().requires_grad_()
    values = f(x)
    values.backward(torch.ones_like(values))
    return x.grad[:, k]


def from_the_jacobian(f, x, k):
    jacobian = torch.func.jacrev(f)(x)
    return torch.stack([jacobian[i, i, k] for i in range(len(x))])


def by_moving_the_column(f, x, k):
    step = torch.zeros_like(x)
    step[:, k] = 1.0
    return torch.func.jvp(f, (x,), (step,))[1]


# each_output


def with_one_hot_weights(f, t):
    t = t.clone().requires_grad_()
    y = f(t)
    result = torch.zeros_like(y)
    for k in range(y.shape[1]):
        g = torch.zeros_like(y)
        g[:, k] = 1.0
        result[:, k] = torch.autograd.grad(y, t, g, retain_graph=True)[0][:, 0]
    return result.detach()


def number_by_number(f, t):
    def of_one(number):
        return f(number.reshape(1, 1))[0]

    return torch.stack([torch.func.jacrev(of_one)(number) for number in t.squeeze(1)])


def all_at_once(f, t):
    t = t.clone().requires_grad_()
    y = f(t)
    g = torch.stack([torch.eye(y.shape[1], dtype=y.dtype)[k].expand(y.shape) for k in range(y.shape[1])])
    return torch.autograd.grad(y, t, g, is_grads_batched=True)[0].squeeze(2).T


def by_moving_all_times(f, t):
    return torch.func.jvp(f, (t,), (torch.ones_like(t),))[1]


# standardise


def detached_together(x):
    fixed = x.detach()
    return (x - fixed.mean(0)) / (fixed.var(0, unbiased=False) + 1e-5).sqrt()


def under_no_grad(x):
    with torch.no_grad():
        mean, variance = x.mean(0), ((x - x.mean(0)) ** 2).mean(0)
    return (x - mean) / (variance + 1e-5).sqrt()


def as_in_eval(x):
    mean, variance = x.detach().mean(0), x.detach().var(0, unbiased=False)
    return torch.nn.functional.batch_norm(x, mean, variance, training=False)


def values_of_one_gradient_of_another(x):
    root = (x.var(0, unbiased=False) + 1e-5).sqrt()
    values, way_back = (x - x.mean(0)) / root, x / root.detach()
    return way_back + (values - way_back).detach()


# for_each_sample


def with_a_stack_of_weights(losses_of, w, x):
    w = w.clone().requires_grad_()
    losses = losses_of(w, x)
    return torch.autograd.grad(losses, w, torch.eye(len(losses), dtype=losses.dtype), is_grads_batched=True)[0]


def with_torch_func(losses_of, w, x):
    def of_one(w, row):
        return losses_of(w, row[None])[0]

    return torch.func.vmap(torch.func.grad(of_one), in_dims=(None, 0))(w, x)


def the_rows_of_a_jacobian(losses_of, w, x):
    return torch.func.jacrev(losses_of)(w, x)


def each_by_itself(losses_of, w, x):
    found = []
    for row in x:
        leaf = w.detach().clone().requires_grad_()
        losses_of(leaf, row[None]).backward()
        found.append(leaf.grad)
    return torch.stack(found)


def copies_for_all(losses_of, w, x):
    copies = w.expand(len(x), *w.shape).clone().requires_grad_()
    total = sum(losses_of(copies[i], x[i : i + 1]).sum() for i in range(len(x)))
    return torch.autograd.grad(total, copies)[0]


RIGHT = {
    "predict_dot_grad": ([3, 17, 5, 17, 14], (3, 3 + 2 * 7, 5, 17, 14), np.array([3.0, 17, 5, 17, 14])),
    "mend_training": (
        with_an_optimizer,
        without_dot_grad,
        with_zeros,
        cleared_before_and_after,
        without_what_was_there,
    ),
    "predict_weights": ([9, 7], torch.tensor([9.0, 7.0]), (2 * 5 - 1, 2 * 3 - 4 + 0.5 * 10)),
    "mend_jacobian": (row_by_row, by_jacrev, with_a_graph_each, by_vjp, input_by_input, from_dot_grad),
    "gradient_for_each": (with_backward, with_nones_replaced, one_after_the_other),
    "by_column": (sliced_before, with_dot_grad, from_the_jacobian, by_moving_the_column),
    "each_output": (with_one_hot_weights, number_by_number, all_at_once, by_moving_all_times),
    "choose_trick": ("b", "B", " b.", "(b)"),
    "standardise": (detached_together, under_no_grad, as_in_eval, values_of_one_gradient_of_another),
    "for_each_sample": (
        with_a_stack_of_weights,
        with_torch_func,
        the_rows_of_a_jacobian,
        each_by_itself,
        copies_for_all,
    ),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
_ONLY_ONE = "with one input, the tuple of gradients has one member: it is the last one too"
_LAST_OF_TWO = "of two dimensions, the one with number 1 is the last"
EQUIVALENT: dict[str, dict[str, str]] = {
    "mend_jacobian": {"`0`: -1 instead": _ONLY_ONE},
    "by_column": {"`0`: -1 instead": _ONLY_ONE},
    "each_output": {"`0`: -1 instead": _ONLY_ONE, "`1`: -1 instead": _LAST_OF_TWO},
    "for_each_sample": {"`0`: -1 instead": _ONLY_ONE},
}
