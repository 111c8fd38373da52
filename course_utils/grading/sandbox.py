"""The walls around a warm process: bubblewrap's command line, and what can be seen behind it."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from course_utils.refusal import Refusal

COMMAND = "bwrap"
INSIDE = "course_utils.grading.inside"
HOME = "/course"  # where the part of this package that submissions need is seen
_PACKAGE = Path(__file__).resolve().parents[1]
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# the last tells malloc that there are large pages
_FILES = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/sys/kernel/mm/transparent_hugepage")
# modules of the checks that hold no answer, and are there for every exercise
WHOLE = ("by_hand", "draw", "evidence", "exercise", "given", "plain")
_FOLDERS = ("adversarial", "drawing", "graph", "widgets")  # what lessons and exercises import, and nothing that judges


def make_home(folder: Path) -> Path:
    """A folder with what submissions may know of this package: tools and probes, nothing that judges."""
    package = folder / "course_utils"
    for name in (*_FOLDERS, "grading/inside"):
        shutil.copytree(_PACKAGE / name, package / name)
    (package / "checks").mkdir()
    for name in ("__init__.py", "refusal.py", "grading/__init__.py", *(f"checks/{one}.py" for one in WHOLE)):
        shutil.copy2(_PACKAGE / name, package / name)
    shutil.move(package / "grading/inside/checks.py", package / "checks/__init__.py")
    for path in (folder, *folder.rglob("*")):  # whoever grades: another user reads it behind the walls
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def walled(command: Sequence[str], home: Path, secret: Iterable[Path]) -> list[str]:
    """The command, such that it sees Python, the system's programs and `home`; none of the folders `secret`."""
    return [
        _program(),
        *("--unshare-ipc", "--unshare-net", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
        *_rights(),
        *("--die-with-parent", "--new-session"),
        *_seen(list(map(Path.resolve, secret))),
        *("--ro-bind", str(home), HOME),
        *("--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", scratch(), "--chdir", "/"),
        *("--remount-ro", "/dev", "--remount-ro", "/"),
        *("--", *command),
    ]


def scratch() -> str:
    """The one folder that can be written to behind the walls: /tmp, unless this Python itself lies in it."""
    return "/scratch" if any(path.is_relative_to("/tmp") for path in _pythons()) else "/tmp"


def environment(home: str) -> dict[str, str]:
    """The variables of a process that runs submissions: none of the grader's.

    All memory comes from malloc, and malloc's in pages of 2 MB: forks copy a list of pages, and that is then short.
    """
    place = scratch() if home == HOME else "/tmp"
    return {
        "COURSE_PROGRESS": "memory",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1",
        "HOME": place,
        "IPYTHONDIR": f"{place}/ipython",
        "LANG": "C.UTF-8",
        "LOGNAME": "learner",
        "MPLBACKEND": "agg",
        "MPLCONFIGDIR": f"{place}/matplotlib",
        "OMP_NUM_THREADS": "1",
        "PATH": "/usr/bin:/bin",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": home,
        "TMPDIR": place,
    }


def check_walls(home: Path) -> None:
    """Refuses, with what to do, where this system does not let the walls stand."""
    command = walled([sys.executable, "-s", "-m", f"{INSIDE}.warm", "prove"], home, [])
    ran = subprocess.run(
        command, env=environment(HOME), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    if ran.returncode:
        reason = ran.stderr.strip().rpartition("\n")[2] or f"exit code {ran.returncode}"
        raise Refusal(
            f'submissions cannot be shut in here ({reason}). docs/grading.md, under "Where the walls cannot stand", '
            "says what to allow on Ubuntu, in Docker and elsewhere. With --trust-submissions they run without walls: "
            "with your rights, so that they can read, change and delete what you can."
        )


HOW_TO_INSTALL = (
    "submissions are shut in with bubblewrap, which is not installed: on Debian and Ubuntu `sudo apt install "
    "bubblewrap`, on Fedora `sudo dnf install bubblewrap`."
)


def _program() -> str:
    found = shutil.which(COMMAND)
    if not found:
        raise Refusal(HOW_TO_INSTALL)
    return found


def _rights() -> list[str]:
    """A user namespace, but for a root that needs none: behind the walls it becomes a user like any other."""
    kept = ("CAP_SETUID", "CAP_SETGID", "CAP_SYS_ADMIN") if os.geteuid() == 0 else ()
    namespace = [] if kept and _may_mount() else ["--unshare-user"]
    return namespace + [part for name in kept for part in ("--cap-add", name)]


def _may_mount() -> bool:
    """Whether this process has CAP_SYS_ADMIN; root in a container has not."""
    status = Path("/proc/self/status").read_text()
    effective = next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective, 16) & 1 << 21)


def _seen(secret: Sequence[Path]) -> Iterator[str]:
    for path in map(Path, _SYSTEM):
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.is_dir():
            yield from ("--ro-bind", str(path), str(path))
            yield from _hidden(secret, path)
    for name in _FILES:
        yield from ("--ro-bind-try", name, name)
    for path in _pythons():  # the environment often lies in the clone, and so after what was hidden there
        for parent in reversed(path.parents[:-1]):
            yield from ("--perms", "0755", "--dir", str(parent))  # or bubblewrap makes them for its own user alone
        yield from ("--ro-bind", str(path), str(path))
        yield from _hidden(secret, path)


def _hidden(secret: Iterable[Path], seen: Path) -> Iterator[str]:
    """An empty folder over each secret one that would be seen as a part of another."""
    for folder in secret:
        if folder.is_dir() and folder != seen and folder.is_relative_to(seen):
            yield from ("--tmpfs", str(folder))


def _pythons() -> list[Path]:
    """This Python's folders, those outside the system's: the installation, the environment, packages elsewhere."""
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    wanted = dict.fromkeys(map(Path, (sys.base_prefix, sys.prefix, *packages, *site.getsitepackages())))
    kept: list[Path] = []
    for path in wanted:
        if path.is_dir() and not any(path.is_relative_to(other) for other in (*kept, *map(Path, _SYSTEM))):
            kept.append(path)
    return kept
