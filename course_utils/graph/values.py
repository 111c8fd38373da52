"""What a tensor held at one moment, as plain Python values that nothing can change later."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

LARGEST_KEPT = 64
"""Tensors up to this many elements are kept in full, larger ones as statistics."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is kept of a tensor that is too large to keep; of complex numbers, their magnitudes."""

    minimum: float
    maximum: float
    mean: float
    norm: float
    not_finite: int = 0

    def __str__(self) -> str:
        spread = f"{number(self.minimum)} to {number(self.maximum)}"
        text = f"{spread}, mean {number(self.mean)}, norm {number(self.norm)}"
        return f"{text}, {self.not_finite} not finite" if self.not_finite else text


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands where a tensor has no values to read: on the meta device, inside a transform."""

    reason: str

    def __str__(self) -> str:
        return f"not readable ({self.reason})"


Scalar = bool | int | float | complex
PlainValue = Scalar | tuple | Statistics | Unreadable


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A tensor's shape, dtype and value at the moment it was taken.

    `value` is a number for a tensor without dimensions, nested tuples for a small tensor,
    `Statistics` for a large one.
    """

    shape: tuple[int, ...]
    dtype: str
    value: PlainValue

    def __str__(self) -> str:
        if isinstance(self.value, (Statistics, Unreadable)):
            return f"{self.dtype} {list(self.shape)}: {self.value}"
        return show(self.value)


def snapshot(tensor: Tensor, keep: int = LARGEST_KEPT) -> Snapshot:
    """`tensor` as it is now; nothing is recorded by autograd, and no memory is shared."""
    return Snapshot(tuple(tensor.shape), dtype_name(tensor.dtype), plain_value(tensor, keep))


def plain_value(tensor: Tensor, keep: int = LARGEST_KEPT) -> PlainValue:
    """The numbers in `tensor`, or what can be said of them if there are more than `keep`."""
    if tensor.is_meta:
        return Unreadable("a tensor on the meta device has no values")
    tensor = tensor.detach()
    try:
        if tensor.numel() > keep:
            return _statistics(tensor)
        if tensor.layout is not torch.strided:
            tensor = tensor.to_dense()
        return _tuples(tensor.tolist())
    except (RuntimeError, NotImplementedError, TypeError) as error:
        return Unreadable(first_sentence(error))


def same(one: Snapshot | None, other: Snapshot | None) -> bool:
    """Whether two snapshots hold the same values; unlike `==`, nan is the same as nan."""
    return one == other or repr(one) == repr(other)


def show(value: PlainValue | None) -> str:
    """A value as short text: `36`, `[1, 2.5]`; `None` is written out, because it is not zero."""
    if isinstance(value, tuple):
        return "[" + ", ".join(map(show, value)) + "]"
    if value is None or isinstance(value, (bool, Statistics, Unreadable)):
        return str(value)
    return number(value)


def number(value: Scalar) -> str:
    """A number with at most six significant digits."""
    if isinstance(value, complex):
        sign = "-" if math.copysign(1, value.imag) < 0 else "+"
        return f"{value.real:.6g}{sign}{abs(value.imag):.6g}j"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@cache
def dtype_name(dtype: torch.dtype) -> str:
    """`float32` for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def first_sentence(error: Exception) -> str:
    """What an exception says first."""
    lines = str(error).strip().splitlines()
    return lines[0].split(". ")[0].rstrip(".") if lines else type(error).__name__


def _tuples(value: Scalar | list) -> Scalar | tuple:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@torch.no_grad()
def _statistics(tensor: Tensor) -> Statistics:
    numbers = tensor.coalesce().values() if tensor.layout is torch.sparse_coo else tensor
    if numbers.is_complex():
        numbers = numbers.abs()
    if numbers.dtype not in (torch.float32, torch.float64):
        numbers = numbers.float()
    minimum, maximum = (bound.item() for bound in numbers.aminmax())
    # A nan or an infinity always shows in the bounds, so most tensors need no second look.
    finite = math.isfinite(minimum) and math.isfinite(maximum)
    return Statistics(
        minimum=minimum,
        maximum=maximum,
        mean=numbers.mean().item(),
        norm=torch.linalg.vector_norm(numbers).item(),
        not_finite=0 if finite else int((~numbers.isfinite()).sum()),
    )
