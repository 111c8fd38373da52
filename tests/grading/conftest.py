"""Submissions made by hand from the real exercise notebook of unit 01."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path

import pytest

from course_utils.grading.handed_in import find_files
from course_utils.grading.pristine import Pristine, read_course
from course_utils.grading.submission import read
from course_utils.grading.who import Who

UNIT = "01_one_operation"
sys.path.append(str(Path(__file__).parent))  # for in_process.py, which stands beside the tests


class HandedIn:
    """The exercise notebook, as a learner gets it, to be filled in and spoilt."""

    def __init__(self, exercises: Path, solutions: Path) -> None:
        self.notebook = json.loads(exercises.read_text("utf-8"))
        solved = json.loads(solutions.read_text("utf-8"))["cells"]
        self.right = {one["metadata"].get("name"): "".join(one["source"]) for one in solved}

    def copy(self) -> HandedIn:
        return copy.deepcopy(self)

    @property
    def cells(self) -> list[dict]:
        return self.notebook["cells"]

    def cell(self, name: str) -> dict:
        return next(one for one in self.cells if one["metadata"].get("name") == name)

    def answer(self, **answers: str) -> HandedIn:
        for name, source in answers.items():
            self.cell(name)["source"] = source
        return self

    def solve(self, *but: str) -> HandedIn:
        """Put the right answer into every answer cell, but those named."""
        for cell in self.cells:
            name = cell["metadata"].get("name")
            if "answer" in cell["metadata"].get("tags", []) and name not in but:
                cell["source"] = self.right[name]
        return self

    def insert(self, source: str, *, before: str | None = None, after: str | None = None) -> HandedIn:
        """Add a cell of the learner's own."""
        place = self.cells.index(self.cell(before or after)) + (after is not None)
        self.cells.insert(place, {"cell_type": "code", "metadata": {}, "source": source, "outputs": []})
        return self

    def strip(self) -> HandedIn:
        """Lose all metadata and ids, as some editors do."""
        self.notebook["metadata"] = {}
        for cell in self.cells:
            cell["metadata"] = {}
            cell.pop("id", None)
        return self

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.notebook), encoding="utf-8")
        return path


@pytest.fixture
def handed_in(root: Path) -> HandedIn:
    return HandedIn(root / "exercises" / f"{UNIT}.ipynb", root / "solutions" / f"{UNIT}.ipynb")


@pytest.fixture(scope="module")
def blank(root: Path) -> HandedIn:
    """To be copied before it is filled in."""
    return HandedIn(root / "exercises" / f"{UNIT}.ipynb", root / "solutions" / f"{UNIT}.ipynb")


@pytest.fixture(scope="session")
def course(root: Path) -> dict[str, Pristine]:
    return read_course(root)


@pytest.fixture
def read_path(course):
    """Reads the one submission at a path."""

    def read_one(path: Path):
        (file,) = find_files([path])
        return read(file, course, Who(course))

    return read_one
