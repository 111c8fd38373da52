"""Makes .venv from the pins, and finds it again at once: what is needed before the course can run.

Standard library only, and what needs no more itself: when this runs, nothing is installed yet.

Three files in .venv say how it stands. `course-ready.json` tells what a finished environment was
made from; while it agrees with the clone, nothing is done. `course-unfinished` lies there as long
as packages are being changed; whoever finds it begins anew. `course-lock` is held meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_utils.refusal import Refusal

WINDOWS = os.name == "nt"
ROOM_NEEDED = 3 * 10**9  # bytes, with PyTorch's CPU build; most of it is PyTorch
SUITABLE = range(10, 14)  # the 3.x that course.py lets through


@dataclass(frozen=True)
class Environment:
    """The paths of one clone and of its environment."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if WINDOWS else "bin/python")

    @property
    def course(self) -> list[str]:
        """The command `course`; by way of Python on POSIX, where a moved script's first line is wrong."""
        if WINDOWS:
            return [str(self.folder / "Scripts/course.exe")]
        return [str(self.python), str(self.folder / "bin/course")]

    @property
    def stamp(self) -> Path:
        return self.folder / "course-ready.json"

    @property
    def unfinished(self) -> Path:
        return self.folder / "course-unfinished"

    @property
    def lock(self) -> Path:
        return self.folder / "course-lock"

    @property
    def made_by_us(self) -> bool:
        return self.stamp.exists() or self.unfinished.exists()

    def is_ready(self) -> bool:
        """True if a finished environment agrees with the clone; read from files, in no time."""
        if self.unfinished.exists() or not self.python.exists():
            return False
        try:
            return json.loads(self.stamp.read_text("utf-8")) == self.origins()
        except (OSError, ValueError):
            return False

    def origins(self) -> dict[str, object]:
        """What an environment made now would be made from."""
        return {
            "requirements.txt": _digest(self.root / "requirements.txt"),
            "pyproject.toml": _digest(self.root / "pyproject.toml"),
            "folder": str(self.root),
            # a system upgrade can put another Python behind the same link
            "python": self.python.resolve().name,
            "base": _base_python_exists(self.folder / "pyvenv.cfg"),
        }


def run_course(root: str, arguments: list[str]) -> int:
    """The exit code of `course ARGUMENTS` in the environment, which is made first when needed."""
    environment = Environment(Path(root).resolve())
    try:
        prepare(environment)
    except Refusal as reason:
        return _fail(str(reason))
    except OSError as error:
        return _fail(f"The environment {environment.folder} could not be made: {error}.")
    except KeyboardInterrupt:
        _say("\nStopped. The same command goes on from here; finished downloads are kept.")
        return 130
    return _hand_over([*environment.course, *arguments])


def prepare(environment: Environment) -> None:
    """Makes or mends the environment unless it is ready; a second process waits for the first."""
    if environment.is_ready():
        return
    environment.folder.mkdir(exist_ok=True)
    with _only_one(environment.lock) as lock:
        if not environment.is_ready():  # the process we waited for may have made it
            _install(environment, lock)


def _install(environment: Environment, lock: int) -> None:
    if environment.unfinished.exists() or not _can_be_kept(environment):
        _say("Step 1 of 3: making the environment .venv")
        _make_empty(environment)
    else:
        _say("Step 1 of 3: the environment .venv is there")
    with _marked_unfinished(environment):
        _say("Step 2 of 3: installing the packages that requirements.txt names")
        _say("  The first time takes minutes, most of them for PyTorch; so does the part")
        _say("  after 'Installing collected packages', which may show nothing until it ends.")
        _warn_of_cuda(environment)
        _install_pins(environment, lock)
        _say("Step 3 of 3: adding the course itself")
        _pip(environment, lock, "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
             "--editable", str(environment.root))  # fmt: skip
        environment.stamp.write_text(json.dumps(environment.origins(), indent=1), "utf-8")
    _say("The environment is ready.")


def _can_be_kept(environment: Environment) -> bool:
    """True if .venv has a suitable Python with pip; somebody else's .venv is never deleted."""
    if not (environment.folder / "pyvenv.cfg").exists() and not environment.made_by_us:
        return False  # an empty folder, perhaps just made
    probe = [str(environment.python), "-c", "import sys, pip; print(sys.version_info[1])"]
    try:
        answer = _run(environment, probe, capture_output=True, text=True, timeout=60)
        if answer.returncode == 0 and int(answer.stdout) in SUITABLE:
            return True
    except (OSError, ValueError, subprocess.TimeoutExpired):
        pass  # no Python there any more, or one that does not run
    if environment.made_by_us:
        return False
    raise Refusal(
        f"{environment.folder} was not made by course.py, and has no Python 3.10 to 3.13 with pip: "
        "rename or delete that folder, then run the same command again."
    )


def _make_empty(environment: Environment) -> None:
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        raise Refusal(f"This Python has no {' and no '.join(missing)}: {_how_to_get_venv()}")
    _clear(environment)
    environment.unfinished.touch()
    # not sys.executable: that may be the Python of the very .venv that was just cleared
    base = getattr(sys, "_base_executable", None) or sys.executable
    if _run(environment, [base, "-m", "venv", str(environment.folder)]).returncode:
        raise Refusal(
            f"Python could not make {environment.folder}; its own lines above say why. "
            "Run the same command again when that is mended."
        )


