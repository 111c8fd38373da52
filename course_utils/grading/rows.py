"""What the store holds as rows of a gradebook: which files count, their outcomes, and the points a person gave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import PurePosixPath

from course_utils.grading.fingerprint import Fingerprints
from course_utils.grading.late import Policy
from course_utils.grading.pristine import Pristine
from course_utils.grading.report import Row
from course_utils.grading.roster import Person, Roster
from course_utils.grading.store import Entry, Override, Store
from course_utils.grading.verdict import Graded, unreadable

_NOT_YET = "not graded yet"
_NOTHING = "nothing was handed in"


def remember(store: Store, roster: Roster | None, policy: Policy | None) -> None:
    """Keep what a command line says of the class, so that later commands need not say it again."""
    if roster is not None:
        store.remember("roster", [asdict(person) for person in roster.people])
    if policy is not None:
        store.remember("late", asdict(policy))


def roster_of(store: Store) -> Roster:
    """The roster that was given last; an empty one if none was."""
    return Roster(Person(**one) for one in store.remembered("roster") or ())


def counting(entries: Iterable[Entry]) -> list[Entry]:
    """Of several files by one person for one unit the latest that can be read, the others named in its notes."""
    together: dict[tuple[str, str, str], list[Entry]] = {}
    for one in _told_apart(list(entries)):
        # of a file that tells no unit, nobody knows which other it should give way to
        together.setdefault((one.student, one.unit, "" if one.unit else one.place), []).append(one)
    return sorted(map(_latest, together.values()), key=lambda one: (one.file, one.place))


def _latest(entries: Sequence[Entry]) -> Entry:
    latest = max(entries, key=lambda one: (not one.fault, one.modified, one.file))
    others = [_called(one) for one in entries if one is not latest]
    if not others:
        return latest
    note = f"the latest of {len(entries)}; not counted: {', '.join(others)}"
    return replace(latest, notes=(note, *latest.notes))


def _called(entry: Entry) -> str:
    """The file and its folder: the note is for the student too, whom the rest of the path does not concern."""
    name = "/".join(PurePosixPath(entry.file).parts[-2:])
    return f"{name} (unreadable: {entry.fault})" if entry.fault else name


def _told_apart(entries: Sequence[Entry]) -> list[Entry]:
    """The entries; where two people have one name, with the LMS's number behind it."""
    numbers: dict[str, set[str]] = {}
    for one in entries:
        numbers.setdefault(one.student, set()).add(one.id)
    return [
        replace(one, student=f"{one.student} ({one.id})") if len(numbers[one.student] - {""}) > 1 and one.id else one
        for one in entries
    ]


def rows_of(store: Store, course: Mapping[str, Pristine]) -> list[Row]:
    """A row for each submission that counts, in the order of their files; then those who handed in nothing."""
    prints = Fingerprints(course)
    policy = Policy(**(store.remembered("late") or {}))
    roster = roster_of(store)
    rows = []
    for entry in counting(store.entries()):
        graded = _outcomes(entry, course, store.results(entry.digest, prints[entry.unit]))
        days = policy.days_late(entry.modified)
        person = roster.find(entry.student, entry.id) or Person(entry.student, entry.id)
        row = Row(entry.student, entry.file, entry.unit, graded, entry.fault, entry.notes, person, days)
        rows.append(row)
    rows += _absent(rows, roster, course)
    overrides = store.overrides()
    return [_with_penalty(_as_given(row, overrides), policy) for row in rows]


def _outcomes(entry: Entry, course: Mapping[str, Pristine], known: Mapping[str, Graded]) -> tuple[Graded, ...]:
    exercises = course[entry.unit].exercises if entry.unit in course else ()
    if entry.fault:
        return tuple(unreadable(exercises))
    return tuple(known.get(name) or Graded(name, "not run", None, note=_NOT_YET) for name in exercises)


def _absent(rows: Sequence[Row], roster: Roster, course: Mapping[str, Pristine]) -> list[Row]:
    """For each unit that anybody handed in, a row for everyone in the roster who did not."""
    absent = []
    for unit in sorted({row.unit for row in rows if row.unit}):
        there = {row.person for row in rows if row.unit in (unit, "")}
        for person in roster.people:
            if person not in there:
                graded = tuple(Graded(name, "missing", 0, note=_NOTHING) for name in course[unit].exercises)
                absent.append(Row(person.name, "", unit, graded, person=person))
    return absent


def _as_given(row: Row, overrides: Mapping[tuple[str, str], Override]) -> Row:
    def given(graded: Graded) -> Graded:
        one = overrides.get((row.student, graded.exercise))
        return replace(graded, points=one.points, overridden=one.why) if one else graded

    return replace(row, graded=tuple(map(given, row.graded)))


def _with_penalty(row: Row, policy: Policy) -> Row:
    return replace(row, deduction=policy.deduction(row.earned, row.days_late))
