"""Measures one tool in a process of its own, so that neither a crash nor a slow tool ends the rest.

`measure.py time GRAPH TOOL RUNS SECONDS` prints one line of JSON for each run, as soon as it ends.
`measure.py reach TOOL WORKS FAILS` prints the longest chain between the two that the tool manages.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

from rivals import GRAPHS, TOOLS, Task, Tool, chain

_MEGABYTE = 1_000_000


def time_runs(graph: str, tool: str, runs: int, seconds: float) -> None:
    """Prints what each run took; starts none that would hardly end within `seconds`."""
    started = perf_counter()
    _run_once(TOOLS[tool], chain(10))  # the first call of everything is slower
    for _ in range(runs):
        before = perf_counter()
        _print(_run_once(TOOLS[tool], GRAPHS[graph]()))
        now = perf_counter()
        if now + (now - before) > started + seconds:
            return


def reach(tool: str, works: int, fails: int) -> None:
    """Prints the longest chain that raises nothing, and what the next one raises."""
    error = ""
    while fails - works > 1:
        length = (works + fails) // 2
        try:
            _run_once(TOOLS[tool], chain(length))
        except Exception as caught:
            fails, error = length, type(caught).__name__
        else:
            works = length
    _print({"longest": works, "error": error})


def _run_once(tool: Tool, task: Task) -> dict[str, float | None]:
    ready = tool.prepare(task)
    gc.collect()
    memory = _Memory()
    wall, cpu = perf_counter(), process_time()
    kept = tool.run(ready)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    peak = memory.peak()
    size = len(kept) if hasattr(kept, "__len__") else None
    return {"wall": wall, "cpu": cpu, "peak": peak, "held": memory.held(), "size": size}


class _Memory:
    """What a process takes more than at this moment, in MB; None where the system is not Linux."""

    def __init__(self) -> None:
        self.is_known = sys.platform == "linux"
        if self.is_known:
            Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew from here
            self.before = _status("VmRSS")

    def peak(self) -> float | None:
        return _status("VmHWM") - self.before if self.is_known else None

    def held(self) -> float | None:
        gc.collect()
        return _status("VmRSS") - self.before if self.is_known else None


def _status(field: str) -> float:
    status = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", status)[1]) * 1024 / _MEGABYTE


def _print(values: dict) -> None:
    print(json.dumps(values), flush=True)


def _report_errors(run: Callable[[], None]) -> None:
    try:
        run()
    except Exception as error:
        _print({"error": type(error).__name__, "says": str(error).partition("\n")[0]})
    # what is left is not freed: a long graph that a tool has walked ends the process when it goes
    os._exit(0)


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "time":
        graph, tool, runs, seconds = given
        _report_errors(lambda: time_runs(graph, tool, int(runs), float(seconds)))
    else:
        tool, works, fails = given
        _report_errors(lambda: reach(tool, int(works), int(fails)))
