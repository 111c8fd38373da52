"""Unit 08: right answers written differently, and mutants of the solutions that are still right."""

import numpy as np
import torch
from torch.nn import functional

# supports


def by_a_loop(f, x, slope, points):
    height = f(x).item()
    above = [p for p in points if height + slope.item() * (p.item() - x.item()) > f(p).item()]
    return len(above) == 0


def by_the_gap(f, x, slope, points):
    gap = f(points) - f(x) - slope * (points - x)
    return gap.min().item() >= 0


def by_a_count(f, x, slope, points):
    above = f(x) - slope * x + slope * points > f(points)
    return not above.any()


# max_backward


def by_division(incoming, x):
    places = (x >= x.max()).nonzero().flatten()
    gradient = torch.zeros_like(x)
    gradient[places] = incoming / len(places)
    return gradient


def by_where(incoming, x):
    largest = x == torch.sort(x).values[-1]
    return torch.where(largest, incoming / largest.sum(), torch.tensor(0.0, dtype=x.dtype))


def by_numbers(incoming, x):
    values = x.tolist()
    largest = max(values)
    share = incoming.item() / values.count(largest)
    return torch.tensor([share if value == largest else 0.0 for value in values], dtype=x.dtype)


# straight_sign


def from_a_clamp(x):
    inside = x.clamp(-1, 1)
    return inside + (x.sign() - inside).detach()


def from_hardtanh(x):
    return functional.hardtanh(x) - functional.hardtanh(x).detach() + torch.sign(x).detach()


def from_a_mask(x):
    return x.sign().detach() + (x - x.detach()) * (x.detach().abs() < 1)


def from_a_function(x):
    class Straight(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return torch.sign(x)

        @staticmethod
        def backward(ctx, grad_output):
            (x,) = ctx.saved_tensors
            return torch.where(x.abs() > 1, torch.zeros_like(x), grad_output)

    return Straight.apply(x)


# mend_lengths


def by_norm(x):
    return x.norm(dim=1)


def by_linalg(x):
    return torch.linalg.vector_norm(x, dim=-1)


def with_safe_rows(x):
    empty = (x == 0).all(dim=1, keepdim=True)
    safe = torch.where(empty, torch.ones_like(x), x)
    return safe.pow(2).sum(1).sqrt() * ~empty.squeeze(1)


def only_where_it_can_be_computed(x):
    squares = (x * x).sum(1)
    full = squares > 0
    result = torch.zeros_like(squares)
    result[full] = squares[full].sqrt()
    return result


def with_a_hook(x):
    squares = (x**2).sum(dim=1)
    squares = squares * 1
    squares.register_hook(lambda gradient: gradient.nan_to_num(0.0, 0.0, 0.0))
    return squares.sqrt()


# mend_entropy


def only_positive_entries(p):
    seen = p[p > 0]
    return -(seen * seen.log()).sum()


def with_a_filled_zero(p):
    return -(p * p.masked_fill(p == 0, 1.0).log() * (p > 0)).sum()


def with_a_safe_logarithm(p):
    logarithm = torch.log(torch.where(p == 0, torch.ones_like(p), p))
    return (-torch.where(p == 0, torch.zeros_like(p), p) * logarithm).sum()


def one_by_one(p):
    total = p.sum() * 0
    for one in p:
        if one > 0:
            total = total - one * torch.log(one)
    return total


# mend_missing


def with_the_targets_replaced(x, target):
    known = ~target.isnan()
    filled = torch.where(known, target, x.detach())
    return ((x - filled) ** 2 * known).sum() / known.sum()


def with_nan_to_num(x, target):
    known = (target == target).to(x.dtype)
    return (known * (x - target.nan_to_num()) ** 2).sum() / known.sum()


def with_mse_loss(x, target):
    places = target.isfinite().nonzero().flatten()
    return functional.mse_loss(x[places], target[places])


def with_the_gap_filled(x, target):
    gap = (x - target).masked_fill(target.isnan(), 0.0)
    return gap.square().sum() / (~target.isnan()).sum()


# mend_attention


def with_weights_repaired(scores, mask, values):
    hidden = scores.masked_fill(~mask, -float("inf"))
    return torch.softmax(hidden, dim=1).nan_to_num(0.0) @ values


def with_exponentials(scores, mask, values):
    weights = scores.exp() * mask
    return weights / weights.sum(1, keepdim=True).clamp(min=1e-300) @ values


def with_a_safe_mask(scores, mask, values):
    empty = ~mask.any(dim=1, keepdim=True)
    hidden = scores.masked_fill(~(mask | empty), -float("inf"))
    return (torch.softmax(hidden, dim=1) @ values) * ~empty


def with_where(scores, mask, values):
    lowest = torch.finfo(scores.dtype).min
    weights = torch.where(mask, scores, torch.full_like(scores, lowest)).softmax(dim=-1)
    return torch.where(mask, weights, torch.zeros_like(weights)) @ values


RIGHT = {
    "predict_kinks": ([0.5, 3, 2, 1], torch.tensor([0.5, 3.0, 2.0, 1.0]), np.array([1 / 2, 3, 2, 1])),
    "supports": (by_a_loop, by_the_gap, by_a_count),
    "max_backward": (by_division, by_where, by_numbers),
    "choose_identity": ("b", "B", "b.", "(b)"),
    "straight_sign": (from_a_clamp, from_hardtanh, from_a_mask, from_a_function),
    "mend_lengths": (by_norm, by_linalg, with_safe_rows, only_where_it_can_be_computed, with_a_hook),
    "mend_entropy": (only_positive_entries, with_a_filled_zero, with_a_safe_logarithm, one_by_one),
    "mend_missing": (with_the_targets_replaced, with_nan_to_num, with_mse_loss, with_the_gap_filled),
    "mend_attention": (with_weights_repaired, with_exponentials, with_a_safe_mask, with_where),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
_LAST_OF_TWO = "of two dimensions, the one with number 1 is the last"
_REPLACED = "the first `where` sends 0 to what it has replaced, whatever stands there"
EQUIVALENT: dict[str, dict[str, str]] = {
    "max_backward": {"`x == x.max()`: Eq made GtE": "no entry is above the largest"},
    "straight_sign": {
        "`x.abs() < 1`: Lt made LtE": "no entry is exactly 1 or -1, as the text says",
        "`0.0`: 1.0 instead": "the value is taken away again, and a constant has no gradient",
        "`0.0`: -1.0 instead": "the value is taken away again, and a constant has no gradient",
    },
    "mend_lengths": {
        "`1`: -1 instead": _LAST_OF_TWO,
        "`squares == 0`: Eq made LtE": "a sum of squares is never below 0",
        "`1.0`: 2.0 instead": _REPLACED,
        "`1.0`: 0.0 instead": _REPLACED,
        "`1.0`: -1.0 instead": _REPLACED,
    },
    "mend_entropy": {
        "`p > 0`: Gt made NotEq": "no entry is negative",
        "`p > 0`: Gt made GtE": "the safe entry is 1, and 1 log 1 is 0",
        "`1.0`: 2.0 instead": _REPLACED,
        "`1.0`: 0.0 instead": _REPLACED,
        "`1.0`: -1.0 instead": _REPLACED,
        "`0`: -1 instead": "the safe entry is 1, and 1 log 1 is 0",
    },
    "mend_missing": {"`x[known] - target[known]`: operands exchanged": "the difference is squared"},
    "mend_attention": {
        "`1000000000.0`: 1000000001.0 instead": "any large number hides a score",
        "`1000000000.0`: 999999999.0 instead": "any large number hides a score",
        "`1`: -1 instead": _LAST_OF_TWO,
    },
}
