"""`check` for learners and `show_evidence` for the grader: an answer, run through its exercise's probe."""

from __future__ import annotations

import functools
import sys
import zlib

from course_utils.checks.catalogue import find
from course_utils.checks.diagnose import diagnose
from course_utils.checks.evidence import (
    Evidence,
    NotAttempted,
    as_text,
    first_difference,
    gather,
    same_to_the_words,
)
from course_utils.checks.exercise import Exercise
from course_utils.checks.progress import note
from course_utils.checks.result import Result


def check(name: str, answer: object) -> Result:
    """The verdict on `answer` to the exercise `name`, with evidence and, where it is wrong, the idea behind it.

    The inputs are the same at every call. The outcome is noted for `progress()`. KeyError if there is no
    exercise of that name.
    """
    exercise = find(name)
    result = examine(exercise, answer, usual_seed(exercise))
    note(exercise, result.status)
    return result


def examine(exercise: Exercise, answer: object, seed: int) -> Result:
    """The verdict on `answer` for the inputs that `seed` gives; nothing is noted anywhere."""
    try:
        mine = gather(exercise, answer, seed)
    except NotAttempted as stub:
        return Result(exercise, "not attempted", still_open=str(stub))
    return judge(exercise, mine, seed)


def judge(exercise: Exercise, mine: Evidence, seed: int) -> Result:
    """The verdict on evidence that was gathered with `seed`."""
    truth = true_evidence(exercise, seed)
    mine = exercise.settle(mine, truth)
    difference = first_difference(mine, truth)
    if difference is None:
        return Result(exercise, "right")
    if exercise.given is not None and same_to_the_words(mine, _evidence_of_given(exercise, seed)):
        return Result(exercise, "not attempted", *difference)
    diagnosis = diagnose(exercise, mine, truth, seed)
    if diagnosis is not None and diagnosis.place is not None:
        difference = mine[diagnosis.place], truth[diagnosis.place]
    return Result(exercise, "wrong", *difference, diagnosis)


@functools.lru_cache(maxsize=256)
def true_evidence(exercise: Exercise, seed: int) -> Evidence:
    """The evidence of a right answer; the same exercise and seed give the same."""
    return gather(exercise, exercise.truth, seed)


@functools.lru_cache(maxsize=256)
def _evidence_of_given(exercise: Exercise, seed: int) -> Evidence:
    return gather(exercise, exercise.given, seed)


def show_evidence(name: str, answer: object, seed: int) -> None:
    """Print the evidence of an answer as text, without a verdict: the grader compares it elsewhere.

    One JSON object a line; the one line `{"not attempted": true}` for a stub.
    """
    try:
        text = as_text(gather(find(name), answer, seed))
    except NotAttempted:
        text = '{"not attempted": true}'
    sys.stdout.write(f"{text}\n")


def usual_seed(exercise: Exercise) -> int:
    """The seed of an exercise outside grading: made from its name, so that results can be repeated."""
    return zlib.crc32(exercise.name.encode())
