"""What `course grade` does: submissions read, merged, run, judged, kept and reported, in this order."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar

from course_utils.grading.ahead import ahead
from course_utils.grading.cut import probe_of
from course_utils.grading.expected import expected_of
from course_utils.grading.fingerprint import Fingerprints
from course_utils.grading.handed_in import find_files
from course_utils.grading.late import Policy
from course_utils.grading.merge import Merged, merge
from course_utils.grading.pristine import Pristine, read_course
from course_utils.grading.report import Row, one_line, show_summary
from course_utils.grading.roster import read_roster
from course_utils.grading.rows import counting, remember, roster_of, rows_of
from course_utils.grading.run import USUAL, Job, Outcome, Watcher, Way, open_runner
from course_utils.grading.store import Entry, Override, Store, open_store
from course_utils.grading.submission import Submission, read
from course_utils.grading.verdict import Graded, grade_exercises
from course_utils.grading.who import Who
from course_utils.grading.write import CLASS, NAME, STUDENTS, write_reports
from course_utils.refusal import Refusal

ROOT = Path(__file__).resolve().parents[2]
ALL = "all"
T = TypeVar("T")


@dataclass(frozen=True)
class About:
    """What a user knows of the class: who is in it, how files are named, and when they were due."""

    roster: Path | None = None
    student_from: str = ""
    late: Policy | None = None


def grade(
    paths: Sequence[Path],
    out: Path,
    jobs: int = 1,
    *,
    regrade: Sequence[str] = (),
    about: About = About(),
    way: Way = USUAL,
    root: Path = ROOT,
) -> int:
    """Grade the notebooks at `paths` into out/gradebook.csv; 0, or 1 if the grader failed on any of them.

    `about` is kept in `out` until it is given anew. Only what `out` does not know yet is run, and what `regrade` names:
    students, exercises, or `all`. `jobs` submissions run at a time, in the way that
    `way` says. Refuses what a user has to put right.
    """
    console = Console(highlight=False)
    course = read_course(root)
    found = find_files(paths)
    roster = read_roster(about.roster) if about.roster else None
    _make_folder(out)
    with open_store(out) as store:
        try:
            remember(store, roster, about.late)
            who = Who(course, roster_of(store), about.student_from)
            submissions = [read(file, course, who) for file in found]
            secret = (root, out, *(path if path.is_dir() else path.parent for path in paths))
            _Run(store, course, jobs, replace(way, secret=secret), console).grade(submissions, regrade)
        except KeyboardInterrupt:
            console.print(
                "Stopped; the notebooks that ran have been ended. What was graded is kept: the same command goes on "
                "from here."
            )
            return 130
        rows, seed = rows_of(store, course), store.seed
        lost = set(store.overrides()) - {(row.student, one.exercise) for row in rows for one in row.graded}
    show_summary(rows, console)  # first: that the disk is full is no reason to see nothing
    for student, exercise in sorted(lost):  # a roster may have given them another name
        told = f"Points given by hand to {one_line(student)} for {exercise}: no submission has that name any more."
        console.print(f"[yellow]{escape(told)}[/]", soft_wrap=True)
    _write(rows, out, seed, console)
    return int(any(one.status == "grader error" for row in rows for one in row.graded))


def override(student: str, exercise: str, points: float | None, why: str, out: Path, *, root: Path = ROOT) -> int:
    """Give a student these points for an exercise, whatever the grader finds; with None, the grader's again."""
    console = Console(highlight=False)
    course = read_course(root)
    with open_store(out, new=False) as store:
        graded: dict[str, dict[str, Graded]] = {}
        for row in rows_of(store, course):
            graded.setdefault(row.student, {}).update({one.exercise: one for one in row.graded})
        one = _known(exercise, _known(student, graded, "student"), "exercise")
        if points is None:
            if not store.withdraw(student, exercise):
                raise Refusal(
                    f"the points of {student} for {exercise} are the grader's: there is nothing to take back."
                )
        else:
            _check_points(points, one.most, exercise, why)
            store.override(student, exercise, Override(points, why.strip()))
        rows, seed = rows_of(store, course), store.seed
    _write(rows, out, seed, console)
    return 0


def _check_points(points: float, most: int, exercise: str, why: str) -> None:
    if not 0 <= points <= most:
        raise Refusal(f"{exercise} gives 0 to {most} points, not {points:g}.")
    if not why.strip():
        raise Refusal('say why, for whoever reads the gradebook later: --why "the reason".')


def _known(name: str, known: Mapping[str, T], kind: str) -> T:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        meant = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known)}."
        raise Refusal(f"no {kind} {name!r} stands in the gradebook; {meant}")
    return known[name]


def _write(rows: Sequence[Row], out: Path, seed: int, console: Console) -> None:
    previous = write_reports(rows, out, seed)
    for name, what in ((NAME, ""), (CLASS, ""), (STUDENTS, ", a page for each")):
        console.print(f"Written: {escape(str(out / name))}{what}", soft_wrap=True)
    if previous:
        console.print(f"The gradebook that stood there is kept: {escape(str(previous))}", soft_wrap=True)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise Refusal(f"--out {out} is a file: name a folder for the gradebook.") from None


# one run --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    """A submission that has to run, and the exercises whose outcome is not known yet."""

    submission: Submission
    merged: Merged
    open: frozenset[str]


