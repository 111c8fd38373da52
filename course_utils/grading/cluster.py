"""The same work on many machines: Dask's executor, whose workers run submissions in processes of their own."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path

from course_utils.grading.crew import LostError, Records, Settings, run_submission
from course_utils.grading.sandbox import check_walls, make_home
from course_utils.refusal import Refusal

PACKAGE = Path(__file__).resolve().parents[1]
WAIT = 20.0  # seconds for the scheduler to answer
HOW_TO_INSTALL = "--scheduler needs Dask: `.venv/bin/pip install -e '.[cluster]'`, here and where the workers are."


@contextlib.contextmanager
def cluster(scheduler: str) -> Iterator[Executor]:
    """An executor whose work is done by the workers of the scheduler at this address, each with this very course.

    Refuses what a user has to put right: no Dask, no scheduler, no workers, workers with another release.
    """
    try:
        from distributed import Client
    except ImportError:
        raise Refusal(HOW_TO_INSTALL) from None
    try:
        client = Client(scheduler, timeout=WAIT)
    except (OSError, ValueError, TypeError) as error:  # a wrong port, a name that is none, an address of no known kind
        reason = str(error).strip() or type(error).__name__
        raise Refusal(
            f"--scheduler {scheduler}: nobody answers there ({reason}). Start `dask scheduler` first."
        ) from None
    with client:
        _check(client.run(release), scheduler)
        executor = client.get_executor(pure=False)  # what a worker that dies leaves, Dask gives to another
        try:
            yield Remote(executor)
        finally:
            executor.shutdown(wait=False)  # Ctrl-C takes back what has not begun


def _check(releases: Mapping[str, str], scheduler: str) -> None:
    if not releases:
        raise Refusal(f"--scheduler {scheduler} has no workers: start `dask worker {scheduler}` on each machine.")
    others = sorted(worker for worker, its in releases.items() if its != release())
    if others:
        raise Refusal(
            f"another release of the course is installed where these workers are: {', '.join(others)}. "
            "Bring it up to the one here, and start them again."
        )


@functools.cache
def release() -> str:
    """What tells this release of the course from others: a digest of its code."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode())
        digest.update(path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


class Remote(Executor):
    """Takes what the local executor takes, and gives it to Dask's as plain data."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(
        self,
        function: Callable[..., Records],
        settings: Settings,
        work: Mapping[str, object],
        at: Callable[[str], None],
    ) -> Future[Records]:
        """The future outcome of one submission. `at` stays here: which exercise runs is not told from afar."""
        ours: Future[Records] = Future()
        theirs = self._executor.submit(run_on_worker, settings, work)
        theirs.add_done_callback(lambda done: _hand_over(done, ours))
        return ours

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End; what has not begun is not begun where `cancel_futures` says so."""
        self._executor.shutdown(wait=wait and not cancel_futures)


def _hand_over(done: Future, ours: Future) -> None:
    from distributed import KilledWorker

    error = None if done.cancelled() else done.exception()
    if done.cancelled() or isinstance(error, KilledWorker):
        ours.set_exception(LostError("the worker that ran it ended, and so did those that took it over"))
    elif error is not None:
        ours.set_exception(error)
    else:
        ours.set_result(done.result())


# on a worker ----------------------------------------------------------------------------------------------------


def run_on_worker(settings: Settings, work: Mapping[str, object]) -> Records:
    """What `run_submission` gives, with this machine's own folders in the settings."""
    home = _home(settings.kernel == "forked", settings.confined)
    return run_submission(replace(settings, home=home, secret=(*settings.secret, str(PACKAGE.parent))), work)


@functools.cache
def _home(forked: bool, confined: bool) -> str:
    """A folder with what submissions see of the course, for as long as this worker lives; refuses without walls."""
    from distributed import get_worker

    folder = Path(tempfile.mkdtemp(prefix="course-", dir=get_worker().local_directory))  # which Dask clears away
    home = make_home(folder / "home") if forked else folder
    if confined:
        check_walls(home)
    return str(home)
