"""Starts a notebook's kernel as a fork of a process that has loaded PyTorch: `python launcher.py CONNECTION_FILE`.

To Jupyter this process is the kernel. Signals go on to the fork, its end is this one's end, and whoever kills this one
kills the fork. Where there can be no such process, it turns into an ordinary kernel. Nothing slow is imported here.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

FOLDER = "COURSE_WARM_KERNELS"
PACKAGE = Path(__file__).resolve().parents[1]
WARM = "course_utils.kernels.warm"
START_SECONDS = 60
TRIES = 3
# what is read while Python and PyTorch load, and so is the same in all forks of one process
READ_AT_START = (
    "PYTHON",
    "OMP_",
    "MKL_",
    "KMP_",
    "OPENBLAS_",
    "ATEN_",
    "TORCH",
    "LD_",
    "MALLOC_",
    "MPL",
    "LC_",
    "LANG",
)


def main(connection_file: str) -> int:
    """The exit code of the kernel, once it has ended."""
    request = {"connection_file": connection_file, "environment": dict(os.environ), "folder": str(Path.cwd())}
    try:
        warm, answers, kernel = fork(Path(os.environ[FOLDER]) / f"{fingerprint()}.socket", request)
    except (KeyError, OSError):
        os.execv(sys.executable, [sys.executable, "-m", "ipykernel_launcher", "-f", connection_file])
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: send(kernel, number))
    return int(answers.readline() or 1) if is_said(warm) else 1


def fork(path: Path, request: dict) -> tuple[socket.socket, io.TextIOWrapper, int]:
    """The connection to the warm process, what it answers from now on, and the fork's number. OSError if there is none.

    A warm process may end when somebody has just connected to it: then it says nothing, and another one is asked.
    """
    for _ in range(TRIES):
        warm = connect(path)
        answers = warm.makefile("r")
        with contextlib.suppress(OSError):
            socket.send_fds(warm, [json.dumps(request).encode() + b"\n"], [0, 1, 2])
            if number := answers.readline():
                return warm, answers, int(number)
        answers.close()
        warm.close()
    raise OSError("the warm process said nothing")


def is_said(warm: socket.socket) -> bool:
    """Waits for the kernel's end; False if Jupyter is gone, which an ordinary kernel does not outlive either."""
    jupyter = os.getppid()
    while os.getppid() == jupyter:
        if select.select([warm], [], [], 1.0)[0]:
            return True
    return False


def fingerprint() -> str:
    """What a fork cannot change any more, as a short name."""
    read = sorted((name, value) for name, value in os.environ.items() if name.startswith(READ_AT_START))
    changed = max(file.stat().st_mtime_ns for file in PACKAGE.rglob("*.py"))
    return hashlib.sha256(json.dumps([sys.executable, read, changed]).encode()).hexdigest()[:16]


def connect(path: Path) -> socket.socket:
    """A connection to the warm process, which is started if it is not there. OSError if it cannot be."""
    import fcntl  # not there on Windows, where this file is read for a name only

    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with contextlib.suppress(OSError):
            return connected(path)
        with path.with_suffix(".log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", WARM, str(path)],
                cwd="/", stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        until = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError):
                return connected(path)
            time.sleep(0.02)
    raise OSError("the warm process did not start")


def connected(path: Path) -> socket.socket:
    """A connection to whoever listens there."""
    warm = socket.socket(socket.AF_UNIX)
    try:
        warm.connect(str(path))
    except OSError:
        warm.close()
        raise
    return warm


def send(kernel: int, number: int) -> None:
    """Sends a signal to the kernel and to what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(kernel, number)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
