"""What right answers print: the solution notebooks, run under the seed like any submission."""

from __future__ import annotations

from collections.abc import Mapping

from course_utils.checks.catalogue import find
from course_utils.grading.merge import solved
from course_utils.grading.pristine import Pristine
from course_utils.grading.run import Job, Outcome, Runner
from course_utils.grading.verdict import judge_text
from course_utils.refusal import Refusal

Expected = Mapping[str, str]


def expected_of(units: set[str], course: Mapping[str, Pristine], seed: int, runner: Runner) -> dict[str, Expected]:
    """What the solution notebook of each unit prints under `seed`, by exercise. Refuses one that is itself wrong."""
    names = sorted(units)
    notebooks = [solved(course[name], seed) for name in names]
    outcomes = runner.run([Job(one, None) for one in notebooks]) if names else []
    return {name: _printed(name, outcome, seed) for name, outcome in zip(names, outcomes, strict=True)}


def _printed(unit: str, outcome: Outcome, seed: int) -> Expected:
    printed = {}
    for exercise, records in outcome.items():
        faults = [record.error for record in records if record.outcome == "fault"]
        if faults:
            raise Refusal(f"solutions/{unit}.ipynb could not be run: {faults[0]}")
        if judge_text(find(exercise), records[-1].stdout, seed).status != "right":
            raise Refusal(
                f"solutions/{unit}.ipynb does not solve {exercise!r}, so nothing can be graded by it: "
                "run `course build`, then `course test`."
            )
        printed[exercise] = records[-1].stdout
    return printed
