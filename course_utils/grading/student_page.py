"""A page for one student and one unit: points, what was seen of each answer, and what was repaired."""

from __future__ import annotations

from course_utils.checks.catalogue import find
from course_utils.checks.plain import show
from course_utils.checks.result import Result, closest_difference, paragraphs
from course_utils.grading.explain import explain
from course_utils.grading.page import page, text
from course_utils.grading.report import Row
from course_utils.grading.verdict import Graded, Status

_VERDICTS: dict[Status, str] = {
    "right": "Right",
    "wrong": "Not right",
    "not attempted": "Not attempted",
    "crashed": "Stopped with an error",
    "timeout": "Stopped at the time limit",
    "memory": "Stopped at the memory limit",
    "missing": "The answer is missing",
    "not run": "Could not be run",
    "unreadable": "Could not be read",
    "grader error": "Could not be graded",
}
_OPEN = "Nobody can say yet how many points are due. Your instructor will look at it."


def student_page(row: Row, seed: int) -> str:
    """The page as HTML."""
    sections = "\n".join(_section(number, one, seed) for number, one in enumerate(row.graded, start=1))
    return page(f"{row.student}: {row.unit or 'not graded'}", f"{_head(row)}\n{sections}")


def _head(row: Row) -> str:
    score = f'<p class="score">{row.points:g} of {row.total} points</p>' if row.unit else ""
    notes = "".join(f"<li>{text(note)}</li>" for note in (*row.late_note, *row.notes))
    what = f"<h2>Notes on what you handed in</h2>\n<ul>{notes}</ul>" if notes else ""
    fault = f'<p class="verdict">It could not be read: {text(row.fault)}.</p>' if row.fault else ""
    unit = f'<p class="soft">{text(row.unit)}</p>' if row.unit else ""
    return f"<header>\n<h1>{text(row.student)}</h1>\n{unit}{score}{fault}\n</header>\n{what}"


def _section(number: int, graded: Graded, seed: int) -> str:
    exercise = find(graded.exercise)
    look = graded.status if graded.status == "right" else "other" if graded.points is None else "wrong"
    points = "open" if graded.points is None else f"{graded.points:g}"
    parts = [
        f'<h2 id="e{number}">{number}. {paragraphs(exercise.title)}</h2>',
        f'<p><span class="verdict">{_VERDICTS[graded.status]}</span> &middot; {points} of {graded.most} points '
        f'<span class="soft">({text(graded.exercise)})</span></p>',
        f"<p>Points given by hand: {text(graded.overridden)}</p>" if graded.overridden else "",
        _what_was_seen(graded, explain(graded, seed)),
        f"<p>{_OPEN}</p>" if graded.points is None else "",
        f"<p>{paragraphs(exercise.when_right)}</p>" if graded.status == "right" and exercise.when_right else "",
    ]
    body = "\n".join(filter(None, parts))
    return f'<section class="exercise {look}" aria-labelledby="e{number}">\n{body}\n</section>'


def _what_was_seen(graded: Graded, result: Result | None) -> str:
    if result is None or result.mine is None or result.expected is None:
        return f"<p><code>{text(graded.note)}</code></p>" if graded.note else ""
    name, mine, expected = closest_difference(result.mine, result.expected, between_rows=",\n ")
    rows = [(f"with {key}", show(value, between_rows=",\n ")) for key, value in result.mine.given]
    rows.append((f"{name}, yours", mine))
    if result.exercise.tells_expected:
        rows.append(("expected", expected))
    lines = "\n".join(
        f'<tr><th scope="row">{text(key)}</th><td><pre>{text(value)}</pre></td></tr>' for key, value in rows
    )
    says = f"<p>{paragraphs(result.diagnosis.says)}</p>" if result.diagnosis else ""
    return f'<table class="evidence">\n<caption>What your answer did</caption>\n{lines}\n</table>\n{says}'
