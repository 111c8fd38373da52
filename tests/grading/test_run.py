"""What is known of a notebook when the process that ran it is gone."""

from __future__ import annotations

import json
import sys

import pytest

from course_utils.grading import run as running
from course_utils.grading.merge import Merged, MergedCell
from course_utils.grading.run import CellRecord, Job, run

PASSED = CellRecord("passed")
LOST = CellRecord("fault", error="the process that ran it ended: worker crashed")
LINE = json.dumps({"cell": 0, "outcome": "passed", "stdout": "", "error": ""})


def job(*sources):
    return Job(Merged(tuple(MergedCell("extra", source) for source in sources)), None)


def test_who_ends_the_process_is_run_again_alone_and_costs_nobody_else_anything(monkeypatch):
    rounds = []

    def pytest_that_dies_with_the_second(jobs, folder, workers, timeout, look):
        rounds.append(list(jobs))
        # the first and the second were under way
        complete = len(jobs) == 1 and "submission_0001" not in jobs
        return {name: [LINE] * (2 if complete else 1) for name in jobs}, "worker crashed"

    monkeypatch.setattr(running, "_pytest", pytest_that_dies_with_the_second)
    arrived = []
    records = run([job("a", "b"), job("a", "b")], arrived=lambda *one: arrived.append(one))
    assert records == [(PASSED, PASSED), (PASSED, LOST)]
    assert arrived == list(enumerate(records))
    assert rounds == [["submission_0000", "submission_0001"], ["submission_0000"], ["submission_0001"]]


def test_a_pytest_that_cannot_run_is_a_fault_that_says_why(monkeypatch):
    monkeypatch.setattr(running, "_command", lambda *arguments: [sys.executable, "-c", "print('no room')"])
    assert run([job("1")]) == [(CellRecord("fault", error="the process that ran it ended: no room"),)]


def test_nothing_can_pass_for_want_of_a_comparison():
    cell = MergedCell("evidence", "", "square_times_cube")
    with pytest.raises(KeyError):
        run([Job(Merged((cell,)), {})])


def test_a_notebook_arrives_while_others_still_run_and_what_its_keeper_raises_ends_them():
    seen = []

    def keep(number, records):
        seen.append((number, records))
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        run([job("1"), job("import time; time.sleep(300)")], arrived=keep)
    assert seen == [(0, (PASSED,))]
