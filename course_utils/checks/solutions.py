"""The answers in a solution notebook, brought to life so that a check can be tried on them and on their mutants."""

from __future__ import annotations

import ast
import functools
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import torch

from course_utils.checks.mutate import Mutant, mutants

_FILE = "<answer>"
_STEPS = 1_000_000  # an answer that takes more steps of the interpreter than these never ends


class NeverEnds(BaseException):
    """Raised inside an answer that has run for too long.

    No `Exception`: a probe takes those for evidence and goes on, while Python stops tracing at the first one.
    """


@dataclass(frozen=True)
class Solution:
    """The answer to one exercise: the source of its cell, the lines of it that are the solution, and how to get the
    object that `check` is called with. `before` holds the names that earlier cells define.
    """

    name: str
    source: str
    first: int
    last: int
    expression: str
    before: dict[str, object] = field(repr=False)

    def answer(self, source: str | None = None) -> object:
        """The object that `check` gets when the cell holds `source`, or else what it really holds."""
        namespace = dict(self.before)
        exec(compile(source or self.source, _FILE, "exec"), namespace)
        return eval(self.expression, namespace)

    def mutants(self) -> list[Mutant]:
        """Every mutant of the part between the solution markers."""
        return list(mutants(self.source, self.first, self.last))


def read_solutions(notebook: Path) -> tuple[Solution, ...]:
    """The answers in a solution notebook, in order. Its cells are run, its checks are not.

    A default dtype that a cell sets ends with it: an answer must do without.
    """
    dtype = torch.get_default_dtype()
    try:
        return _read(notebook.read_text(encoding="utf-8"))
    finally:
        torch.set_default_dtype(dtype)


@functools.lru_cache(maxsize=32)
def _read(text: str) -> tuple[Solution, ...]:
    cells = json.loads(text)["cells"]
    code = [("".join(cell["source"]), cell["metadata"]) for cell in cells if cell["cell_type"] == "code"]
    expressions = dict(_checked(source) for source, meta in code if "check" in meta.get("tags", ()))
    namespace: dict[str, object] = {"__name__": "solutions"}
    found = []
    for source, meta in code:
        tags = meta.get("tags", ())
        if "answer" in tags:
            first, last = _region(source)
            name = meta["name"]
            found.append(Solution(name, source, first, last, expressions[name], dict(namespace)))
        if "check" not in tags:
            exec(compile(source, _FILE, "exec"), namespace)
    return tuple(found)


def _checked(source: str) -> tuple[str, str]:
    """The name and the answer's expression in a cell that holds `check("name", expression)`."""
    (statement,) = ast.parse(source).body
    name, answer = statement.value.args
    return name.value, ast.unparse(answer)


def _region(source: str) -> tuple[int, int]:
    lines = source.splitlines()
    begin = next(i for i, line in enumerate(lines, 1) if line.strip() == "### BEGIN SOLUTION")
    end = next(i for i, line in enumerate(lines, 1) if line.strip() == "### END SOLUTION")
    return begin, end


class step_budget:  # noqa: N801 (used like a function, in a with statement)
    """A context in which code of an answer is stopped by NeverEnds once it has taken too many steps."""

    def __enter__(self) -> None:
        self._left = _STEPS
        self._outer = sys.gettrace()
        sys.settrace(self._enter)

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._outer)

    def _enter(self, frame: FrameType, event: str, argument: object) -> object:
        if frame.f_code.co_filename != _FILE:
            return None
        frame.f_trace_opcodes = True  # a loop on one line is one line to Python, however often it turns
        return self._count

    def _count(self, frame: FrameType, event: str, argument: object) -> object:
        self._left -= 1
        if self._left < 0:
            raise NeverEnds("this code runs without end")
        return self._count
