"""The same gradebook from Dask's workers, whatever becomes of them; and what is refused."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path

import in_process
import psutil
import pytest

from course_utils.grading import cluster as clusters
from course_utils.grading import command
from course_utils.grading.cluster import Remote, cluster, release
from course_utils.grading.crew import LostError
from course_utils.refusal import Refusal

SLOWLY = "import time\ntime.sleep(0.5)\n"  # so that there is a middle to be killed in
COUNT = 6


# a real cluster -------------------------------------------------------------------------------------------------


class LocalCluster:
    """A scheduler and two workers, each a process of its own, which nobody starts again."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self._processes = contextlib.ExitStack()
        self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.address = json.loads(_waited_for(self._file.read_text))["address"]
        self.workers = [
            self._start(
                *("worker", "--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"),
                *("--local-directory", str(folder / f"worker_{number}")),
            )
            for number in range(2)
        ]

    def _start(self, kind: str, *options: str) -> psutil.Process:
        command = [sys.executable, "-m", "dask", kind, "--scheduler-file", str(self._file), *options]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._processes.callback(process.wait)
        self._processes.callback(process.kill)
        return psutil.Process(process.pid)

    def close(self) -> None:
        self._processes.close()


def _waited_for(get, seconds: float = 60):
    """What `get` gives, as soon as it gives something and raises nothing."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError, sqlite3.OperationalError):
            found = get()
            if found:
                return found
        time.sleep(0.1)
    raise AssertionError("waited in vain")


@pytest.fixture
def local_cluster(tmp_path) -> Iterator[LocalCluster]:
    local = LocalCluster(tmp_path)
    try:
        yield local
    finally:
        local.close()


@pytest.fixture
def submissions(blank, tmp_path) -> Path:
    folder = tmp_path / "in"
    for number in range(COUNT):
        slow = f"# {number}\n{SLOWLY}{blank.right['mean_backward']}"
        wrong = (
            {"bias_backward": "def bias_backward(incoming, x, b):\n    return incoming, incoming"} if number % 3 else {}
        )
        blank.copy().solve().answer(mean_backward=slow, **wrong).write(folder / f"s{number}_01_one_operation.ipynb")
    (folder / "t_01_one_operation.ipynb").write_text("no notebook", encoding="utf-8")
    return folder


def _grade(submissions: Path, out: Path, *options: str) -> subprocess.Popen:
    line = [sys.executable, "-m", "course_utils.cli", "grade", str(submissions), "--out", str(out), *options]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def _results(out: Path) -> int:
    with contextlib.closing(sqlite3.connect(f"file:{out / 'grading.sqlite'}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(DISTINCT digest) FROM result").fetchone()[0]


@pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's")
@pytest.mark.skipif(os.environ.get("COURSE_WALLS") == "none", reason="COURSE_WALLS=none does without them")
def test_a_worker_that_is_killed_in_the_middle_costs_nobody_anything(local_cluster, submissions, tmp_path, monkeypatch):
    with monkeypatch.context() as quick:  # what is right is known in a second
        quick.setattr(command, "open_runner", in_process.open_runner)
        quick.setattr(time, "sleep", lambda seconds: None)
        assert command.grade([submissions], tmp_path / "here") == 0
    process = _grade(submissions, tmp_path / "there", "--scheduler", local_cluster.address)
    _waited_for(lambda: _results(tmp_path / "there") >= 2, 120)
    killed = local_cluster.workers[0]
    family = killed.children(recursive=True)
    killed.send_signal(signal.SIGKILL)
    before = _results(tmp_path / "there")
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 0, said
    assert before < COUNT  # else nothing was in the middle
    assert family  # nor at work
    assert (tmp_path / "there" / "gradebook.csv").read_bytes() == (tmp_path / "here" / "gradebook.csv").read_bytes()
    other = local_cluster.workers[1]
    family += other.children(recursive=True)
    other.kill()
    _waited_for(lambda: not any(map(_is_alive, family)))  # who has no worker any more, ends


def _is_alive(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


# what is refused ------------------------------------------------------------------------------------------------


def test_without_dask_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(Refusal, match="pip install"), cluster("tcp://127.0.0.1:8786"):
        pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense://x"])
def test_an_address_where_nobody_answers_is_refused_in_one_line(address, monkeypatch):
    monkeypatch.setattr(clusters, "WAIT", 0.5)
    with pytest.raises(Refusal, match="nobody answers there") as refused, cluster(address):
        pass
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("releases", "says"),
    [({}, "has no workers"), ({"tcp://b": "old", "tcp://a": release()}, r"where these workers are: tcp://b\.")],
)
def test_workers_that_cannot_do_it_are_refused(releases, says):
    with pytest.raises(Refusal, match=says):
        clusters._check(releases, "tcp://s")


# what comes back ------------------------------------------------------------------------------------------------


class Dask(Executor):
    """In the place of Dask's: each future is decided by the test."""

    def submit(self, function, *arguments):
        self.future = Future()
        return self.future


def test_what_a_worker_found_or_raised_comes_back():
    dask = Dask()
    ours = Remote(dask).submit(None, None, {}, print)
    dask.future.set_result({"an exercise": []})
    assert ours.result(timeout=5) == {"an exercise": []}
    ours = Remote(dask).submit(None, None, {}, print)
    dask.future.set_exception(Refusal("no walls there"))
    with pytest.raises(Refusal, match="no walls there"):
        ours.result(timeout=5)


def test_work_that_kills_every_worker_is_lost_and_tried_no_more():
    from distributed import KilledWorker
    from distributed.scheduler import WorkerState

    dask = Dask()
    ours = Remote(dask).submit(None, None, {}, print)
    dask.future.set_exception(KilledWorker("task", WorkerState.__new__(WorkerState), 3))
    with pytest.raises(LostError, match="worker that ran it ended"):
        ours.result(timeout=5)
