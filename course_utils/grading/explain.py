"""A wrong outcome with its evidence: what the answer was given, what it made of it, and the idea behind that."""

from __future__ import annotations

import functools

from course_utils.checks.catalogue import find
from course_utils.checks.checking import judge
from course_utils.checks.evidence import Evidence, first_difference, gather
from course_utils.checks.result import Result
from course_utils.grading.verdict import Graded, read_evidence


def explain(graded: Graded, seed: int) -> Result | None:
    """The verdict on the evidence that was kept; None if the answer is not wrong, or left no evidence."""
    if graded.status != "wrong":
        return None
    truth = _truth(graded.exercise, seed)
    mine = read_evidence(graded.evidence, truth)
    if mine is None:
        return None
    exercise = find(graded.exercise)
    try:
        result = judge(exercise, mine, seed)
    except Exception:  # a submission may print evidence of any form, and gets no diagnosis for it
        difference = first_difference(mine, truth)
        return Result(exercise, "wrong", *difference) if difference else None
    return result if result.status == "wrong" else None


@functools.lru_cache(maxsize=256)
def _truth(name: str, seed: int) -> Evidence:
    exercise = find(name)
    return gather(exercise, exercise.truth, seed)
