"""Submissions made by hand from the real exercise notebook of unit 01."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from course_utils.grading.handed_in import find_files
from course_utils.grading.pristine import Pristine, read_course
from course_utils.grading.run import Way
from course_utils.grading.submission import read
from course_utils.grading.who import Who

sys.path.append(str(Path(__file__).parent))  # for the modules that stand beside the tests

from handed import UNIT, HandedIn


@pytest.fixture(scope="session")
def usual_way() -> Way:
    """How submissions run on this system: behind walls, unless it has none or was told to do without."""
    if sys.platform != "linux":
        pytest.skip("only Linux has the walls and the forked kernel; test_run.py has what holds elsewhere")
    return Way(trusted=os.environ.get("COURSE_WALLS") == "none")


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
