"""What holds for every test: no file of this user is read or written, and nothing runs in parallel."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest

from course_utils.testing import surroundings

from .hash_seed import with_hash_seeds
from .schedule import Schedule, longest_first

# notebooks in tests/ are material for tests; nbval is for the course's own
collect_ignore_glob = ["*.ipynb"]

# where the tests run in the background, Ctrl-C may be ignored, and each process they start would inherit that
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# for whoever calls pytest itself; `course test` and its workers have set these already
if "COURSE_BROWSER" not in os.environ:
    _folder = tempfile.TemporaryDirectory(prefix="course-test-", ignore_cleanup_errors=True)
    os.environ.update(surroundings(Path(_folder.name)))


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return Path(__file__).resolve().parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Adds the run of each notebook under another hash seed, and puts first what takes longest."""
    items[:] = longest_first(list(with_hash_seeds(items)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Schedule | None:
    """Our schedule, where `course test` asks for one by file and no caller for another."""
    if config.option.dist != "loadfile":
        return None
    config.option.loadscopereorder = False  # by the number of tests, which says little of how long they take
    return Schedule(config, log)
