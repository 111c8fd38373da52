"""How `course test` calls pytest, and what pytest says when a stored notebook is not true."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course_utils import testing
from course_utils.refusal import Refusal


@pytest.fixture
def clone(tmp_path: Path, root: Path) -> Path:
    for folder in ("tests", "notebooks"):
        (tmp_path / folder).mkdir()
    sanitize = "tests/nbval_sanitize.cfg"
    (tmp_path / sanitize).write_bytes((root / sanitize).read_bytes())
    return tmp_path


def paths_in(arguments: list[str]) -> list[str]:
    return [argument for argument in arguments if not argument.startswith("-")]


def test_without_paths_everything_that_is_there_is_tested(clone):
    assert paths_in(testing.pytest_arguments(clone, [])) == ["tests", "notebooks"]
    assert paths_in(testing.pytest_arguments(clone, ["-x"])) == ["tests", "notebooks"]


def test_named_paths_take_the_place_of_everything(clone):
    (clone / "tests" / "test_a.py").touch()
    named = ["tests/test_a.py::test_one"]
    assert paths_in(testing.pytest_arguments(clone, named)) == named


def test_arguments_that_leave_no_test_are_refused(clone, monkeypatch):
    monkeypatch.setattr(testing, "get_browser", lambda: Path("browser"))
    with pytest.raises(Refusal, match="no test ran"):
        testing.run_tests(clone, ["-n0"])


@pytest.mark.parametrize(
    ("picture", "text", "passed"),
    [
        ("aaaa", "a graph of 3 nodes", True),
        ("bbbb", "a graph of 3 nodes", True),  # drawn by another version: the text is what counts
        ("aaaa", "a graph of 4 nodes", False),
    ],
)
def test_a_stored_picture_is_compared_by_its_text(clone, picture, text, passed):
    source = (
        "from IPython.display import display\n"
        "display({'text/plain': 'a graph of 3 nodes',\n"
        "         'text/html': '<img src=\"data:image/svg+xml;base64,aaaa\">'}, raw=True)"
    )
    stored = {
        "text/plain": text,
        "text/html": f'<img src="data:image/svg+xml;base64,{picture}">',
    }
    output = new_output("display_data", data=stored)
    cell = new_code_cell(source, outputs=[output], execution_count=1)
    nbformat.write(new_notebook(cells=[cell]), clone / "notebooks" / "picture.ipynb")
    arguments = testing.pytest_arguments(clone, ["-n0", "-p", "no:cacheprovider"])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=clone, env={**os.environ, "PYTEST_ADDOPTS": ""}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == (0 if passed else 1), run.stdout


def test_no_file_of_this_user_takes_part(tmp_path):
    variables = testing.surroundings(tmp_path)
    assert variables["COURSE_PROGRESS"] == "memory"
    for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
        assert Path(variables[f"JUPYTER_{name}"]).is_relative_to(tmp_path)
