"""What changes a fingerprint, and what does not."""

from __future__ import annotations

import ast
from dataclasses import replace

from course_utils.checks.catalogue import find
from course_utils.grading.fingerprint import check_code, code_of, fingerprints

UNIT = "01_one_operation"


def test_a_check_is_its_probe_its_truth_and_what_these_use_in_turn():
    code = check_code(find("central_difference"))
    for part in ("def _probe_difference", "def _cubic", "def _slope", "CENTRAL_DIFFERENCE = "):
        assert part in code
    assert "_probe_messages" not in code


def test_comments_docstrings_and_layout_are_no_change():
    one, other = 'def f(x):\n    """Text."""\n    return x  # why', "def f( x ):\n\n    return x"
    assert code_of(ast.parse(one)) == code_of(ast.parse(other))
    assert code_of(ast.parse(other)) != code_of(ast.parse("def f(x):\n    return -x"))


def changed(pristine, name, source):
    cells = tuple(replace(cell, source=source) if cell.name == name else cell for cell in pristine.cells)
    before, after = fingerprints(pristine), fingerprints(replace(pristine, cells=cells))
    return {exercise for exercise in before if before[exercise] != after[exercise]}


def test_a_changed_solution_concerns_its_exercise_and_what_is_given_concerns_all(course):
    pristine = course[UNIT]
    assert changed(pristine, "mean_backward", "def mean_backward(g, x): return g") == {"mean_backward"}
    assert changed(pristine, "setup", "import torch") == set(pristine.exercises)
