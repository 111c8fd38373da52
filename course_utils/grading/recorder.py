"""A pytest plugin beside nbval: writes down what became of every cell, and lets no cell run for ever.

pytest loads it in the process that runs the notebooks; nothing else of the grader is there. One file per notebook,
a JSON object a line, written as it happens, so that what is known survives whatever comes next.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from queue import Empty

import pytest

GRACE = 20  # seconds beyond a cell's timeout, for interrupts that are ignored and output that never ends
GIVEN_TIMEOUT = 120.0
_POLL = 1.0
_MOST_TEXT = 1_000_000  # characters of one cell's output; evidence has a few thousand
_watch = pytest.StashKey["_Watch"]()
_collected = pytest.StashKey[int]()
_usual_timeout = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", help="the folder for what became of the cells")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    notebook = item.parent
    # a warning or a progress bar on stderr makes no answer wrong
    if "stderr" not in notebook.skip_compare:
        notebook.skip_compare += ("stderr",)
    if _watch not in notebook.stash:
        notebook.stash[_watch] = _Watch(notebook.kernel)
    timeout = _timeout(item)
    item.config.option.nbval_cell_timeout = timeout
    notebook.stash[_watch].begin(timeout + GRACE)


def _timeout(item: pytest.Item) -> float:
    """The cell's time limit; longer for given cells: that `import torch` is slow today is no learner's fault."""
    usual = item.config.stash.setdefault(_usual_timeout, item.config.option.nbval_cell_timeout)
    return max(usual, GIVEN_TIMEOUT) if item.cell.metadata.get("given") else usual


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> None:
    # excinfo and not the report: after a timeout nbval turns failures into expected ones
    if call.when == "call" or (call.when == "setup" and call.excinfo):
        line = json.dumps(_record(item, call.excinfo))
        name = f"{item.path.stem}.jsonl"
        with (Path(item.config.option.record) / name).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: object, ids: list[str]) -> None:
    """Remove the notebooks once all workers have read them: what is expected is not for submissions to see."""
    config = node.config
    config.stash[_collected] = config.stash.get(_collected, 0) + 1
    if config.stash[_collected] == config.option.numprocesses:
        _remove(config, ids)


def pytest_collection_finish(session: pytest.Session) -> None:
    """The same where this process runs the notebooks itself."""
    if not hasattr(session.config, "workerinput"):
        _remove(session.config, [item.nodeid for item in session.items])


def _remove(config: pytest.Config, ids: list[str]) -> None:
    for name in {one.partition("::")[0] for one in ids}:
        (config.rootpath / name).unlink(missing_ok=True)


class _Watch:
    """Stands in the place of the kernel's `get_message`: notices a dead kernel at once, and ends what does not end."""

    def __init__(self, kernel: object) -> None:
        self.died = False
        self._kernel = kernel
        self._get_message = kernel.get_message
        self._deadline = time.monotonic()
        kernel.get_message = self.get_message

    def begin(self, seconds: float) -> None:
        """A cell starts, and has so long."""
        self._deadline = time.monotonic() + seconds

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        """The next message of the kernel; Empty when it is late, the kernel dead, or the cell's time over."""
        until = self._deadline if timeout is None else min(self._deadline, time.monotonic() + timeout)
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise Empty
            try:
                return self._get_message(stream, timeout=min(_POLL, left))
            except Empty:
                if not self._kernel.is_alive():
                    self.died = True
                    raise


def _record(item: pytest.Item, excinfo: pytest.ExceptionInfo | None) -> dict[str, object]:
    outputs = item.test_outputs or []
    text = "".join(out.text for out in outputs if out.output_type == "stream" and out.name == "stdout")
    error = next((f"{out.ename}: {out.evalue}" for out in outputs if out.output_type == "error"), "")
    outcome = _outcome(item, excinfo)
    if outcome == "fault":
        error = f"{excinfo.typename}: {excinfo.value}"
    return {"cell": item.cell_num, "outcome": outcome, "stdout": text[:_MOST_TEXT], "error": error[:_MOST_TEXT]}


def _outcome(item: pytest.Item, excinfo: pytest.ExceptionInfo | None) -> str:
    """passed, differs, raised, timeout, died, not run, or fault: what nbval's exception says in one word."""
    if excinfo is None:
        return "passed"
    message = str(excinfo.value)
    if excinfo.typename == "RuntimeError" and message == "Kernel dead on test start":
        return "not run"
    if _watch in item.parent.stash and item.parent.stash[_watch].died:
        return "died"
    if excinfo.typename != "NbCellError":
        return "fault"
    if message == "Cell outputs differ":
        return "differs"
    return "timeout" if message.startswith("Timeout") else "raised"
