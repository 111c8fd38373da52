"""Which cells run for which exercise."""

from __future__ import annotations

import pytest

from course_utils.grading.merge import Merged, MergedCell, solved
from course_utils.grading.parts import bound_names, parts, used_names


def cell(role, source, exercise=""):
    return MergedCell(role, source, exercise)


def evidence(name, expression):
    return cell("evidence", f"show_evidence({name!r}, {expression}, seed=1)", name)


def sources(merged, exercise):
    part = next(one for one in parts(merged) if one.exercise == exercise)
    return [merged.cells[place].source for place in part.positions][:-1]


def test_an_exercise_runs_without_the_others_answers(course):
    merged = solved(course["01_one_operation"], 1)
    for part in parts(merged):
        cells = [merged.cells[place] for place in part.positions]
        assert [one.role for one in cells] == ["given", "answer", "evidence"]
        assert {one.exercise for one in cells[1:]} == {part.exercise}


def test_an_answer_whose_name_is_used_runs_too_and_so_does_what_that_uses():
    merged = Merged(
        (
            cell("answer", "def half(x): return x / 2", "one"),
            cell("answer", "def quarter(x): return half(half(x))", "two"),
            cell("answer", "def other(): ...", "three"),
            cell("answer", "eighth = lambda x: half(quarter(x))", "four"),
            evidence("four", "eighth"),
        )
    )
    assert sources(merged, "four") == [merged.cells[place].source for place in (0, 1, 3)]


def test_what_is_given_and_what_is_the_learners_own_runs_if_it_stands_before():
    merged = Merged(
        (
            cell("given", "import torch"),
            cell("extra", "import numpy as np"),
            cell("answer", "x = 1", "one"),
            evidence("one", "x"),
            cell("extra", "y = 2"),
            cell("given", "z = 3"),
        )
    )
    assert sources(merged, "one") == ["import torch", "import numpy as np", "x = 1"]


def test_a_name_that_is_only_local_asks_for_nothing():
    merged = Merged(
        (
            cell("answer", "gradients = 1 / 0", "one"),
            cell("answer", "def f():\n    gradients = 2\n    return gradients", "two"),
            evidence("two", "f"),
        )
    )
    assert sources(merged, "two") == [merged.cells[1].source]


def test_of_two_that_give_the_name_the_nearest_before_counts_and_what_it_changes():
    merged = Merged(
        (
            cell("answer", "x = 1", "one"),
            cell("answer", "x = x + 1", "two"),
            cell("answer", "y = x", "three"),
            evidence("three", "y"),
            cell("answer", "x = 5", "four"),
        )
    )
    assert sources(merged, "three") == ["x = 1", "x = x + 1", "y = x"]


@pytest.mark.parametrize(
    ("source", "used", "bound"),
    [
        ("import a.b as c\nfrom d import e", set(), {"c", "e"}),
        ("for i in rows:\n    total += i", {"rows", "i", "total"}, {"i", "total"}),
        ("class A(Base):\n    x = y", {"Base", "y"}, {"A"}),
        ("%matplotlib inline\nz = (lambda q: q + w)(1)", {"w", "get_ipython"}, {"z"}),
        ("with open(p) as f: text = f.read()", {"p", "f"}, {"f", "text"}),
        ("def broken(:", set(), {"broken"}),
        ("await thing", {"thing"}, set()),
    ],
)
def test_names_that_a_cell_uses_and_binds(source, used, bound):
    assert used_names(source) == used
    assert bound_names(source) == bound
