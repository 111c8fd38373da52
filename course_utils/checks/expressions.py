"""Random expressions: short programs on tensors that branch, join, broadcast, and stay away from kinks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from course_utils.checks.draw import Draw

_LARGEST = 12.0  # so that an exponential on top of it, and a square on top of that, keep their digits
_KINK = 0.05
_ONE: dict[str, Callable[[Tensor], Tensor]] = {
    "{}.exp()": torch.exp,
    "{}.relu()": torch.relu,
    "{} ** 2": lambda x: x**2,
    "{} ** 3": lambda x: x**3,
}
_TWO: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "{} + {}": torch.add,
    "{} * {}": torch.mul,
    "{} @ {}": torch.matmul,
}


def random_program(draw: Draw, leaves: Mapping[str, Tensor], steps: int) -> tuple[str, ...]:
    """The lines of a program on `leaves`. Its last line gives `L`, one number, into which everything goes.

    Each line before it is one operation, on anything that stands before it: a leaf, or the result of another line.
    """
    values = dict(leaves)
    lines: list[str] = []
    used: set[str] = set()
    while len(lines) < steps:
        choices = list(_steps(values, list((_ONE | _TWO).keys())[draw.whole(0, len(_ONE | _TWO) - 1)]))
        if not choices:
            continue
        text, names, value = choices[draw.whole(0, len(choices) - 1)]
        name = f"t{len(lines) + 1}"
        lines.append(f"{name} = {text}")
        values[name] = value
        used.update(names)
    ends = [f"{name}.sum()" for name in values if name not in used]
    return (*lines, f"L = {' + '.join(ends)}")


def _steps(values: Mapping[str, Tensor], form: str) -> Iterator[tuple[str, tuple[str, ...], Tensor]]:
    """Every way to write one operation on what is there, with its result, that keeps within bounds."""
    if form in _ONE:
        for name, value in values.items():
            if form != "{}.relu()" or value.abs().min() > _KINK < value.max():
                yield from _if_bounded(form, (name,), _ONE[form](value))
        return
    for first, x in values.items():
        for second, y in values.items():
            if _fit(form, x, y):
                yield from _if_bounded(form, (first, second), _TWO[form](x, y))


def _fit(form: str, x: Tensor, y: Tensor) -> bool:
    if "@" in form:
        return x.dim() == y.dim() == 2 and x.shape[1] == y.shape[0]
    pairs = zip(reversed(x.shape), reversed(y.shape), strict=False)
    return all(one == other or 1 in (one, other) for one, other in pairs)


def _if_bounded(form: str, names: tuple[str, ...], value: Tensor) -> Iterator[tuple[str, tuple[str, ...], Tensor]]:
    largest = value.abs().max().item()
    if math.isfinite(largest) and largest < _LARGEST:
        yield form.format(*names), names, value
