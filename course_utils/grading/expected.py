"""What right answers print: the solution notebooks, run under the seed like any submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_utils.checks.catalogue import find
from course_utils.grading.merge import Merged, solved
from course_utils.grading.pristine import Pristine
from course_utils.grading.run import CellRecord, Job, run
from course_utils.grading.verdict import judge_text
from course_utils.refusal import Refusal

Expected = Mapping[str, str]


def expected_of(units: set[str], course: Mapping[str, Pristine], seed: int, timeout: float) -> dict[str, Expected]:
    """What the solution notebook of each unit prints under `seed`, by exercise. Refuses one that is itself wrong."""
    names = sorted(units)
    notebooks = [solved(course[name], seed) for name in names]
    outcomes = run([Job(one, None) for one in notebooks], 1, timeout) if names else []
    return {name: _printed(name, *pair, seed) for name, *pair in zip(names, notebooks, outcomes, strict=True)}


def _printed(unit: str, merged: Merged, records: Sequence[CellRecord], seed: int) -> Expected:
    printed = {}
    for cell, record in zip(merged.cells, records, strict=True):
        if record.outcome == "fault":
            raise Refusal(f"solutions/{unit}.ipynb could not be run: {record.error}")
        if cell.role == "evidence":
            if judge_text(find(cell.exercise), record.stdout, seed).status != "right":
                raise Refusal(
                    f"solutions/{unit}.ipynb does not solve {cell.exercise!r}, so nothing can be graded by it: "
                    "run `course build`, then `course test`."
                )
            printed[cell.exercise] = record.stdout
    return printed
