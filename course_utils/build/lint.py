"""What can be wrong in a source, found without running it; every fault of every cell, not the first one."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping

from course_utils.build.faults import Fault, listed
from course_utils.build.markers import (
    MarkerError,
    has_markers,
    marker_faults,
    regions,
    stub_of,
    with_stub,
)
from course_utils.build.source import Cell, Source

CELL_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z0-9_]+)*", re.ASCII)
# nbformat's longest cell id, which the name becomes.
LONGEST_NAME = 64

KnownExercises = Mapping[str, Mapping[str, int]]


def lint(source: Source, known_exercises: KnownExercises | None = None) -> list[Fault]:
    """All faults of a source; `known_exercises` maps unit stem -> exercise -> number of hints."""
    faults = [*_every_cell(source), *_names(source)]
    if source.kind == "lesson":
        faults += _lesson(source)
    else:
        faults += [*_answers(source), *_checks(source)]
        if known_exercises is not None:
            faults += _known(source, known_exercises)
    return sorted(faults, key=lambda fault: fault.line or 0)


def _every_cell(source: Source) -> Iterator[Fault]:
    for cell in source.cells:
        if cell.kind not in ("markdown", "code"):
            yield source.fault(cell, f"a {cell.kind} cell is not used; write markdown or code")
        elif not cell.source.strip():
            yield source.fault(cell, "the cell is empty")
        elif cell.kind == "code":
            error = _syntax_error(cell.source)
            if error is not None:
                message = f"not Python: {error.msg} (magics and shell lines are not used)"
                yield source.fault(cell, message, error.lineno or 0)
        elif cell.tags:
            yield source.fault(cell, f"tags ({listed(cell.tags)}) are for code cells")


def _syntax_error(text: str) -> SyntaxError | None:
    with warnings.catch_warnings():
        # what Python only warns about is ruff's to report
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            return error
    return None


def _names(source: Source) -> Iterator[Fault]:
    seen: dict[str, Cell] = {}
    for cell in source.cells:
        if cell.name is None:
            continue
        if not CELL_NAME.fullmatch(cell.name) or len(cell.name) > LONGEST_NAME:
            message = (
                f"a name is letters, digits and underscores, parts joined by a dot, at most {LONGEST_NAME} characters"
            )
            yield source.fault(cell, message)
        first = seen.setdefault(cell.name, cell)
        if first is not cell:
            where = f"line {first.line}" if first.line else f"cell {first.number}"
            yield source.fault(cell, f"the name is used twice; the first is in {where}")


def _lesson(source: Source) -> Iterator[Fault]:
    for cell in source.cells:
        if cell.kind == "code" and has_markers(cell.source):
            yield source.fault(cell, "a solution marker in a lesson; solutions are for exercises")
        for tag in ("answer", "check"):
            if tag in cell.tags:
                yield source.fault(cell, f"the tag `{tag}` in a lesson; it is for exercises")


def _answers(source: Source) -> Iterator[Fault]:
    for cell in source.cells:
        if cell.kind != "code":
            continue
        faults = marker_faults(cell.source)
        yield from (source.fault(cell, str(fault), fault.line) for fault in faults)
        if "answer" not in cell.tags:
            if has_markers(cell.source):
                yield source.fault(cell, 'holds a solution but has no tags=["answer"]')
            continue
        if cell.name is None:
            yield source.fault(cell, "an answer cell has the exercise's name; add name=...")
        elif not cell.name.isidentifier():
            yield source.fault(cell, "an exercise's name is one Python name, without a dot")
        if not faults and _syntax_error(cell.source) is None:
            yield from _stubs(source, cell)


def _stubs(source: Source, cell: Cell) -> Iterator[Fault]:
    found = regions(cell.source)
    if not found:
        yield source.fault(cell, "an answer cell without `### BEGIN SOLUTION`")
        return
    good = True
    for region in found:
        try:
            stub_of(cell.source, region)
        except MarkerError as fault:
            good = False
            yield source.fault(cell, str(fault), fault.line)
    if not good:
        return
    error = _syntax_error(with_stub(cell.source))
    if error is not None:
        yield source.fault(cell, f"with the stub in place of the solution: {error.msg}")


def _checks(source: Source) -> Iterator[Fault]:
    answers = {cell.name: cell for cell in source.cells if cell.name and "answer" in cell.tags}
    checked: dict[str, Cell] = {}
    for cell in source.cells:
        if cell.kind != "code" or _syntax_error(cell.source) is not None:
            continue
        calls = list(_checked_names(cell.source))
        if "check" not in cell.tags:
            if calls:
                yield source.fault(cell, 'calls check(...) but has no tags=["check"]')
            continue
        if len(calls) != 1:
            yield source.fault(cell, 'a check cell calls check("<exercise>", ...) once')
            continue
        name = calls[0]
        if name not in answers:
            yield source.fault(cell, f"checks `{name}`, but no answer cell has that name")
        elif answers[name].number > cell.number:
            yield source.fault(cell, f"checks `{name}` before its answer cell")
        elif name in checked:
            yield source.fault(cell, f"checks `{name}` a second time")
        elif cell.name != f"{name}.check":
            yield source.fault(cell, f'the check cell of `{name}` has name="{name}.check"')
        checked.setdefault(name, cell)
    for name, cell in answers.items():
        if name not in checked:
            message = f'no check cell behind it calls check("{name}", ...)'
            yield source.fault(cell, message)


def _checked_names(text: str) -> Iterable[str]:
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "check"
            and len(node.args) + len(node.keywords) > 1
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            yield node.args[0].value


def _known(source: Source, known_exercises: KnownExercises) -> Iterator[Fault]:
    stem = source.unit.stem
    module = f"course_utils/checks/{stem}.py"
    if stem not in known_exercises:
        yield Fault(source.file, f"the checks know no unit `{stem}`; write {module}")
        return
    hints = known_exercises[stem]
    answers = {cell.name: cell for cell in source.cells if cell.name and "answer" in cell.tags}
    for name, cell in answers.items():
        if name not in hints:
            message = f"{module} has no exercise `{name}`; it has: {listed(hints)}"
            yield source.fault(cell, message)
        elif not hints[name]:
            yield source.fault(cell, f"the exercise has no hint; add one in {module}")
    for name in hints:
        if name not in answers:
            message = f"{module} has the exercise `{name}`, but no answer cell is called that"
            yield Fault(source.file, message)
