"""Live answers turned into plain values, so that evidence can be compared, shown, and sent as text."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

RELATIVE_TOLERANCE = 1e-6  # evidence is sent with six significant digits
ABSOLUTE_TOLERANCE = 1e-9  # probes draw values of order one


@dataclass(frozen=True)
class Array:
    """A number, array or tensor: its shape, its dtype, and its numbers in row-major order."""

    shape: tuple[int, ...]
    dtype: str  # "number" for a Python number, which fits every dtype
    numbers: tuple[float | complex, ...]


@dataclass(frozen=True)
class Raised:
    """An exception that the answer raised: its type's name."""

    exception: str


@dataclass(frozen=True)
class Other:
    """A value that is no number, tensor, text or sequence: the name of its type."""

    type_name: str


Plain = Array | Raised | Other | str | None | tuple["Plain", ...]


def plain(value: object) -> Plain:
    """The plain value of anything an answer may return; lists and tuples count as the same."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return Array((), "bool", (float(value),))
    if isinstance(value, int | float | complex) and not isinstance(value, np.generic):
        return Array((), "number", (value,))
    if isinstance(value, torch.Tensor):
        return _from_tensor(value)
    if isinstance(value, np.ndarray | np.generic):
        return Array(value.shape, str(value.dtype), tuple(value.reshape(-1).tolist()))
    if isinstance(value, tuple | list):
        return tuple(plain(item) for item in value)
    return Other(type(value).__name__)


def _from_tensor(tensor: torch.Tensor) -> Array:
    dtype = str(tensor.dtype).removeprefix("torch.")
    numbers = tensor.detach().cpu().reshape(-1).tolist()
    return Array(tuple(tensor.shape), dtype, tuple(numbers))


def agree(mine: Plain, theirs: Plain) -> bool:
    """Whether two plain values are the same up to rounding; shapes and dtypes count."""
    if isinstance(mine, Array) and isinstance(theirs, Array):
        return (
            mine.shape == theirs.shape
            and dtypes_fit(mine, theirs)
            and all(map(numbers_agree, mine.numbers, theirs.numbers))
        )
    if isinstance(mine, tuple) and isinstance(theirs, tuple):
        return len(mine) == len(theirs) and all(map(agree, mine, theirs))
    return mine == theirs


def dtypes_fit(mine: Array, theirs: Array) -> bool:
    """Whether two dtypes can stand for each other: equal, or one is a plain Python number."""
    return mine.dtype == theirs.dtype or "number" in (mine.dtype, theirs.dtype)


def numbers_agree(mine: complex, theirs: complex) -> bool:
    """Whether two numbers are the same up to rounding; NaN agrees with NaN."""
    if isinstance(mine, complex) or isinstance(theirs, complex):
        mine, theirs = complex(mine), complex(theirs)
        return numbers_agree(mine.real, theirs.real) and numbers_agree(mine.imag, theirs.imag)
    if math.isnan(mine) or math.isnan(theirs):
        return math.isnan(mine) and math.isnan(theirs)
    return math.isclose(mine, theirs, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)


def as_json(value: Plain) -> object:
    """A form of the value for `json.dumps`, every number as text of six significant digits."""
    if isinstance(value, Array):
        dtype = "float64" if value.dtype == "number" else value.dtype
        return {
            "shape": list(value.shape),
            "dtype": dtype,
            "numbers": [_digits(number) for number in value.numbers],
        }
    if isinstance(value, Raised):
        return {"raised": value.exception}
    if isinstance(value, Other):
        return {"type": value.type_name}
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    return value


def from_json(value: object) -> Plain:
    """The plain value behind what `as_json` gave; ValueError if it is nothing of that kind."""
    match value:
        case None | str():
            return value
        case list():
            return tuple(from_json(item) for item in value)
        case {"shape": list(shape), "dtype": str(dtype), "numbers": list(numbers)}:
            return Array(tuple(map(int, shape)), dtype, tuple(map(_number, numbers)))
        case {"raised": str(name)}:
            return Raised(name)
        case {"type": str(name)}:
            return Other(name)
    raise ValueError(f"no evidence has the form {value!r}")


def _digits(number: complex) -> str:
    if isinstance(number, complex):
        return f"{_digits(number.real)}{'' if number.imag < 0 else '+'}{_digits(number.imag)}j"
    if abs(number) < ABSOLUTE_TOLERANCE:
        return "0"  # rounding noise must not tell two right answers apart
    return f"{number:.6g}"


def _number(text: str) -> float | complex:
    return complex(text) if text.endswith("j") else float(text)


def show(value: Plain, *, limit: int = 24, between_rows: str = ", ") -> str:
    """The value as a person would write it: `36`, `(36, 24)`, `[[1, 2], [3, 4]]`, `None`.

    Of an array with more than `limit` numbers, its shape. `between_rows` may hold a line break.
    """
    if isinstance(value, Array):
        return _show_array(value, limit, between_rows)
    if isinstance(value, Raised):
        return f"raises {value.exception}"
    if isinstance(value, Other):
        return f"a {value.type_name}"
    if isinstance(value, tuple):
        return f"({', '.join(show(item, limit=limit) for item in value)})"
    return f'"{value}"' if isinstance(value, str) else "None"


def _show_array(array: Array, limit: int, between_rows: str) -> str:
    if array.dtype == "bool" and array.shape == ():
        return str(bool(array.numbers[0]))
    if len(array.numbers) > limit:
        return f"<shape {array.shape}>"
    return _nested(array.numbers, array.shape, between_rows)


def _nested(numbers: tuple[complex, ...], shape: tuple[int, ...], between_rows: str) -> str:
    if shape == ():
        return shorten(numbers[0])
    step = math.prod(shape[1:])
    rows = (numbers[i * step : (i + 1) * step] for i in range(shape[0]))
    comma = between_rows if len(shape) > 1 else ", "
    return f"[{comma.join(_nested(row, shape[1:], between_rows) for row in rows)}]"


def shorten(number: complex) -> str:
    """A number in at most five significant digits, without a negative zero."""
    if isinstance(number, complex):
        return f"({number:.5g})"
    return f"{number + 0.0:.5g}"
