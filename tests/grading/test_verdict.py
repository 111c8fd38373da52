"""Printed evidence to points: rounding costs nobody a point, and a mistake keeps its name on the way."""

from __future__ import annotations

import json
import math

import pytest

from course_utils.checks.catalogue import all_exercises, find
from course_utils.checks.evidence import as_text, gather
from course_utils.grading.merge import Merged, MergedCell
from course_utils.grading.run import CellRecord
from course_utils.grading.verdict import Graded, grade_exercises, judge_text

SEED = 20
EXERCISES = list(all_exercises().values())
WITNESSES = [(one, wrong) for one in EXERCISES for wrong in one.misconceptions]


def printed(exercise, answer, seed=SEED):
    return as_text(gather(exercise, answer, seed)) + "\n"


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda one: one.name)
def test_the_truth_is_right_under_many_seeds(exercise):
    for seed in range(10):
        graded = judge_text(exercise, printed(exercise, exercise.truth, seed), seed)
        assert graded == Graded(exercise.name, "right", exercise.points)


@pytest.mark.parametrize(
    ("exercise", "wrong"), WITNESSES, ids=[f"{one.name}-{wrong.label}" for one, wrong in WITNESSES]
)
def test_every_misconception_is_known_by_its_evidence_as_text(exercise, wrong):
    graded = judge_text(exercise, printed(exercise, wrong.witness), SEED)
    assert (graded.status, graded.points, graded.label) == ("wrong", 0, wrong.label)


def test_the_last_digit_may_be_rounded_either_way():
    exercise = find("square_times_cube")
    lines = printed(exercise, exercise.truth).splitlines()
    first = json.loads(lines[0])
    number = gather(exercise, exercise.truth, SEED)[0].value[0].numbers[0]
    digit = 10.0 ** (math.floor(math.log10(abs(number))) - 5)
    below = math.floor(number / digit)
    for last_digits, status in ((below, "right"), (below + 1, "right"), (below + 20, "wrong")):
        first["value"][0]["numbers"][0] = f"{last_digits * digit:.6g}"
        graded = judge_text(exercise, "\n".join([json.dumps(first), *lines[1:]]), SEED)
        assert graded.status == status


def test_a_value_of_another_dtype_is_judged_as_the_check_does():
    import torch

    exercise = find("predict_messages")
    assert judge_text(exercise, printed(exercise, (torch.tensor(-24.0), torch.tensor(12.0))), SEED).status == "right"


def test_code_to_be_mended_that_was_not_changed_is_not_attempted():
    exercise = find("mend_quotient")
    assert judge_text(exercise, printed(exercise, exercise.given), SEED).status == "not attempted"


def test_evidence_of_another_seed_earns_nothing():
    exercise = find("square_times_cube")
    assert judge_text(exercise, printed(exercise, exercise.truth, SEED + 1), SEED).points == 0


def test_an_answer_that_ran_out_of_memory_is_told_from_one_that_raised():
    exercise = find("mean_backward")

    def greedy(incoming, x):
        raise MemoryError

    text = printed(exercise, greedy)
    assert judge_text(exercise, text, SEED).status == "wrong"
    assert judge_text(exercise, text + '{"out of memory": true}\n', SEED).status == "memory"


def test_evidence_is_found_behind_what_a_thread_has_printed():
    exercise = find("mean_backward")
    assert judge_text(exercise, f"tick tick{printed(exercise, exercise.truth)}tick", SEED).status == "right"


def test_words_between_the_evidence_do_no_harm():
    exercise = find("mean_backward")
    text = f"hello\n[1]\n{printed(exercise, exercise.truth)}done\n"
    assert judge_text(exercise, text, SEED).status == "right"


ONE = '{"saw": "choice", "value": %s}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "right, 3 points",
        ONE % '"b"' + "\n" + ONE % '"b"',
        ONE % '{"shape": [2], "dtype": "float64", "numbers": ["1"]}',
        ONE % '{"shape": ["x"], "dtype": "float64", "numbers": []}',
        ONE % '{"shape": [1], "dtype": "float64", "numbers": [3]}',
        ONE % '{"strange": 1}',
        '{"saw": "choice", "value": "b", "changed": 5}',
        "[" * 100_000,
    ],
)
def test_what_is_no_evidence_is_wrong_and_stops_nothing(text):
    graded = judge_text(find("choose_addition"), text, SEED)
    assert graded == Graded("choose_addition", "wrong", 0, note="what it printed is no evidence")


@pytest.mark.parametrize(
    "value", ["null", '["b"]', '{"type": "dict"}', '{"shape": [], "dtype": "x", "numbers": ["nan"]}']
)
def test_evidence_of_any_form_is_only_wrong(value):
    for exercise in EXERCISES:
        lines = [json.loads(line) for line in printed(exercise, exercise.truth).splitlines()]
        text = "\n".join(json.dumps(line | {"value": json.loads(value)}) for line in lines)
        graded = judge_text(exercise, text, SEED)
        # code that is handed out may give None everywhere, and then it is what was sent
        assert (graded.status, graded.points) in (("wrong", 0), ("not attempted", 0))


@pytest.mark.parametrize(
    ("answer", "evidence", "missing", "status", "points"),
    [
        ("passed", "passed", False, "right", 3),
        ("raised", "passed", False, "right", 3),
        ("raised", "raised", False, "crashed", 0),
        ("passed", "raised", False, "crashed", 0),
        ("timeout", "raised", False, "timeout", 0),
        ("passed", "timeout", False, "timeout", 0),
        ("memory", "not run", False, "memory", 0),
        ("died", "not run", False, "crashed", 0),
        ("not run", "not run", False, "not run", None),
        ("passed", "fault", False, "grader error", None),
        ("fault", "fault", False, "grader error", None),
        (None, "raised", True, "missing", 0),
    ],
)
def test_without_evidence_the_cell_that_is_to_blame_gives_the_status(answer, evidence, missing, status, points):
    name = "square_times_cube"
    cells = [MergedCell("answer", "", name)] if answer else []
    records = [CellRecord(one) for one in (answer, evidence) if one]
    merged = Merged((*cells, MergedCell("evidence", "", name)), missing=frozenset([name] if missing else []))
    (graded,) = grade_exercises(merged, {name: tuple(records)}, SEED)
    assert (graded.status, graded.points) == (status, points)
