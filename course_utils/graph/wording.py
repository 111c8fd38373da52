"""Tensors in the few letters that a chip has room for."""

from __future__ import annotations

from course_utils.drawing.lettering import number as short_number

from .data import Graph, Result, SavedTensor
from .values import PlainValue, Snapshot, Statistics, Unreadable, show

NOT_YET = "?"
_ROOM = 18
_LINE = 42


def shape_text(shape: tuple[int, ...], dtype: str | None = None) -> str:
    """`5×4`, with the dtype if it is not the usual one."""
    text = "×".join(map(str, shape)) if shape else "a number"
    if len(shape) == 1:
        text = f"{shape[0]} number" + "s" * (shape[0] != 1)
    return text if dtype in (None, "float32") else f"{text} {dtype}"


def value_text(value: PlainValue | None) -> str | None:
    """A value, if it is short enough to be read at a glance."""
    if value is None or isinstance(value, (Statistics, Unreadable)):
        return None
    text = _rounded(value)
    return text if len(text) <= _ROOM else None


def _rounded(value: PlainValue) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_rounded, value)) + "]"
    if isinstance(value, complex):
        return f"{short_number(value.real)}{value.imag:+.4g}j" if len(show(value)) > _ROOM - 4 else show(value)
    return short_number(value) if isinstance(value, float) else show(value)


def result_text(result: Result) -> str:
    """`p = 6`, `p: 5×4`, or what is known."""
    if result.shape is None:
        return result.name or "no plain tensor"
    value = value_text(result.value)
    if value is not None:
        return f"{result.name} = {value}" if result.name else value
    if not is_kept(result):
        return _not_kept(result)
    shape = shape_text(result.shape, result.dtype)
    return f"{result.name}: {shape}" if result.name else shape


def is_kept(result: Result) -> bool:
    """False for a single number that nothing in the graph remembers."""
    return result.shape != () or result.value is not None


def _not_kept(result: Result) -> str:
    """Words in place of a number; the shape alone would look like a value."""
    kind = "" if result.dtype == "float32" else f", {result.dtype}"
    return f"{result.name}: not kept{kind}" if result.name else f"value not kept{kind}"


def gradient_text(gradient: Snapshot | None) -> str:
    """`24`, or shape and norm of a larger one; `nothing` where nothing was sent."""
    if gradient is None:
        return "nothing"
    value = value_text(gradient.value)
    if value is not None:
        return value
    norm = _norm(gradient.value)
    shape = shape_text(gradient.shape)
    return shape if norm is None else f"{shape}, norm {norm:.3g}"


def in_a_sentence(gradient: Snapshot | None) -> str:
    """All its numbers if there are few, else what a chip says."""
    if gradient is None or isinstance(gradient.value, (Statistics, Unreadable)):
        return gradient_text(gradient)
    text = show(gradient.value)
    return text if len(text) <= _LINE else gradient_text(gradient)


def _norm(value: PlainValue) -> float | None:
    if isinstance(value, Statistics):
        return value.norm
    return None if isinstance(value, Unreadable) else sum(map(_square, _flat(value))) ** 0.5


def _flat(value: PlainValue) -> list:
    return [number for part in value for number in _flat(part)] if isinstance(value, tuple) else [value]


def _square(number: complex) -> float:
    return abs(number) ** 2


def saved_text(graph: Graph, saved: SavedTensor) -> tuple[str, str]:
    """A saved tensor with what it holds, and its name alone for when it is freed."""
    name = saved.variable or saved.name
    if saved.variable is None and saved.result is not None:
        name = graph.name_of(saved.result)
    if saved.state == "changed":
        return f"{name}: version {saved.version} → {saved.version_now}", name
    value = value_text(saved.value)
    if value is not None:
        return f"{name} = {value}", name
    return (name if saved.shape is None else f"{name}: {shape_text(saved.shape)}"), name
