"""A page on the whole class: how points are spread, what was hardest, which ideas are wrong and who has them."""

from __future__ import annotations

from collections.abc import Sequence

from course_utils.checks.catalogue import find
from course_utils.checks.result import paragraphs
from course_utils.grading.page import bar, page, table, text
from course_utils.grading.report import Row, exercises_of
from course_utils.grading.verdict import Graded

_BINS = 10
_FOR_A_PERSON = ("grader error", "not run")


def class_page(rows: Sequence[Row]) -> str:
    """The page as HTML."""
    units = sorted({row.unit for row in rows if row.unit})
    parts = [_unit(unit, [row for row in rows if row.unit == unit]) for unit in units]
    return page("The class", "\n".join(["<h1>The class</h1>", _for_a_person(rows), _suspicious(rows), *parts]))


def _for_a_person(rows: Sequence[Row]) -> str:
    """What the grader could not decide, first: it is what the reader has to do."""
    mine = [row for row in rows if row.fault or any(one.status in _FOR_A_PERSON for one in row.graded)]
    if not mine:
        return ""
    lines = [(text(row.student), text(row.file), text(row.note)) for row in mine]
    return "<h2>For you to decide</h2>\n" + table("What could not be graded", ("student", "file", "why"), lines)


def _suspicious(rows: Sequence[Row]) -> str:
    lines = [(text(row.student), text(row.file), text(row.suspicious)) for row in rows if row.suspicious]
    if not lines:
        return ""
    return "<h2>Worth a look</h2>\n" + table(
        "Code that does what no exercise asks for; it has cost no points", ("student", "file", "what"), lines
    )


def _unit(unit: str, rows: Sequence[Row]) -> str:
    absent = [row.student for row in rows if not row.file]
    rows = [row for row in rows if row.file]
    middle = sorted(row.points for row in rows)[len(rows) // 2]
    count = f"{len(rows)} submission" + ("s" if len(rows) != 1 else "")
    return "\n".join(
        [
            f"<h2>{text(unit)}</h2>",
            f"<p>{count}; half of them have {middle:g} points or more, of {rows[0].total}.</p>",
            f"<p>Nothing was handed in by {len(absent)}: {text(', '.join(absent))}.</p>" if absent else "",
            _distribution(rows),
            _hardest(rows),
            _misconceptions(rows),
        ]
    )


def _distribution(rows: Sequence[Row]) -> str:
    total = rows[0].total
    counts = [0] * _BINS
    for row in rows:
        counts[min(int(_BINS * row.points / total), _BINS - 1)] += 1
    step = 100 // _BINS
    lines = [
        (f"{step * place} to {step * (place + 1)} %", str(count), bar(count / max(counts)))
        for place, count in enumerate(counts)
    ]
    return table("How the points are spread", ("share of the points", "students", ""), lines, numbers=[1])


def _hardest(rows: Sequence[Row]) -> str:
    """The exercises, the one that fewest have right first."""
    shares = []
    for name in exercises_of(rows):
        graded = _graded(rows, name)
        right = sum(one.status == "right" for one in graded)
        attempted = sum(one.status not in ("not attempted", "missing", "unreadable") for one in graded)
        shares.append((right / len(graded), name, right, attempted, len(graded)))
    lines = [
        (paragraphs(find(name).title), f"{right} of {count}", f"{attempted} of {count}", bar(share))
        for share, name, right, attempted, count in sorted(shares, key=lambda one: one[0])
    ]
    return table("Exercises, the hardest first", ("exercise", "right", "attempted", ""), lines, numbers=[1, 2])


def _misconceptions(rows: Sequence[Row]) -> str:
    """Mistakes by how many make them, with those to talk to."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for one in row.graded:
            if one.label:
                found.setdefault((one.exercise, one.label), []).append(row.student)
    lines = [
        (
            f"{paragraphs(find(name).title)}<br><code>{text(label)}</code>",
            str(len(students)),
            f'<td class="people">{text(", ".join(students))}</td>',
            _says(name, label),
        )
        for (name, label), students in sorted(found.items(), key=lambda one: -len(one[1]))
    ]
    if not lines:
        return ""
    titles = ("mistake", "students", "talk to", "what they are told")
    return table("Mistakes that are known, the most frequent first", titles, lines, numbers=[1])


def _says(name: str, label: str) -> str:
    """What the check says to that idea; nothing for general patterns, whose words depend on the evidence."""
    return next((paragraphs(one.says) for one in find(name).misconceptions if one.label == label), "")


def _graded(rows: Sequence[Row], name: str) -> list[Graded]:
    return [one for row in rows for one in row.graded if one.exercise == name]
