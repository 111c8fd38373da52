"""Unit 01: right answers written differently, and mutants of the solutions that are still right."""

from fractions import Fraction

import numpy as np
import torch

# square_times_cube


def as_a_list(incoming, x, y):
    return [2 * incoming * x * y**3, 3 * incoming * y**2 * x**2]


def step_by_step(incoming, x, y):
    square, cube = x * x, y * y * y
    at_square, at_cube = incoming * cube, incoming * square
    return at_square * (x + x), at_cube * 3 * y * y


def with_torch_functions(incoming, x, y):
    grad_x = torch.mul(2 * x, torch.pow(y, 3)).mul(incoming)
    grad_y = torch.square(x * y).mul(3).mul(incoming)
    return grad_x, grad_y


def from_the_value(incoming, x, y):
    z = x**2 * y**3
    return incoming * 2 * z / x, incoming * 3 * z / y


def in_numpy(incoming, x, y):
    g, a, b = incoming.numpy(), x.numpy(), y.numpy()
    return torch.tensor(2 * g * a * b**3), torch.tensor(3 * g * a**2 * b**2)


def in_place_on_copies(incoming, x, y):
    grad_x, grad_y = 2 * x, 3 * x * x
    grad_x.mul_(y**3).mul_(incoming)
    grad_y *= y * y
    grad_y *= incoming
    return grad_x, grad_y


# central_difference


def two_points(function, x, h):
    right, left = function(x + h), function(x - h)
    return (right - left) / (h + h)


def half_the_difference(function, x, h):
    return 0.5 * (function(x + h) - function(x - h)) / h


def mean_of_two_slopes(function, x, h):
    forward = (function(x + h) - function(x)) / h
    backward = (function(x) - function(x - h)) / h
    return (forward + backward) / 2


def in_python_numbers(function, x, h):
    return float(function(x + h) - function(x - h)) / (2 * h)


def at_python_points(function, x, h):
    x = x.item()
    return (function(x + h).item() - function(x - h).item()) / (2 * h)


# mend_quotient


def by_the_quotient(incoming, x, y):
    z = x / y
    return incoming / y, -incoming * z / y


def as_powers(incoming, x, y):
    return incoming * y**-1, incoming * x * -(y**-2)


def x_first(incoming, x, y):
    return incoming.div(y), x.mul(incoming).neg().div(y.square())


# mean_backward


def expanded(incoming, x):
    return (incoming / x.numel()).expand(x.shape)


def ones_scaled(incoming, x):
    return torch.ones_like(x) * incoming / x.numel()


def counted_by_hand(incoming, x):
    count = 1
    for size in x.shape:
        count *= size
    return incoming * torch.ones(x.shape, dtype=x.dtype) / count


def filled_in_place(incoming, x):
    gradient = torch.empty_like(x)
    gradient[...] = incoming / gradient.nelement()
    return gradient


def as_a_numpy_array(incoming, x):
    return np.full(x.shape, incoming.item() / x.numel())


# bias_backward


def named_dimension(incoming, x, b):
    return incoming.clone(), torch.sum(incoming, dim=0)


def row_by_row(incoming, x, b):
    total = torch.zeros_like(b)
    for row in incoming:
        total = total + row
    return incoming, total


def as_a_product(incoming, x, b):
    ones = torch.ones(len(incoming), dtype=incoming.dtype)
    return incoming * torch.ones_like(x), ones @ incoming


def column_by_column(incoming, x, b):
    return incoming, torch.stack([column.sum() for column in incoming.T])


# matmul_backward


def turned_outside(incoming, x, w):
    return (w @ incoming.T).T, (incoming.T @ x).T


def by_einsum(incoming, x, w):
    return torch.einsum("nm,km->nk", incoming, w), torch.einsum("nk,nm->km", x, incoming)


def by_broadcasting(incoming, x, w):
    grad_x = (incoming[:, None, :] * w[None, :, :]).sum(2)
    grad_w = (x[:, :, None] * incoming[:, None, :]).sum(0)
    return grad_x, grad_w


def by_transpose(incoming, x, w):
    return incoming.matmul(w.transpose(0, 1)), x.t().mm(incoming)


# sum_to_shape


def torchs_own(incoming, shape):
    return incoming.sum_to_size(shape)


def all_at_once(incoming, shape):
    extra = incoming.dim() - len(shape)
    dims = list(range(extra)) + [extra + i for i, size in enumerate(shape) if size == 1]
    return incoming.sum(dims).reshape(shape) if dims else incoming


def sizes_compared(incoming, shape):
    padded = (1,) * (incoming.dim() - len(shape)) + tuple(shape)
    for dim, (have, want) in enumerate(zip(incoming.shape, padded, strict=True)):
        if have != want:
            incoming = incoming.sum(dim, keepdim=True)
    return incoming.reshape(shape)


def from_the_right(incoming, shape):
    for dim in range(-1, -len(shape) - 1, -1):
        if shape[dim] == 1 and incoming.shape[dim] > 1:
            incoming = incoming.sum(dim, keepdim=True)
    while incoming.dim() > len(shape):
        incoming = incoming.sum(dim=0)
    return incoming


def entry_by_entry(incoming, shape):
    gradient = torch.zeros(shape, dtype=incoming.dtype)
    for place in np.ndindex(*incoming.shape):
        ends = place[len(place) - len(shape) :]
        gradient[tuple(0 if size == 1 else i for i, size in zip(ends, shape, strict=True))] += incoming[place]
    return gradient


RIGHT = {
    "square_times_cube": (
        as_a_list,
        step_by_step,
        with_torch_functions,
        from_the_value,
        in_numpy,
        in_place_on_copies,
    ),
    "predict_messages": (
        [-24, 12],
        (torch.tensor(-24.0), torch.tensor(12.0)),
        (-3 * 8, -3 * -4),
        np.array([-24, 12]),
        (Fraction(-24), 12),
    ),
    "central_difference": (two_points, half_the_difference, mean_of_two_slopes, in_python_numbers, at_python_points),
    "mend_quotient": (by_the_quotient, as_powers, x_first),
    "choose_addition": ("b", "B", " b ", "b.", "(b)", "b)\n"),
    "mean_backward": (expanded, ones_scaled, counted_by_hand, filled_in_place, as_a_numpy_array),
    "bias_backward": (named_dimension, row_by_row, as_a_product, column_by_column),
    "matmul_backward": (turned_outside, by_einsum, by_broadcasting, by_transpose),
    "sum_to_shape": (torchs_own, all_at_once, sizes_compared, from_the_right, entry_by_entry),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
EQUIVALENT: dict[str, dict[str, str]] = {
    "sum_to_shape": {
        "`incoming.dim() > len(shape)`: Gt made NotEq": (
            "a shape that was broadcast to that of `incoming` never has more dimensions than it"
        ),
    },
}
