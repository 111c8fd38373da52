"""Each fault that a source can have is found, named with its file, line and cell; all in one go."""

from __future__ import annotations

import pytest

from course_utils.build.command import plan
from course_utils.build.outline import read_course

KNOWN = {"squares": {"square": 2}}


def faults(course, known=KNOWN):
    read, _ = read_course(course.root)
    return [str(fault) for fault in plan(course.root, read.units, known)[1]]


def test_the_small_course_is_faultless(course):
    assert faults(course) == []
    assert faults(course, None) == []


LESSON_EDITS = [
    ("x * x", "x *", ':12, cell "shown": not Python: invalid syntax (magics'),
    ("x * x", "%timeit x", ':12, cell "shown": not Python'),
    ("A number times itself: $x^2$.\n", '"""\n\n# %% [markdown]\nr"""\n', "the cell is empty"),
    ("x * x\n", "", ": the cell is empty"),
    ("x * x", "### BEGIN SOLUTION\nx = 1\n### END SOLUTION", "a solution marker in a lesson"),
    ('tags=["raises-exception"]', 'tags=["answer"]', "the tag `answer` in a lesson"),
    ('name="shown"', 'name="a b"', "a name is letters"),
    ('name="shown"', f'name="{"a" * 65}"', "a name is letters"),
    ('tags=["raises-exception"]', 'name="shown"', 'cell "shown": the name is used twice; the first is in line 11'),
    ("# %% [markdown]", '# %% [markdown] tags=["check"]', "are for code cells"),
    ("# %% [markdown]", "# %% [raw]", "a raw cell is not used"),
]


@pytest.mark.parametrize(("old", "new", "said"), LESSON_EDITS)
def test_faults_of_a_lesson(course, old, new, said):
    course.edit(course.lesson, old, new)
    found = faults(course)
    assert any(said in fault for fault in found), found
    assert all(fault.startswith("sources/lessons/01_squares.py:") for fault in found)


BEGIN, END = "    ### BEGIN SOLUTION\n", "    ### END SOLUTION\n"
EXERCISE_EDITS = [
    (END, "", "`### BEGIN SOLUTION` is never closed"),
    (BEGIN, "", "`### END SOLUTION` without"),
    (BEGIN, BEGIN + BEGIN, "inside the SOLUTION that begins"),
    (BEGIN + "    return x * x\n" + END, "    return x * x\n", "an answer cell without `### BEGIN SOLUTION`"),
    ('name="square" tags=["answer"]', 'tags=["answer"]', "an answer cell has the exercise's name"),
    ('tags=["answer"]', "", 'holds a solution but has no tags=["answer"]'),
    ('name="square"', 'name="square.one"', "an exercise's name is one Python name"),
    ('name="square.check"', 'name="square"', "the name is used twice; the first is in line 14"),
    ('name="square.check"', "", 'the check cell of `square` has name="square.check"'),
    ('tags=["check"]', "", 'calls check(...) but has no tags=["check"]'),
    ('check("square", square)', "square(3)", 'no check cell behind it calls check("square", ...)'),
    ('check("square", square)', 'check("cube", square)', "checks `cube`, but no answer cell has that name"),
    ('check("square", square)', 'check("square")', 'a check cell calls check("<exercise>", ...) once'),
    ("    return x * x\n", "    # nothing\n", "the solution is empty"),
]


@pytest.mark.parametrize(("old", "new", "said"), EXERCISE_EDITS)
def test_faults_of_an_exercise(course, old, new, said):
    course.edit(course.exercises, old, new)
    found = faults(course)
    assert any(said in fault for fault in found), found
    assert all(fault.startswith("sources/exercises/01_squares.py") for fault in found)


def test_a_check_before_its_answer(course):
    text = course.exercises.read_text(encoding="utf-8")
    head, answer = text.split('# %% name="square" ')
    answer, check = answer.split('# %% name="square.check"')
    course.exercises.write_text(
        f'{head}# %% name="square.check"{check}\n\n# %% name="square" {answer}', encoding="utf-8"
    )
    (fault,) = faults(course)
    assert "checks `square` before its answer cell" in fault


def test_a_stub_that_is_not_python(course):
    course.edit(course.exercises, BEGIN, "    ### BEGIN STUB\n    # return (\n    ### END STUB\n" + BEGIN)
    (fault,) = faults(course)
    assert 'cell "square": with the stub in place of the solution' in fault


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({}, "the checks know no unit `squares`; write course_utils/checks/squares.py"),
        ({"squares": {}}, "course_utils/checks/squares.py has no exercise `square`; it has: none"),
        ({"squares": {"square": 0}}, "the exercise has no hint"),
        ({"squares": {"square": 1, "cube": 1}}, "has the exercise `cube`, but no answer cell"),
    ],
)
def test_exercises_and_checks_know_each_other(course, known, said):
    (fault,) = faults(course, known)
    assert said in fault


def test_faults_of_all_sources_are_said_together(course):
    course.edit(course.lesson, "x * x", "x *")
    course.edit(course.exercises, END, "")
    course.edit(course.exercises, 'name="square.check"', 'name="square"')
    assert len(faults(course)) >= 3
