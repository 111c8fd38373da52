"""Runs every check of the course as one pytest run: tests/, and nbval over the stored notebooks."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from course_utils.browser import get_browser
from course_utils.bubblewrap import get_bubblewrap
from course_utils.kernels.spec import warm_kernels
from course_utils.refusal import Refusal

EVERYTHING = ("tests", "notebooks", "solutions")
NO_TEST_RAN = 5  # pytest's exit code
HASH_SEED = "1"  # of every Python that a test starts


def run_tests(root: Path, arguments: list[str]) -> int:
    """The exit code of pytest over all checks, or over the paths that the arguments name."""
    browser = get_browser()
    get_bubblewrap()
    with tempfile.TemporaryDirectory(prefix="course-test-", ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", "pytest", *pytest_arguments(root, arguments)]
        environment = {**os.environ, **surroundings(Path(folder)), "COURSE_BROWSER": str(browser)}
        code = subprocess.run(command, cwd=root, env=environment).returncode
    if code == NO_TEST_RAN:
        raise Refusal("no test ran: the arguments after `test` leave none over.")
    return code


def pytest_arguments(root: Path, arguments: list[str]) -> list[str]:
    """pytest's command line; the caller's arguments come last, and so win."""
    options = [
        f"--numprocesses={workers()}",
        "--dist=loadfile",  # a notebook's cells share a kernel, a browser file its JupyterLab
        "--durations=10",
        "--nbval",
        "--nbval-cell-timeout=120",
        f"--nbval-sanitize-with={root / 'tests' / 'nbval_sanitize.cfg'}",
    ]
    named = any((root / argument.split("::")[0]).exists() for argument in arguments)
    folders = [] if named else [name for name in EVERYTHING if (root / name).is_dir()]
    return [*options, *folders, *arguments]


def workers() -> int:
    """How many tests run at a time: each one may hold a kernel with PyTorch, so not too many."""
    return max(2, min(4, os.cpu_count() or 1))


def surroundings(folder: Path) -> dict[str, str]:
    """Environment variables under which neither this user's files nor the cores decide a test."""
    return {
        "COURSE_PROGRESS": "memory",
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter-config"),
        "JUPYTER_DATA_DIR": str(folder / "jupyter-data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "jupyter-runtime"),
        "JUPYTER_CONFIG_PATH": "",
        "JUPYTER_PLATFORM_DIRS": "1",  # jupyter_client warns as long as nobody chooses
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": HASH_SEED,
        **warm_kernels(folder / "kernels"),
    }
