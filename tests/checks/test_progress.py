"""Progress outlives the process, crashes, broken files and company; where it cannot be kept, checks still work."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from course_utils.checks import check, progress
from course_utils.checks.catalogue import all_exercises
from course_utils.checks.progress import Progress, note

module = sys.modules[Progress.__module__]

# Notes results as fast as it can. It loads the module without its package, which would load PyTorch first.
NOTE = """
import sys, types
package = types.ModuleType("course_utils.checks")
package.__path__ = [sys.argv[1]]
sys.modules["course_utils.checks"] = package
from course_utils.checks.exercise import Exercise
from course_utils.checks.progress import note
name, times = sys.argv[2], int(sys.argv[3])
exercise = Exercise(name, "01_one_operation", name, 1, None, None, (), ())
print("ready", flush=True)
for _ in range(times):
    note(exercise, "wrong")
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where progress is kept; it does not exist yet, nor does its folder."""
    path = tmp_path / "folder with ö" / "progress.json"
    monkeypatch.setenv("COURSE_PROGRESS", str(path))
    return path


def noting(name: str, times: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", NOTE, str(Path(module.__file__).parent), name, str(times)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def entries(path: Path) -> dict[str, dict[str, object]]:
    return json.loads(path.read_text(encoding="utf-8"))["exercises"]


def test_what_was_solved_stays_solved(file: Path):
    check("choose_addition", "a")
    check("choose_addition", "b")
    check("choose_addition", "c")
    assert entries(file) == {"choose_addition": {"attempts": 3, "solved": True}}
    (unit,) = [unit for unit in progress().units if unit.unit == "01_one_operation"]
    assert unit.solved == ("choose_addition",)
    assert unit.points == 1
    points = sum(exercise.points for exercise in all_exercises().values() if exercise.unit == unit.unit)
    assert f"01_one_operation: 1 of 9 solved, 1 of {points} points; still to do: {unit.to_do[0]}, " in repr(progress())


def test_a_stub_leaves_no_trace(file: Path):
    check("choose_addition", ...)
    assert not file.exists()
    assert not file.parent.exists()


def test_two_processes_at_once_lose_nothing(file: Path):
    both = [noting(name, 25) for name in ("same", "same")]
    assert [process.communicate()[0] for process in both] == ["ready\n"] * 2
    check("choose_addition", "b")
    assert entries(file) == {
        "same": {"attempts": 50, "solved": False},
        "choose_addition": {"attempts": 1, "solved": True},
    }


def test_a_process_killed_while_it_writes_leaves_a_whole_file(file: Path):
    file.parent.mkdir()
    many = {f"exercise_{i}": {"attempts": 1, "solved": True} for i in range(300)}
    file.write_text(json.dumps({"version": 1, "exercises": many}), encoding="utf-8")
    before = 0
    for attempt in range(6):
        process = noting("killed", 10**6)
        process.stdout.readline()
        time.sleep(0.03 + 0.013 * attempt)
        process.kill()
        process.communicate()
        found = entries(file)
        assert found.keys() >= many.keys()
        assert found.get("killed", {"attempts": 0})["attempts"] >= before
        before = found.get("killed", {"attempts": 0})["attempts"]
    assert before > 0
    check("choose_addition", "b")  # the lock of the dead is no hindrance
    assert entries(file)["choose_addition"]["solved"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"version": 1, "exercises": {"a": {"att',
        b"\xff\xfe\x00",
        b"[]",
        b"{}",
        b'{"exercises": []}',
        b'{"exercises": {"a": 1}}',
        b'{"exercises": {"a": {"attempts": 1}}}',
        b"[" * 100_000,
    ],
    ids=lambda content: repr(content[:24]),
)
def test_a_broken_file_is_set_aside_and_said(file: Path, capsys, content: bytes):
    file.parent.mkdir()
    file.write_bytes(content)
    assert "could not be read" in repr(progress())
    assert "progress.json.unreadable" in progress()._repr_mimebundle_()["text/html"]

    check("choose_addition", "b")
    assert f"The progress file {file} could not be read." in capsys.readouterr().out
    assert file.with_name("progress.json.unreadable").read_bytes() == content
    assert entries(file) == {"choose_addition": {"attempts": 1, "solved": True}}
    assert "could not be read" not in repr(progress())


def test_a_folder_that_cannot_be_written_costs_the_memory_only(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "a file" / "progress.json"))
    assert check("choose_addition", "b").status == "right"
    assert capsys.readouterr().out.startswith("This result is not remembered for progress(): ")


def test_a_file_system_without_locks_costs_the_memory_only(file: Path, monkeypatch, capsys):
    def no_locks(*args, **kwargs):
        raise NotImplementedError("FileSystem does not appear to support flock")

    monkeypatch.setattr(module.filelock, "FileLock", no_locks)
    assert check("choose_addition", "b").status == "right"
    assert "is not remembered" in capsys.readouterr().out


def test_a_write_that_fails_leaves_the_old_file_and_no_rest(file: Path, monkeypatch, capsys):
    check("choose_addition", "a")
    before = file.read_bytes()

    def full(handle):
        raise OSError("no space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    check("choose_addition", "b")
    assert "no space left" in capsys.readouterr().out
    assert file.read_bytes() == before
    assert not list(file.parent.glob("*.tmp"))


def test_progress_in_memory_writes_no_file(tmp_path: Path, monkeypatch, make_exercise):
    monkeypatch.setenv("COURSE_PROGRESS", "memory")
    monkeypatch.setattr(module, "_in_memory", {})
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    check("choose_addition", "b")
    note(make_exercise(), "wrong")
    assert "1 of 9 solved" in repr(progress())
    assert list(tmp_path.iterdir()) == []
