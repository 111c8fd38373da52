"""course.py on clones of a tiny course: no downloads, but real folders, real pip, real processes."""

from __future__ import annotations

import ast
import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import course_utils.environment as environment
from course_utils.environment import Environment
from course_utils.refusal import Refusal

# says what it was called with, and ends with the exit code that it is given
TINY_CLI = """\
import sys
def main():
    print("course was called with", sys.argv[1:])
    sys.exit(int(sys.argv[-1]) if sys.argv[-1].isdecimal() else 0)
"""
TINY_PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "tiny"
version = "1"
"""
# installs a project editable with nothing but the standard library; waits where a test wants it to
TINY_BACKEND = """\
import os, time, zipfile
def build_editable(folder, config_settings=None, metadata_directory=None):
    if os.path.exists("wait"):
        open("waiting", "w").close()
        while os.path.exists("wait"):
            time.sleep(0.05)
    files = {
        "tiny.pth": os.getcwd(),
        "tiny-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1\\n",
        "tiny-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "tiny-1.dist-info/entry_points.txt":
            "[console_scripts]\\ncourse = course_utils.cli:main\\n",
    }
    record = "".join(name + ",,\\n" for name in files) + "tiny-1.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(os.path.join(folder, "tiny-1-py3-none-any.whl"), "w") as wheel:
        for name, text in {**files, "tiny-1.dist-info/RECORD": record}.items():
            wheel.writestr(name, text)
    return "tiny-1-py3-none-any.whl"
"""


def write_tiny_course(folder: Path, root: Path) -> Path:
    (folder / "course_utils").mkdir(parents=True)
    shutil.copy(root / "course.py", folder)
    for name in ("__init__.py", "environment.py", "refusal.py"):
        shutil.copy(root / "course_utils" / name, folder / "course_utils")
    (folder / "course_utils" / "cli.py").write_text(TINY_CLI, "utf-8")
    (folder / "pyproject.toml").write_text(TINY_PROJECT, "utf-8")
    (folder / "backend.py").write_text(TINY_BACKEND, "utf-8")
    (folder / "requirements.txt").write_text("# no packages\n", "utf-8")
    return folder


def command(clone: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(clone / "course.py"), *arguments]


def offline() -> dict[str, str]:
    """No index and no folder of packages: pip can only do what needs no network."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    return {**kept, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "PYTHONUTF8": "1"}


def start(clone: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(clone, *arguments),
        cwd=cwd or clone, env=offline(), capture_output=True, encoding="utf-8", timeout=120,
    )  # fmt: skip


@pytest.fixture(scope="module")
def first_run(tmp_path_factory, root):
    clone = write_tiny_course(tmp_path_factory.mktemp("a course") / "Übung 1", root)
    return clone, start(clone, "build", "--check", "3")


@pytest.fixture(scope="module")
def as_made(first_run, tmp_path_factory):
    """A copy of the first run's clone, kept as that left it."""
    return shutil.copytree(first_run[0], tmp_path_factory.mktemp("kept") / "clone", symlinks=True)


@pytest.fixture
def clone(first_run, as_made):
    """The first run's clone, whose environment is ready, as it was then."""
    folder, _ = first_run
    shutil.rmtree(folder)
    return shutil.copytree(as_made, folder, symlinks=True)


def last_line(run: subprocess.CompletedProcess) -> str:
    return run.stderr.strip().splitlines()[-1]


def test_first_run_makes_the_environment_and_hands_everything_on(first_run):
    _, run = first_run
    assert [line[:11] for line in run.stderr.splitlines() if "Step" in line] == [
        "Step 1 of 3", "Step 2 of 3", "Step 3 of 3",
    ]  # fmt: skip
    assert "course was called with ['build', '--check', '3']" in run.stdout
    assert run.returncode == 3


def test_second_run_starts_at_once(clone):
    shutil.rmtree(next((clone / ".venv").rglob("site-packages/pip")))  # pip is not even asked
    run = start(clone, "lab")
    assert run.stdout == "course was called with ['lab']\n"
    assert run.stderr == ""


