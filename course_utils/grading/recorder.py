"""A pytest plugin beside nbval: runs the notebooks that are sent to it, and tells what became of every cell.

pytest is started once for many submissions and, in place of a loop over what it has collected, waits for them: each
line of its standard input is one, as JSON; `course_utils/grading/crew.py` writes it and reads the answers.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty
from types import SimpleNamespace

import nbval.plugin
import psutil
import pytest
from nbformat import NotebookNode, from_dict

from course_utils.grading.kernel import ForkedKernel
from course_utils.grading.limits import Limits
from course_utils.grading.warm import Branch, GoneError, WarmError

GRACE = 20  # seconds beyond a cell's limit for Jupyter's kernel, which may ignore interrupts
GIVEN = 120.0  # seconds for a given cell: that an import is slow today is no learner's fault
_POLL = 1.0
_MOST_TEXT = 1_000_000  # characters of one cell's output; evidence has a few thousand
_ENDED = ("timeout", "died", "memory")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--course-settings", help="how to run: a JSON object")


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    # it keeps every report, of thousands of submissions
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(Recorder(config), "course-recorder")


class Recorder:
    """What pytest calls, for as long as it runs."""

    def __init__(self, config: pytest.Config) -> None:
        settings = json.loads(config.option.course_settings)
        self.limits = Limits(**settings["limits"])
        self._folder = Path(settings["folder"])
        self._records: list[dict[str, object]] = []
        self._clock = _Clock(self.limits.exercise)
        self._watch: _Watch | None = None
        self._probe: Mapping[str, object] = {}
        self._kernel: object = None
        self._notebook: NotebookNode | None = None
        # no file: what is expected is not for submissions to see, and what we have made needs no validation
        nbval.plugin.nbformat = SimpleNamespace(read=lambda path, as_version: self._notebook)
        if settings["kernel"] == "forked":
            door = socket.socket(fileno=settings["door"])
            door.set_inheritable(False)
            branch = Branch(door, Path(settings["log"]), self.limits)
            nbval.plugin.RunningKernel = lambda name, **options: ForkedKernel(branch, self._probe)
        self._answers = _take_standard_output()
        gc.freeze()
        gc.enable()

    # what pytest calls ------------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        for line in _requests():
            self._run_submission(session, json.loads(line))
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        notebook = item.parent
        # a warning or a progress bar on stderr makes no answer wrong
        if "stderr" not in notebook.skip_compare:
            notebook.skip_compare += ("stderr",)
        given = bool(item.cell.metadata.get("given"))
        item.config.option.nbval_cell_timeout = GIVEN if given else self._clock.left()
        if not isinstance(notebook.kernel, ForkedKernel):
            self._watch = self._watch or _Watch(notebook.kernel)
            self._watch.begin(item.config.option.nbval_cell_timeout + GRACE)
        self._kernel = notebook.kernel

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> None:
        # excinfo and not the report: after a timeout nbval turns failures into expected ones
        if call.excinfo and call.excinfo.errisinstance(GoneError):  # for all members, who are then made anew
            print(call.excinfo.value, file=sys.stderr, flush=True)
            os._exit(1)
        if call.when == "call" or (call.when == "setup" and call.excinfo):
            self._records.append(self._record(item, call.excinfo))

    # a submission -----------------------------------------------------------------------------------------------

    def _run_submission(self, session: pytest.Session, work: Mapping[str, object]) -> None:
        until = time.monotonic() + self.limits.submission
        left_out: set[int] = set()
        for part in work["parts"]:
            self._tell({"at": part["exercise"]})
            records = self._run_part(session, work, part, left_out, until)
            self._tell({"exercise": part["exercise"], "records": records})
        self._tell({"end": True})

    def _run_part(
        self,
        session: pytest.Session,
        work: Mapping[str, object],
        part: Mapping[str, object],
        left_out: set[int],
        until: float,
    ) -> list[dict[str, object]]:
        """A record for each of the part's cells. A learner's own cell that ends everything is left out from then on."""
        while True:
            positions = [place for place in part["positions"] if place not in left_out]
            if time.monotonic() > until:
                late = _record_of("not run", error="the submission had used up its time")
                return [late for _ in part["positions"]]
            cells = [work["cells"][place] for place in positions]
            records = dict(zip(positions, self._run_cells(session, cells, part), strict=True))
            fatal = [
                place
                for place in positions
                if records[place]["outcome"] in _ENDED and work["cells"][place]["role"] == "extra"
            ]
            if not fatal:
                return [records.get(place) or _record_of("left out") for place in part["positions"]]
            left_out.add(fatal[0])

    def _run_cells(
        self, session: pytest.Session, cells: Sequence[Mapping[str, object]], part: Mapping[str, object]
    ) -> list[dict[str, object]]:
        self._records, self._watch, self._probe = [], None, part["probe"]
        self._clock = _Clock(min(self.limits.exercise, self.limits.submission))
        self._notebook = from_dict(_notebook(cells, part["expected"]))
        notebook = nbval.plugin.IPyNbFile.from_parent(session, path=self._folder / f"{part['exercise']}.ipynb")
        items = list(notebook.collect())
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        return self._records

    def _record(self, item: pytest.Item, excinfo: pytest.ExceptionInfo | None) -> dict[str, object]:
        outputs = item.test_outputs or []
        text = "".join(out.text for out in outputs if out.output_type == "stream" and out.name == "stdout")
        error = next((f"{out.ename}: {out.evalue}" for out in outputs if out.output_type == "error"), "")
        outcome = self._outcome(excinfo)
        if outcome == "fault":
            error = f"{excinfo.typename}: {excinfo.value}"
        garbled = getattr(self._kernel, "garbled", False)
        return _record_of(outcome, text[-_MOST_TEXT:], error[:_MOST_TEXT], garbled)

    def _outcome(self, excinfo: pytest.ExceptionInfo | None) -> str:
        """One of the words of `CellRecord` for what nbval's exception says."""
        if excinfo is None:
            return "passed"
        message = str(excinfo.value)
        if excinfo.typename == "RuntimeError" and message == "Kernel dead on test start":
            return "not run"
        ended_by = getattr(self._kernel, "ended_by", "")
        if ended_by in _ENDED and not isinstance(excinfo.value, WarmError):
            return ended_by
        if self._watch and self._watch.died:
            return "died"
        if excinfo.typename != "NbCellError":
            return "fault"
        if message == "Cell outputs differ":
            return "differs"
        return "timeout" if message.startswith("Timeout") else "raised"

    def _tell(self, answer: Mapping[str, object]) -> None:
        self._answers(json.dumps(answer) + "\n")


