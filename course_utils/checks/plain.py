"""Live answers turned into plain values, so that evidence can be compared, shown, and sent as text."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass

import numpy as np
import torch

RELATIVE_TOLERANCE = 1e-5  # evidence is sent with six significant digits, the last of them rounded
ABSOLUTE_TOLERANCE = 1e-9  # probes draw values of order one
LIMIT = 24  # more numbers than these are not shown one by one

# beyond these an answer is not looked into: it may hold itself, or fill the memory
_DEEPEST, _LONGEST, _LARGEST = 4, 100, 100_000
_MOST_SIDES = 64  # no tensor has more


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
    return _plain(value, _DEEPEST)


def _plain(value: object, levels: int) -> Plain:
    if value is None:
        return None
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, bool | np.bool_):
        return Array((), "bool", (float(value),))
    if isinstance(value, torch.Tensor):
        return _from_tensor(value)
    if isinstance(value, np.ndarray | np.generic):
        return _from_numpy(np.asarray(value))
    if isinstance(value, numbers.Number):
        return Array((), "number", (_from_number(value),))
    if isinstance(value, tuple | list):
        if levels == 0 or len(value) > _LONGEST:
            return Other(f"{type(value).__name__} of {len(value)} values")
        return tuple(_plain(item, levels - 1) for item in value)
    return Other(type(value).__name__)


def _from_tensor(tensor: torch.Tensor) -> Array | Other:
    if tensor.layout is not torch.strided or tensor.is_nested or tensor.is_quantized or tensor.is_meta:
        return Other("tensor that is not stored number by number")
    if tensor.numel() > _LARGEST:
        return Other(f"tensor of shape {tuple(tensor.shape)}")
    wide = torch.complex128 if tensor.is_complex() else torch.float64
    listed = tensor.detach().cpu().to(wide).reshape(-1).tolist()
    return Array(tuple(tensor.shape), str(tensor.dtype).removeprefix("torch."), tuple(listed))


def _from_numpy(array: np.ndarray) -> Array | Other:
    if array.dtype.kind not in "biufc":
        return Other(f"numpy array of {array.dtype}")
    if array.size > _LARGEST:
        return Other(f"numpy array of shape {array.shape}")
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    return Array(array.shape, str(array.dtype), tuple(array.astype(wide).reshape(-1).tolist()))


def _from_number(number: numbers.Number) -> float | complex:
    if isinstance(number, numbers.Complex) and not isinstance(number, numbers.Real):
        return complex(number)
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


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
    return _from_json(value, 2 * _DEEPEST)


def _from_json(value: object, levels: int) -> Plain:
    match value:
        case None | str():
            return value
        case list() if levels:
            return tuple(_from_json(item, levels - 1) for item in value)
        case {"shape": list(shape), "dtype": str(dtype), "numbers": list(texts)}:
            sizes_fit = all(type(size) is int and size >= 0 for size in shape) and math.prod(shape) == len(texts)
            if sizes_fit and len(shape) <= _MOST_SIDES and all(isinstance(text, str) for text in texts):
                return Array(tuple(shape), dtype, tuple(map(_number, texts)))
        case {"raised": str(name)}:
            return Raised(name)
        case {"type": str(name)}:
            return Other(name)
    raise ValueError(f"no evidence has the form of this {type(value).__name__}")


def _digits(number: complex) -> str:
    if isinstance(number, complex):
        real, imaginary = _digits(number.real), _digits(number.imag)
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if abs(number) < ABSOLUTE_TOLERANCE:
        return "0"  # rounding noise must not tell two right answers apart
    return f"{number:.6g}"


def _number(text: str) -> float | complex:
    return complex(text) if text.endswith("j") else float(text)


def show(value: Plain, *, limit: int = LIMIT, between_rows: str = ", ") -> str:
    """The value as a person would write it: `36`, `(36, 24)`, `[[1, 2], [3, 4]]`, `None`.

    Of an array with more than `limit` numbers, its shape; of a longer tuple, its length. No text or name of the
    learner's breaks the line; `between_rows` may.
    """
    if isinstance(value, Array):
        return _show_array(value, limit, between_rows)
    if isinstance(value, Raised):
        return f"raises {_one_line(value.exception)}"
    if isinstance(value, Other):
        name = _one_line(value.type_name)
        return f"an {name}" if name[:1] in "aeiou" else f"a {name}"
    if isinstance(value, tuple):
        return _show_tuple(value, limit)
    return f'"{_one_line(value)}"' if isinstance(value, str) else "None"


def _one_line(text: str, longest: int = 60) -> str:
    """The text, cut where it is long, with an escape for whatever is no visible sign."""
    cut = text if len(text) <= longest else f"{text[:longest]}…"
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in cut)


def _show_tuple(members: tuple[Plain, ...], limit: int) -> str:
    if len(members) > limit:
        return f"<{len(members)} values>"
    inside = ", ".join(show(member, limit=limit) for member in members)
    return f"({inside},)" if len(members) == 1 else f"({inside})"


def _show_array(array: Array, limit: int, between_rows: str) -> str:
    if array.dtype == "bool" and array.shape == ():
        return str(bool(array.numbers[0]))
    if len(array.numbers) > limit or max(array.shape, default=0) > limit:
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