class _Run:
    """One grading run into a store."""

    def __init__(self, store: Store, course: Mapping[str, Pristine], jobs: int, way: Way, console: Console) -> None:
        self.store = store
        self.course = course
        self.jobs = jobs
        self.way = way
        self.console = console
        self.fingerprints = Fingerprints(course)

    def grade(self, submissions: Sequence[Submission], regrade: Sequence[str]) -> None:
        """Keep an outcome for every exercise of these submissions."""
        merged = {
            one.file.place: merge(self.course[one.unit], one.cells, self.store.seed)
            for one in submissions
            if not one.fault
        }
        self.store.enter(_entry(one, merged.get(one.file.place)) for one in submissions)
        self.store.set_aside_faults()
        for name in regrade:
            self._set_aside(name, submissions)
        self._run(self._open(submissions, merged))

    def _set_aside(self, name: str, submissions: Sequence[Submission]) -> None:
        """What `--regrade` asks for: of a student all exercises, of an exercise all students."""
        exercises = [exercise for pristine in self.course.values() for exercise in pristine.exercises]
        theirs = [
            one.digest
            for one in submissions
            if name in (ALL, one.author.student, f"{one.author.student} ({one.author.id})")
        ]
        if theirs:
            self.store.set_aside(theirs, exercises)
        elif name in exercises:
            self.store.set_aside([one.digest for one in submissions], [name])
        else:
            known = [ALL, *exercises, *(one.author.student for one in submissions)]
            near = difflib.get_close_matches(name, known, n=1)
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise Refusal(f"--regrade {name}: neither a student here, nor an exercise, nor `{ALL}`.{meant}")

    def _open(self, submissions: Sequence[Submission], merged: Mapping[str, Merged]) -> list[_Work]:
        """What has to run: files that count, and of those with the same content one."""
        count = {entry.place for entry in counting(self.store.entries())}
        work: dict[str, _Work] = {}
        for one in submissions:
            if one.file.place in count and not one.fault:
                known = self.store.results(one.digest, self.fingerprints[one.unit])
                missing = frozenset(self.course[one.unit].exercises) - set(known)
                if missing:
                    work.setdefault(one.digest, _Work(one, merged[one.file.place], missing))
        return list(work.values())

    def _run(self, work: Sequence[_Work]) -> None:
        if not work:
            return
        seed, units = self.store.seed, {one.submission.unit for one in work}
        with open_runner(replace(self.way, ahead=self._ahead(work))) as runner, _progress_bar(self.console) as bar:
            expected = expected_of(units, self.course, seed, runner)
            bar.begin([one.submission.author.student for one in work])
            jobs = [Job(one.merged, expected[one.submission.unit]) for one in work]
            runner.run(jobs, self.jobs, bar, self._keeper(work))

    def _ahead(self, work: Sequence[_Work]) -> tuple[str, ...]:
        """What the submissions and their checks load, so far as one can see."""
        units = {one.submission.unit for one in work}
        cells = [cell.source for one in work for cell in one.merged.cells]
        solutions = [cell.source for unit in units for cell in self.course[unit].cells]
        probes = [
            code
            for unit in units
            for name in self.course[unit].exercises
            for code in probe_of(name)["modules"].values()
        ]
        return ahead([*cells, *solutions, *probes])

    def _keeper(self, work: Sequence[_Work]) -> Callable[[int, Outcome], None]:
        """What takes each submission's outcome to the store."""

        def keep(number: int, outcome: Outcome) -> None:
            one = work[number]
            graded = grade_exercises(one.merged, outcome, self.store.seed)
            asked = [outcome for outcome in graded if outcome.exercise in one.open]
            self.store.add(one.submission.digest, asked, self.fingerprints[one.submission.unit])

        return keep


def _entry(one: Submission, merged: Merged | None) -> Entry:
    marked = ("Canvas marks it as late",) if one.author.marked_late else ()
    return Entry(
        one.file.place,
        str(one.file.source.absolute()),
        str(one.file.name),
        one.author.student,
        one.author.id,
        one.unit,
        one.digest,
        one.fault,
        one.file.modified,
        (*marked, *one.notes, *(merged.notes if merged else ())),
    )


class _Bar(Watcher):
    """The progress bar: how many submissions are done, what runs, and how long it will take. Silent off a terminal."""

    def __init__(self, bar: ProgressBar) -> None:
        self._bar = bar
        self._task = bar.add_task("the solutions", total=None)
        self._students: Sequence[str] = ()
        self._running: dict[int, str] = {}

    def begin(self, students: Sequence[str]) -> None:
        """These have handed in what runs from here on."""
        self._students = students
        self._bar.update(self._task, total=len(students))

    def at(self, number: int, exercise: str) -> None:
        self._running[number] = f"{one_line(self._students[number])[:20]}: {exercise}"
        self._show()

    def done(self, number: int) -> None:
        self._running.pop(number, None)
        self._bar.advance(self._task)
        self._show()

    def _show(self) -> None:
        self._bar.update(self._task, description=escape(", ".join(list(self._running.values())[:_MOST_SHOWN])))


_MOST_SHOWN = 3


@contextlib.contextmanager
def _progress_bar(console: Console) -> Iterator[_Bar]:
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with ProgressBar(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield _Bar(bar)
