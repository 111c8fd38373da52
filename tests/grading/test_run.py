"""What is known of a submission when the process that ran it is gone, and that both kernels give the same."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from course_utils.grading import crew
from course_utils.grading.crew import LostError
from course_utils.grading.limits import Limits
from course_utils.grading.merge import Merged, MergedCell, merge, solved
from course_utils.grading.pristine import Pristine
from course_utils.grading.run import CellRecord, Job, Runner, Way, open_runner
from course_utils.grading.submission import LearnerCell
from course_utils.grading.verdict import grade_exercises

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has the walls and the forked kernel")
NAME = "choose_addition"


def job(*sources, name=NAME):
    cells = [MergedCell("answer", source, name) for source in sources]
    return Job(Merged((*cells, MergedCell("evidence", "print(1)", name))), None)


class Members:
    """In the place of the crew: each submission is lost as often as it says."""

    def __init__(self, losses):
        self.losses = losses
        self.tries = []

    def __call__(self, settings, work, at):
        number = int(work["cells"][0]["source"])
        self.tries.append(number)
        if self.tries.count(number) <= self.losses[number]:
            raise LostError("out of luck")
        return {NAME: [{"outcome": "passed", "stdout": "", "error": "", "garbled": False}] * 2}


def test_who_is_lost_with_the_process_is_run_again_and_costs_nobody_else_anything(monkeypatch):
    members = Members([0, 1, 2])
    monkeypatch.setattr("course_utils.grading.run.run_submission", members)
    arrived = []
    outcomes = Runner(None).run([job(str(n)) for n in range(3)], arrived=lambda *one: arrived.append(one))
    passed, lost = CellRecord("passed"), CellRecord("fault", error="the process that ran it ended: out of luck")
    assert outcomes == [{NAME: (passed,) * 2}, {NAME: (passed,) * 2}, {NAME: (lost,) * 2}]
    assert sorted(arrived) == list(enumerate(outcomes))
    assert sorted(members.tries) == [0, 1, 1, 2, 2]


def test_a_pytest_that_cannot_run_is_a_fault_that_says_why(monkeypatch):
    monkeypatch.setattr(crew, "_command", lambda *arguments: [sys.executable, "-c", "import sys; sys.exit('no room')"])
    with open_runner(Way(trusted=True)) as runner:
        (outcome,) = runner.run([job("1")])
    assert outcome[NAME][-1] == CellRecord("fault", error="the process that ran it ended: no room")


def test_nothing_can_pass_for_want_of_a_comparison():
    cell = MergedCell("evidence", "", "square_times_cube")
    with pytest.raises(KeyError):
        Runner(None).run([Job(Merged((cell,)), {})])


@linux
def test_what_the_keeper_raises_ends_those_that_still_run():
    seen = []

    def keep(number, outcome):
        seen.append(number)
        raise OSError("the disk is full")

    way = Way(trusted=True, limits=Limits(exercise=300), ahead=())
    with open_runner(way) as runner, pytest.raises(OSError, match="full"):
        runner.run([job("import time; time.sleep(200)"), job("1")], workers=2, arrived=keep)
    assert seen == [1]


NOISY = "import sys, warnings\nwarnings.warn('harmless')\nprint('here')\n"
ANSWERS = {  # each outcome once
    "square_times_cube": NOISY + "def backward(g, x, y):\n    return 2 * g * x * y**3, 3 * g * x**2 * y**2",
    "mean_backward": "def mean_backward(g, x):\n    return g * torch.ones_like(x)",
    "mend_quotient": "1 / 0",
    "sum_to_shape": "import os\nos._exit(0)",
}


def test_jupyters_kernel_gives_the_same_only_slower(course):
    pristine = course["01_one_operation"]
    kept = [one for one in pristine.cells if not one.name or one.name.removesuffix(".check") in {*ANSWERS, "setup"}]
    small = Pristine(pristine.unit, tuple(kept))
    cells = [LearnerCell("helper = 1")] + [LearnerCell(ANSWERS.get(one.name, one.source), one.name) for one in kept]
    merged = merge(small, cells, 1)
    expected, seen = None, {}
    for kernel in ("forked", "jupyter")[sys.platform != "linux" :]:
        with open_runner(Way(kernel, trusted=True)) as runner:
            if expected is None:  # both are held against what the first one prints
                (right,) = runner.run([Job(solved(small, 1), None)])
                expected = {name: records[-1].stdout for name, records in right.items()}
            (outcome,) = runner.run([Job(merged, expected)])
        seen[kernel] = [replace(one, evidence="") for one in grade_exercises(merged, outcome, 1)]
    assert seen.get("forked", seen["jupyter"]) == seen["jupyter"]
    assert [one.status for one in seen["jupyter"]] == ["right", "crashed", "wrong", "crashed"]
