"""The warm process from outside: started once for all jobs, and each job's own branch of it."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from course_utils.grading.ahead import EVERYTHING
from course_utils.grading.limits import Limits
from course_utils.grading.sandbox import HOME, INSIDE, environment, walled

_LONGEST = 4096  # bytes of one answer
_START = 120.0  # seconds for a warm process to load PyTorch on a machine that is busy
_ANSWER = 20.0  # seconds for it to fork, or to end a child
_END = 10.0  # seconds for the processes that were killed to be gone
_WHOSE = struct.Struct("iII")  # process, user and group, as the system sends them along


class WarmError(RuntimeError):
    """The warm process does not do its work; the submission is not to blame."""


class GoneError(WarmError):
    """There is no warm process any more."""


class Warm:
    """A process that loads PyTorch, and what `ahead` names, while this one goes on.

    `door` is where branches of it are asked for.
    """

    def __init__(
        self,
        home: Path,
        log: Path,
        ahead: Iterable[str] = EVERYTHING,
        secret: Iterable[Path] = (),
        *,
        confined: bool = True,
    ) -> None:
        self.door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        walls = "confined" if confined else "open"
        command = [sys.executable, "-s", "-m", f"{INSIDE}.warm", str(theirs.fileno()), walls, *ahead]
        if confined:
            command = walled(command, home, secret)
        started = threading.Event()
        self._keeper = threading.Thread(target=self._keep, args=(command, home, log, confined, theirs, started))
        self._keeper.daemon = True
        self._process: subprocess.Popen | None = None
        self._keeper.start()
        started.wait()
        theirs.close()

    @property
    def is_alive(self) -> bool:
        """Whether there is a process."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End the process, and with it everything behind its walls."""
        self.door.close()
        if self._process is not None:
            end_with_all(self._process)
        self._keeper.join()

    def _keep(
        self,
        command: list[str],
        home: Path,
        log: Path,
        confined: bool,
        door: socket.socket,
        started: threading.Event,
    ) -> None:
        """Start the process and wait for its end: bubblewrap's ends with the thread that started it."""
        try:
            with log.open("wb") as errors:
                self._process = subprocess.Popen(
                    command,
                    cwd=home,  # unconfined, the part of the package that stands there comes before any other
                    env=environment(HOME if confined else str(home)),
                    pass_fds=[door.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,
                )
        finally:
            started.set()
        self._process.wait()


class Branch:
    """One job's fork of the warm process, made when it is first needed, and anew when it has been lost."""

    def __init__(self, door: socket.socket, log: Path, limits: Limits) -> None:
        self._door, self._log, self.limits = door, log, limits
        self._control: socket.socket | None = None

    def fork(self) -> tuple[socket.socket, psutil.Process]:
        """A new child: the socket to it, and the process by which its memory is watched."""
        if self._control is None:
            self._ask()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                self._send(f"fork {json.dumps(self.limits.of_child())}", theirs)
                self._answer("forked", _ANSWER)
        except WarmError:
            ours.close()
            raise
        return ours, self._process

    def end_child(self) -> int:
        """End the child with all that it has started; its exit code, negative for a signal that was not ours."""
        if self._control is None:
            return 0
        self._send("end")
        return int(self._answer("ended", _ANSWER))

    def close(self) -> None:
        """Hang up: the branch ends, and everything of its child with it."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def _ask(self) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)  # who says that it is ready, says its number
        try:
            with theirs:
                socket.send_fds(self._door, [b"branch"], [theirs.fileno()])
        except OSError as error:
            self.close()
            raise GoneError(self._last_words() or str(error)) from error
        number = self._answer("ready", _START)
        self._process = psutil.Process(int(number))

    def _send(self, message: str, *sockets: socket.socket) -> None:
        with contextlib.suppress(OSError):  # then no answer comes either
            socket.send_fds(self._control, [message.encode()], [one.fileno() for one in sockets])

    def _answer(self, word: str, seconds: float) -> str:
        """What follows the word that is waited for; WarmError, and no branch any more, if another comes, or none."""
        self._control.settimeout(seconds)
        sender = 0
        try:
            message, ancillary, _, _ = self._control.recvmsg(_LONGEST, socket.CMSG_SPACE(_WHOSE.size))
            said = message.decode(errors="replace")
            sender = next((_WHOSE.unpack(data)[0] for _, kind, data in ancillary if kind == socket.SCM_CREDENTIALS), 0)
        except OSError as error:
            said = str(error)
        first, _, rest = said.partition(" ")
        if first == word:
            return rest or str(sender)
        self.close()
        raise WarmError(f"the process that forks the kernels: {rest or self._last_words() or said or 'it ended'}")

    def _last_words(self) -> str:
        log = self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""
        return log.strip().rpartition("\n")[2]


def end_with_all(process: subprocess.Popen) -> None:
    """Kill a process with everything that it has started, and wait until nothing of it runs."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(process.pid)
        family = parent.children(recursive=True)
        for member in (parent, *family):
            with contextlib.suppress(psutil.Error):
                member.kill()
        until = time.monotonic() + _END
        while any(map(_runs, family)) and time.monotonic() < until:
            time.sleep(0.005)
    process.wait()


def _runs(process: psutil.Process) -> bool:
    """Whether it does; who has ended may still be listed, until somebody asks for its exit code."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
