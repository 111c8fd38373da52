"""What lies around a grading run and is none of a submission's business: secrets, files to destroy, open ports."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import socket
import sys
import sysconfig
import threading
from collections.abc import Iterator
from pathlib import Path

import course_utils

PLACES = ("environment", "home", "sibling", "gradebook", "temporary")


class Outside:
    """The surroundings of one grading run, and afterwards what became of them.

    Submissions stand in `submissions`, the grader writes into `out` and has `home` and `temporary` as its own.
    """

    def __init__(self, folder: Path) -> None:
        self.submissions, self.out = folder / "submissions", folder / "gradebook"
        self.home, self.temporary, self.confessions = folder / "home", folder / "temporary", folder / "confessions"
        for one in (self.submissions, self.out, self.home, self.temporary, self.confessions):
            one.mkdir(parents=True)
        token = secrets.token_hex(8)
        self.secrets = {place: f"canary-{place}-{secrets.token_hex(8)}" for place in PLACES}
        self.marker = f"hostile-{token}"
        self._victims = {
            self.home / ".netrc": self.secrets["home"],
            self.out / "points_by_hand.txt": self.secrets["gradebook"],
            folder / "neighbour.txt": self.secrets["temporary"],
        }
        for path, secret in self._victims.items():
            path.write_text(secret, encoding="utf-8")
        self._ears = _Ears(self.home / "ear", f"\0{token}")

    @property
    def known(self) -> dict[str, object]:
        """What an attacker may know all the same, as JSON can hold it: where things are, and no secret itself."""
        clone = Path(course_utils.__file__).parents[1]
        here = (
            self.submissions,
            self.out,
            self.home,
            self.temporary,
            clone,
            clone / "course_utils",
            clone / "solutions",
        )
        system = (sysconfig.get_path("purelib"), sys.prefix, "/tmp", "/var/tmp", "/dev/shm", "/")
        return {
            "places": [*map(str, here), *map(str, system)],
            "victims": [*map(str, self._victims)],
            "marker": self.marker,
            "confessions": str(self.confessions),
            "pid_namespace": _pid_namespace(),
            "grader": os.getpid(),
            "ports": self._ears.ports,
            "socket": str(self.home / "ear"),
            "abstract": self._ears.abstract.removeprefix("\0"),
        }

    def environment(self) -> dict[str, str]:
        """The grader's environment, which has a secret of its own."""
        usual = {name: value for name, value in os.environ.items() if not name.startswith("COURSE_")}
        return usual | {
            "API_TOKEN": self.secrets["environment"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Listens, while the grader runs."""
        with self._ears.open():
            yield

    def close(self) -> None:
        """Stop listening."""
        self._ears.close()

    def harm(self) -> list[str]:
        """What was done to the surroundings, a line each; written markers are removed again."""
        return [*self._written(), *self._destroyed(), *self._confessed(), *self._left(), *self._ears.heard]

    def leaks(self, said: str) -> list[str]:
        """Where a secret turned up: in what the grader said, or in a file that it wrote."""
        texts = {"the terminal": said.encode()}
        for path in sorted(self.out.rglob("*")):
            if path.is_file() and path not in self._victims:
                texts[path.name] = path.read_bytes()
        return [
            f"the secret of the {place} stands in {where}"
            for where, text in texts.items()
            for place, secret in self.secrets.items()
            if secret.encode() in text
        ]

    def _written(self) -> Iterator[str]:
        for place in map(Path, self.known["places"]):
            for path in place.glob(f"*{self.marker}*"):
                yield f"written: {path}"
                path.unlink()

    def _destroyed(self) -> Iterator[str]:
        for path, secret in self._victims.items():
            if not path.exists() or path.read_text(encoding="utf-8") != secret:
                yield f"changed or deleted: {path}"

    def _confessed(self) -> Iterator[str]:
        for path in sorted(self.confessions.iterdir()):
            yield f"nothing stopped {path.name}"

    def _left(self) -> Iterator[str]:
        for path in sorted(self.temporary.iterdir()):
            yield f"left behind: {path}"


def _pid_namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


class _Ears:
    """Sockets on which nobody has anything to say: TCP, UDP, and two of the kind that programs of one machine use."""

    def __init__(self, path: Path, abstract: str) -> None:
        self.heard: list[str] = []
        self.abstract = abstract
        self._sockets = {
            "tcp": _bound(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": _bound(socket.AF_UNIX, socket.SOCK_STREAM, str(path)),
            "abstract": _bound(socket.AF_UNIX, socket.SOCK_STREAM, abstract),
        }
        self.ports = {kind: self._sockets[kind].getsockname()[1] for kind in ("tcp", "udp")}
        self._stop = threading.Event()

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        thread = threading.Thread(target=self._listen)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def close(self) -> None:
        for one in self._sockets.values():
            one.close()

    def _listen(self) -> None:
        with selectors.DefaultSelector() as selector:
            for kind, one in self._sockets.items():
                selector.register(one, selectors.EVENT_READ, kind)
            ready = []
            stopped = False
            while ready or not stopped:  # at the end, what has arrived is still heard
                stopped = self._stop.is_set()
                ready = selector.select(timeout=0.2)
                for key, _ in ready:
                    self.heard.append(f"heard by {key.data}: {_first_words(key.fileobj)}")


def _bound(family: int, kind: int, address: object) -> socket.socket:
    one = socket.socket(family, kind)
    one.bind(address)
    if kind == socket.SOCK_STREAM:
        one.listen()
    return one


def _first_words(one: socket.socket) -> str:
    if one.type == socket.SOCK_DGRAM:
        return one.recv(100).decode(errors="replace")
    connection, _ = one.accept()
    with connection:
        connection.settimeout(1)
        try:
            return connection.recv(100).decode(errors="replace")
        except OSError:
            return "a connection"
