"""Evidence: what an answer did, as labelled plain values, gathered by running an exercise's probe on it."""

from __future__ import annotations

import contextlib
import io
import json
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
import torch.utils._device

from course_utils.checks.by_hand import by_hand as without_autograd
from course_utils.checks.draw import Draw
from course_utils.checks.exercise import Exercise, Later
from course_utils.checks.plain import Array, Other, Plain, Raised, agree, as_json, plain

MOST_WORDS = 300  # characters of an exception's message
STUB_MESSAGE = "write your answer here"  # what the build puts in place of a solution
NO_FUNCTION = " in place of a function"
_STUB = Other("ellipsis")
_PARTLY = "A part of the answer is still `...`."
# frames of a traceback that are none of the learner's: ours, and the one by which torch.device works
_NOT_THEIRS = (str(Path(__file__).parent), torch.utils._device.__file__)


@dataclass(frozen=True)
class Observation:
    """One thing that was seen of an answer.

    `given` are the inputs it got, by name; `parts` names the members where the value is a tuple; `changed` names the
    inputs that the answer changed in place. `story` is the learner's traceback and `printed` what their code printed
    meanwhile: for them to read, no evidence. `by_hand`: the answer ran where autograd is switched off.
    """

    label: str
    value: Plain
    given: tuple[tuple[str, Plain], ...] = ()
    parts: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    story: str = field(default="", compare=False, repr=False)
    printed: str = field(default="", compare=False, repr=False)
    by_hand: bool = field(default=False, compare=False, repr=False)

    @property
    def message(self) -> str:
        """The last line of the story: the exception's type and what it says; "" where none was raised."""
        return self.story.strip().rpartition("\n")[2][:MOST_WORDS]

    def agrees_with(self, other: Observation) -> bool:
        """Whether the same was seen, up to rounding."""
        return self.changed == other.changed and agree(self.value, other.value)


Evidence = tuple[Observation, ...]


class NotAttempted(Exception):  # noqa: N818 (no error: it says where a learner is)
    """Raised inside a probe when the answer is still the stub that the exercise came with, or a part of it is.

    Its words say that only a part is.
    """


def call(
    label: str,
    answer: object,
    *,
    parts: tuple[str, ...] = (),
    by_hand: bool = True,
    shown: tuple[str, ...] | None = None,
    **given: object,
) -> Observation:
    """What `answer` returns for the inputs `given`, passed by position in the order they stand here.

    Everything that can happen is evidence: a value, an exception, an input changed in place. With `by_hand`, the
    answer runs where autograd cannot do the work for it. `shown` narrows the inputs that the learner is told.
    Raises NotAttempted if the answer is a stub.
    """
    if answer is ...:
        raise NotAttempted
    kept = {name: _copy(value) for name, value in given.items()}
    printed = _Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        value, story = _run(answer, list(given.values()), by_hand)
    changed = tuple(name for name in given if not agree(plain(given[name]), plain(kept[name])))
    told = {name: plain(kept[name]) for name in (shown or given)}
    return Observation(label, value, tuple(told.items()), parts, changed, story, printed.getvalue(), by_hand)


def numbers_of(label: str, answer: object, *, parts: tuple[str, ...] = ()) -> Observation:
    """The numbers that an answer to be predicted consists of: a tuple, a list, an array or tensors count alike.

    Raises NotAttempted while any of them is `...`.
    """
    value, story = _seen(lambda: answer)
    return Observation(label, _as_numbers(value), parts=parts, story=story)


def in_one_row(seen: Observation) -> Observation:
    """The same, with the members of inner tuples in one: who answers in pairs answers the question, too."""
    if not isinstance(seen.value, tuple):
        return seen
    members = (one if isinstance(one, tuple) else (one,) for one in seen.value)
    return replace(seen, value=tuple(number for one in members for number in one))


def choice_of(label: str, answer: object) -> Observation:
    """The option that an answer names: capitals, blanks, brackets, quotation marks and a full stop do not matter.

    Raises NotAttempted while it is `...`.
    """
    value, story = _seen(lambda: answer)
    return Observation(label, value.strip(" \t\r\n.()*'\"`").lower() if isinstance(value, str) else value, story=story)


