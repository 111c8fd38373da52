"""Outcomes as a gradebook and as a summary on the terminal."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from course_utils.grading.roster import Person
from course_utils.grading.verdict import Graded, Status

_MARKS: dict[Status, str] = {"right": "[green]✔[/]", "wrong": "[red]✘[/]", "not attempted": "○", "missing": "-"}
_LEGEND = "✔ right  ✘ wrong  ○ not attempted  - missing  ! see the note  a number: points given by hand"
_OTHER_MARK = "[yellow]![/]"


@dataclass(frozen=True)
class Row:
    """One submission's outcome. `fault` says why it was not read; `notes` what was repaired or is odd.

    `person` is whom the roster knows it by; `deduction` what being `days_late` costs.
    """

    student: str
    file: str
    unit: str
    graded: tuple[Graded, ...] = ()
    fault: str = ""
    notes: tuple[str, ...] = ()
    person: Person | None = None
    days_late: int = 0
    deduction: float = 0.0

    @property
    def earned(self) -> float:
        """The sum over the exercises of what is earned for certain."""
        return sum(one.points or 0 for one in self.graded)

    @property
    def points(self) -> float:
        """What is left of it if it was handed in late."""
        return whole(self.earned - self.deduction)

    @property
    def total(self) -> int:
        """What the unit has to give."""
        return sum(one.most for one in self.graded)

    @property
    def note(self) -> str:
        """All that a person should know of the row, in one line."""
        unreadable = [f"unreadable: {self.fault}"] if self.fault else []
        given = [
            f"{one.exercise}: {one.points:g} of {one.most} points given by hand ({one.overridden})"
            for one in self.graded
            if one.overridden
        ]
        return "; ".join([*unreadable, *self.late_note, *self.notes, *_told(self.graded), *given])

    @property
    def suspicious(self) -> str:
        """What is odd about their code, in one line; empty if nothing is."""
        together: dict[str, list[str]] = {}
        for one in self.graded:
            for what in filter(None, one.suspicious.split("; ")):
                together.setdefault(what, []).append(one.exercise)
        return "; ".join(f"{what} ({_few(names, len(self.graded))})" for what, names in together.items())

    @property
    def late_note(self) -> list[str]:
        """That it was late, and what that costs; empty if it was not."""
        if not self.days_late:
            return []
        days = "1 day" if self.days_late == 1 else f"{self.days_late} days"
        return [f"late by {days}" + (f": -{self.deduction:g} points" if self.deduction else "")]


def _few(names: Sequence[str], of_all: int) -> str:
    return "everywhere" if len(names) == of_all > 1 else ", ".join(names)


def _told(graded: Iterable[Graded]) -> list[str]:
    """What became of the exercises that are not right, those with the same outcome together."""
    together: dict[str, list[str]] = {}
    for one in graded:
        if one.status not in ("right", "unreadable"):
            label = f" [{one.label}]" if one.label else ""
            note = f" ({one.note})" if one.note else ""
            together.setdefault(f"{one.status}{label}{note}", []).append(one.exercise)
    return [f"{outcome}: {', '.join(names)}" for outcome, names in together.items()]


# the gradebook --------------------------------------------------------------------------------------------------


def gradebook(rows: Sequence[Row]) -> str:
    """The CSV: a row per submission, a column per exercise, empty where no points can be told."""
    exercises = exercises_of(rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "file", "unit", *exercises, "points", "total", "note", "suspicious"])
    for row in rows:
        points = {one.exercise: one.points for one in row.graded}
        earned = ["" if points.get(name) is None else points[name] for name in exercises]
        texts = map(defused, (row.student, row.file, row.unit))
        writer.writerow(
            [*texts, *earned, row.points, row.total if row.unit else "", *map(defused, (row.note, row.suspicious))]
        )
    return text.getvalue()


def whole(points: float) -> float:
    """Points as they are written: two digits behind the point, and none where there is nothing to say."""
    rounded = round(points, 2)
    return int(rounded) if rounded == int(rounded) else rounded


def one_line(text: str) -> str:
    """The text without line ends, tabs, and what moves a terminal's cursor."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def defused(text: str) -> str:
    """The text in one line, such that no spreadsheet takes it for a formula."""
    line = one_line(text)
    return f"'{line}" if line.lstrip()[:1] in tuple("=+-@") else line


def exercises_of(rows: Iterable[Row]) -> list[str]:
    """The exercises that the rows have, in the order of their columns."""
    found = {one.exercise: row.unit for row in rows for one in row.graded}
    return sorted(found, key=found.__getitem__)  # by unit; within one, as its notebook has them


# the summary ----------------------------------------------------------------------------------------------------


def show_summary(rows: Sequence[Row], console: Console) -> None:
    """Print a table of the submissions and one of the exercises, for each unit; then what could not be read."""
    for unit in sorted({row.unit for row in rows if row.unit}):
        mine = [row for row in rows if row.unit == unit]
        console.print(f"[bold]{unit}[/]   {_LEGEND}")
        console.print(_students(mine))
        console.print(_outcomes(mine))
    for row in rows:
        if row.fault or any(one.status in ("grader error", "not run") for one in row.graded):
            student, file, note = (escape(one_line(text)) for text in (row.student, row.file, row.note))
            console.print(f"[yellow]{student}[/] ({file}): {note}")


def _students(rows: Sequence[Row]) -> Table:
    exercises = exercises_of(rows)
    table = Table()
    table.add_column("student", overflow="fold")
    for number in range(1, len(exercises) + 1):
        table.add_column(str(number), justify="center")
    table.add_column("points", justify="right")
    for row in rows:
        marks = {one.exercise: _mark(one) for one in row.graded}
        cells = [marks.get(name, "") for name in exercises]
        table.add_row(escape(one_line(row.student)), *cells, f"{row.points:g} of {row.total}")
    return table


def _mark(graded: Graded) -> str:
    return f"{graded.points:g}" if graded.overridden else _MARKS.get(graded.status, _OTHER_MARK)


def _outcomes(rows: Sequence[Row]) -> Table:
    """How often each exercise was right, wrong, not attempted, or else, and its most frequent mistakes."""
    table = Table()
    table.add_column("", justify="right")
    table.add_column("exercise", no_wrap=True)
    for mark in (_MARKS["right"], _MARKS["wrong"], _MARKS["not attempted"], "other"):
        table.add_column(mark, justify="right")
    table.add_column("most frequent mistakes")
    for number, name in enumerate(exercises_of(rows), start=1):
        graded = [one for row in rows for one in row.graded if one.exercise == name]
        count = Counter(one.status for one in graded)
        three = [count[status] for status in ("right", "wrong", "not attempted")]
        labels = Counter(one.label for one in graded if one.label).most_common(3)
        mistakes = "\n".join(f"{label}: {times}" for label, times in labels)
        table.add_row(str(number), name, *map(str, three), str(len(graded) - sum(three)), escape(mistakes))
    return table
