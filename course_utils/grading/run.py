"""Merged notebooks run by nbval under pytest, in a process of its own that nothing here has to believe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from course_utils.grading.merge import Merged, MergedCell

CELL_TIMEOUT = 60.0
Progress = Callable[[int], None]
Arrived = Callable[[int, tuple["CellRecord", ...]], None]


@dataclass(frozen=True)
class CellRecord:
    """What became of one cell: nbval's verdict in a word, its standard output, its exception if it raised.

    `outcome` is passed, differs, raised, timeout, died, not run or fault.
    """

    outcome: str
    stdout: str = ""
    error: str = ""


@dataclass(frozen=True)
class Job:
    """A merged notebook, and what each of its evidence cells has to print, by exercise; None to compare nothing."""

    merged: Merged
    expected: Mapping[str, str] | None


def run(
    jobs: Sequence[Job],
    workers: int = 1,
    timeout: float = CELL_TIMEOUT,
    progress: Progress = lambda cells: None,
    arrived: Arrived = lambda number, records: None,
) -> list[tuple[CellRecord, ...]]:
    """A record for each cell of each job. `progress` is told how many cells are done in all.

    `arrived` gets each job's number and records once, as soon as they are complete; what it raises ends the run.
    A job that takes the process that runs it down with it is tried once more, alone. What then still has no record
    gets a `fault`.
    """
    records: dict[int, tuple[CellRecord, ...]] = {}
    told: set[int] = set()
    last_words = ""

    def tell(number: int, found: tuple[CellRecord, ...]) -> None:
        if number not in told and len(found) >= len(jobs[number].merged.cells):
            told.add(number)
            arrived(number, found)

    with tempfile.TemporaryDirectory(prefix="course-grade-", ignore_cleanup_errors=True) as folder:

        def go(numbers: Sequence[int], workers: int) -> None:
            nonlocal last_words
            done = sum(map(len, records.values()))
            chosen = {_name(number): jobs[number] for number in numbers}
            place = Path(tempfile.mkdtemp(dir=folder))

            def look(lines: Mapping[str, list[str]]) -> None:
                progress(done + sum(map(len, lines.values())))
                for number in numbers:
                    tell(number, _records(lines[_name(number)]))

            lines, last_words = _pytest(chosen, place, workers, timeout, look)
            look(lines)
            records.update({number: _records(lines[_name(number)]) for number in numbers})

        go(range(len(jobs)), min(workers, len(jobs)))
        for number, job in enumerate(jobs):
            if len(records[number]) < len(job.merged.cells):
                del records[number]
                go([number], 1)
                lost = CellRecord("fault", error=f"the process that ran it ended: {last_words}")
                records[number] += (lost,) * (len(job.merged.cells) - len(records[number]))
                tell(number, records[number])
    return [records[number] for number in range(len(jobs))]


def _name(number: int) -> str:
    return f"submission_{number:04}"  # never the file's own name, which may be anything


def _records(lines: Sequence[str]) -> tuple[CellRecord, ...]:
    found = (json.loads(line) for line in lines)
    return tuple(CellRecord(one["outcome"], one["stdout"], one["error"]) for one in found)


# one run of pytest ----------------------------------------------------------------------------------------------


def _pytest(
    jobs: Mapping[str, Job], folder: Path, workers: int, timeout: float, look: Callable[[Mapping[str, list[str]]], None]
) -> tuple[dict[str, list[str]], str]:
    """The recorder's lines of each job, by name, and the last line that pytest itself printed.

    `look` is shown the lines so far, whenever there are new ones.
    """
    records = folder / "records"
    records.mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")  # the clone's settings stay out
    for name, job in jobs.items():
        (folder / name).mkdir()  # a kernel works in its notebook's folder
        (folder / name / f"{name}.ipynb").write_text(json.dumps(_notebook(job)), encoding="utf-8")
    log = folder / "pytest.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            _command(folder, workers, timeout),
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C comes to us, and we end it
        )
        try:
            follower = _Follower(records, jobs)
            while process.poll() is None:
                if follower.grew():
                    look(follower.lines)
                time.sleep(0.2)
        finally:
            _end(process)
    lines = _lines(records, jobs)
    said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines, said[-1] if said else f"exit code {process.returncode}"


def _command(folder: Path, workers: int, timeout: float) -> list[str]:
    plugins = ("nbval.plugin", "xdist.plugin", "course_utils.grading.recorder")
    return [
        *(sys.executable, "-m", "pytest"),
        *(part for plugin in plugins for part in ("-p", plugin)),
        *("-p", "no:cacheprovider", "-c", str(folder / "pytest.ini"), "--rootdir", str(folder)),
        *("--nbval", "--nbval-current-env", f"--nbval-cell-timeout={timeout}"),
        # a cell that finds no kernel where the last one ended tells nothing: no new worker goes on in the middle
        *("-n", str(workers if workers > 1 else 0), "--dist", "loadfile", "--max-worker-restart=0"),
        *("-q", "--no-header", "--tb=no", "--color=no", f"--record={folder / 'records'}", str(folder)),
    ]


def _environment(folder: Path) -> dict[str, str]:
    """Ours, without what would change how pytest, Jupyter or a submission behaves."""
    personal = ("PYTEST_", "JUPYTER_", "MPLBACKEND", "FORCE_COLOR", "PYTHONWARNINGS", "PYTHONSTARTUP")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(personal)}
    return kept | {
        "COURSE_PROGRESS": "memory",
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
        "JUPYTER_NO_CONFIG": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "OMP_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _notebook(job: Job) -> dict[str, object]:
    cells = [_cell(number, cell, job.expected) for number, cell in enumerate(job.merged.cells)]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cell(number: int, cell: MergedCell, expected: Mapping[str, str] | None) -> dict[str, object]:
    compared = cell.role == "evidence" and expected is not None
    # an exercise that is not in `expected` is an error here: what is not compared would pass
    text = expected[cell.exercise] if compared else ""
    outputs = [{"output_type": "stream", "name": "stdout", "text": text}] if compared else []
    return {
        "cell_type": "code",
        "id": f"cell-{number}",
        "metadata": {"tags": list(cell.tags), "given": True} if cell.role == "given" else {},
        "source": cell.source,
        "execution_count": 1 if compared else None,  # nbval compares only what has been run
        "outputs": outputs,
    }


class _Follower:
    """The complete lines of each job's file so far; only files that grew are read again."""

    def __init__(self, folder: Path, names: Iterable[str]) -> None:
        self.lines: dict[str, list[str]] = {name: [] for name in names}
        self._folder = folder
        self._sizes = dict.fromkeys(self.lines, 0)

    def grew(self) -> bool:
        """Whether there is anything new since the last time."""
        sizes = {path.stem: path.stat().st_size for path in self._folder.iterdir() if path.stem in self.lines}
        changed = [name for name, size in sizes.items() if size != self._sizes[name]]
        self._sizes |= sizes
        self.lines |= _lines(self._folder, changed)
        return bool(changed)


def _lines(records: Path, names: Iterable[str]) -> dict[str, list[str]]:
    """The lines that are complete: the last one may still be on its way."""
    found = {}
    for name in names:
        path = records / f"{name}.jsonl"
        content = path.read_bytes() if path.exists() else b""
        found[name] = content[: content.rfind(b"\n") + 1].decode("utf-8").splitlines()
    return found


def _end(process: subprocess.Popen) -> None:
    """End pytest with its workers and kernels, which are in sessions of their own."""
    if process.poll() is not None:
        return
    parent = psutil.Process(process.pid)
    family = [parent, *parent.children(recursive=True)]
    for member in family:
        try:
            member.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(family, timeout=10)
    process.wait()
