"""A fingerprint of all that decides an exercise's outcome, so that what has changed is run again and nothing else."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from collections.abc import Iterable
from types import ModuleType

from course_utils.checks import by_hand, checking, diagnose, draw, evidence, oracle, plain
from course_utils.checks.catalogue import find
from course_utils.checks.exercise import Exercise
from course_utils.grading import choose, merge, names, verdict
from course_utils.grading.pristine import Pristine, Question

_MACHINERY = (by_hand, checking, diagnose, draw, evidence, oracle, plain, choose, merge, names, verdict)


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
    """The code of the exercise and of everything in its module that it uses; comments and docstrings aside."""
    module = sys.modules[exercise.probe.__module__]
    definitions = _definitions(module)
    start = {name for name, value in vars(module).items() if value is exercise}
    return "\n".join(definitions[name] for name in sorted(_reached(start, _uses(module), definitions.keys())))


@functools.cache
def _definitions(module: ModuleType) -> dict[str, str]:
    """The code of each name that a module defines or imports."""
    code: dict[str, str] = {}
    for statement in ast.parse(inspect.getsource(module)).body:
        for name in _named(statement):
            code[name] = code.get(name, "") + code_of(statement) + "\n"
    return code


@functools.cache
def _uses(module: ModuleType) -> dict[str, set[str]]:
    """The names that the definition of each name speaks of."""
    return {
        name: {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        for name, code in _definitions(module).items()
    }


def _named(statement: ast.stmt) -> Iterable[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    else:
        targets = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        yield from (node.id for node in targets if isinstance(node.ctx, ast.Store))


def _reached(start: set[str], uses: dict[str, set[str]], known: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    ahead = set(start)
    while ahead:
        reached |= ahead
        ahead = {name for one in ahead for name in uses[one]} & set(known) - reached
    return reached


def code_of(tree: ast.AST) -> str:
    """The code as text, without its docstrings; comments and layout are none of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
