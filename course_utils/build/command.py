"""What `course build` does: read all sources, report every fault, write what changed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from course_utils.build.assemble import Target, targets
from course_utils.build.compare import stale, strays
from course_utils.build.execute import execute_all
from course_utils.build.faults import Fault, listed
from course_utils.build.lint import KnownExercises, lint
from course_utils.build.outline import (
    FOLDERS,
    Course,
    Unit,
    missing_sources,
    read_course,
    unnamed_sources,
)
from course_utils.build.reuse import carried_over, code_cells, read_notebook
from course_utils.build.source import read_source
from course_utils.build.write import has_been_run, keep_work, notebook_bytes, write_if_changed


def build(
    root: Path,
    check: bool = False,
    execute: bool = False,
    names: Sequence[str] = (),
    jobs: int = 2,
    known_exercises: KnownExercises | None = None,
) -> int:
    """Write the course's notebooks from its sources; 0 if all is well, 1 if anything is not.

    A notebook runs again only if its code changed or its outputs are missing. A change in
    course_utils does not show there: `execute` runs every notebook anew. `check` writes and runs
    nothing, and fails on each notebook that is not what its source gives.
    """
    console = Console(soft_wrap=True, highlight=False, markup=False)
    try:
        course, faults = read_course(root)
        units, unknown = course.select(names)
        if unknown and course.units:
            known = listed(unit.name for unit in course.units)
            console.print(f"course build: no unit is called {listed(unknown)}; the units are: {known}")
            return 1
        planned, source_faults = plan(root, units, known_exercises)
        faults += source_faults
        if not names:
            faults += unnamed_sources(root, course)
        if faults:
            return _report(console, faults, "Nothing was built.")
        everything = None if names else course
        if check:
            return _check(console, root, planned, everything)
        return _Build(root, console).run(planned, execute, jobs, everything)
    except KeyboardInterrupt:
        console.print("Interrupted. No file is half-written; run `course build` again to go on.")
    except OSError as error:
        console.print(f"course build: {error.filename}: {error.strerror or error}")
    return 1


def plan(
    root: Path, units: Sequence[Unit], known_exercises: KnownExercises | None = None
) -> tuple[list[Target], list[Fault]]:
    """The notebooks that the units' sources give, and every fault in those sources."""
    planned: list[Target] = []
    faults = missing_sources(root, units)
    for unit in units:
        for kind in FOLDERS:
            if not (root / unit.source(kind)).is_file():
                continue
            source, found = read_source(root, unit, kind)
            found = found + lint(source, known_exercises)
            faults += found
            if not found:
                planned += targets(source)
    return planned, faults


def _report(console: Console, faults: Sequence[Fault], closing: str) -> int:
    for fault in faults:
        console.print(str(fault))
    console.print(f"{_count(len(faults), 'fault')}. {closing}")
    return 1


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _check(console: Console, root: Path, planned: Sequence[Target], course: Course | None) -> int:
    faults = [fault for target in planned if (fault := stale(target, root)) is not None]
    if course is not None:
        faults += strays(root, course)
    if faults:
        return _report(console, faults, "Nothing was written.")
    console.print(f"{_count(len(planned), 'notebook')}: each is what its source gives.")
    return 0


class _Build:
    """One run of `course build`: what was written, kept and found wrong so far."""

    def __init__(self, root: Path, console: Console) -> None:
        self.root = root
        self.console = console
        self.faults: list[Fault] = []
        self.written = 0
        self.same = 0

    def run(self, planned: Sequence[Target], execute: bool, jobs: int, course: Course | None) -> int:
        """Write the planned notebooks, running those that need it; returns the exit code."""
        to_run = []
        carried = 0
        for target in planned:
            if not target.is_executed:
                self._write(target, target.notebook)
                continue
            outcome: NotebookNode | str = "all were asked for"
            if not execute:
                outcome = carried_over(target, read_notebook(self.root / target.file), self.root)
            if isinstance(outcome, str):
                self.console.print(f"running {target.file}: {outcome}")
                to_run.append(target)
            else:
                carried += 1
                self._write(target, outcome)
        with _progress(self.console, to_run) as cell_done:
            execute_all(to_run, self.root, self._executed, jobs, cell_done)
        if course is not None:
            self.faults += strays(self.root, course)
        return self._summary(carried)

    def _executed(self, target: Target, notebook: NotebookNode, faults: list[Fault]) -> None:
        self.faults += faults
        if not faults:
            self._write(target, notebook)

    def _write(self, target: Target, notebook: NotebookNode) -> None:
        path = self.root / target.file
        content = notebook_bytes(notebook)
        if not target.is_executed and has_been_run(path):
            kept = keep_work(path).relative_to(self.root).as_posix()
            self.console.print(f"{target.file} held someone's work; it is kept as {kept}")
        if write_if_changed(path, content):
            self.written += 1
            self.console.print(f"wrote {target.file}")
        else:
            self.same += 1

    def _summary(self, carried: int) -> int:
        if carried:
            self.console.print(
                f"{_count(carried, 'notebook')} not run again: the code is unchanged. "
                "If course_utils changed, run: course build --execute"
            )
        if self.faults:
            return _report(self.console, self.faults, "The notebooks named above were not written.")
        self.console.print(f"{self.written} written, {self.same} already right.")
        return 0


@contextlib.contextmanager
def _progress(console: Console, to_run: Sequence[Target]) -> Iterator[Callable[[], None]]:
    """What to call after each cell; on a terminal it moves a progress line."""
    if not to_run or not console.is_terminal:
        yield lambda: None
        return
    columns = (
        TextColumn("running cells"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        cells = progress.add_task("", total=sum(len(code_cells(t.notebook)) for t in to_run))
        yield lambda: progress.advance(cells)
