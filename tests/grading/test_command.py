"""One grading run over a small class, from the files to the gradebook."""

from __future__ import annotations

import contextlib
import csv
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import in_process
import psutil
import pytest

from course_utils.grading import command
from course_utils.grading.command import grade
from course_utils.grading.late import Policy
from course_utils.grading.limits import Limits
from course_utils.grading.parts import parts
from course_utils.grading.run import CellRecord
from course_utils.refusal import Refusal

QUICK = Limits(exercise=5)

ENDLESS = """
def mean_backward(incoming, x):
    while True:
        pass
"""
STUBBORN = """
while True:
    try:
        while True:
            pass
    except KeyboardInterrupt:
        pass
"""
FORGED = """
import json, torch
from pathlib import Path
import course_utils.checks, course_utils.checks.checking

def forged(name, answer, seed):
    for path in Path.cwd().parent.rglob("*.ipynb"):  # is the key there?
        for cell in json.loads(path.read_text())["cells"]:
            if f"({name!r}," in "".join(cell["source"]) and cell["outputs"]:
                print("".join(cell["outputs"][0]["text"]), end="")
                return
    for label in ("gradients", "gradients", "gradients"):
        print(json.dumps({"saw": label, "value": [{"shape": [], "dtype": "float64", "numbers": ["36"]}] * 2}))

course_utils.checks.show_evidence = course_utils.checks.checking.show_evidence = forged
torch.allclose = torch.equal = lambda *arguments, **options: True
torch.Tensor.__eq__ = lambda self, other: True
print('{"saw": "choice", "value": "b"}')
"""
WRITTEN_DIFFERENTLY = {
    "square_times_cube": "backward = lambda incoming, x, y: [2 * incoming * x * y**3, 3 * incoming * y**2 * x**2]",
    "predict_messages": "gradients = [-24, 12]",
    "mend_quotient": "def quotient_backward(g, a, b):\n    return g * b**-1, g * a * -(b**-2)",
    "choose_addition": "choice = ' B '",
    "mean_backward": "import torch as t\ndef mean_backward(g, x):\n    return (g / x.numel()).expand(x.shape)",
    "bias_backward": "def bias_backward(g, x, b):\n    return g.clone(), torch.ones(len(x)).double() @ g",
    "matmul_backward": "def matmul_backward(g, x, w):\n    return (w @ g.T).T, torch.einsum('nk,nm->km', x, g)",
}
NOISY = """
# NBVAL_SKIP
import sys, threading, time, warnings

def tick():
    while True:
        print("tick", file=sys.stderr)
        time.sleep(0.01)

threading.Thread(target=tick, daemon=True).start()
print("here is my answer")

def square(incoming, x, y):
    warnings.warn("harmless")
    print("called with", x, y)
    sys.stderr.write("noise")
    return incoming * 2 * x * y**3, incoming * 3 * x**2 * y**2

backward = square
"""


