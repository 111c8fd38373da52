"""Submissions run by nbval under pytest, in processes of their own, and every exercise apart from the others."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from course_utils.grading.ahead import EVERYTHING
from course_utils.grading.cluster import cluster
from course_utils.grading.crew import CREW, Kernel, LostError, Records, Settings, run_submission
from course_utils.grading.cut import probe_of
from course_utils.grading.limits import Limits
from course_utils.grading.merge import Merged
from course_utils.grading.parts import parts
from course_utils.grading.sandbox import check_walls, make_home
from course_utils.refusal import Refusal

FORKED: Kernel = "forked"
JUPYTER: Kernel = "jupyter"


@dataclass(frozen=True)
class CellRecord:
    """What became of one cell: nbval's verdict in a word, its standard output, its exception if it raised.

    `outcome` is passed, differs, raised, timeout, died, memory, left out, not run or fault. `garbled`: the submission
    has sent something in the kernel's place.
    """

    outcome: str
    stdout: str = ""
    error: str = ""
    garbled: bool = False


@dataclass(frozen=True)
class Job:
    """A merged notebook, and what each of its evidence cells has to print, by exercise; None to compare nothing."""

    merged: Merged
    expected: Mapping[str, str] | None


Outcome = dict[str, tuple[CellRecord, ...]]  # by exercise, a record for each cell of its part
Arrived = Callable[[int, Outcome], None]


@dataclass(frozen=True)
class Way:
    """How submissions are run. `trusted`: without walls around them. `secret`: folders that they must not see.

    `ahead` is what is loaded before any of them. `scheduler` is the address of Dask's scheduler, whose workers then
    run them.
    """

    kernel: Kernel = FORKED if sys.platform == "linux" else JUPYTER
    trusted: bool = False
    limits: Limits = field(default_factory=Limits)
    secret: tuple[Path, ...] = ()
    ahead: tuple[str, ...] = EVERYTHING
    scheduler: str = ""


USUAL = Way()


def way(kernel: str | None, trusted: bool, limits: Limits, scheduler: str = "") -> Way:
    """The way that a command line asks for. Refuses a kernel that is none."""
    if kernel not in (None, FORKED, JUPYTER):
        raise Refusal(f"--kernel {kernel}: there are `{FORKED}` and `{JUPYTER}`.")
    if kernel is None:
        # workers may be on another system than this one
        kernel = FORKED if scheduler else USUAL.kernel
    return Way(kernel, trusted, limits, scheduler=scheduler)


def available_cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Watcher:
    """Is told what goes on, for a progress bar; this one does not care."""

    def at(self, number: int, exercise: str) -> None:
        """An exercise of this job runs now."""

    def done(self, number: int) -> None:
        """This job has been run."""


SILENT = Watcher()


class Runner:
    """Runs submissions in one way, in processes that it starts when they are needed and keeps between its runs."""

    def __init__(self, settings: Settings, executor: Executor | None = None) -> None:
        self._settings = settings
        self._executor = executor

    def run(
        self,
        jobs: Sequence[Job],
        workers: int = 1,
        watcher: Watcher = SILENT,
        arrived: Arrived = lambda number, outcome: None,
    ) -> list[Outcome]:
        """The outcome of each job. `arrived` gets each one's number and outcome once, as soon as it is there.

        What `arrived` raises ends the run. A process that is lost in the middle of a job costs it a second try, and
        then a `fault`.
        """
        outcomes: dict[int, Outcome] = {}
        local = _local_executor(min(workers, len(jobs) or 1))
        with contextlib.nullcontext(self._executor) if self._executor else local as executor:
            for number, outcome in _results(jobs, self._settings, executor, watcher):
                outcomes[number] = outcome
                arrived(number, outcome)
                watcher.done(number)
        return [outcomes[number] for number in range(len(jobs))]


def _results(
    jobs: Sequence[Job], settings: Settings, executor: Executor, watcher: Watcher
) -> Iterator[tuple[int, Outcome]]:
    """Each job's number and outcome, in the order in which they end."""

    def submit(number: int) -> Future:
        return executor.submit(run_submission, settings, _work(jobs[number]), lambda one: watcher.at(number, one))

    running = {submit(number): number for number in range(len(jobs))}
    again: dict[Future, int] = {}
    for future in as_completed(running):
        number = running[future]
        try:
            yield number, _outcome(future.result())
        except LostError:
            again[submit(number)] = number
    for future in as_completed(again):
        number = again[future]
        try:
            yield number, _outcome(future.result())
        except LostError as lost:
            yield number, _fault(jobs[number], f"the process that ran it ended: {lost}")


@contextlib.contextmanager
def _local_executor(workers: int) -> Iterator[Executor]:
    """Threads that wait for a process each."""
    executor = ThreadPoolExecutor(workers)
    try:
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        CREW.close()  # then those threads have nothing left to wait for
        raise
    finally:
        executor.shutdown()


@contextlib.contextmanager
def open_runner(way: Way) -> Iterator[Runner]:
    """A runner, and at the end none of its processes. Refuses where walls are wanted and cannot stand."""
    if way.kernel == FORKED and sys.platform != "linux" and not way.scheduler:
        raise Refusal("--kernel forked needs Linux: say --kernel jupyter.")
    if way.kernel == JUPYTER and not way.trusted:
        raise Refusal(
            "Jupyter's own kernel runs submissions with your rights: say --trust-submissions, if you would also open "
            "and run each of them yourself."
        )
    if way.scheduler:
        with cluster(way.scheduler) as executor:  # whose workers have homes, and walls, of their own
            yield Runner(_settings(way, ""), executor)
        return
    with tempfile.TemporaryDirectory(prefix="course-grade-", ignore_cleanup_errors=True) as folder:
        home = make_home(Path(folder) / "home") if way.kernel == FORKED else Path(folder)
        if not way.trusted:
            check_walls(home)
        try:
            yield Runner(_settings(way, str(home)))
        finally:
            CREW.close()


def _settings(way: Way, home: str) -> Settings:
    return Settings(way.kernel, not way.trusted, home, tuple(map(str, way.secret)), way.limits, way.ahead)


def _work(job: Job) -> dict[str, object]:
    """The job as plain data."""
    cells = [{"role": one.role, "source": one.source, "tags": list(one.tags)} for one in job.merged.cells]
    asked = [
        {
            "exercise": part.exercise,
            "positions": list(part.positions),
            # an exercise that is not in `expected` is an error here: what is not compared would pass
            "expected": job.expected[part.exercise] if job.expected is not None else None,
            "probe": probe_of(part.exercise),
        }
        for part in parts(job.merged)
    ]
    return {"cells": cells, "parts": asked}


def _outcome(records: Records) -> Outcome:
    return {exercise: tuple(CellRecord(**one) for one in its) for exercise, its in records.items()}


def _fault(job: Job, reason: str) -> Outcome:
    lost = CellRecord("fault", error=reason)
    return {part.exercise: (lost,) * len(part.positions) for part in parts(job.merged)}
