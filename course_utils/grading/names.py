"""What a cell's code defines and what it checks, read from its text: nothing here runs it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from IPython.core.inputtransformer2 import TransformerManager

Kind = Literal["function", "class", "value"]
_SPECIAL = re.compile(r"^\s*[%!?,;/]|\?\s*$|=\s*[%!]")  # what IPython may take for its own
_MOST_SPECIAL = 10_000  # such lines, times the lines of the cell
_ROUGHLY = re.compile(r"^(?:(def|class)\s+)?([^\W\d]\w*)\s*(?(1)[(:]|=(?!=))", re.MULTILINE)


@dataclass(frozen=True)
class CheckCall:
    """One call `check("exercise", expression)`, the expression as text."""

    exercise: str
    expression: str


def definitions(source: str) -> dict[str, Kind]:
    """The names that the cell defines or assigns at its top level, imports aside, each with its kind.

    Of a cell with a syntax error, what its lines look like.
    """
    tree = parsed(source)
    if tree is None:
        kinds: dict[str | None, Kind] = {"def": "function", "class": "class", None: "value"}
        return {name: kinds[word or None] for word, name in _ROUGHLY.findall(source)}
    return dict(_defined(tree.body))


def check_calls(source: str) -> list[CheckCall]:
    """The cell's calls of `check` with an exercise's name, in order."""
    tree = parsed(source)
    return [] if tree is None else [call for node in ast.walk(tree) if (call := _check_call(node))]


def only_checks(source: str) -> bool:
    """Whether the cell consists of calls of `check` and nothing else."""
    tree = parsed(source)
    if tree is None or not tree.body:
        return False
    return all(isinstance(one, ast.Expr) and _check_call(one.value) is not None for one in tree.body)


def names_used(expression: str) -> set[str]:
    """The variables that an expression reads."""
    return {node.id for node in ast.walk(ast.parse(expression)) if isinstance(node, ast.Name)}


def squeezed(source: str) -> str:
    """The source without the white space that editors add or take away."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())


def parsed(source: str) -> ast.Module | None:
    """The cell's syntax tree, magics and shell lines turned into calls; None if it has none."""
    if source.lstrip().startswith("%%"):
        source = source.lstrip().partition("\n")[2]  # what `%%time` times is code like any other
    return _compiled(source) or _compiled(_without_magics(source))


def _compiled(source: str) -> ast.Module | None:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a "\d" in someone's text is not ours to complain about
            return compile(source, "cell", "exec", flags)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _without_magics(source: str) -> str:
    """The source with IPython's own syntax turned into Python; as it is where that would take long.

    Each magic, shell line or question makes IPython read the whole cell anew.
    """
    lines = source.splitlines(keepends=True)
    special = sum(_SPECIAL.search(line) is not None for line in lines)
    manager = TransformerManager()
    try:
        if 0 < special * len(lines) <= _MOST_SPECIAL:
            return manager.transform_cell(source)
        for transform in manager.cleanup_transforms:  # prompts that were copied along, a cell that is indented
            lines = transform(lines)
        return "".join(lines)
    except (SyntaxError, ValueError, RecursionError, MemoryError, RuntimeError):  # RuntimeError: it gave up
        return source


def _check_call(node: ast.AST) -> CheckCall | None:
    if not isinstance(node, ast.Call) or not node.args:
        return None
    function = node.func
    called = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    first = node.args[0]
    if called != "check" or not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return None
    answers = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "answer")]
    return CheckCall(first.value, ast.unparse(answers[0])) if len(answers) == 1 else None


def _defined(statements: Iterable[ast.stmt]) -> Iterable[tuple[str, Kind]]:
    for one in statements:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            yield one.name, "function"
        elif isinstance(one, ast.ClassDef):
            yield one.name, "class"
        elif isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign):
            yield from _assigned(one)
        else:
            for block in ("body", "handlers", "orelse", "finalbody"):
                for inner in getattr(one, block, []):
                    yield from _defined(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def _assigned(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterable[tuple[str, Kind]]:
    kind: Kind = "function" if isinstance(statement.value, ast.Lambda) else "value"
    for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, kind
