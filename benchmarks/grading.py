"""Sets `course grade` beside nbgrader and plain nbval, on the same class with the same points.

`python benchmarks/grading.py` runs everything and prints the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from graders import Grader, Nbgrader, Nbval, Ours, differences, environment, installed
from handed_in import TASKS, students
from meter import Cost, Meter, watched_memory

SIZES = (10, 50, 100, 200, 400)
INSTALL = 'pip install -e ".[benchmarks]"'


def main() -> None:
    options = _options()
    meter = Meter()
    try:
        with tempfile.TemporaryDirectory(prefix="course-bench-") as name:
            folder = Path(name)
            print(f"{_about()} CPU seconds are those of {meter.counts}.\n")
            costs = _side_by_side(meter, folder / "beside", options.submissions, options.only)
            if options.sizes:
                _growth(meter, folder / "growth", options.sizes)
            peaks = _memory(meter, folder / "memory", min(options.submissions, 20))
            _bars(costs, peaks)
    finally:
        meter.close()


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


def _measured(meter: Meter, grader: Grader) -> Cost:
    """What grading takes; ends the benchmark if the points are not those that are right."""
    grader.prepare()
    code, cost = meter.run(grader.command(), grader.folder, environment(grader.folder))
    if code and not isinstance(grader, Nbval):  # for pytest, wrong answers are failures
        said = (grader.folder / "log.txt").read_text(errors="replace").strip()
        raise SystemExit(f"{grader.name} ended with exit code {code}: {said[-1000:]}")
    wrong = differences(grader.points(), grader.crowd)
    if wrong:
        raise SystemExit(f"{grader.name} found other points than are right, so nothing can be compared: {wrong[:5]}")
    return cost


# tables ---------------------------------------------------------------------------------------------------------


def _side_by_side(meter: Meter, folder: Path, count: int, only: str) -> dict[type[Grader], Cost]:
    crowd = students(count)
    costs: dict[type[Grader], Cost] = {}
    for kind in (Ours, Nbval, Nbgrader):
        if only in kind.name and installed(kind):
            costs[kind] = _measured(meter, kind(folder / kind.__name__, crowd))
    print(f"{count} submissions of {len(TASKS)} exercises, two at a time; nbgrader has no such option. Points equal.\n")
    rows = []
    for kind in (Ours, Nbval, Nbgrader):
        if kind in costs:
            cost = costs[kind]
            times = [f"{cost.wall / count:.2f}", f"{cost.cpu / count:.3f}"]
            beside = f"{cost.cpu / costs[Ours].cpu:.1f}" if Ours in costs else ""
            rows.append([f"`{kind.name}`", *times, beside, f"{cost.wall:.0f}", f"{cost.others:.1f}"])
        elif not installed(kind):
            rows.append([f"`{kind.name}`", f"not installed: {INSTALL}", "", "", "", ""])
    titles = ("grader", "s a submission", "CPU s a submission", "times our CPU", "s in all", "cores busy with others")
    _table(titles, rows)
    return costs


def _growth(meter: Meter, folder: Path, sizes: Sequence[int]) -> None:
    rows: list[list[str]] = []
    last: tuple[int, Cost] | None = None
    for size in sizes:
        cost = _measured(meter, Ours(folder / str(size), students(size)))
        more = f"{(cost.cpu - last[1].cpu) / (size - last[0]):.3f}" if last else ""
        each = [f"{cost.wall / size:.2f}", f"{cost.cpu / size:.3f}", more]
        rows.append([f"{size}", f"{cost.wall:.1f}", f"{cost.cpu:.1f}", *each, f"{cost.others:.1f}"])
        last = size, cost
    titles = ("submissions", "s", "CPU s", "s each", "CPU s each", "CPU s for one more", "cores busy with others")
    _table(titles, rows)


def _memory(meter: Meter, folder: Path, count: int) -> list[float]:
    peaks = []
    for jobs in (1, 2):
        with watched_memory() as seen:
            _measured(meter, Ours(folder / str(jobs), students(count), jobs))
        peaks.append(max(seen))
    rows = [[f"`--jobs {jobs}`", f"{peak:.0f}"] for jobs, peak in enumerate(peaks, start=1)]
    rows.append(["each further job", f"{peaks[1] - peaks[0]:.0f}"])
    _table(("all processes of `course grade`", "peak memory, MB"), rows)
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
