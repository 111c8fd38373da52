"""A fingerprint of all that decides an exercise's outcome, so that what has changed is run again and nothing else."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from collections.abc import Iterable, Mapping

from course_utils.checks import by_hand, checking, diagnose, draw, evidence, oracle, plain
from course_utils.checks.catalogue import find
from course_utils.checks.exercise import Exercise
from course_utils.grading import choose, merge, names, parts, verdict
from course_utils.grading.definitions import code_of, name_of, reached
from course_utils.grading.pristine import Pristine, Question

_MACHINERY = (by_hand, checking, diagnose, draw, evidence, oracle, plain, choose, merge, names, parts, verdict)


class Fingerprints(dict[str, dict[str, str]]):
    """The fingerprints of the exercises of each unit of a course, made when a unit is asked for."""

    def __init__(self, course: Mapping[str, Pristine]) -> None:
        super().__init__()
        self._course = course

    def __missing__(self, unit: str) -> dict[str, str]:
        self[unit] = fingerprints(self._course[unit]) if unit in self._course else {}
        return self[unit]


def fingerprints(pristine: Pristine) -> dict[str, str]:
    """A fingerprint of each exercise of a unit: of its check, its solution, what is given, and what judges."""
    given = [cell.source for cell in pristine.cells if cell.role == "given"]
    machinery = _machinery()
    return {
        question.exercise: _digest(
            [machinery, check_code(find(question.exercise)), *_asked(pristine, question), *given]
        )
        for question in pristine.questions
    }


def _asked(pristine: Pristine, question: Question) -> tuple[str, str]:
    return question.expression, pristine.cells[question.answer].source


@functools.cache
def _machinery() -> str:
    return _digest(code_of(ast.parse(inspect.getsource(module))) for module in _MACHINERY)


def check_code(exercise: Exercise) -> str:
    """The code of the exercise and of all of the checks that it uses; comments and docstrings aside."""
    module = sys.modules[exercise.probe.__module__]
    code = reached(module.__name__, [name_of(exercise, module)], without=[one.__name__ for one in _MACHINERY])
    return "\n".join(one.code for home in sorted(code) for one in sorted(code[home], key=lambda one: one.code))


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
