"""The same points for other programs: Canvas, Moodle, Gradescope, and whatever reads JUnit's XML."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Sequence

from course_utils.grading.report import Row, defused, one_line, whole
from course_utils.grading.roster import Person
from course_utils.grading.verdict import Graded

_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
_POINTS_POSSIBLE = "    Points Possible"  # with the blanks that Canvas itself writes and looks for
_MOODLE = ("Full name", "Username", "ID number", "Email address")
_ERRORS = ("unreadable", "not run", "grader error")


def canvas_csv(rows: Sequence[Row]) -> str:
    """A gradebook to import into Canvas: a column for each unit, which matches or makes an assignment of that name."""
    units = _units(rows)
    lines = [[*_CANVAS, *units], [_POINTS_POSSIBLE, "", "", "", "", *_totals(rows, units)]]
    for person, by_unit in _people(rows).items():
        known = (person.name, person.id, person.sis_id, person.login, person.section)
        lines.append([*map(defused, known), *(_points(by_unit.get(unit)) for unit in units)])
    return _csv(lines)


def moodle_csv(rows: Sequence[Row]) -> str:
    """Grades to import into Moodle, mapped by e-mail, ID number or user name; with feedback for each unit."""
    units = _units(rows)
    titles = [title for unit in units for title in (unit, f"{unit} (feedback)")]
    lines = [[*_MOODLE, *titles]]
    for person, by_unit in _people(rows).items():
        known = (person.name, person.login, person.sis_id, person.email)
        cells = [cell for unit in units for cell in (_points(by_unit.get(unit)), _feedback(by_unit.get(unit)))]
        lines.append([*map(defused, known), *cells])
    return _csv(lines)


def gradescope_json(row: Row) -> str:
    """What Gradescope reads as results/results.json of one submission."""
    tests = [
        {
            "name": one.exercise,
            "score": one.points or 0,
            "max_score": one.most,
            "status": _passed(one),
            "output": _said(one),
        }
        for one in row.graded
    ]
    return json.dumps({"score": row.points, "output": one_line(row.note), "tests": tests}, indent=1)


def junit_xml(rows: Sequence[Row]) -> bytes:
    """A test suite for each submission and a test case for each exercise."""
    suites = ET.Element("testsuites", name="course grade")
    for row in rows:
        kinds = [_kind(one) for one in row.graded]
        counts = {f"{kind}s" if kind != "skipped" else kind: str(kinds.count(kind)) for kind in _KINDS}
        name = one_line(f"{row.student} {row.unit}".strip())
        suite = ET.SubElement(suites, "testsuite", name=name, tests=str(len(kinds)), **counts)
        for one, kind in zip(row.graded, kinds, strict=True):
            case = ET.SubElement(suite, "testcase", classname=row.unit, name=one.exercise)
            if kind:
                ET.SubElement(case, kind, message=one_line(_said(one)))
    ET.indent(suites)
    return ET.tostring(suites, encoding="utf-8", xml_declaration=True) + b"\n"


_KINDS = ("failure", "error", "skipped")


def _kind(graded: Graded) -> str:
    """What JUnit calls the outcome; empty for a test that passed."""
    if graded.status == "right":
        return ""
    if graded.status in _ERRORS:
        return "error"
    return "skipped" if graded.status == "not attempted" else "failure"


def _passed(graded: Graded) -> str:
    return "passed" if graded.status == "right" else "failed"


def _said(graded: Graded) -> str:
    label = f" [{graded.label}]" if graded.label else ""
    note = f" ({graded.note})" if graded.note else ""
    given = f"; points given by hand: {graded.overridden}" if graded.overridden else ""
    return f"{graded.status}{label}{note}{given}"


def _units(rows: Iterable[Row]) -> list[str]:
    return sorted({row.unit for row in rows if row.unit})


def _totals(rows: Sequence[Row], units: Iterable[str]) -> list[int]:
    return [max(row.total for row in rows if row.unit == unit) for unit in units]


def _people(rows: Iterable[Row]) -> dict[Person, dict[str, Row]]:
    """Everyone's submissions by unit."""
    found: dict[Person, dict[str, Row]] = {}
    for row in rows:
        if row.unit:
            found.setdefault(row.person or Person(row.student), {})[row.unit] = row
    return found


def _points(row: Row | None) -> float | str:
    """The points; empty for who handed in nothing, and where a part of them is for a person to decide.

    An import overwrites what stands in the LMS, perhaps that someone is excused.
    """
    if row is None or not row.file or any(one.points is None for one in row.graded):
        return ""
    return whole(row.points)


def _feedback(row: Row | None) -> str:
    if row is None:
        return ""
    told = [
        f"{one.exercise}: " + ("open" if one.points is None else f"{one.points:g} of {one.most}") for one in row.graded
    ]
    return defused("; ".join([*row.late_note, *told]))


def _csv(lines: Iterable[Sequence[object]]) -> str:
    content = io.StringIO()
    csv.writer(content, lineterminator="\n").writerows(lines)
    return content.getvalue()
