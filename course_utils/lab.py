"""Opens JupyterLab on a lesson, without questions and without anything to set."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from course_utils.kernels.spec import warm_kernels
from course_utils.refusal import Refusal

SETTINGS = Path(__file__).parent / "jupyter"
FOLDERS = ("notebooks", "exercises", "solutions")


def open_lab(root: Path, name: str | None, port: int, browser: bool) -> int:
    """Runs JupyterLab on the named lesson until it is stopped; returns its exit code."""
    notebook = find_notebook(root, name)
    arguments = lab_arguments(root, notebook, port, browser and has_display())
    # the course's settings stand before the learner's own, which stay in force otherwise
    paths = [str(SETTINGS), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(paths)
    os.chdir(root)
    print(f"Opening {notebook} in JupyterLab. To stop it, press Ctrl-C here.", flush=True)

    from jupyterlab.labapp import LabApp

    with tempfile.TemporaryDirectory(prefix="course-lab-", ignore_cleanup_errors=True) as folder:
        os.environ.update(warm_kernels(Path(folder)))
        # in this process, so that Ctrl-C and signals reach the server itself
        return LabApp.launch_instance(arguments) or 0


def lab_arguments(root: Path, notebook: str, port: int, browser: bool) -> list[str]:
    """JupyterLab's command line: the whole course as its root, open at one notebook."""
    arguments = [
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{notebook}",
        f"--port={port}",
        "--ServerApp.answer_yes=True",  # Ctrl-C stops at once
        "--log-level=WARN",  # else the address drowns in start-up messages
    ]
    if not browser:
        arguments.append("--no-browser")
    if is_root():
        arguments.append("--allow-root")
    return arguments


def find_notebook(root: Path, name: str | None) -> str:
    """The notebook's path below the root: of a unit's lesson by name or number, or a path given."""
    units = unit_names(root)
    lessons = {unit: f"notebooks/{unit}.ipynb" for unit in units}
    if name is None:
        found = lessons[units[0]]
    elif name in lessons:
        found = lessons[name]
    elif name.isdecimal() and (unit := _numbered(units, int(name))):
        found = lessons[unit]
    elif name.endswith(".ipynb"):
        return _given_path(root, name)
    else:
        raise Refusal(f"there is no unit {name!r}. The units are: {', '.join(units)}.")
    if not (root / found).is_file():
        raise Refusal(f"{found} is missing; `python3 course.py build` makes it.")
    return found


def unit_names(root: Path) -> list[str]:
    """The units' names, in the order they are taught."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    course = tomllib.loads((root / "sources" / "course.toml").read_text("utf-8"))
    return [unit["name"] for unit in course["unit"]]


def _numbered(units: list[str], number: int) -> str | None:
    return next((unit for unit in units if int(unit.split("_")[0]) == number), None)


def _given_path(root: Path, name: str) -> str:
    for folder in (Path.cwd(), root):
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    known = [path.relative_to(root) for part in FOLDERS for path in (root / part).glob("*.ipynb")]
    names = ", ".join(sorted(path.as_posix() for path in known)) or "none yet"
    raise Refusal(f"there is no notebook {name} in the course. Its notebooks are: {names}.")


def has_display() -> bool:
    """False on a Linux machine without a screen, where a browser would open in the terminal."""
    if not sys.platform.startswith("linux"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))


def is_root() -> bool:
    """True for the user that JupyterLab and Chromium refuse to serve without being told to."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
