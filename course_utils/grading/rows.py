"""What the store holds as rows of a gradebook: outcomes, the points that a person gave, and who stands there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from course_utils.grading.fingerprint import fingerprints
from course_utils.grading.pristine import Pristine
from course_utils.grading.report import Row
from course_utils.grading.store import Entry, Override, Store
from course_utils.grading.verdict import Graded, unreadable

_NOT_YET = "not graded yet"


def rows_of(store: Store, course: Mapping[str, Pristine]) -> list[Row]:
    """A row for each submission in the store, in the order of their files."""
    prints = {unit: fingerprints(pristine) for unit, pristine in course.items()}
    overrides = store.overrides()
    rows = []
    for entry in store.entries():
        exercises = course[entry.unit].exercises if entry.unit in course else ()
        if entry.fault:
            graded = unreadable(exercises)
        else:
            known = store.results(entry.digest, prints.get(entry.unit, {}))
            graded = [known.get(name) or Graded(name, "not run", None, note=_NOT_YET) for name in exercises]
        given = tuple(_as_given(one, overrides.get((entry.student, one.exercise))) for one in graded)
        rows.append(_row(entry, given))
    return _with_repeats_noted(rows)


def _row(entry: Entry, graded: tuple[Graded, ...]) -> Row:
    return Row(entry.student, entry.file, entry.unit, graded, entry.fault, entry.notes)


def _as_given(graded: Graded, override: Override | None) -> Graded:
    return replace(graded, points=override.points, overridden=override.why) if override else graded


def _with_repeats_noted(rows: Sequence[Row]) -> list[Row]:
    """The rows, a note in each that shares student and unit with another: which one counts is a person's decision."""
    count = Counter((row.student, row.unit) for row in rows)

    def noted(row: Row) -> Row:
        times = count[row.student, row.unit]
        if times == 1:
            return row
        return replace(row, notes=(f"one of {times} submissions by this student", *row.notes))

    return [noted(row) for row in rows]
