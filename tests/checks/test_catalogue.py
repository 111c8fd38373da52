"""Exercises are found by name; a name that is not there meets the nearest one."""

from __future__ import annotations

import sys

import pytest

from course_utils.checks import check
from course_utils.checks.catalogue import all_exercises, catalogue, find


def test_an_exercise_is_found_by_its_name():
    assert find("bias_backward").name == "bias_backward"


def test_a_name_with_a_slip_meets_the_nearest_one():
    with pytest.raises(KeyError, match=r"`check`: there is no exercise 'bias_backwards'. Did you mean 'bias_backward'"):
        check("bias_backwards", None)


def test_a_name_like_no_other_meets_all_of_them():
    with pytest.raises(KeyError, match=f"There are: {', '.join(all_exercises())}"):
        check("q", None)


@pytest.mark.parametrize("name", [None, 3, ["bias_backward"], {}], ids=repr)
def test_a_name_that_is_no_text_is_no_exercise(name):
    with pytest.raises(KeyError, match="there is no exercise"):
        check(name, None)


def test_the_catalogue_counts_hints_by_unit_and_name():
    assert catalogue()["one_operation"]["bias_backward"] == len(find("bias_backward").hints) == 3


def test_exercises_come_in_the_order_of_the_units():
    units = [exercise.unit for exercise in all_exercises().values()]
    assert units == sorted(units)


def test_two_exercises_of_one_name_are_refused(make_exercise, monkeypatch):
    module = sys.modules[all_exercises.__module__]  # the package has a function of the same name
    monkeypatch.setattr(module, "_declared", lambda: [make_exercise(), make_exercise()])
    all_exercises.cache_clear()
    try:
        with pytest.raises(ValueError, match="two exercises have the name 'product'"):
            all_exercises()
    finally:
        all_exercises.cache_clear()
