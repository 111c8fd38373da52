"""The command line: what each command hands on, and that every fault of a user is one line."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from course_utils import cli
from course_utils.checks import catalogue
from course_utils.grading.run import available_cores
from course_utils.refusal import Refusal


def course(monkeypatch, *arguments: str) -> int:
    """The exit code of `course ARGUMENTS`."""
    monkeypatch.setattr(sys, "argv", ["course", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


@pytest.mark.parametrize(
    ("arguments", "handed_on"),
    [
        (["build"], {"check": False, "execute": False, "names": [], "jobs": 2}),
        (["build", "--check"], {"check": True, "execute": False, "names": [], "jobs": 2}),
        (
            ["build", "--execute", "--jobs=1", "a", "b"],
            {"check": False, "execute": True, "names": ["a", "b"], "jobs": 1},
        ),
    ],
)
def test_build_hands_on_its_options_and_its_exit_code(monkeypatch, arguments, handed_on):
    received = {}
    monkeypatch.setattr("course_utils.build.command.build", lambda root, **all: received.update(all) or 1)
    assert course(monkeypatch, *arguments) == 1
    assert received == {**handed_on, "known_exercises": catalogue()}


def test_lab_hands_on_notebook_port_and_browser(monkeypatch):
    received = []
    monkeypatch.setattr("course_utils.lab.open_lab", lambda *all: received.append(all) or 0)
    assert course(monkeypatch, "lab", "2", "--port", "9000", "--no-browser") == 0
    assert received == [(cli.ROOT, "2", 9000, False)]


def test_test_hands_pytest_its_arguments_untouched(monkeypatch):
    received = []
    monkeypatch.setattr("course_utils.testing.run_tests", lambda *all: received.append(all) or 0)
    assert course(monkeypatch, "test", "-k", "lab", "--maxfail=1", "-x", "tests/build") == 0
    assert received == [(cli.ROOT, ["-k", "lab", "--maxfail=1", "-x", "tests/build"])]


def test_grade_hands_on_what_is_known_of_the_class(monkeypatch):
    received = []
    monkeypatch.setattr("course_utils.grading.command.grade", lambda *all, **more: received.append((all, more)) or 1)
    options = ["--roster", "r.csv", "--student-from", "(.*)", "--due", "2026-10-01 23:59", "--late-penalty", "10"]
    assert course(monkeypatch, "grade", "in", "--out", "x", "--regrade", "anna", "--regrade", "ben", *options) == 1
    ((positional, named),) = received
    assert positional == ([Path("in")], Path("x"), available_cores())
    assert named["regrade"] == ["anna", "ben"]
    about = named["about"]
    assert (about.roster, about.student_from, about.late.percent) == (Path("r.csv"), "(.*)", 10)
    assert about.late.due == datetime(2026, 10, 1, 23, 59).timestamp()


def test_a_penalty_without_a_due_date_is_refused(monkeypatch, capsys):
    assert course(monkeypatch, "grade", "in", "--out", "x", "--late-penalty", "10") == 2
    assert "needs --due" in capsys.readouterr().err


def test_override_hands_on_points_or_none_to_take_them_back(monkeypatch):
    received = []
    monkeypatch.setattr("course_utils.grading.command.override", lambda *all: received.append(all) or 0)
    assert course(monkeypatch, "override", "anna", "mean_backward", "1.5", "--why", "so", "--out", "x") == 0
    assert course(monkeypatch, "override", "anna", "mean_backward", "--out", "x") == 0
    assert received == [
        ("anna", "mean_backward", 1.5, "so", Path("x")),
        ("anna", "mean_backward", None, "", Path("x")),
    ]


@pytest.mark.parametrize("fault", [Refusal("no room: delete something."), OSError("no room")])
def test_a_fault_is_one_line_and_exit_code_2(monkeypatch, capsys, fault):
    def refuse(*_):
        raise fault

    monkeypatch.setattr("course_utils.lab.open_lab", refuse)
    assert course(monkeypatch, "lab") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("course: no room")


def test_outside_a_clone_it_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    assert course(monkeypatch, "progress") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "not a clone of the course" in line


def test_progress_is_printed_as_text():
    run = subprocess.run(
        [sys.executable, "-m", "course_utils.cli", "progress"],
        cwd=cli.ROOT, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert "01_one_operation" in run.stdout
    assert "<" not in run.stdout


def test_an_unknown_command_is_exit_code_2(monkeypatch, capsys):
    assert course(monkeypatch, "labb") == 2
    assert "labb" in capsys.readouterr().err


def test_the_installed_command_is_this_one():
    script = Path(sys.executable).with_name("course")
    run = subprocess.run([sys.executable, script, "--help"], capture_output=True, encoding="utf-8")
    for name in ("lab", "test", "build", "new", "grade", "override", "progress", "prove"):
        assert f" {name} " in run.stdout
