"""Solution and stub markers: what a learner gets in the place of a solution. Pure functions on a cell's text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

NOT_ATTEMPTED = 'raise NotImplementedError("write your answer here")'
_EXACT = re.compile(r"\s*### (BEGIN|END) (SOLUTION|STUB)\s*")
_LOOSE = re.compile(r"#\s*(BEGIN|END)[\s_-]*(SOLUTION|STUB)\b", re.IGNORECASE)
_COMMENTED = re.compile(r"(\s*)# ?(.*)")


class MarkerError(ValueError):
    """What is wrong with a marker or its region, and the line of the cell (from 1) where."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Region:
    """A solution: the lines (from 1) of its two markers, and of the stub's markers if it has one."""

    begin: int
    end: int
    stub: tuple[int, int] | None = None

    @property
    def first(self) -> int:
        """The first line that belongs to it, its stub included."""
        return self.begin if self.stub is None else self.stub[0]


def has_markers(text: str) -> bool:
    """Whether the text holds a solution or stub marker, well written or not."""
    return _LOOSE.search(text) is not None


def marker_faults(text: str) -> list[MarkerError]:
    """Everything that is wrong with how the markers pair up."""
    return _scan(text)[1]


def regions(text: str) -> list[Region]:
    """The solutions of a cell, in order; raises the first fault of the markers."""
    found, faults = _scan(text)
    if faults:
        raise faults[0]
    return found


def _scan(text: str) -> tuple[list[Region], list[MarkerError]]:
    scan = _Scan()
    for number, line in enumerate(text.splitlines(), start=1):
        marker = _EXACT.fullmatch(line)
        if marker is None:
            scan.line(number, line)
        elif marker[1] == "BEGIN":
            scan.begin(number, marker[2])
        else:
            scan.end(number, marker[2])
    scan.finish()
    return scan.regions, scan.faults


class _Scan:
    """Pairs up markers, line by line: what is open, the stub that waits for its solution, what was found."""

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self.faults: list[MarkerError] = []
        self._open: tuple[str, int] | None = None
        self._stub: tuple[int, int] | None = None

    def line(self, number: int, text: str) -> None:
        if _LOOSE.search(text):
            self.faults.append(MarkerError(number, f"write the marker {_exact(text)} on a line of its own"))
        elif text.strip() and self._open is None:
            self._drop_stub()

    def begin(self, number: int, what: str) -> None:
        if self._open is not None:
            outer, line = self._open
            message = f"`### BEGIN {what}` inside the {outer} that begins in line {line} of the cell"
            self.faults.append(MarkerError(number, message))
        if what == "STUB":
            self._drop_stub()
        self._open = (what, number)

    def end(self, number: int, what: str) -> None:
        if self._open is None or self._open[0] != what:
            self.faults.append(MarkerError(number, f"`### END {what}` without `### BEGIN {what}`"))
            return
        begin = self._open[1]
        self._open = None
        if what == "STUB":
            self._stub = (begin, number)
        else:
            self.regions.append(Region(begin, number, self._stub))
            self._stub = None

    def finish(self) -> None:
        if self._open is not None:
            what, line = self._open
            self.faults.append(MarkerError(line, f"`### BEGIN {what}` is never closed; add `### END {what}`"))
        else:
            self._drop_stub()

    def _drop_stub(self) -> None:
        if self._stub is not None:
            message = "a stub stands just before its `### BEGIN SOLUTION`"
            self.faults.append(MarkerError(self._stub[0], message))
            self._stub = None


def _exact(line: str) -> str:
    side, what = _LOOSE.search(line).groups()  # type: ignore[union-attr]
    return f"`### {side.upper()} {what.upper()}`"


def with_solution(text: str) -> str:
    """The cell as solutions/ shows it: the solution between its markers, no stub block."""
    return _replaced(text, ((r, _lines(text, r.begin, r.end)) for r in regions(text)))


def with_stub(text: str) -> str:
    """The cell as a learner gets it: each solution replaced by its stub; raises MarkerError."""
    return _replaced(text, ((r, stub_of(text, r)) for r in regions(text)))


def _lines(text: str, first: int, last: int) -> list[str]:
    return text.splitlines()[first - 1 : last]


def _replaced(text: str, replacements: Iterable[tuple[Region, list[str]]]) -> str:
    lines = text.splitlines()
    for region, new in sorted(replacements, key=lambda pair: -pair[0].begin):
        lines[region.first - 1 : region.end] = new
    return "\n".join(lines)


def stub_of(text: str, region: Region) -> list[str]:
    """The lines that take the region's place: its own stub, or the usual one for where it stands."""
    if region.stub is not None:
        first, last = region.stub
        return [_uncommented(n, line) for n, line in _numbered(text, first + 1, last - 1)]
    tree = ast.parse(text)
    inside = [node for node in ast.walk(tree) if _starts_in(node, region)]
    if not inside:
        raise MarkerError(region.begin, "the solution is empty")
    first_statement = min(inside, key=lambda node: (node.lineno, node.col_offset))
    if any(first_statement in list(ast.walk(f))[1:] for f in _functions(tree)):
        return [" " * first_statement.col_offset + NOT_ATTEMPTED]
    if first_statement not in tree.body:
        raise MarkerError(region.begin, "a solution in neither a function nor at top level needs its own stub")
    return [f"{name} = ...  # your answer here" for name in _assigned(tree, region)]


def _numbered(text: str, first: int, last: int) -> list[tuple[int, str]]:
    return list(enumerate(_lines(text, first, last), start=first))


def _uncommented(number: int, line: str) -> str:
    match = _COMMENTED.fullmatch(line)
    if match is None and line.strip():
        raise MarkerError(number, "a line of a stub is commented out: put `# ` before it")
    return (match[1] + match[2]).rstrip() if match else ""


def _starts_in(node: ast.AST, region: Region) -> bool:
    return isinstance(node, ast.stmt) and region.begin < node.lineno < region.end


def _functions(tree: ast.AST) -> list[ast.AST]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def _assigned(tree: ast.Module, region: Region) -> list[str]:
    """The names that the region's top-level statements assign, each once, in order."""
    names: list[str] = []
    for statement in (node for node in tree.body if _starts_in(node, region)):
        for node in ast.walk(statement):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                message = f"a solution at top level defines `{node.name}`: put the markers inside it, or give a stub"
                raise MarkerError(node.lineno, message)
            names += _targets(node)
    if not names:
        raise MarkerError(region.begin, "a solution at top level assigns nothing: give a stub")
    return list(dict.fromkeys(names))


def _targets(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign | ast.AugAssign):
        targets = [node.target]
    else:
        return []
    stored = (name for target in targets for name in ast.walk(target))
    return [n.id for n in stored if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
