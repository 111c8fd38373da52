"""Which notebook `course lab` opens, and how JupyterLab is called."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from course_utils import lab
from course_utils.refusal import Refusal

COURSE = '[[unit]]\nname = "01_first"\n[[unit]]\nname = "02_second"\n'


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for folder in ("sources", "notebooks", "exercises"):
        (tmp_path / folder).mkdir()
    (tmp_path / "sources" / "course.toml").write_text(COURSE, "utf-8")
    for name in ("notebooks/01_first", "notebooks/02_second", "exercises/02_second"):
        (tmp_path / f"{name}.ipynb").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        (None, "notebooks/01_first.ipynb"),
        ("02_second", "notebooks/02_second.ipynb"),
        ("2", "notebooks/02_second.ipynb"),
        ("02", "notebooks/02_second.ipynb"),
        ("exercises/02_second.ipynb", "exercises/02_second.ipynb"),
    ],
)
def test_a_lesson_is_found_by_name_number_or_path(course, name, path):
    assert lab.find_notebook(course, name) == path


def test_a_path_may_be_relative_to_the_current_folder(course, monkeypatch):
    monkeypatch.chdir(course / "exercises")
    assert lab.find_notebook(course, "02_second.ipynb") == "exercises/02_second.ipynb"


@pytest.mark.parametrize("name", ["03_third", "3", "first"])
def test_an_unknown_unit_is_answered_with_the_known_ones(course, name):
    with pytest.raises(Refusal, match="01_first, 02_second"):
        lab.find_notebook(course, name)


def test_an_unknown_notebook_is_answered_with_the_known_ones(course, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "mine.ipynb"
    outside.touch()
    for name in ("exercises/99.ipynb", str(outside)):
        with pytest.raises(Refusal, match=r"exercises/02_second\.ipynb, notebooks/01_first"):
            lab.find_notebook(course, name)


def test_a_lesson_that_is_not_built_names_the_command(course):
    (course / "notebooks" / "01_first.ipynb").unlink()
    with pytest.raises(Refusal, match=r"python3 course\.py build"):
        lab.find_notebook(course, None)


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_only_root_runs_jupyterlab_as_root(monkeypatch, tmp_path, user, allowed):
    monkeypatch.setattr(lab.os, "geteuid", lambda: user, raising=False)
    arguments = lab.lab_arguments(tmp_path, "a.ipynb", 8888, browser=True)
    assert ("--allow-root" in arguments) == allowed


@pytest.mark.parametrize(
    ("system", "variables", "display"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True),
        ("darwin", {}, True),
        ("win32", {}, True),
    ],
)
def test_a_browser_is_opened_only_where_there_is_a_screen(monkeypatch, system, variables, display):
    monkeypatch.setattr(sys, "platform", system)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert lab.has_display() == display


def test_the_real_course_starts_with_its_first_unit(root):
    assert lab.find_notebook(root, None) == f"notebooks/{lab.unit_names(root)[0]}.ipynb"


def test_the_settings_are_part_of_the_course():
    page = json.loads((lab.SETTINGS / "labconfig" / "page_config.json").read_text("utf-8"))
    assert page["disabledExtensions"] == {"@jupyterlab/apputils-extension:announcements": True}
