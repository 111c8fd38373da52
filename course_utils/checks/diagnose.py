"""From evidence that is wrong to the idea behind it: known misconceptions first, general patterns after."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from course_utils.checks.evidence import Evidence, Observation, gather, same_evidence
from course_utils.checks.exercise import Exercise
from course_utils.checks.plain import Array, Plain, Raised, agree, shorten


@dataclass(frozen=True)
class Diagnosis:
    """The idea that fits the evidence: a label for those who teach, and what to say to the learner."""

    label: str
    says: str


def diagnose(exercise: Exercise, mine: Evidence, truth: Evidence, seed: int) -> Diagnosis | None:
    """The misconception whose witness gives the same evidence, else a general pattern, else None."""
    for misconception in exercise.misconceptions:
        if same_evidence(mine, gather(exercise, misconception.witness, seed)):
            return Diagnosis(misconception.label, misconception.says)
    return general_pattern(mine, truth)


def general_pattern(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    """What can be said of wrong evidence without knowing the exercise; None if no pattern fits all of it."""
    for pattern in _PATTERNS:
        found = pattern(mine, truth)
        if found:
            return found
    return None


def _raised(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for one in mine:
        if isinstance(one.value, Raised):
            return Diagnosis("raises", _WHAT_RAISED.get(one.value.exception, _RAISED))
    return None


_RAISED = "Your code stopped with an exception. Its last line, below, says why."
_WHAT_RAISED = {
    "TypeError": "Your code stopped with a TypeError. Often this is the number or the order of the arguments: "
    "compare your function's first line with the one that was given.",
    "RuntimeError": "torch refused an operation. Its message, below, names the shapes or the rule. If it speaks of "
    "grad: autograd is switched off in this check, because the backward is to be written by hand.",
}


def _nothing_returned(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    if all(one.value is None for one in mine) and not any(one.value is None for one in truth):
        return Diagnosis(
            "returns_none",
            "Your function returned None. Does every path through it end in `return`?",
        )
    return None


def _input_changed(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for one, other in zip(mine, truth, strict=True):
        if one.changed and not other.changed:
            return Diagnosis(
                "changes_input",
                f"Your code changed its argument `{one.changed[0]}` in place. The caller still needs it. Which "
                "line writes into it?",
            )
    return None


def _wrong_count(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for one, other in zip(mine, truth, strict=True):
        if not isinstance(other.value, tuple):
            continue
        if not isinstance(one.value, tuple):
            return Diagnosis(
                "wrong_count",
                f"{len(other.value)} values are expected here, in this order: {', '.join(other.parts)}. Your "
                "code returned one.",
            )
        if len(one.value) != len(other.value):
            return Diagnosis(
                "wrong_count",
                f"{len(other.value)} values are expected here, in this order: {', '.join(other.parts)}. Your "
                f"code returned {len(one.value)}.",
            )
    return None


def _exchanged(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    def reversed_order(one: Plain, other: Plain) -> bool:
        return isinstance(one, tuple) and isinstance(other, tuple) and len(one) > 1 and agree(one, other[::-1])

    if _everywhere(mine, truth, reversed_order):
        return Diagnosis(
            "exchanged",
            "Each value is right, in the place of another. In which order does the caller expect them?",
        )
    return None


def _wrong_shape(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for name, one, other in _members(mine, truth):
        if one.shape != other.shape:
            return Diagnosis(
                "wrong_shape",
                f"The shape of {name} is {one.shape}; {other.shape} is expected. A gradient has the shape of the "
                "tensor that it belongs to.",
            )
    return None


def _wrong_dtype(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for name, one, other in _members(mine, truth):
        if one.dtype not in (other.dtype, "number"):
            return Diagnosis(
                "wrong_dtype",
                f"The dtype of {name} is {one.dtype}; {other.dtype} is expected. Which line left the dtype of "
                "its inputs?",
            )
    return None


def _not_finite(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for name, one, other in _members(mine, truth):
        if any(_unusual(a) and not _unusual(b) for a, b in zip(one.numbers, other.numbers, strict=True)):
            return Diagnosis(
                "not_finite",
                f"{name} holds inf or nan. Which line divides, or takes a root or a logarithm?",
            )
    return None


def _transposed(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    def is_transpose(one: Plain, other: Plain) -> bool:
        if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
            return all(map(is_transpose, one, other))
        if not (isinstance(one, Array) and isinstance(other, Array)) or len(other.shape) != 2:
            return False
        rows, columns = other.shape
        turned = tuple(other.numbers[r * columns + c] for c in range(columns) for r in range(rows))
        return agree(one, Array((columns, rows), other.dtype, turned))

    if _everywhere(mine, truth, is_transpose):
        return Diagnosis(
            "transposed",
            "This is the transpose of what is expected: rows and columns are exchanged.",
        )
    return None


def _constant_factor(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    pairs = [pair for _, one, other in _members(mine, truth) for pair in zip(one.numbers, other.numbers, strict=True)]
    if any(isinstance(number, complex) for pair in pairs for number in pair):
        return None
    factor = next((a / b for a, b in pairs if b), 0)
    if not factor or not all(math.isclose(a, factor * b, rel_tol=1e-6, abs_tol=1e-9) for a, b in pairs):
        return None
    if math.isclose(factor, -1, rel_tol=1e-6):
        return Diagnosis("negated", "Every number has the wrong sign. Where does a minus get lost, or come in?")
    return Diagnosis(
        "constant_factor",
        f"Every number is {shorten(factor)} times what is expected. Which constant of the forward has left a "
        "trace, or is missing?",
    )


# shape and dtype stand before the patterns that compare numbers one by one
_PATTERNS: tuple[Callable[[Evidence, Evidence], Diagnosis | None], ...] = (
    _raised,
    _nothing_returned,
    _input_changed,
    _wrong_count,
    _exchanged,
    _transposed,
    _wrong_shape,
    _wrong_dtype,
    _not_finite,
    _constant_factor,
)


def _everywhere(mine: Evidence, truth: Evidence, fits: Callable[[Plain, Plain], bool]) -> bool:
    return all(fits(one.value, other.value) for one, other in zip(mine, truth, strict=True))


def _members(mine: Evidence, truth: Evidence) -> list[tuple[str, Array, Array]]:
    """Every pair of arrays in the evidence, with the name of the member that it is."""
    found: list[tuple[str, Array, Array]] = []
    for one, other in zip(mine, truth, strict=True):
        for name, a, b in _named(one, other):
            if isinstance(a, Array) and isinstance(b, Array):
                found.append((name, a, b))
    return found


def _named(one: Observation, other: Observation) -> list[tuple[str, Plain, Plain]]:
    if isinstance(one.value, tuple) and isinstance(other.value, tuple):
        names = other.parts or tuple(f"value {i + 1}" for i in range(len(other.value)))
        return list(zip(names, one.value, other.value, strict=True))
    return [(other.label, one.value, other.value)]


def _unusual(number: complex) -> bool:
    return isinstance(number, float) and not math.isfinite(number)
