"""Grades the hostile class through the real command and says what was not right.

`python tests/grading/hostile/run.py [NAME...]` grades those cases whose names begin so, or all, and prints the table.
"""

from __future__ import annotations

import contextlib
import csv
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import psutil
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).parents[1]))

from handed import UNIT, HandedIn
from hostile import bombs, endings, files, forging, good, harming, notebooks, prying, resources
from hostile.case import Case, Kit
from hostile.outside import Outside

from course_utils.grading.pristine import read_course
from course_utils.grading.report import Row
from course_utils.grading.rows import rows_of
from course_utils.grading.store import open_store

ROOT = Path(__file__).resolve().parents[3]
KINDS = (good, notebooks, files, resources, endings, prying, harming, forging, bombs)
SECONDS = 8  # for an exercise
PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Outcome:
    """What is not right: with a case, a line each by its name; with the run as a whole."""

    cases: Sequence[Case]
    seconds: float
    of_cases: dict[str, list[str]] = field(default_factory=dict)
    of_the_run: list[str] = field(default_factory=list)

    @property
    def right(self) -> int:
        """How many cases are as they should be."""
        return sum(not self.of_cases.get(case.name) for case in self.cases)


def kit(outside: Outside) -> Kit:
    """What makes cases."""
    return Kit(HandedIn(ROOT / "exercises" / f"{UNIT}.ipynb", ROOT / "solutions" / f"{UNIT}.ipynb"), outside)


def make(outside: Outside) -> list[Case]:
    """The whole class."""
    return [case for kind in KINDS for case in kind.cases(kit(outside))]


def grade_class(outside: Outside, cases: Sequence[Case], arguments: Sequence[str] = ()) -> Outcome:
    """Hand the cases in, grade them in one go, and hold the outcome against the data."""
    for case in cases:
        case.write(outside.submissions)
    began = time.monotonic()
    with _reaping() as left, outside.watched():
        said, code = _grade(outside, arguments)
    outcome = Outcome(cases, time.monotonic() - began)
    outcome.of_the_run += left
    if code:
        outcome.of_the_run.append(f"exit code {code}: {' '.join(said.split()[-60:])}")
    rows = _rows(outside)
    for case in cases:
        outcome.of_cases[case.name] = list(_differences(case, [row for row in rows if _is_of(case, row)]))
    outcome.of_the_run += [*outside.harm(), *outside.leaks(said), *_unsafe(outside, said)]
    return outcome


