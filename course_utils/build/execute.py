"""Notebooks run from top to bottom, several at a time, in kernels that know nothing of who builds."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from course_utils.build.assemble import Target
from course_utils.build.faults import Fault
from course_utils.build.outputs import normalised, output_faults
from course_utils.build.reuse import code_cells, is_personal, may_raise

CELL_TIMEOUT = 180
_START_TIMEOUT = 120
# A person's own settings that would show in the outputs.
_PERSONAL = ("MPLBACKEND", "FORCE_COLOR", "NO_COLOR", "PYTHONWARNINGS", "PYTHONSTARTUP")

Done = Callable[[Target, NotebookNode, list[Fault]], None]
CellDone = Callable[[], None]


def execute_all(
    targets: Sequence[Target],
    root: Path,
    done: Done,
    jobs: int = 2,
    cell_done: CellDone = lambda: None,
    timeout: int = CELL_TIMEOUT,
) -> None:
    """Run the targets' notebooks, `jobs` at a time; hand each to `done` as it is finished.

    `done` is called in the thread of the caller. On Ctrl-C the kernels are ended first.
    """
    # A thread of its own, because nbclient takes Ctrl-C for itself in the main one.
    loop = asyncio.SelectorEventLoop()
    thread = threading.Thread(target=loop.run_forever, name="execute notebooks", daemon=True)
    thread.start()
    finished: list[tuple[Target, NotebookNode, list[Fault]]] = []
    slots = asyncio.Semaphore(max(1, jobs))

    async def execute_targets() -> None:
        work = [_execute(t, root, slots, finished.append, cell_done, timeout) for t in targets]
        await asyncio.gather(*work)

    future = asyncio.run_coroutine_threadsafe(execute_targets(), loop)
    try:
        while not future.done() or finished:
            while finished:
                done(*finished.pop(0))
            time.sleep(0.05)  # short sleeps, for Windows wakes no longer wait on Ctrl-C
        future.result()
    finally:
        _finish(loop, thread)


def _finish(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Cancel what still runs, wait until its kernels are gone, and close the loop."""

    async def cancel() -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run_coroutine_threadsafe(cancel(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def _execute(
    target: Target,
    root: Path,
    slots: asyncio.Semaphore,
    done: Callable[[tuple[Target, NotebookNode, list[Fault]]], None],
    cell_done: CellDone,
    timeout: int,
) -> None:
    notebook = copy.deepcopy(target.notebook)
    cwd = (root / target.file).parent
    cwd.mkdir(parents=True, exist_ok=True)
    client = NotebookClient(
        notebook,
        timeout=timeout,
        store_widget_state=False,
        record_timing=False,
        resources={"metadata": {"path": str(cwd)}},
    )
    at = _Position(cell_done)
    client.on_cell_execute = at.begin
    client.on_cell_executed = at.end
    faults: list[Fault] = []
    try:
        async with slots, _kernel(client, cwd):
            # the kernel is ours to end
            await client.async_execute(cleanup_kc=False)
    except CellExecutionError:
        pass  # the cell's output tells
    except CellTimeoutError:
        faults.append(_fault(target, at.index, f"runs longer than {timeout} seconds"))
    except DeadKernelError:
        faults.append(_fault(target, at.index, "the kernel died while this cell ran"))
    except _KernelStartError as error:
        faults.append(Fault(target.source.file, f"no kernel to run it in: {error}"))
    done((target, notebook, faults + tidied(target, notebook, root)))


class _KernelStartError(Exception):
    """Why no kernel came up."""


class _Position:
    """Which cell is running, for progress and for messages."""

    def __init__(self, cell_done: CellDone) -> None:
        self.index = 0
        self._cell_done = cell_done

    def begin(self, cell: NotebookNode, cell_index: int) -> None:
        self.index = cell_index

    def end(self, cell: NotebookNode, cell_index: int, execute_reply: dict) -> None:
        self._cell_done()


@contextlib.asynccontextmanager
async def _kernel(client: NotebookClient, cwd: Path) -> AsyncIterator[None]:
    """A fresh kernel of this very Python for the client, gone at the end whatever happens."""
    with tempfile.TemporaryDirectory(prefix="course-build-", ignore_cleanup_errors=True) as scratch:
        client.km = AsyncKernelManager(
            kernel_name="python3",
            # no folders: a `python3` that someone installed may be another Python
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(Path(scratch) / "kernel.json"),
        )
        try:
            await _start(client, cwd, Path(scratch))
            yield
        finally:
            if client.kc is not None:
                client.kc.stop_channels()
            if client.km.has_kernel:
                await client.km.shutdown_kernel(now=True)


async def _start(client: NotebookClient, cwd: Path, scratch: Path) -> None:
    # the kernel's own remarks (about its transport, for one) are not for who builds
    log = scratch / "kernel.log"
    try:
        with log.open("wb") as remarks:
            environment = _environment(scratch)
            await client.km.start_kernel(cwd=str(cwd), env=environment, stderr=remarks)
        client.kc = client.km.client()
        client.kc.start_channels()
        await client.kc.wait_for_ready(timeout=_START_TIMEOUT)
        client.kc.allow_stdin = False
    except (OSError, RuntimeError) as error:
        last = log.read_text(errors="replace").strip().rpartition("\n")[2]
        raise _KernelStartError(last or str(error)) from error


def _environment(scratch: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _PERSONAL}
    return kept | {
        "COURSE_PROGRESS": "memory",
        "OMP_NUM_THREADS": "1",
        "IPYTHONDIR": str(scratch / "ipython"),
        "JUPYTER_CONFIG_DIR": str(scratch / "jupyter"),
        "JUPYTER_NO_CONFIG": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def tidied(target: Target, notebook: NotebookNode, root: Path) -> list[Fault]:
    """Make a notebook that has just run fit to be stored, in place; returns what is not."""
    notebook.metadata = copy.deepcopy(target.notebook.metadata)
    faults = []
    stopped = False
    for cell, original in zip(notebook.cells, target.notebook.cells, strict=True):
        cell.metadata = copy.deepcopy(original.metadata)
    for count, cell in enumerate(code_cells(notebook), start=1):
        ran, cell.execution_count = cell.execution_count is not None, count
        cell.outputs = normalised(cell.outputs, count)
        if stopped or not ran:
            continue
        index = notebook.cells.index(cell)
        messages = output_faults(cell.outputs, may_raise(cell), root)
        faults += [_fault(target, index, message) for message in messages]
        stopped = any(o.output_type == "error" for o in cell.outputs) and not may_raise(cell)
        if is_personal(cell):
            cell.outputs = []
    return faults


def _fault(target: Target, index: int, message: str) -> Fault:
    fault = target.source.fault(target.source.cells[index], message)
    return Fault(fault.file, f"{message} (in {target.file})", fault.line, fault.cell)