def gather(exercise: Exercise, answer: object, seed: int) -> Evidence:
    """The evidence that the exercise's probe finds. Raises NotAttempted if the answer is a stub."""
    return tuple(observe(exercise, answer, seed))


def observe(exercise: Exercise, answer: object, seed: int) -> Iterator[Observation]:
    """The evidence, one observation at a time: who has seen enough need not run the rest of the probe."""
    with _on_the_cpu():
        yield from exercise.probe(answer.value if type(answer) is Later else answer, Draw(seed))


def _on_the_cpu() -> contextlib.AbstractContextManager[object]:
    """A context for whatever device the notebook has made its default; it slows down every call of torch."""
    cpu = torch.device("cpu")
    return contextlib.nullcontext() if torch.get_default_device() == cpu else cpu


def same_evidence(mine: Evidence, theirs: Evidence) -> bool:
    """Whether two answers did the same under the same probe and seed."""
    return len(mine) == len(theirs) and all(one.agrees_with(other) for one, other in zip(mine, theirs, strict=True))


def same_to_the_words(mine: Evidence, theirs: Evidence) -> bool:
    """Whether two answers did the same, and where they raised, their exceptions said the same."""
    return same_evidence(mine, theirs) and all(
        one.message == other.message for one, other in zip(mine, theirs, strict=True)
    )


def first_difference(mine: Evidence, theirs: Evidence) -> tuple[Observation, Observation] | None:
    """The first observation that differs, with its counterpart; None where all agree."""
    for one, other in zip(mine, theirs, strict=True):
        if not one.agrees_with(other):
            return one, other
    return None


def as_text(evidence: Evidence) -> str:
    """The evidence as text, one JSON object a line, numbers with six significant digits.

    Two right answers give the same text. The grader compares it outside the process that made it. An exception's words
    go along: they tell mistakes apart, and nothing is right or wrong by them.
    """
    return "\n".join(_lines(evidence))


def _lines(evidence: Evidence) -> Iterator[str]:
    for seen in evidence:
        record = {"saw": seen.label, "value": as_json(seen.value)}
        if seen.changed:
            record["changed"] = list(seen.changed)
        if isinstance(seen.value, Raised):
            record["words"] = seen.message
        yield json.dumps(record, ensure_ascii=True)


class _Printed(io.StringIO):
    def close(self) -> None:
        """Keep the text, even if the answer closes its output."""


def _run(answer: object, inputs: list[object], by_hand: bool) -> tuple[Plain, str]:
    if not callable(answer):
        return Other(f"{type(answer).__name__}{NO_FUNCTION}"), ""
    with without_autograd() if by_hand else contextlib.nullcontext():
        return _seen(lambda: answer(*inputs))


def _seen(produce: Callable[[], object]) -> tuple[Plain, str]:
    """The plain value of what is produced, or what it raised with its story. Raises NotAttempted for a stub."""
    try:
        value = plain(produce())
    except (Exception, SystemExit) as error:
        # torch has NotImplementedErrors of its own, and these say something
        if isinstance(error, NotImplementedError) and error.args in ((), ("",), (STUB_MESSAGE,)):
            raise NotAttempted from None
        return Raised(type(error).__name__), _story(error)
    if _unfilled(value):
        raise NotAttempted(_PARTLY if _partly_filled(value) else "")
    return value, ""


def _story(error: BaseException) -> str:
    """The learner's part of the traceback: the frames of this package are none of their concern."""
    summary = traceback.TracebackException.from_exception(error)
    summary.stack = traceback.StackSummary.from_list(
        [frame for frame in summary.stack if not frame.filename.startswith(_NOT_THEIRS)]
    )
    return "".join(summary.format())


def _copy(value: object) -> object:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _unfilled(value: Plain) -> bool:
    return any(map(_unfilled, value)) if isinstance(value, tuple) else value == _STUB


def _partly_filled(value: Plain) -> bool:
    return any(map(_partly_filled, value)) if isinstance(value, tuple) else value != _STUB


def _as_numbers(value: Plain) -> Plain:
    if isinstance(value, tuple):
        return tuple(_as_numbers(item) for item in value)
    if not isinstance(value, Array) or value.dtype == "bool":
        return value
    numbers = tuple(Array((), "number", (number,)) for number in value.numbers)
    return numbers if value.shape else numbers[0]