class _Clock:
    """The time that an exercise still has; it runs from the first cell that is not given."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until: float | None = None

    def left(self) -> float:
        """Seconds; never none at all, for then nbval would wait for ever."""
        if self._until is None:
            self._until = time.monotonic() + self._seconds
        return max(0.01, self._until - time.monotonic())


class _Watch:
    """Stands in the place of a Jupyter kernel's `get_message`: notices a dead kernel, and ends what does not end."""

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


def _record_of(outcome: str, stdout: str = "", error: str = "", garbled: bool = False) -> dict[str, object]:
    return {"outcome": outcome, "stdout": stdout, "error": error, "garbled": garbled}


def _notebook(cells: Sequence[Mapping[str, object]], expected: str | None) -> dict[str, object]:
    made = [_cell(number, cell, expected) for number, cell in enumerate(cells)]
    return {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cell(number: int, cell: Mapping[str, object], expected: str | None) -> dict[str, object]:
    compared = cell["role"] == "evidence" and expected is not None
    outputs = [{"output_type": "stream", "name": "stdout", "text": expected}] if compared else []
    return {
        "cell_type": "code",
        "id": f"cell-{number}",
        "metadata": {"tags": cell["tags"], "given": True} if cell["role"] == "given" else {},
        "source": cell["source"],
        "execution_count": 1 if compared else None,  # nbval compares only what has been run
        "outputs": outputs,
    }


# to and from the grader -----------------------------------------------------------------------------------------


def _take_standard_output() -> Callable[[str], None]:
    """What writes to our standard output, for us alone: whatever else is printed in this process goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)

    def write(line: str) -> None:
        answers.write(line)
        answers.flush()

    return write


def _requests() -> Iterator[str]:
    """The lines of standard input. If the grader is gone, so is this process, with its kernels, at once."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        try:
            for child in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.NoSuchProcess):  # gone with the one before it
                    child.kill()
        finally:
            os._exit(0)

    threading.Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()