def test_it_runs_from_a_folder_whose_files_have_the_names_of_modules(clone, tmp_path):
    for name in ("random.py", "typing.py", "subprocess.py"):
        (tmp_path / name).write_text("raise ImportError('not me')", "utf-8")
    (clone / "pyproject.toml").write_text(TINY_PROJECT + "# changed\n", "utf-8")
    run = start(clone, "lab", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "Step 3 of 3" in run.stderr


def test_moved_folder_is_mended_without_a_network(as_made, tmp_path):
    moved = shutil.copytree(as_made, tmp_path / "Kurs für alle", symlinks=True)
    run = start(moved, "lab")
    assert run.returncode == 0, run.stderr
    assert "the environment .venv is there" in run.stderr
    python = Environment(moved).python
    script = "import course_utils; print(course_utils.__file__)"
    found = subprocess.run([python, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert Path(found.stdout.strip()).is_relative_to(moved)


def test_changed_pins_without_a_network_say_so_and_lose_nothing(clone):
    pins = clone / "requirements.txt"
    before = pins.read_text("utf-8")
    pins.write_text("no-such-package-anywhere==1.0\n", "utf-8")
    run = start(clone, "lab")
    assert run.returncode == 1
    assert "With a network connection" in last_line(run)
    assert "course was called" not in run.stdout
    pins.write_text(before, "utf-8")
    assert start(clone, "lab").stderr == ""


def test_unfinished_installation_is_made_anew(clone):
    half = next((clone / ".venv").rglob("site-packages")) / "half_a_package.py"
    half.touch()
    Environment(clone).unfinished.touch()
    run = start(clone, "lab")
    assert run.returncode == 0
    assert "making the environment" in run.stderr
    assert not half.exists()


def test_killed_installation_is_never_used(clone):
    (clone / "wait").touch()
    Environment(clone).stamp.unlink()
    process = subprocess.Popen(command(clone, "lab"), env=offline(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    until(lambda: (clone / "waiting").exists())
    process.kill()
    process.stdout.close()
    process.wait()
    assert not Environment(clone).is_ready()
    (clone / "wait").unlink()
    until(lambda: start(clone, "lab").returncode == 0)  # Windows may hold files for a moment
    assert Environment(clone).is_ready()


def until(condition) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "waited a minute in vain"
        time.sleep(0.1)


def test_second_course_py_waits_for_the_first(clone):
    place = Environment(clone)
    stamp = place.stamp.read_bytes()
    place.unfinished.touch()
    with environment._only_one(place.lock):
        process = subprocess.Popen(
            command(clone, "lab"), env=offline(), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, encoding="utf-8",
        )  # fmt: skip
        assert "Another course.py" in process.stderr.readline()
        assert process.poll() is None
        place.stamp.write_bytes(stamp)
        place.unfinished.unlink()
    assert process.communicate(timeout=60)[1] == ""  # what the first has made was ready
    assert process.returncode == 0


def test_an_unsuitable_environment_of_somebody_else_is_left_alone(tmp_path, root):
    clone = write_tiny_course(tmp_path / "course", root)
    theirs = clone / ".venv" / "pyvenv.cfg"
    theirs.parent.mkdir()
    theirs.write_text("home = nowhere\n", "utf-8")
    run = start(clone, "lab")
    assert run.returncode == 1
    assert "rename or delete that folder" in last_line(run)
    assert theirs.exists()


def test_missing_venv_names_the_package_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    system = {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}
    monkeypatch.setattr(environment.platform, "freedesktop_os_release", lambda: system)
    with pytest.raises(Refusal, match=r"`sudo apt install python3\.\d+-venv`"):
        environment._make_empty(Environment(tmp_path))


def test_a_full_disk_is_one_line(tmp_path, monkeypatch, capsys):
    def no_space_left(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(environment, "prepare", no_space_left)
    assert environment.run_course(str(tmp_path), ["lab"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "No space left on device" in line


def test_ctrl_c_during_the_installation_is_one_line(tmp_path, monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(environment, "prepare", interrupted)
    assert environment.run_course(str(tmp_path), ["lab"]) == 130
    assert capsys.readouterr().err.strip().startswith("Stopped. The same command goes on")


@pytest.fixture
def starter(root):
    """The functions of course.py."""
    return runpy.run_path(str(root / "course.py"))


@pytest.mark.parametrize("version", [(2, 7), (3, 9), (3, 14)])
def test_unsuitable_python_is_one_line_when_there_is_no_other(starter, monkeypatch, capsys, version):
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setitem(starter["main"].__globals__, "runs", lambda command: False)
    assert starter["main"](["lab"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"3.10 to 3.13 is needed, this is Python {version[0]}.{version[1]}" in line


def test_unsuitable_python_goes_on_with_the_newest_suitable_one(starter, monkeypatch):
    names = starter["suitable_python"].__globals__
    monkeypatch.setitem(names, "runs", lambda command: "3.12" in " ".join(command))
    assert "3.12" in " ".join(starter["suitable_python"]())


def test_help_needs_no_environment(tmp_path, root):
    clone = write_tiny_course(tmp_path / "course", root)
    run = start(clone)
    assert run.returncode == 0
    assert "course.py lab" in run.stdout
    assert "course.py test" in run.stdout
    assert not (clone / ".venv").exists()


def test_every_python_can_read_course_py(root):
    source = (root / "course.py").read_bytes()
    source.decode("ascii")  # Python 2 wants a declaration for anything else
    new = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Starred)
    for node in ast.walk(ast.parse(source)):
        assert not isinstance(node, new), f"line {node.lineno} is too new for Python 2.7"
        if isinstance(node, ast.FunctionDef):
            annotated = [a for a in node.args.args if a.annotation]
            assert not annotated and node.returns is None and not node.args.kwonlyargs