def _grade(outside: Outside, arguments: Sequence[str]) -> tuple[str, int]:
    folders = (str(outside.submissions), "--out", str(outside.out))
    command = [sys.executable, "-m", "course_utils.cli", "grade", *folders, "--exercise-seconds", str(SECONDS)]
    done = subprocess.run(
        [*command, *arguments],
        cwd=ROOT,
        env=outside.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.decode(errors="replace"), done.returncode


@contextlib.contextmanager
def _reaping() -> Iterator[list[str]]:
    """Collects what is still alive at the end: whoever loses its parent meanwhile becomes a child of this process."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = set(psutil.Process().children(recursive=True))
    left: list[str] = []
    try:
        yield left
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        for one in set(psutil.Process().children(recursive=True)) - before:
            with contextlib.suppress(psutil.NoSuchProcess):
                if one.status() != psutil.STATUS_ZOMBIE:
                    left.append(f"still alive: {one.pid} {' '.join(one.cmdline())[:80]}")
                    one.kill()
                one.wait()


# points and statuses --------------------------------------------------------------------------------------------


def _rows(outside: Outside) -> list[Row]:
    if not (outside.out / "grading.sqlite").exists():
        return []
    with open_store(outside.out, new=False) as store:
        return rows_of(store, read_course(ROOT))


def _is_of(case: Case, row: Row) -> bool:
    return f"/submissions/{case.name}/" in row.file


def _differences(case: Case, rows: Sequence[Row]) -> Iterator[str]:
    if len(rows) != 1:
        yield f"{len(rows)} rows in place of one"
        return
    (row,) = rows
    # a file that tells no unit has no exercises
    statuses = case.statuses if row.unit else {}
    for one in row.graded:
        wanted, points = statuses.pop(one.exercise, ""), case.points[one.exercise]
        if one.points != points or one.status not in wanted.replace(" or ", ", ").split(", "):
            note = f" ({one.note})" if one.note else ""
            yield f"{one.exercise}: {one.status}{note}, {one.points} points; right is {wanted}, {points}"
    yield from (f"{exercise}: no outcome; right is {wanted}" for exercise, wanted in statuses.items())
    if case.note not in row.note:
        yield f"the note says {row.note!r}; it lacks {case.note!r}"
    if case.student and row.student != case.student:
        yield f"the student is {row.student!r}; right is {case.student!r}"


# what is written for people and programs --------------------------------------------------------------------------


def _unsafe(outside: Outside, said: str) -> Iterator[str]:
    """Where a learner's text could do something in whatever shows it."""
    if not (outside.out / "junit.xml").exists():
        yield "no reports were written"
        return
    if "\x1b" in said or "\x07" in said:
        yield "the terminal was sent control signs"
    for name in ("gradebook.csv", "canvas.csv", "moodle.csv"):
        with (outside.out / name).open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        yield from (f"{name} has the formula {cell[:40]!r}" for cell in cells if _is_formula(cell))
    for path in (*outside.out.glob("*.html"), *outside.out.glob("students/*.html")):
        tags = _Tags()
        tags.feed(path.read_text(encoding="utf-8"))
        yield from (f"{path.name} has the tag {tag}" for tag in sorted(tags.found & {"script", "img", "b", "a href"}))
    ET.parse(outside.out / "junit.xml")
    for path in outside.out.glob("gradescope/*.json"):
        json.loads(path.read_text(encoding="utf-8"))


def _is_formula(cell: str) -> bool:
    """Whether a spreadsheet would compute it; plain numbers such as -1.5 are none."""
    return cell.lstrip()[:1] in tuple("=+-@") and not cell.lstrip("-").replace(".", "", 1).isdigit()


class _Tags(HTMLParser):
    """The tags of a page that none of the course's own pages has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.found |= {"script" for name, _ in attributes if name.startswith("on")}


# the table ------------------------------------------------------------------------------------------------------


def show(outcome: Outcome, console: Console) -> None:
    """Print what each case tried, what was right for it, and what is not right."""
    table = Table(show_lines=False)
    for title in ("", "case", "tries", "points"):
        table.add_column(title, overflow="fold")
    for case in outcome.cases:
        wrong = outcome.of_cases.get(case.name, [])
        table.add_row(
            "[red]✘[/]" if wrong else "[green]✔[/]",
            escape(case.name),
            escape("\n".join([case.tries, *wrong])),
            f"{sum(case.points.values())}",
        )
    console.print(table)
    for line in outcome.of_the_run:
        console.print(f"[red]{escape(line)}[/]", soft_wrap=True)
    nothing = "nothing alive, nothing written outside, nothing destroyed, nothing heard, nothing read"
    console.print(
        f"{outcome.right} of {len(outcome.cases)} right in {outcome.seconds:.0f} s; "
        + (nothing if not outcome.of_the_run else f"{len(outcome.of_the_run)} things wrong with the run"),
        soft_wrap=True,
    )


@contextlib.contextmanager
def surroundings() -> Iterator[Outside]:
    """An outside in a folder whose path is short: sockets allow no long one."""
    with (
        tempfile.TemporaryDirectory(prefix="course-hostile-", ignore_cleanup_errors=True) as folder,
        contextlib.closing(Outside(Path(folder).resolve())) as outside,
    ):
        yield outside


def main(names: Sequence[str]) -> int:
    with surroundings() as outside:
        cases = [case for case in make(outside) if case.name.startswith(tuple(names or [""]))]
        outcome = grade_class(outside, cases, ["--jobs", str(os.cpu_count() or 1)])
    show(outcome, Console(highlight=False, width=130))
    return int(outcome.right < len(cases) or bool(outcome.of_the_run))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    raise SystemExit(main(sys.argv[1:]))
