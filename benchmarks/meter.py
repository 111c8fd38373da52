"""Measures a command with all that it starts, whoever waits for that: by a control group, where one can be made."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

MB = 1_000_000
_VERSION_1 = Path("/sys/fs/cgroup/cpuacct")
_VERSION_2 = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, CPU seconds of the command, and those of the whole machine meanwhile."""

    wall: float
    cpu: float
    machine: float

    @property
    def others(self) -> float:
        """How many cores other programs kept busy meanwhile."""
        return max(0.0, self.machine - self.cpu) / self.wall


class Meter:
    """Runs commands and says what they took. `counts` says whose CPU seconds it counts."""

    def __init__(self) -> None:
        self._group = _new_group()
        # what a killed process had started may be waited for by nobody, and its seconds are then in no rusage
        self.counts = "its own processes" if self._group else "the whole machine, where nothing else should run"

    def run(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> tuple[int, Cost]:
        """The exit code and the cost; what the command says goes to log.txt in the folder."""
        before, machine, began = self._cpu(), _cpu_of_machine(), time.perf_counter()
        with (folder / "log.txt").open("wb") as log:
            code = subprocess.call(self._inside(command), cwd=folder, env=dict(environment), stdout=log, stderr=log)
        wall = time.perf_counter() - began
        return code, Cost(wall, self._cpu() - before, _cpu_of_machine() - machine)

    def close(self) -> None:
        """Take the control group away."""
        if self._group:
            with contextlib.suppress(OSError):  # something is still alive in it
                self._group.rmdir()

    def _inside(self, command: Sequence[str]) -> list[str]:
        if not self._group:
            return list(command)
        return ["sh", "-c", f'echo $$ > "{self._group}/cgroup.procs" && exec "$@"', "sh", *command]

    def _cpu(self) -> float:
        if not self._group:
            return _cpu_of_machine()
        if (self._group / "cpuacct.usage").exists():
            return int((self._group / "cpuacct.usage").read_text()) / 1e9
        fields = dict(line.split() for line in (self._group / "cpu.stat").read_text().splitlines())
        return int(fields["usage_usec"]) / 1e6


def _new_group() -> Path | None:
    """A control group of our own; None where this user may make none."""
    for parent, file in ((_VERSION_1, "cpuacct.usage"), (_VERSION_2 / _own_group(), "cpu.stat")):
        group = parent / f"course-benchmark-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / file).exists() and os.access(group / "cgroup.procs", os.W_OK):
            return group
        group.rmdir()
    return None


def _own_group() -> str:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return ""
    return next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")


def _cpu_of_machine() -> float:
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0) - getattr(times, "guest", 0)


@contextlib.contextmanager
def watched_memory() -> Iterator[list[float]]:
    """The memory of all that this process has started in MB, ten times a second; what several share counts once."""
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
