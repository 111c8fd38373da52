"""Unit 01: right answers written differently, and mutants of the solutions that are still right."""

import numpy as np
import torch

# square_of_product


def through_the_product(incoming, x, y):
    product = x * y
    at_product = incoming * 2 * product
    return at_product * y, at_product * x


def as_a_list(incoming, x, y):
    return [2 * incoming * x * y**2, 2 * incoming * y * x**2]


def with_torch_functions(incoming, x, y):
    grad_x = torch.mul(2 * x, torch.square(y)).mul(incoming)
    grad_y = torch.mul(2 * y, torch.square(x)).mul(incoming)
    return grad_x, grad_y


def from_the_value(incoming, x, y):
    z = (x * y) ** 2
    return incoming * 2 * z / x, incoming * 2 * z / y


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


RIGHT = {
    "square_of_product": (through_the_product, as_a_list, with_torch_functions, from_the_value),
    "predict_messages": ([-24, 12], (torch.tensor(-24.0), torch.tensor(12.0)), (-3 * 8, -3 * -4), np.array([-24, 12])),
    "central_difference": (two_points, half_the_difference, mean_of_two_slopes, in_python_numbers),
    "mend_quotient": (by_the_quotient, as_powers, x_first),
    "choose_addition": ("b", "B", " b ", "b."),
    "mean_backward": (expanded, ones_scaled, counted_by_hand, filled_in_place),
    "bias_backward": (named_dimension, row_by_row, as_a_product),
    "matmul_backward": (turned_outside, by_einsum, by_broadcasting, by_transpose),
    "sum_to_shape": (torchs_own, all_at_once, sizes_compared, from_the_right),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
EQUIVALENT: dict[str, dict[str, str]] = {
    "sum_to_shape": {
        "`incoming.dim() > len(shape)`: Gt made NotEq": (
            "a shape that was broadcast to that of `incoming` never has more dimensions than it"
        ),
    },
}
