"""The kernel that nbval talks to: a child forked from a branch of the warm process, in place of Jupyter's."""

from __future__ import annotations

import contextlib
import itertools
import json
import selectors
import time
from collections.abc import Mapping
from queue import Empty

import psutil

from course_utils.grading.warm import Branch, WarmError

LONGEST_MESSAGE = 64_000  # bytes; the child sends no more in one
MOST_TEXT = 1_000_000  # characters of one cell's output, the last ones; evidence has a few thousand
MOST_READ = 100_000_000  # bytes from one child
_ANSWER = 20.0  # seconds for a child to be ready, or to take a message
_MOST_WARM = 300 * 2**20  # bytes of a branch, most of which it shares with others
_LOOK = 0.2  # seconds between two looks at how much memory is in use


class ForkedKernel:
    """What nbval needs of a kernel. Messages are made here; from the child come texts, none of which is believed.

    `garbled` says that the child has sent what our code there never sends; `ended_by` why there is no child any more.
    """

    language = "python"

    def __init__(self, branch: Branch, probe: Mapping[str, object]) -> None:
        self._branch = branch
        self._numbers = itertools.count(1)
        self._pending: list[dict] = []
        self._buffer = b""
        self._read = 0
        self._text: list[str] = []
        self._length = 0
        self.garbled = False
        self.ended_by = ""
        self._channel, self._family = branch.fork()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._channel, selectors.EVENT_READ)
        self._send(probe)
        self._be_ready()

    # what nbval calls -------------------------------------------------------------------------------------------

    def is_alive(self) -> bool:
        """Whether cells can still be run."""
        return not self.ended_by

    def execute_cell_input(self, source: str, allow_stdin: bool | None = None) -> str:
        """Start a cell; the id by which its messages are known."""
        self._text, self._length = [], 0
        self._pending = []
        self._id = str(next(self._numbers))
        self._send(source)
        return self._id

    def await_reply(self, message_id: str, timeout: float | None = None) -> None:
        """Wait for the end of the cell; Empty if it does not come in time, or the child is gone."""
        until = time.monotonic() + (timeout or 0)
        look = time.monotonic() + _LOOK
        while not self._pending:
            now = time.monotonic()
            if now >= until or self.ended_by:
                raise Empty
            if now >= look:
                look = now + _LOOK
                if self._in_memory() > _MOST_WARM + self._branch.limits.memory_in_all:
                    self._end("memory")
                    continue
            if self._selector.select(min(_LOOK, until - now)):
                self._receive()

    def get_message(self, stream: str, timeout: float | None = None) -> dict:
        """The next message of the cell that has ended; Empty if there is none."""
        if not self._pending:
            raise Empty
        return self._pending.pop(0)

    def await_idle(self, parent_id: str, timeout: float) -> None:
        """Pass over what is left of the cell's messages."""
        self._pending = []

    def interrupt(self) -> None:
        """End the child: who had no end in time runs nothing more."""
        self._end("timeout")

    def stop(self) -> None:
        """End the child with all that it has started."""
        self._end("stopped")

    # the child --------------------------------------------------------------------------------------------------

    def _end(self, reason: str) -> None:
        if not self.ended_by:
            self.ended_by = reason
            self._selector.close()
            self._channel.close()
            code = self._branch.end_child()
            if reason == "died" and code == -_OUT_OF_TIME:
                self.ended_by = "timeout"

    def _be_ready(self) -> None:
        """Wait until the child can run cells. Nothing of the submission has run in it: here it is believed."""
        self._channel.settimeout(_ANSWER)
        try:
            said = _message(self._channel.recv(LONGEST_MESSAGE).rstrip(b"\n")) or ["nothing"]
        except OSError as error:
            said = [str(error)]
        if said != ["ready"]:
            self._end("fault")
            raise WarmError(f"a forked kernel could not start: {said[-1]}")

    def _send(self, what: object) -> None:
        try:
            self._channel.settimeout(_ANSWER)
            self._channel.sendall(json.dumps(what).encode() + b"\n")
        except OSError:
            self._end("died")

    def _receive(self) -> None:
        try:
            received = self._channel.recv(LONGEST_MESSAGE)
        except OSError:
            received = b""
        self._read += len(received)
        self._buffer += received
        *lines, self._buffer = self._buffer.split(b"\n")
        if max(map(len, (*lines, self._buffer))) > LONGEST_MESSAGE or self._read > MOST_READ:
            self.garbled = True
            received = b""
        for line in lines:
            self._take(line)
        if not received:
            self._end("died")

    def _take(self, line: bytes) -> None:
        match _message(line):
            case ["out", text]:
                self._keep(text)
            case ["done"]:
                self._finish()
            case ["raised", name, words]:
                self._finish(("error", {"ename": name, "evalue": words, "traceback": []}))
            case _:
                self.garbled = True

    def _keep(self, text: str) -> None:
        self._text.append(text)
        self._length += len(text) + 1
        if self._length > 2 * MOST_TEXT:
            self._text = ["".join(self._text)[-MOST_TEXT:]]
            self._length = len(self._text[0])

    def _finish(self, *also: tuple[str, dict]) -> None:
        """Make the messages that Jupyter's kernel would have sent."""
        printed = "".join(self._text)[-MOST_TEXT:]
        text = [("stream", {"name": "stdout", "text": printed})] if printed else []
        idle = ("status", {"execution_state": "idle"})
        self._pending = [
            {"msg_type": kind, "parent_header": {"msg_id": self._id}, "content": content}
            for kind, content in (*text, *also, idle)
        ]

    def _in_memory(self) -> int:
        """Bytes in memory of the branch and all that came of it; what several share counts once."""
        size = 0
        with contextlib.suppress(psutil.Error, OSError):
            for process in (self._family, *self._family.children(recursive=True)):
                with contextlib.suppress(psutil.Error, OSError):
                    size += process.memory_full_info().pss
        return size


_OUT_OF_TIME = 24  # SIGXCPU


def _message(line: bytes) -> list[str]:
    """The line's strings; none if it is anything else: our code sends nothing else."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return message if isinstance(message, list) and all(isinstance(one, str) for one in message) else []