@pytest.fixture(scope="module")
def graded(blank, tmp_path_factory, usual_way):
    """The exit code and the gradebook's rows by student, of a whole class."""
    folder = tmp_path_factory.mktemp("class")

    def hand_in(student):
        return folder / f"{student}_01_one_operation.ipynb"

    one = blank.copy
    one().solve().write(hand_in("all_right"))
    one().solve().answer(
        square_times_cube="def backward(g, x, y):\n    return 3 * x**2 * y**2 * g, 2 * x * y**3 * g",
        bias_backward="def bias_backward(incoming, x, b):\n    return incoming, incoming",
    ).write(hand_in("two_wrong"))
    one().write(hand_in("unsolved"))
    renamed = one().solve()
    renamed.cell("square_times_cube")["source"] = renamed.right["square_times_cube"].replace("backward", "my_backward")
    renamed.write(hand_in("one_answer_renamed"))
    one().solve().answer(**WRITTEN_DIFFERENTLY).write(hand_in("written_differently"))
    hand_in("not_json").write_text('{"cells": [', encoding="utf-8")
    one().answer(sum_to_shape="import os; os._exit(0)").insert(FORGED, after="setup").write(hand_in("forging"))
    one().solve("sum_to_shape").answer(
        mean_backward=ENDLESS, sum_to_shape="1 / 0", matmul_backward="def matmul_backward(:"
    ).write(hand_in("endless"))
    one().solve().answer(mend_quotient=STUBBORN).write(hand_in("stubborn"))
    one().solve().answer(square_times_cube=NOISY).insert("print(6 * 7)", before="setup").strip().write(
        folder / "Zoë Łukasiewicz" / "01_one_operation.ipynb"
    )
    out = folder / "gradebook"
    code = grade([folder], out, 2, way=replace(usual_way, limits=QUICK))
    with (out / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
        return code, {row["student"]: row for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("student", "points", "note"),
    [
        ("all_right", 22, ""),
        (
            "two_wrong",
            16,
            "wrong [swapped_partials]: square_times_cube; wrong [not_summed]: bias_backward",
        ),
        ("unsolved", 0, None),
        ("one_answer_renamed", 22, "square_times_cube: `backward` was renamed `my_backward`"),
        ("written_differently", 22, ""),
        ("not_json", 0, "unreadable: invalid JSON at line 1"),
        ("Zoë Łukasiewicz", 22, ""),
    ],
)
def test_points(graded, student, points, note):
    row = graded[1][student]
    assert int(row["points"]) == points
    assert row["total"] == "22"
    if note is not None:
        assert row["note"] == note


def test_no_file_is_without_a_row_and_no_row_is_the_graders_fault(graded):
    code, rows = graded
    assert code == 0
    assert len(rows) == 10


def test_an_untouched_notebook_is_not_attempted_and_not_wrong(graded):
    outcome, names = graded[1]["unsolved"]["note"].split(": ")
    assert outcome == "not attempted"
    assert len(names.split(", ")) == 9


def test_forged_evidence_and_patched_torch_earn_nothing(graded):
    row = graded[1]["forging"]
    assert row["points"] == "0"
    assert "crashed (the kernel ended while it ran): sum_to_shape" in row["note"]


def test_hangs_and_crashes_cost_their_exercise_alone(graded):
    row = graded[1]["endless"]
    assert "timeout (stopped at the time limit): mean_backward" in row["note"]
    assert "crashed (ZeroDivisionError: division by zero): sum_to_shape" in row["note"]
    assert "crashed (SyntaxError: " in row["note"]
    assert int(row["points"]) == 22 - 2 - 4 - 3


def test_a_loop_that_swallows_interrupts_costs_its_exercise_alone(graded):
    row = graded[1]["stubborn"]
    assert row["note"] == "timeout (stopped at the time limit): mend_quotient"
    assert int(row["points"]) == 22 - 2


def test_a_fault_of_the_grader_is_empty_points_and_exit_code_1_and_tried_again(handed_in, tmp_path, monkeypatch):
    path = handed_in.write(tmp_path / "in" / "anna.ipynb")

    class Lost(in_process.Runner):
        def run(self, jobs, *arguments):
            if not arguments:  # the solutions
                return super().run(jobs)
            lost = CellRecord("fault", error="no kernel")
            return arguments[-1](0, {part.exercise: (lost,) * len(part.positions) for part in parts(jobs[0].merged)})

    monkeypatch.setattr(command, "open_runner", lambda way: contextlib.nullcontext(Lost()))
    assert grade([path], tmp_path / "out") == 1
    header, row = (tmp_path / "out" / "gradebook.csv").read_text("utf-8-sig").splitlines()
    assert header.startswith("student,file,unit,square_times_cube,")
    assert ",01_one_operation,,,,,,,,,,0,22," in row
    assert "grader error (no kernel): square_times_cube" in row
    monkeypatch.setattr(command, "open_runner", in_process.open_runner)
    assert grade([path], tmp_path / "out") == 0


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda folder: {"paths": [folder / "nowhere"]}, "there is no file or folder"),
        (lambda folder: {"paths": [folder]}, "holds no notebooks"),
        (lambda folder: {"root": folder}, "run `course build` first"),
        (lambda folder: {"out": folder / "a_file"}, "is a file"),
    ],
)
def test_what_the_user_must_put_right_is_said_in_one_line(handed_in, root, tmp_path, spoil, says):
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "a_file").touch()
    path = handed_in.write(tmp_path / "in" / "anna.ipynb")
    arguments = {"paths": [path], "out": tmp_path / "out", "root": root} | spoil(tmp_path / "empty")
    with pytest.raises(Refusal, match=says) as refused:
        grade(**arguments)
    assert "\n" not in str(refused.value)


def test_ctrl_c_leaves_nothing_behind(handed_in, tmp_path, usual_way):
    path = handed_in.answer(choose_addition=STUBBORN).write(tmp_path / "in" / "anna.ipynb")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "course_utils.cli", "grade", str(path), "--out", str(tmp_path / "out")]
        + ["--trust-submissions"] * usual_way.trusted,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdout=subprocess.PIPE,
        text=True,
    )
    family = _wait_for_a_cell(psutil.Process(process.pid))
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert said.startswith("Stopped; the notebooks that ran have been ended. What was graded is kept")
    assert process.returncode == 130
    assert not list(scratch.glob("course-grade-*"))
    assert not [one for one in family if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def _wait_for_a_cell(process: psutil.Process) -> list[psutil.Process]:
    """The grader's children, once one of them has run for a while."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        family = process.children(recursive=True)
        # the last to be started is a forked child, which has used no time of its own before
        if len(family) > 2 and max(family, key=lambda one: one.create_time()).cpu_times().user > 0.3:
            return family
        time.sleep(0.1)
    raise AssertionError("no cell was started")


def test_the_latest_of_several_counts_and_being_late_costs(blank, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "open_runner", in_process.open_runner)
    due = 1_000_000_000
    first = blank.copy().solve().write(tmp_path / "in" / "anna_01_one_operation.ipynb")
    second = blank.copy().solve("sum_to_shape").write(tmp_path / "in" / "anna_01_one_operation (1).ipynb")
    third = tmp_path / "in" / "anna_01_one_operation (2).ipynb"
    third.write_text("broken", encoding="utf-8")
    (tmp_path / "roster.csv").write_text("name,email\nAnna Ode,anna@school.example\nBen,ben@school.example\n")
    for path, when in ((first, due), (second, due + 86_401), (third, due + 90_000)):
        os.utime(path, (when, when))
    about = command.About(tmp_path / "roster.csv", late=Policy(due, 10))
    grade([tmp_path / "in"], tmp_path / "out", about=about)
    grade([tmp_path / "in"], tmp_path / "out")  # says nothing of the class, and changes nothing
    with (tmp_path / "out" / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
        anna, ben = csv.DictReader(file)
    assert (anna["student"], anna["sum_to_shape"], anna["points"]) == ("Anna Ode", "0", "14.4")
    assert anna["note"].startswith(f"late by 2 days: -3.6 points; the latest of 3; not counted: in/{third.name} (un")
    assert (ben["student"], ben["points"], ben["total"]) == ("Ben", "0", "22")
    assert ben["note"].startswith("missing (nothing was handed in): square_times_cube, ")
