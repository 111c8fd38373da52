"""What is reported to the instructor beside the points, and what is not."""

from __future__ import annotations

import pytest

from course_utils.checks.catalogue import all_exercises
from course_utils.grading import suspicious
from course_utils.grading.merge import MergedCell, solved
from course_utils.grading.run import CellRecord
from course_utils.grading.suspicious import suspicions


def of(source, outcome="passed", **more):
    return suspicions([MergedCell("extra", source)], [CellRecord(outcome, **more)])


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("from course_utils.checks import show_evidence", suspicious.GRADER),
        ("import course_utils.checks.catalogue as c", suspicious.GRADER),
        ('print(\'{"saw": "x"}\')', suspicious.FORGES),
        ("torch.allclose = lambda *a: True", suspicious.REPLACES),
        ("setattr(torch.Tensor, '__eq__', f)", suspicious.REPLACES),
        ("get_ipython().set_custom_exc((Exception,), f)", suspicious.REPLACES),
        ("import urllib.request", suspicious.NETWORK),
        ("import os; os._exit(0)", suspicious.PROGRAMS),
        ("!ls", suspicious.PROGRAMS),
        ("import sys; sys._getframe(1)", suspicious.INSIDE),
        ("open('/proc/self/environ')", suspicious.FILES),
    ],
)
def test_code_that_no_exercise_asks_for_is_named(source, what):
    assert of(source) == what


def test_what_happened_is_named_too():
    assert of("x", "left out") == suspicious.ENDED
    assert of("x", garbled=True) == suspicious.GARBLED
    assert of("x", "memory") == suspicious.MEMORY
    assert of("x", stdout='a {"saw": 1}') == suspicious.FORGES


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nfrom course_utils import check, progress, record, step",
        "from course_utils.checks.given import in_order",
        "x.grad = None\nparent.grad = parent.grad + 1\ntorch.set_default_dtype(torch.float64)",
        "%matplotlib inline\nimport matplotlib.pyplot as plt, numpy as np, math",
        'check("mean_backward", mean_backward)',
    ],
)
def test_what_learners_write_is_not_suspicious(source):
    assert of(source) == ""


def test_no_solution_is_suspicious(course):
    for pristine in course.values():
        cells = [one for one in solved(pristine, 1).cells if one.role == "answer"]
        assert suspicions(cells, [CellRecord("passed")] * len(cells)) == ""
    assert all_exercises()
