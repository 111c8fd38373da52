"""A process that has loaded what notebooks import, and forks a kernel for whoever connects: `... SOCKET`.

It ends by itself: when its socket is removed, or when it has had no kernel for a while.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from course_utils.kernels.launcher import send

IDLE_SECONDS = 120
LOOK_SECONDS = 1.0
LONGEST_REQUEST = 1_000_000


@dataclass(frozen=True)
class Request:
    """A kernel that somebody wants: its connection, and the descriptors that are to be its standard ones."""

    caller: socket.socket
    standard: list[int]
    said: dict

    def close(self) -> None:
        """Let go of the caller's descriptors."""
        for descriptor in self.standard:
            os.close(descriptor)


def main(path: Path) -> None:
    """Fork kernels until this process is not needed any more; in a fork, be the kernel."""
    load()
    request = serve(path)
    if request is not None:
        become_kernel(request)


def load() -> None:
    """Import what every notebook imports, and what a kernel is made of; nothing is started."""
    del sys.path[0]  # a kernel looks for modules in its own folder first, not in this process's
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as a kernel does
    import ipywidgets  # noqa: F401
    import matplotlib.figure  # noqa: F401
    import numpy  # noqa: F401
    import torch._dynamo  # noqa: F401  PyTorch loads it with the first optimizer, or with torch.func, in a second

    import course_utils
    from course_utils.checks.catalogue import all_exercises

    for name in course_utils.__all__:  # each is loaded when it is asked for
        getattr(course_utils, name)
    all_exercises()
    gc.collect()
    gc.freeze()  # a collection in a fork would write to every page, and so copy it


def serve(path: Path) -> Request | None:
    """Fork a kernel for each connection. Returns in each fork what it has to be, and None at the end."""
    listening = socket.socket(socket.AF_UNIX)
    fresh = path.with_suffix(".fresh")
    fresh.unlink(missing_ok=True)
    listening.bind(str(fresh))
    listening.listen(64)
    fresh.rename(path)  # from now on nobody is refused
    kernels = Kernels(listening)
    idle_since = time.monotonic()
    while path.exists() and time.monotonic() - idle_since < IDLE_SECONDS:
        request = kernels.wait(LOOK_SECONDS)
        if request is not None:
            return request
        if kernels:
            idle_since = time.monotonic()
    kernels.end()
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    return None


class Kernels:
    """The forks that live, and the connections of those who wait for them."""

    def __init__(self, listening: socket.socket) -> None:
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ, self._accept)
        self._callers: dict[int, socket.socket] = {}

    def __len__(self) -> int:
        return len(self._callers)

    def wait(self, seconds: float) -> Request | None:
        """Do what is due; in a new fork, what it is to be."""
        for key, _ in self._selector.select(seconds):
            request = key.data(key.fileobj)
            if request is not None:
                return request
        return None

    def end(self) -> None:
        """Kill every fork."""
        for pid in self._callers:
            send(pid, signal.SIGKILL)

    def _accept(self, listening: socket.socket) -> Request | None:
        caller, _ = listening.accept()
        text, standard, _, _ = socket.recv_fds(caller, LONGEST_REQUEST, 3)
        while text and not text.endswith(b"\n"):
            text += caller.recv(LONGEST_REQUEST)
        if len(standard) != 3:  # it has hung up already
            caller.close()
            return None
        request = Request(caller, standard, json.loads(text))
        pid = os.fork()
        if pid == 0:
            self._selector.close()
            listening.close()
            for other in self._callers.values():
                other.close()
            return request
        request.close()
        self._callers[pid] = caller
        self._selector.register(os.pidfd_open(pid), selectors.EVENT_READ, lambda fd: self._ended(fd, pid))
        self._selector.register(caller, selectors.EVENT_READ, lambda _: self._hung_up(pid))
        with contextlib.suppress(OSError):
            caller.sendall(b"%d\n" % pid)
        return None

    def _hung_up(self, pid: int) -> None:
        self._selector.unregister(self._callers[pid])
        send(pid, signal.SIGKILL)

    def _ended(self, descriptor: int, pid: int) -> None:
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        self._selector.unregister(descriptor)
        os.close(descriptor)
        caller = self._callers.pop(pid)
        with contextlib.suppress(KeyError):
            self._selector.unregister(caller)
        with contextlib.suppress(OSError):
            caller.sendall(b"%d\n" % (code if code >= 0 else 128 - code))
        caller.close()


def become_kernel(request: Request) -> None:
    """Be a kernel like any other, until it ends."""
    os.setsid()
    request.caller.close()
    for number, descriptor in enumerate(request.standard):
        os.dup2(descriptor, number)
    request.close()
    os.environ.clear()
    os.environ.update(request.said["environment"])
    os.environ["JPY_PARENT_PID"] = str(os.getppid())  # a kernel ends with its parent, which is not the caller here
    os.chdir(request.said["folder"])
    import numpy
    from ipykernel import kernelapp

    numpy.random.seed()  # else all forks draw the same
    sys.argv = ["ipykernel_launcher", "-f", request.said["connection_file"]]
    kernelapp.launch_new_instance()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
