"""What `course grade` does: submissions read, merged, run, judged and reported, in this order."""

from __future__ import annotations

import contextlib
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from course_utils.checks.catalogue import find
from course_utils.grading.merge import Merged, merge, solved
from course_utils.grading.pristine import Pristine, read_course
from course_utils.grading.report import NAME, Row, show_summary, write_gradebook
from course_utils.grading.run import CELL_TIMEOUT, CellRecord, Job, run
from course_utils.grading.submission import Submission, find_notebooks, read
from course_utils.grading.verdict import grade_exercises, judge_text, unreadable
from course_utils.refusal import Refusal

ROOT = Path(__file__).resolve().parents[2]
Expected = Mapping[str, str]


def grade(paths: Sequence[Path], out: Path, jobs: int = 1, *, root: Path = ROOT, timeout: float = CELL_TIMEOUT) -> int:
    """Grade the notebooks at `paths` into out/gradebook.csv; 0, or 1 if the grader failed on any of them.

    `jobs` notebooks run at a time, each cell for at most `timeout` seconds. Refuses what a user has to put right.
    """
    console = Console(highlight=False)
    try:
        rows = graded_rows(paths, out, jobs, root, timeout, console)
    except KeyboardInterrupt:
        console.print("Stopped. Nothing was written; the notebooks that ran have been ended.")
        return 130
    show_summary(rows, console)  # first, so that a disk that is full does not cost the whole run
    previous = write_gradebook(rows, out)
    console.print(f"Written: {escape(str(out / NAME))}", soft_wrap=True)
    if previous:
        console.print(f"The gradebook that stood there is kept: {escape(str(previous))}", soft_wrap=True)
    return int(any(one.status == "grader error" for row in rows for one in row.graded))


def graded_rows(paths: Sequence[Path], out: Path, jobs: int, root: Path, timeout: float, console: Console) -> list[Row]:
    """A row for each submission, in the order they were found."""
    course = read_course(root)
    found = find_notebooks(paths)
    _make_folder(out)
    submissions = [read(path, course) for path in found]
    readable = [one for one in submissions if not one.fault]
    with _progress_bar(console) as progress:
        seed = secrets.randbits(32)
        expected = _expected({one.unit for one in readable}, course, seed, timeout)
        graders = [_Grader(one, merge(course[one.unit], one.cells, seed)) for one in readable]
        work = [Job(one.merged, expected[one.submission.unit]) for one in graders]
        progress.total(sum(len(one.merged.cells) for one in graders))
        outcomes = run(work, jobs, timeout, progress.done) if work else []
    done = {one.submission.path: one.row(records, seed) for one, records in zip(graders, outcomes, strict=True)}
    rows = [done.get(one.path) or _unreadable_row(one, course) for one in submissions]
    return _with_repeats_noted(rows)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise Refusal(f"--out {out} is a file: name a folder for the gradebook.") from None


def _expected(units: set[str], course: Mapping[str, Pristine], seed: int, timeout: float) -> dict[str, Expected]:
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


@dataclass(frozen=True)
class _Grader:
    """A submission on its way through the steps."""

    submission: Submission
    merged: Merged

    def row(self, records: tuple[CellRecord, ...], seed: int) -> Row:
        graded = tuple(grade_exercises(self.merged, records, seed))
        one = self.submission
        return Row(one.student, one.path.as_posix(), one.unit, graded, notes=self.merged.notes)


def _unreadable_row(submission: Submission, course: Mapping[str, Pristine]) -> Row:
    exercises = course[submission.unit].exercises if submission.unit else ()
    graded = tuple(unreadable(exercises))
    return Row(submission.student, submission.path.as_posix(), submission.unit, graded, fault=submission.fault)


def _with_repeats_noted(rows: Sequence[Row]) -> list[Row]:
    """The rows, a note in each that shares student and unit with another: which one counts is a person's decision."""
    count = Counter((row.student, row.unit) for row in rows)

    def noted(row: Row) -> Row:
        times = count[row.student, row.unit]
        if times == 1:
            return row
        note = f"one of {times} submissions by this student"
        return Row(row.student, row.file, row.unit, row.graded, row.fault, (note, *row.notes))

    return [noted(row) for row in rows]


class _Bar:
    """The progress bar; on anything but a terminal it stays silent."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self._task = bar.add_task("running the solutions", total=None)

    def total(self, cells: int) -> None:
        self._bar.update(self._task, total=cells, description="running cells")

    def done(self, cells: int) -> None:
        self._bar.update(self._task, completed=cells)


@contextlib.contextmanager
def _progress_bar(console: Console) -> Iterator[_Bar]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with ProgressBar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield _Bar(bar)
