"""`course new`: a unit that builds and passes, or nothing at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils.build import scaffold
from course_utils.build.outline import read_course
from course_utils.build.scaffold import new


def files(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_the_unit_is_added_behind_what_stood_there(course, capsys):
    before = files(course.root)
    assert new(course.root, "12_some_topic") == 0
    after = files(course.root)
    outline = "sources/course.toml"
    assert set(after) - set(before) == {
        "sources/lessons/12_some_topic.py",
        "sources/exercises/12_some_topic.py",
        "course_utils/checks/some_topic.py",
        "tests/checks/some_topic.py",
    }
    assert after[outline].startswith(before[outline])
    row = "| 01 Squares | square |\n"
    readme = before["README.md"].decode().replace(row, f"{row}| 12 Some topic | (say what a learner can do now) |\n")
    assert after["README.md"].decode() == readme
    read, faults = read_course(course.root)
    assert faults == []
    assert (read.units[1].name, read.units[1].title) == ("12_some_topic", "Some topic")
    assert not any(b"{{" in content for content in after.values())
    assert "course build 12_some_topic" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("01_squares", "there is a unit 01_squares already"),
        ("01_cubes", "the number 01 is taken by 01_squares"),
        ("12_squares", "01_squares is called squares already"),
        ("12_Squares", "`12_Squares` is not a unit name"),
        ("../12_a", "is not a unit name"),
        ("", "is not a unit name"),
        ("12_class", "`class` is a word of Python"),
        ("12_taken", "course_utils/checks/taken.py exists already"),
    ],
)
def test_a_name_that_cannot_be_used_is_one_line_and_writes_nothing(course, capsys, name, said):
    taken = course.root / "course_utils" / "checks" / "taken.py"
    taken.parent.mkdir(parents=True)
    taken.write_text("")
    before = files(course.root)
    assert new(course.root, name) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("course new: ")
    assert said in line
    assert line.endswith("Nothing was written.")
    assert files(course.root) == before


def test_a_broken_outline_is_to_be_mended_first(course, capsys):
    course.outline.write_text("title =")
    assert new(course.root, "12_some_topic") == 1
    assert "first mend sources/course.toml" in capsys.readouterr().out


@pytest.mark.parametrize("failing", [1, 3, 5, 6])
def test_what_fails_midway_leaves_nothing_behind(course, capsys, monkeypatch, failing):
    before = sorted(course.root.rglob("*")), files(course.root)
    written = []

    def write(path, content):
        written.append(path)
        if len(written) == failing:
            raise OSError(28, "No space left on device", str(path))
        path.write_bytes(content)

    monkeypatch.setattr(scaffold, "write_atomically", write)
    assert new(course.root, "12_some_topic") == 1
    assert "No space left on device. Nothing was written." in capsys.readouterr().out
    assert (sorted(course.root.rglob("*")), files(course.root)) == before


BUILD_AND_PROVE = """
from pathlib import Path
from course_utils.build.command import build
from course_utils.checks.catalogue import all_exercises, catalogue
from course_utils.checks.proof import prove_exercise

root = Path(".").resolve()
assert build(root, names=["12_some_topic"], known_exercises=catalogue()) == 0
proof = prove_exercise(all_exercises()["some_topic_square"], root)
assert proof.faults == (), proof.faults
assert proof.variants == 3 and proof.mutants > 5
"""


def test_a_new_unit_builds_and_its_proof_passes(course):
    package = Path(scaffold.__file__).parents[1]
    shutil.copytree(package, course.root / "course_utils", ignore=shutil.ignore_patterns("__pycache__"))
    assert new(course.root, "12_some_topic") == 0
    # the unit's checks belong to the copied package, which only another process can import
    run = subprocess.run(
        [sys.executable, "-c", BUILD_AND_PROVE],
        cwd=course.root,
        env={**os.environ, "PYTHONPATH": str(course.root)},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    solution = (course.root / "solutions" / "12_some_topic.ipynb").read_text(encoding="utf-8")
    assert "some_topic_square: right" in solution
