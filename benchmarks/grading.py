"""Sets `course grade` beside nbgrader and plain nbval, on the same class with the same points.

`python benchmarks/grading.py` runs everything and prints the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import platform
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
from graders import Grader, Nbgrader, Nbval, Ours, differences, environment, installed
from handed_in import TASKS, students

SIZES = (10, 50, 100, 200, 400)
MB = 1_000_000
SUBREAPER = 36
INSTALL = 'pip install -e ".[benchmarks]"'


@dataclass(frozen=True)
class Cost:
    """What grading a class took: seconds by the clock and of CPU, and the CPU seconds of the whole machine."""

    count: int
    wall: float
    cpu: float
    machine: float

    @property
    def others(self) -> float:
        """How many cores other programs kept busy meanwhile."""
        return max(0.0, self.machine - self.cpu) / self.wall


def main() -> None:
    options = _options()
    if sys.platform == "linux":  # kernels that lose their parent come to us, and so do their CPU seconds
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory(prefix="course-bench-") as name:
        folder = Path(name)
        print(f"{_about()}\n")
        ours = _side_by_side(folder / "beside", options.submissions, options.only)
        if options.sizes:
            _growth(folder / "growth", options.sizes)
        memory = _memory(folder / "memory", min(options.submissions, 20))
        _bars(ours, memory)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submissions", type=int, default=40, help="how many for the comparison")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="sizes of the class for the growth")
    parser.add_argument("--only", default="", help="the graders whose name has this in it")
    return parser.parse_args()


def _about() -> str:
    names = ("torch", "nbgrader", "nbval", "ipykernel", "pytest-xdist")
    versions = ", ".join(f"{name} {_version(name)}" for name in names)
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    return f"{versions}; Python {platform.python_version()}; {machine}."


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


# measuring ------------------------------------------------------------------------------------------------------


def _measured(grader: Grader) -> Cost:
    grader.prepare()
    before, machine, began = _cpu_of_children(), _cpu_of_machine(), time.perf_counter()
    _run(grader)
    wall = time.perf_counter() - began
    with contextlib.suppress(ChildProcessError):
        while True:  # who was left behind belongs to the costs
            os.waitpid(-1, 0)
    cost = Cost(len(grader.crowd), wall, _cpu_of_children() - before, _cpu_of_machine() - machine)
    wrong = differences(grader.points(), grader.crowd)
    if wrong:
        raise SystemExit(f"{grader.name} found other points than are right, so nothing can be compared: {wrong[:5]}")
    return cost


def _run(grader: Grader) -> None:
    with (grader.folder / "log.txt").open("wb") as log:
        code = subprocess.call(
            grader.command(), cwd=grader.folder, env=environment(grader.folder), stdout=log, stderr=log
        )
    if code and not isinstance(grader, Nbval):  # for pytest, wrong answers are failures
        said = (grader.folder / "log.txt").read_text(errors="replace").strip()
        raise SystemExit(f"{grader.name} ended with exit code {code}: {said[-1000:]}")


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cpu_of_machine() -> float:
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0) - getattr(times, "guest", 0)


@contextlib.contextmanager
def _watched_memory() -> Iterator[list[float]]:
    """The memory of all our descendants in MB, ten times a second; what several processes share counts once."""
    seen, stop = [0.0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.1):
            seen.append(sum(map(_memory_of, psutil.Process().children(recursive=True))) / MB)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


def _memory_of(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except (psutil.Error, OSError):
        return 0


# tables ---------------------------------------------------------------------------------------------------------


def _side_by_side(folder: Path, count: int, only: str) -> dict[type[Grader], Cost]:
    crowd = students(count)
    costs: dict[type[Grader], Cost] = {}
    for kind in (Ours, Nbval, Nbgrader):
        if only in kind.name and installed(kind):
            costs[kind] = _measured(kind(folder / kind.__name__, crowd))
    print(f"{count} submissions of {len(TASKS)} exercises, two at a time; nbgrader has no such option. Points equal.\n")
    rows = []
    for kind in (Ours, Nbval, Nbgrader):
        if kind in costs:
            cost = costs[kind]
            times = [f"{cost.wall / count:.2f}", f"{cost.cpu / count:.3f}"]
            beside = f"{cost.cpu / costs[Ours].cpu:.1f}" if Ours in costs else ""
            rows.append([f"`{kind.name}`", *times, beside, f"{cost.wall:.0f}", f"{cost.others:.1f}"])
        else:
            rows.append([f"`{kind.name}`", f"not installed: {INSTALL}", "", "", "", ""])
    titles = ("grader", "s a submission", "CPU s a submission", "times our CPU", "s in all", "cores busy with others")
    _table(titles, rows)
    return costs


def _growth(folder: Path, sizes: Sequence[int]) -> None:
    costs = [_measured(Ours(folder / str(size), students(size))) for size in sizes]
    rows, last = [], None
    for cost in costs:
        more = ""
        if last is not None:
            more = f"{(cost.cpu - last.cpu) / (cost.count - last.count):.3f}"
        each = [f"{cost.wall / cost.count:.2f}", f"{cost.cpu / cost.count:.3f}", more]
        rows.append([f"{cost.count}", f"{cost.wall:.1f}", f"{cost.cpu:.1f}", *each])
        last = cost
    titles = ("submissions", "s", "CPU s", "s each", "CPU s each", "CPU s for each one more than above")
    _table(titles, rows)


def _memory(folder: Path, count: int) -> list[float]:
    peaks = []
    for jobs in (1, 2):
        grader = Ours(folder / str(jobs), students(count), jobs)
        grader.prepare()
        with _watched_memory() as seen:
            _run(grader)
        peaks.append(max(seen))
    rows = [[f"--jobs {jobs}", f"{peak:.0f}"] for jobs, peak in enumerate(peaks, start=1)]
    _table(
        ("all processes of `course grade`", "peak memory, MB"),
        [*rows, ["each further job", f"{peaks[1] - peaks[0]:.0f}"]],
    )
    return peaks


def _bars(costs: dict[type[Grader], Cost], peaks: Sequence[float]) -> None:
    rows = []
    if {Ours, Nbgrader} <= set(costs):
        allowed = costs[Nbgrader].cpu / 20
        rows.append(_bar("CPU s, a twentieth of nbgrader's", allowed, costs[Ours].cpu))
    rows.append(_bar("memory of a job, MB", 500, peaks[1] - peaks[0]))
    _table(("bar", "allowed", "measured", ""), rows)


def _bar(what: str, allowed: float, measured: float) -> list[str]:
    return [what, f"{allowed:.1f}", f"{measured:.1f}", "met" if measured <= allowed else "missed"]


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
    titles = list(titles)
    print(f"| {' | '.join(titles)} |")
    print("|---" + "|---:" * (len(titles) - 1) + "|")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print(flush=True)


if __name__ == "__main__":
    main()