def _clear(environment: Environment) -> None:
    environment.unfinished.touch()  # first of all, in case clearing is broken off
    for entry in environment.folder.iterdir():
        if entry in (environment.lock, environment.unfinished):
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _how_to_get_venv() -> str:
    try:
        system = platform.freedesktop_os_release()
    except OSError:
        system = {}
    family = f"{system.get('ID', '')} {system.get('ID_LIKE', '')}"
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if "debian" in family or "ubuntu" in family:
        return f"`sudo apt install python{version}-venv`, then run the same command again."
    if "fedora" in family or "rhel" in family:
        return "`sudo dnf install python3-libs python3-pip`, then run the same command again."
    if "suse" in family:
        return "`sudo zypper install python3-base python3-pip`, then run the same command again."
    return "install your system's packages for Python's venv and pip, then run this again."


@contextlib.contextmanager
def _marked_unfinished(environment: Environment) -> Iterator[None]:
    """Leaves the mark behind unless the packages are complete, or were not touched at all."""
    begun_before = environment.unfinished.exists()
    environment.unfinished.touch()
    before = _last_change(environment)
    try:
        yield
    except BaseException:
        # pip fetches everything before it changes anything, so no network usually means no change
        if not begun_before and _last_change(environment) == before:
            environment.unfinished.unlink()
        raise
    environment.unfinished.unlink()


def _last_change(environment: Environment) -> list[int]:
    pattern = "Lib/site-packages" if WINDOWS else "lib/python*/site-packages"
    return [folder.stat().st_mtime_ns for folder in sorted(environment.folder.glob(pattern))]


def _install_pins(environment: Environment, lock: int) -> None:
    try:
        _pip(environment, lock, "--requirement", str(environment.root / "requirements.txt"))
    except Refusal as failure:
        free = shutil.disk_usage(environment.root).free
        room = f" Only {free / 1e9:.1f} GB are free on this disk." if free < ROOM_NEEDED else ""
        raise Refusal(
            f"The packages are not installed; pip's last lines above say why.{room} With a network "
            "connection and enough room, run the same command again: finished downloads are kept."
        ) from failure


def _pip(environment: Environment, lock: int, *options: str) -> None:
    command = [str(environment.python), "-m", "pip", "install", "--disable-pip-version-check"]
    # pip inherits the lock: if this process is killed and pip lives on, nobody else starts
    inherited = {} if WINDOWS else {"pass_fds": (lock,)}
    command += ["--no-user", *options]
    if _run(environment, command, **inherited).returncode:
        raise Refusal("pip could not add the course itself; its last lines above say why.")


def _run(environment: Environment, command: list[str], **options: Any) -> subprocess.CompletedProcess:
    # Python's -c and -m import from the current folder first: never from one full of someone's files
    return subprocess.run(command, cwd=environment.root, **options)


def _warn_of_cuda(environment: Environment) -> None:
    """Tells Linux users in time that pip's usual PyTorch there is the large one with CUDA."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or environment.stamp.exists():
        return
    command = [str(environment.python), "-m", "pip", "config", "list"]
    settings = _run(environment, command, capture_output=True, text=True).stdout
    sources = ("index-url", "find-links")
    if not any(source in settings or _in_pip_variables(source) for source in sources):
        _say("  NOTE: on Linux pip takes the PyTorch build for CUDA, several GB. README.md says how")
        _say("  to get the small one for CPUs; stopping with Ctrl-C now loses nothing.")


def _in_pip_variables(option: str) -> bool:
    name = option.upper().replace("-", "_")
    return any(key.startswith("PIP_") and key.endswith(name) for key in os.environ)


@contextlib.contextmanager
def _only_one(path: Path) -> Iterator[int]:
    """Holds a lock that ends with the process, however that ends; yields its file descriptor."""
    with path.open("a+b") as file:
        if not _locked(file.fileno()):
            _say("Another course.py is making the environment. Waiting for it to finish ...")
            while not _locked(file.fileno()):
                time.sleep(0.5)
        yield file.fileno()


def _locked(descriptor: int) -> bool:
    try:
        if WINDOWS:
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # held: the first on POSIX, the second on Windows
        return False
    return True


def _hand_over(command: list[str]) -> int:
    sys.stdout.flush()
    if not WINDOWS:
        os.execv(command[0], command)  # signals and the exit code are then the command's own
    process = subprocess.Popen(command, env={**os.environ, "PYTHONUTF8": "1"})
    while True:
        with contextlib.suppress(KeyboardInterrupt):  # the command gets Ctrl-C too, and decides
            return process.wait()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _base_python_exists(configuration: Path) -> bool:
    """True if the Python that .venv was made from is still installed."""
    for line in configuration.read_text("utf-8").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "home":
            return Path(value.strip()).is_dir()
    return False


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _fail(reason: str) -> int:
    _say(f"course.py: {reason}")
    return 1
