"""The hostile class, graded by the real command: right points for all, and nothing gets past the walls."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hostile import run
from hostile.always import ALWAYS
from hostile.case import ALL as EXERCISES
from hostile.case import Case
from hostile.outside import Outside
from rich.console import Console

from course_utils.checks.catalogue import find
from course_utils.grading.report import Row
from course_utils.grading.verdict import Graded

ALL = "COURSE_HOSTILE"
only_if_asked = pytest.mark.skipif(os.environ.get(ALL) != "all", reason=f"takes minutes: {ALL}=all")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's"),
    pytest.mark.skipif(os.environ.get("COURSE_WALLS") == "none", reason="COURSE_WALLS=none does without them"),
]


def graded(chosen) -> str:
    """The table and its last line, for the cases that are chosen."""
    with run.surroundings() as outside:
        cases = [case for case in run.make(outside) if chosen(case)]
        outcome = run.grade_class(outside, cases, ["--jobs", str(os.cpu_count() or 1)])
    console = Console(width=130, highlight=False)
    with console.capture() as told:
        run.show(outcome, console)
    print(told.get())
    return told.get().strip().rpartition("\n")[2]


def verdict(line: str) -> tuple[str, str]:
    """Whether all were right, as `all` or `41 of 42`; and what is said of the run."""
    right, _, rest = line.partition(" right")
    one, other = right.split(" of ")
    return ("all" if one == other else right), rest.partition("; ")[2]


NOTHING = "nothing alive, nothing written outside, nothing destroyed, nothing heard, nothing read"


def test_everyone_of_a_small_class_gets_the_right_points_and_nothing_gets_out():
    assert verdict(graded(lambda case: case.name in ALWAYS)) == ("all", NOTHING)


@only_if_asked
def test_everyone_else_too():
    assert verdict(graded(lambda case: case.name not in ALWAYS and not case.slow)) == ("all", NOTHING)


@only_if_asked
def test_those_who_take_long_too():
    assert verdict(graded(lambda case: case.slow)) == ("all", NOTHING)


def test_the_small_class_has_some_of_every_kind_and_none_that_takes_long():
    with run.surroundings() as outside:
        kinds = {kind.__name__: list(kind.cases(run.kit(outside))) for kind in run.KINDS}
    small = {name: [case for case in cases if case.name in ALWAYS] for name, cases in kinds.items()}
    assert min(map(len, small.values())) >= 4
    assert sum(map(len, small.values())) == len(ALWAYS)  # no name is of nobody
    assert not any(case.slow for cases in small.values() for case in cases)


# what is not noticed, would seem not to happen ------------------------------------------------------------------------


def let_everything_out(outside: Outside, arguments: object) -> tuple[str, int]:
    """In the place of the grader."""
    known = outside.known
    (Path(known["places"][0]) / known["marker"]).touch()
    (outside.confessions / "an_attack").touch()
    (outside.temporary / "rest").touch()
    for path in known["victims"][1:]:
        Path(path).write_text("destroyed")
    for kind, family, address in (
        (socket.SOCK_STREAM, socket.AF_INET, ("127.0.0.1", known["ports"]["tcp"])),
        (socket.SOCK_DGRAM, socket.AF_INET, ("127.0.0.1", known["ports"]["udp"])),
        (socket.SOCK_STREAM, socket.AF_UNIX, known["socket"]),
        (socket.SOCK_STREAM, socket.AF_UNIX, f"\0{known['abstract']}"),
    ):
        with socket.socket(family, kind) as one:
            one.connect(address)
            one.send(b"psst")
    subprocess.run(["sh", "-c", "setsid sleep 600 & exit"], check=True)
    for name in ("gradebook.csv", "canvas.csv", "moodle.csv"):
        (outside.out / name).write_text("=1+1,-1.5\n")
    (outside.out / "class.html").write_text(f"<script>{outside.secrets['environment']}</script><p onclick='x'>")
    (outside.out / "junit.xml").write_text("<testsuites/>")
    return f"\x1b[2J {outside.secrets['home']}", 1


def test_what_gets_out_is_noticed(monkeypatch):
    monkeypatch.setattr(run, "_grade", let_everything_out)
    case = Case("somebody", "nothing", {"01_one_operation.ipynb": b"{}"})
    with run.surroundings() as outside:
        outcome = run.grade_class(outside, [case])
    assert outcome.of_cases == {"somebody": ["0 rows in place of one"]}
    assert outcome.right == 0
    for noticed in (
        "still alive: ",
        "exit code 1: ",
        "written: ",
        "changed or deleted: ",
        "nothing stopped an_attack",
        "left behind: ",
        *(f"heard by {kind}: psst" for kind in ("tcp", "udp", "unix", "abstract")),
        "the secret of the home stands in the terminal",
        "the secret of the environment stands in class.html",
        "the terminal was sent control signs",
        "moodle.csv has the formula '=1+1'",
        "class.html has the tag script",
    ):
        assert any(noticed in line for line in outcome.of_the_run), noticed
    assert not any("-1.5" in line for line in outcome.of_the_run)  # which is a number


def test_wrong_points_statuses_and_names_are_noticed():
    graded = [Graded(name, "right", find(name).points) for name in EXERCISES if name != "mean_backward"]
    graded.append(Graded("mean_backward", "right", 2))
    case = Case("x", "nothing", {}, lost={"mean_backward": "wrong or crashed"}, note="late", student="anna")
    row = Row("ben", "submissions/x/01_one_operation.ipynb", "01_one_operation", tuple(graded), notes=("early",))
    assert list(run._differences(case, [row])) == [
        "mean_backward: right, 2 points; right is wrong or crashed, 0",
        "the note says 'early'; it lacks 'late'",
        "the student is 'ben'; right is 'anna'",
    ]
    assert "sum_to_shape: no outcome; right is right" in "".join(
        run._differences(
            case, [replace(row, graded=tuple(one for one in row.graded if one.exercise != "sum_to_shape"))]
        )
    )
