"""Sets `trace` and `record` beside a plain backward pass, torchviz and torchlens, on the same graphs.

`python benchmarks/graph.py` runs everything and prints the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median

import torch
from rivals import CHAINS, GRAPHS, TOOLS
from shown import ASKED

HERE = Path(__file__).parent
RUNS = {"perceptron": 21, "ResNet-like": 7, "chain 1,000": 9, "chain 10,000": 5, "chain 100,000": 3}
INSTALL = 'pip install -e ".[benchmarks]"'


@dataclass(frozen=True)
class Case:
    """What several runs of one tool on one graph took, or why there is no number."""

    runs: list[dict] = field(default_factory=list)
    stopped: str = ""

    def seconds(self, clock: str) -> float:
        """The median of the runs, by "wall" or "cpu" time; nan if there is none."""
        return median(run[clock] for run in self.runs) if self.runs else math.nan

    @property
    def time(self) -> str:
        if not self.runs:
            return self.stopped
        few = " (1 run)" if len(self.runs) == 1 else ""
        return f"{_figure(self.seconds('wall'))} / {_figure(self.seconds('cpu'))}{few}"

    @property
    def peak(self) -> str:
        return self._memory("peak") if self.runs else self.stopped

    def _memory(self, moment: str) -> str:
        # later runs get again what the first has given back, so they seem to take less
        most = self.runs[0][moment]
        return "not measured here" if most is None else f"{most:,.0f}" if most >= 1 else "under 1"

    @property
    def held(self) -> str:
        return self._memory("held")


def measure(graph: str, tool: str, limit: float) -> Case:
    """Runs one case in a process of its own, which ends at the limit."""
    if not TOOLS[tool].is_installed:
        return Case(stopped="not installed")
    lines, ended = _ask("measure.py", "time", graph, tool, RUNS[graph], limit, limit=limit)
    errors = [line["error"] for line in lines if "error" in line]
    return Case([line for line in lines if "wall" in line], errors[0] if errors else ended)


def longest_chain(tool: str, cases: dict[str, Case], limit: float) -> str:
    """The longest chain of those measured that a tool managed, and what stopped it after that."""
    done = max((n for n in CHAINS if cases[f"chain {n:,}"].runs), default=1)
    failed = [n for n in CHAINS if not cases[f"chain {n:,}"].runs]
    if not failed:
        return f"{done:,}, no limit met"
    stopped = cases[f"chain {min(failed):,}"].stopped
    if not stopped.endswith("Error"):
        return f"{done:,}; at {min(failed):,} {stopped}"
    lines, ended = _ask("measure.py", "reach", tool, done, min(failed), limit=limit)
    return f"{lines[0]['longest']:,}, then {lines[0]['error']}" if lines else ended


def _ask(script: str, *given: object, limit: float) -> tuple[list[dict], str]:
    """The lines that a script printed, and how it ended if not well."""
    command = [sys.executable, "-W", "ignore", str(HERE / script), *map(str, given)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ended = ""
    try:
        printed, complaint = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        process.kill()
        printed, complaint = process.communicate()
        ended = f"not done in {limit:g} s"
    if not ended and process.returncode:
        reason = complaint.strip().rpartition("\n")[2]
        ended = f"ended with code {process.returncode} {reason}".strip()
    return [json.loads(line) for line in printed.splitlines() if line.endswith("}")], ended


def time_and_memory(graphs: Iterable[str], limit: float) -> dict[str, dict[str, Case]]:
    """Measures every tool on every graph and prints a row for each pair; returns tool -> graph."""
    cases: dict[str, dict[str, Case]] = {tool: {} for tool in TOOLS}
    print("| graph | tool | seconds, wall / CPU | peak memory, MB |\n|---|---|---:|---:|")
    for graph in graphs:
        for tool in TOOLS:
            case = cases[tool][graph] = measure(graph, tool, limit)
            print(f"| {graph} | {tool} | {case.time} | {case.peak} |", flush=True)
    return cases


def print_shown(cases: dict[str, dict[str, Case]], limit: float) -> None:
    """Prints what each tool shows, and where it stops."""
    columns = {tool: _answers(tool, cases[tool], limit) for tool in ASKED}
    questions = dict.fromkeys(question for answers in columns.values() for question in answers if question)
    print(f"\n| | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for question in questions:
        cells = [answers.get(question, answers.get("", "")) for answers in columns.values()]
        print(f"| {question} | {' | '.join(cells)} |")


def _answers(tool: str, cases: dict[str, Case], limit: float) -> dict[str, str]:
    """Question -> answer; the answer to all of them stands under the empty question."""
    if not TOOLS[tool].is_installed:
        return {"": "not installed"}
    lines, ended = _ask("shown.py", tool, limit=limit)
    answers = lines[0] if lines else {"": ended}
    if all(f"chain {length:,}" in cases for length in CHAINS):
        answers["longest chain"] = longest_chain(tool, cases, limit)
    return answers


def print_bars(cases: dict[str, dict[str, Case]]) -> None:
    """Prints what this project promises beside what was measured."""
    plain = cases["plain backward"].get("ResNet-like", Case())
    bars = [
        ("record", "chain 1,000", lambda clock: 0.2),
        ("record", "chain 100,000", lambda clock: 15.0),
        ("trace", "chain 100,000", lambda clock: 3.0),
        ("record", "ResNet-like", lambda clock: 5 * plain.seconds(clock) + 0.1),
    ]
    print("\n| bar | allowed, s | wall, s | | CPU, s | |\n|---|---:|---:|---|---:|---|")
    for tool, graph, allowed in bars:
        case = cases[tool].get(graph, Case(stopped="not run"))
        clocks = [_verdict(case, clock, allowed) for clock in ("wall", "cpu")]
        limit = f"{allowed('wall'):.2f}" if case.runs else ""
        print(f"| {tool}, {graph} | {limit} | {' | '.join(clocks)} |")


def _verdict(case: Case, clock: str, allowed: Callable[[str], float]) -> str:
    if not case.runs:
        return f"| {case.stopped}"
    seconds, most = case.seconds(clock), allowed(clock)
    verdict = "not known" if math.isnan(most) else "met" if seconds <= most else "missed"
    return f"{seconds:.3f} | {verdict}"


def print_sizes(cases: dict[str, dict[str, Case]]) -> None:
    """Prints how many nodes each graph has, and the memory of its recording."""
    print("\n| graph | nodes | recording: peak, MB | kept afterwards, MB |\n|---|---:|---:|---:|")
    for graph, recorded in cases["record"].items():
        traced = cases["trace"][graph]
        if traced.runs and recorded.runs:
            nodes = traced.runs[0]["size"]
            print(f"| {graph} | {nodes:,} | {recorded.peak} | {recorded.held} |")


def print_machine(limit: float) -> None:
    """Prints where the numbers come from, and what is missing for a complete table."""
    packages = dict.fromkeys(tool.package for tool in TOOLS.values() if tool.is_installed)
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    system = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"{versions}; Python {platform.python_version()}; {system}, ", end="")
    print(f"{torch.get_num_threads()} torch threads; limit {limit:g} s a case")
    if hasattr(os, "getloadavg"):
        print(f"Processes that wanted a core in the last minute, on average: {os.getloadavg()[0]:.1f}")
    print()
    missing = {tool.package for tool in TOOLS.values() if not tool.is_installed}
    if missing:
        print(f"Not installed: {', '.join(sorted(missing))}. To measure them too: {INSTALL}\n")


def _figure(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2g}" if seconds < 0.1 else f"{seconds:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="time for one tool on one graph")
    parser.add_argument("--only", choices=GRAPHS, metavar="GRAPH", help=f"one of: {'; '.join(GRAPHS)}")
    chosen = parser.parse_args()
    print_machine(chosen.limit)
    cases = time_and_memory([chosen.only] if chosen.only else GRAPHS, chosen.limit)
    print_sizes(cases)
    print_bars(cases)
    print_shown(cases, chosen.limit)


if __name__ == "__main__":
    main()
