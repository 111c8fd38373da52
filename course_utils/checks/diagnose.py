"""From evidence that is wrong to the idea behind it: known misconceptions first, general patterns after."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass

from course_utils.checks.by_hand import NotByHand
from course_utils.checks.evidence import NO_FUNCTION, Evidence, Observation, gather, same_evidence
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.plain import Array, Other, Plain, Raised, agree, dtypes_fit, numbers_agree, shorten, show
from course_utils.checks.recorded import BROKEN
from course_utils.checks.stopped import why_it_stopped


@dataclass(frozen=True)
class Diagnosis:
    """The idea that fits the evidence: a label for those who teach, and what to say to the learner.

    `place` is that of the observation that it speaks of, where this need not be the first that differs.
    """

    label: str
    says: str
    place: int | None = None


def diagnose(exercise: Exercise, mine: Evidence, truth: Evidence, seed: int) -> Diagnosis | None:
    """The misconception whose witness gives the same evidence, else a general pattern, else None.

    If no witness gives the whole evidence, one that gives all that is wrong in it will do: a learner may have
    one gradient right where the witness has none. Where exceptions are all that is wrong, they have to say the same.
    """
    witnesses = _known_mistakes(exercise, seed)
    for misconception, theirs in witnesses:
        if same_evidence(mine, theirs) and (not _raises_or_right(mine, truth) or _same_exceptions(mine, theirs)):
            return Diagnosis(misconception.label, misconception.says)
    for misconception, theirs in witnesses:
        if _explains(theirs, mine, truth):
            return Diagnosis(misconception.label, misconception.says)
    found = general_pattern(mine, truth)
    if found and found.label in _GIVES_AWAY and not exercise.tells_expected:
        return None
    return found


@functools.lru_cache(maxsize=256)
def _known_mistakes(exercise: Exercise, seed: int) -> tuple[tuple[Misconception, Evidence], ...]:
    """Each misconception with the evidence of each of its witnesses; the same exercise and seed give the same."""
    truth = gather(exercise, exercise.truth, seed)
    return tuple(
        (one, exercise.settle(gather(exercise, answer, seed), truth))
        for one in exercise.misconceptions
        for answer in one.witnesses
    )


_GIVES_AWAY = ("exchanged", "transposed", "negated", "constant_factor")  # with these, yours leads to what is expected


def general_pattern(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    """What can be said of wrong evidence without knowing the exercise; None if no pattern fits.

    A pattern that holds for all of the evidence comes first, then the one that speaks of the earliest observation.
    """
    found = [diagnosis for pattern in _PATTERNS if (diagnosis := pattern(mine, truth))]
    return min(found, key=lambda diagnosis: -1 if diagnosis.place is None else diagnosis.place, default=None)


def _explains(theirs: Evidence, mine: Evidence, truth: Evidence) -> bool:
    """Whether every value of mine that is wrong is theirs, and not by exceptions alone: these have many causes."""
    if _raises_or_right(mine, truth):
        return False
    return len(mine) == len(theirs) == len(truth) and all(
        one.changed == right.changed and _agree_or_right(one.value, other.value, right.value)
        for one, other, right in zip(mine, theirs, truth, strict=True)
    )


def _raises_or_right(mine: Evidence, truth: Evidence) -> bool:
    return all(isinstance(one.value, Raised) or one.agrees_with(right) for one, right in zip(mine, truth, strict=True))


def _same_exceptions(mine: Evidence, theirs: Evidence) -> bool:
    """Whether the exceptions are the same to their words, as far as these are known.

    Those of too deep a recursion vary, and have one cause.
    """
    pairs = zip(mine, theirs, strict=True)
    return all(one.message in ("", other.message) or one.value == _TOO_DEEP for one, other in pairs)


_TOO_DEEP = Raised("RecursionError")
_NOT_WRITTEN = Raised("NotImplementedError")  # a part that is still open neither fits a mistake nor speaks against it


def _agree_or_right(mine: Plain, theirs: Plain, right: Plain) -> bool:
    values = (mine, theirs, right)
    if all(isinstance(value, tuple) for value in values) and len(mine) == len(theirs) == len(right):
        return all(map(_agree_or_right, *values))
    return agree(mine, right) or agree(mine, theirs) or mine == _NOT_WRITTEN


def _no_function(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    if any(isinstance(one.value, Other) and one.value.type_name.endswith(NO_FUNCTION) for one in mine):
        return Diagnosis(
            "no_function",
            "`check` was given a value, and it calls a function. Give it the function's name alone, without brackets "
            "after it.",
        )
    return None


def _raised(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for place, (one, other) in enumerate(zip(mine, truth, strict=True)):
        if isinstance(one.value, Raised) and one.value != other.value:
            if one.value.exception == NotByHand.__name__:
                return Diagnosis("uses_autograd", _USES_AUTOGRAD, place)
            return Diagnosis("raises", why_it_stopped(one), place)
    return None


_USES_AUTOGRAD = (
    "Your code asks autograd for the gradient. Here the backward is to be written by hand, so autograd is switched "
    "off in this check. Which formula would it use?"
)


def _nothing_returned(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    if all(one.value is None for one in mine) and not any(one.value is None for one in truth):
        if any(one.printed for one in mine):
            says = "Your function printed something and returned None. Its caller gets only what stands after `return`."
        else:
            says = "The answer is None. If it comes from a function: does every path through it end in `return`?"
        return Diagnosis("returns_none", says)
    return None


def _input_changed(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for place, (one, other) in enumerate(zip(mine, truth, strict=True)):
        if one.changed and not other.changed:
            return Diagnosis(
                "changes_input",
                f"Your code changed its argument `{one.changed[0]}` in place. The caller still needs it. Which "
                "line writes into it?",
                place,
            )
    return None


def _wrong_type(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for place, name, one, other in _pairs(mine, truth):
        if one == BROKEN:  # the probe's own word: the learner gave nothing of that type
            continue
        if isinstance(other, tuple):
            whole = one is mine[place].value  # `_wrong_count` speaks of it
            fits = isinstance(one, tuple) or (whole and not isinstance(one, Other | str))
            wanted = f"A tuple of {len(other)} values"
        elif isinstance(other, Array):
            fits = isinstance(one, Array) and (one.dtype, other.dtype) != ("bool", "number")
            wanted = "A tensor" if other.shape else "A number"
        else:
            continue
        if not fits:
            about = _about(one, other, mine[place].by_hand)
            says = f"What you give as {name} is {show(one, limit=4)}. {wanted} is needed there.{about}"
            return Diagnosis("wrong_type", says, place)
    return None


def _about(one: Plain, other: Plain, by_hand: bool) -> str:
    """The next move for a value of the wrong type, where one is known."""
    if isinstance(one, str):
        return " What stands in quotation marks is text, even if it looks like a number."
    if isinstance(one, tuple) and len(one) == 1:
        commas = " A comma at the end, or square brackets, make a tuple or a list of a single value."
        return commas if by_hand or not _is_tensor(other) else f" `torch.autograd.grad` returns a tuple.{commas}"
    if isinstance(one, tuple) and _is_tensor(other):
        return " `torch.tensor` and `torch.stack` make a tensor of a list."
    return ""


def _is_tensor(value: Plain) -> bool:
    return isinstance(value, Array) and value.shape != ()


def _wrong_count(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for place, (one, other) in enumerate(zip(mine, truth, strict=True)):
        if not isinstance(other.value, tuple):
            continue
        count = len(one.value) if isinstance(one.value, tuple) else 1
        if count != len(other.value) or not isinstance(one.value, tuple):
            order = f", in this order: {', '.join(other.parts)}" if other.parts else ""
            yours = f"{count} values" if count != 1 else "a single one"
            return Diagnosis(
                "wrong_count",
                f"{len(other.value)} values are expected here{order}. Your answer is {yours}.",
                place,
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
    for place, name, one, other in _arrays(mine, truth):
        if one.shape != other.shape:
            return Diagnosis(
                "wrong_shape",
                f"The shape of {name} is {one.shape}; {other.shape} is expected."
                + _OF_ITS_TENSOR * ("radient" in name),
                place,
            )
    return None


_OF_ITS_TENSOR = " A gradient has the shape of the tensor that it belongs to."


def _wrong_dtype(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for place, name, one, other in _arrays(mine, truth):
        if not dtypes_fit(one, other):
            return Diagnosis(
                "wrong_dtype",
                f"The dtype of {name} is {one.dtype}; the inputs, and what is expected, are {other.dtype}. "
                "`torch.ones(shape)` and its like make float32 unless they are told otherwise; `torch.ones_like(x)` "
                "takes the dtype of x. Which line of yours does not?",
                place,
            )
    return None


def _not_finite(mine: Evidence, truth: Evidence) -> Diagnosis | None:
    for place, name, one, other in _arrays(mine, truth):
        if any(map(_unusual, one.numbers)) and not any(map(_unusual, other.numbers)):
            return Diagnosis(
                "not_finite",
                f"The {name} holds inf or nan. Which line divides, or takes a root or a logarithm?",
                place,
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
    arrays = _arrays(mine, truth)
    if len(arrays) < len(_pairs(mine, truth)) or any(one.shape != other.shape for _, _, one, other in arrays):
        return None
    pairs = [pair for _, _, one, other in arrays for pair in zip(one.numbers, other.numbers, strict=True)]
    if any(isinstance(number, complex) for pair in pairs for number in pair):
        return None
    factor = next((a / b for a, b in pairs if b), 0)
    if not math.isfinite(factor):
        return None
    if not factor or numbers_agree(factor, 1) or not all(numbers_agree(a, factor * b) for a, b in pairs):
        return None
    if numbers_agree(factor, -1):
        return Diagnosis("negated", "Every number has the wrong sign. Where does a minus get lost, or come in?")
    return Diagnosis(
        "constant_factor",
        f"Every number is {shorten(factor)} times what is expected. Which constant of the forward has left a "
        "trace, or is missing?",
    )


# types, shape and dtype stand before the patterns that compare numbers one by one
_PATTERNS: tuple[Callable[[Evidence, Evidence], Diagnosis | None], ...] = (
    _no_function,
    _raised,
    _nothing_returned,
    _input_changed,
    _wrong_type,
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


def _pairs(mine: Evidence, truth: Evidence) -> list[tuple[int, str, Plain, Plain]]:
    """Every value in the evidence beside the true one: the observation's place, the value's name, and both."""
    return [
        (place, *named)
        for place, (one, other) in enumerate(zip(mine, truth, strict=True))
        for named in _named(one, other)
    ]


def _arrays(mine: Evidence, truth: Evidence) -> list[tuple[int, str, Array, Array]]:
    """Those of the pairs in which both values are arrays."""
    return [pair for pair in _pairs(mine, truth) if isinstance(pair[2], Array) and isinstance(pair[3], Array)]


def _named(one: Observation, other: Observation) -> list[tuple[str, Plain, Plain]]:
    if isinstance(one.value, tuple) and isinstance(other.value, tuple) and len(one.value) == len(other.value):
        names = other.parts or tuple(f"value {i + 1}" for i in range(len(other.value)))
        return list(zip(names, one.value, other.value, strict=True))
    return [(other.label, one.value, other.value)]


def _unusual(number: complex) -> bool:
    return isinstance(number, float) and not math.isfinite(number)
