"""Runs cells as Jupyter does, for whoever is at the other end of a socket: text out, nothing shown."""

from __future__ import annotations

import builtins
import contextlib
import io
import json
import socket
import sys
import threading
from collections.abc import Iterable

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

PIECE = 4_000  # characters of one message: as JSON at most 48 kB
MOST_TEXT = 1_000_000  # characters of one cell's output; evidence has a few thousand


class _Shell(InteractiveShell):
    """IPython without what serves people who type and look."""

    def init_completer(self) -> None:
        """Nothing: its libraries are slow to load."""

    def _tee(self, channel: str) -> contextlib.AbstractContextManager[None]:
        """Nothing: IPython would keep all that is printed, and who prints without end would run out of memory."""
        return contextlib.nullcontext()


def new_shell() -> InteractiveShell:
    """An IPython that keeps no history, starts no thread, and shows no tracebacks."""
    quiet = Config()
    quiet.HistoryManager.enabled = False
    quiet.InteractiveShell.colors = "NoColor"
    quiet.InteractiveShell.cache_size = 0
    shell = _Shell.instance(config=quiet)
    for name in ("showtraceback", "showsyntaxerror", "showindentationerror"):
        setattr(shell, name, lambda *arguments, **options: None)  # the exception is sent, a traceback takes long
    shell.enable_gui = lambda gui=None: None  # `%matplotlib inline` calls it
    shell.displayhook.quiet = lambda: True
    shell.display_pub.publish = lambda *arguments, **options: None
    return shell


def serve(shell: InteractiveShell, channel: socket.socket, requests: Iterable[bytes]) -> None:
    """Run the cells that come in, one line of JSON each, until no more come.

    For each, messages go out: `["out", text]` for what it printed, then `["done"]`, or `["raised", name, message]`.
    """
    sending = threading.Lock()  # an answer's threads may print

    def send(*message: str) -> None:
        with sending:
            channel.sendall(json.dumps(message).encode() + b"\n")

    # a module that is run by `%run` or imported later sees these, too
    sys.stdin = io.StringIO()
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), errors="replace")
    builtins.input = _no_input
    for source in requests:
        sys.stdout = _Out(send)
        result = shell.run_cell(json.loads(source), store_history=False)
        sys.stdout.flush()
        error = result.error_before_exec or result.error_in_exec
        send("raised", type(error).__name__, _words(error)) if error is not None else send("done")


def _no_input(prompt: object = "") -> str:
    raise EOFError("nobody is there to answer `input`")


def _words(error: BaseException) -> str:
    try:
        return str(error)[:PIECE]
    except BaseException:  # the exception may be the learner's own class
        return ""


class _Out(io.TextIOBase):
    """Standard output of one cell: sent as it is written, as far as anyone will read it."""

    encoding = "utf-8"

    def __init__(self, send: object) -> None:
        self._send = send
        self._left = MOST_TEXT

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, text: str) -> int:
        kept = str(text)[: self._left]
        self._left -= len(kept)
        for start in range(0, len(kept), PIECE):
            self._send("out", kept[start : start + PIECE])
        return len(text)

    def close(self) -> None:
        """Stay open: evidence is still to come."""
