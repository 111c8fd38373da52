"""How `course test` calls pytest."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    monkeypatch.setattr(testing, "get_bubblewrap", lambda: None)
    with pytest.raises(Refusal, match="no test ran"):
        testing.run_tests(clone, ["-n0"])


def test_no_file_of_this_user_takes_part(tmp_path):
    variables = testing.surroundings(tmp_path)
    assert variables["COURSE_PROGRESS"] == "memory"
    for name in ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"):
        assert Path(variables[f"JUPYTER_{name}"]).is_relative_to(tmp_path)
