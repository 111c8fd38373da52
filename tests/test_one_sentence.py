"""One sentence edited in a lesson of the real course: told by the check, and rebuilt as that one cell."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from course_utils.build import command
from course_utils.build.command import build
from course_utils.build.compare import NOTEBOOK_FOLDERS
from course_utils.checks import catalogue
from course_utils.lab import unit_names

ADDED = "This sentence was added by a maintainer."


@pytest.fixture
def course(tmp_path: Path, root: Path) -> Path:
    """A copy of the course: its sources and its notebooks."""
    for folder in ("sources", *NOTEBOOK_FOLDERS):
        shutil.copytree(root / folder, tmp_path / folder)
    return tmp_path


@pytest.fixture(autouse=True)
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Text alone is edited, so nothing has to run: a build that runs a notebook fails the test."""

    def execute_all(targets, *rest):
        assert not targets

    monkeypatch.setattr(command, "execute_all", execute_all)


def stored(course: Path) -> dict[str, dict]:
    """Every notebook of the course as JSON, by its path."""
    paths = [path for folder in NOTEBOOK_FOLDERS for path in sorted((course / folder).glob("*.ipynb"))]
    return {path.relative_to(course).as_posix(): json.loads(path.read_bytes()) for path in paths}


def markdown_line(notebook: dict) -> tuple[int, str]:
    """A whole line of text in the middle of a notebook that occurs once, and the index of its cell."""
    cells = [(i, line) for i, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "markdown"
             for line in "".join(cell["source"]).splitlines() if line.endswith(".") and "|" not in line]  # fmt: skip
    everything = json.dumps(notebook)
    once = [(i, line) for i, line in cells if everything.count(json.dumps(line)[1:-1]) == 1]
    return once[len(once) // 2]


def test_a_sentence_edited_in_a_lesson_is_told_and_rebuilt_as_one_cell(
    course: Path, root: Path, capsys: pytest.CaptureFixture[str]
):
    unit = unit_names(root)[0]
    lesson, source = f"notebooks/{unit}.ipynb", course / "sources" / "lessons" / f"{unit}.py"
    assert build(course, check=True, known_exercises=catalogue()) == 0, capsys.readouterr().out
    before = stored(course)
    index, line = markdown_line(before[lesson])

    text = source.read_text("utf-8")
    assert text.count(line) == 1
    source.write_text(text.replace(line, f"{line} {ADDED}"), "utf-8")
    capsys.readouterr()
    assert build(course, check=True, known_exercises=catalogue()) == 1
    told, summary = capsys.readouterr().out.splitlines()
    assert told.startswith(f"{lesson}: is not what sources/lessons/{unit}.py gives: cell {index + 1} (markdown: ")
    assert told.endswith(f"differs. Run: course build {unit}")
    assert summary == "1 fault. Nothing was written."
    assert stored(course) == before

    assert build(course, known_exercises=catalogue()) == 0
    assert build(course, check=True, known_exercises=catalogue()) == 0
    after = stored(course)
    assert after.keys() == before.keys()
    changed = after[lesson]["cells"].pop(index)
    assert before[lesson]["cells"].pop(index) != changed
    assert ADDED in "".join(changed["source"])
    assert after == before
