"""Processes in which pytest and nbval run submissions, one at a time each: started when needed, used again, ended."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from course_utils.grading.ahead import EVERYTHING
from course_utils.grading.limits import Limits
from course_utils.grading.warm import Warm, end_with_all

Kernel = Literal["forked", "jupyter"]
Records = dict[str, list[dict[str, object]]]


class LostError(RuntimeError):
    """A process of the crew has ended in the middle; its last words."""


@dataclass(frozen=True)
class Settings:
    """How submissions run.

    `home` is what they see of this package, `secret` are folders that they must not see, `ahead` is what is loaded
    before any of them.
    """

    kernel: Kernel
    confined: bool
    home: str
    secret: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    ahead: tuple[str, ...] = EVERYTHING


class Hearth:
    """The warm process of all members that run submissions in the same way, with a folder for what it says."""

    def __init__(self, settings: Settings) -> None:
        self._scratch = _scratch()
        self.log = Path(self._scratch.name) / "warm.log"
        secret = map(Path, settings.secret)
        self.warm = Warm(Path(settings.home), self.log, settings.ahead, secret, confined=settings.confined)

    def close(self) -> None:
        self.warm.close()
        self._scratch.cleanup()


def _scratch() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="course-grade-", ignore_cleanup_errors=True)


class Member:
    """One process, with a scratch folder of its own."""

    def __init__(self, settings: Settings, hearth: Hearth | None) -> None:
        self._scratch = _scratch()
        folder = Path(self._scratch.name)
        (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")  # the clone's settings stay out
        (folder / "notebooks").mkdir()
        with (folder / "pytest.log").open("wb") as log:
            self._process = subprocess.Popen(
                _command(folder, settings, hearth),
                cwd=folder / "notebooks",
                env=_environment(folder),
                pass_fds=[hearth.warm.door.fileno()] if hearth else [],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C comes to us, and we end it
            )
        self._log = folder / "pytest.log"

    def run(self, work: Mapping[str, object], at: Callable[[str], None]) -> Records:
        """What became of each cell, by exercise; `at` is told which exercise runs. LostError if the process ends."""
        try:
            self._process.stdin.write(json.dumps(work) + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise LostError(self._last_words()) from error
        found: Records = {}
        for line in self._process.stdout:
            answer = json.loads(line)  # from our own code: nothing of a submission writes there
            if "end" in answer:
                return found
            if "at" in answer:
                at(answer["at"])
            else:
                found[answer["exercise"]] = answer["records"]
        raise LostError(self._last_words())

    def close(self) -> None:
        """End the process with everything that it has started."""
        if self._process.poll() is None:
            end_with_all(self._process)
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                stream.close()
        self._scratch.cleanup()

    def _last_words(self) -> str:
        said = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return said[-1] if said else f"exit code {self._process.wait()}"


class Crew:
    """Lends out members: a free one, else a new one. Each thread works with its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[Settings, list[Member]] = {}
        self._all: set[Member] = set()
        self._hearths: dict[Settings, Hearth] = {}

    @contextlib.contextmanager
    def member(self, settings: Settings) -> Iterator[Member]:
        """A member for one submission; one in whose hands anything went wrong is not used again."""
        with self._lock:
            waiting = self._free.get(settings)
            member = waiting.pop() if waiting else Member(settings, self._hearth(settings))
            self._all.add(member)
        try:
            yield member
        except BaseException:
            self._end(member)
            raise
        with self._lock:
            self._free.setdefault(settings, []).append(member)

    def close(self) -> None:
        """End all members, those at work too."""
        with self._lock:
            members, hearths = list(self._all), list(self._hearths.values())
            self._free.clear()
            self._hearths.clear()
        for member in members:
            self._end(member)
        for hearth in hearths:
            hearth.close()

    def _hearth(self, settings: Settings) -> Hearth | None:
        """Where the forked kernels come from; a new one where the last has gone out."""
        if settings.kernel != "forked":
            return None
        hearth = self._hearths.get(settings)
        if hearth is None or not hearth.warm.is_alive:
            if hearth is not None:
                hearth.close()
            hearth = self._hearths[settings] = Hearth(settings)
        return hearth

    def _end(self, member: Member) -> None:
        with self._lock:
            mine = member in self._all
            self._all.discard(member)
        if mine:
            member.close()


CREW = Crew()
atexit.register(CREW.close)


def run_submission(
    settings: Settings, work: Mapping[str, object], at: Callable[[str], None] = lambda exercise: None
) -> Records:
    """What became of each cell of a submission, by exercise: the one function that an Executor's worker calls.

    All that it is given and gives is plain data, but for `at`, which is for workers in this process.
    """
    with CREW.member(settings) as member:
        return member.run(work, at)


# of pytest's own plugins those that would do something for every cell, and nothing for us: `assertion` shows how texts
# differ, and takes minutes where they are long
_UNUSED = (
    *("assertion", "cacheprovider", "doctest", "faulthandler", "junitxml", "logging", "monkeypatch", "pastebin"),
    *("recwarn", "setuponly", "setupplan", "stepwise", "threadexception", "tmpdir", "unittest", "unraisableexception"),
    "warnings",
)


def _command(folder: Path, settings: Settings, hearth: Hearth | None) -> list[str]:
    plugins = ["course_utils.grading.lean", "nbval.plugin", "course_utils.grading.recorder"]
    how = {**asdict(settings), "folder": str(folder / "notebooks")}
    if hearth:
        how |= {"door": hearth.warm.door.fileno(), "log": str(hearth.log)}
        plugins.insert(0, "course_utils.grading.no_jupyter")
    return [
        *(sys.executable, "-m", "pytest"),
        *(part for plugin in (*plugins, *(f"no:{name}" for name in _UNUSED)) for part in ("-p", plugin)),
        *("-c", str(folder / "pytest.ini"), "--rootdir", str(folder)),
        *("--nbval", "--nbval-current-env", "--capture=no", "--tb=no", "--color=no"),
        *(f"--course-settings={json.dumps(how)}", str(folder / "notebooks")),
    ]


def _environment(folder: Path) -> dict[str, str]:
    """Ours, without what would change how pytest, Jupyter or a submission behaves."""
    personal = ("PYTEST_", "JUPYTER_", "MPLBACKEND", "FORCE_COLOR", "PYTHONWARNINGS", "PYTHONSTARTUP")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(personal)}
    package = str(Path(__file__).resolve().parents[2])
    return kept | {
        "COURSE_PROGRESS": "memory",
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_DIR": str(folder / "jupyter"),
        "JUPYTER_NO_CONFIG": "1",
        "JUPYTER_PLATFORM_DIRS": "1",
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "OMP_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, (package, kept.get("PYTHONPATH", "")))),
    }
