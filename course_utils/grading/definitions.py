"""What a piece of the checks' code consists of: the definitions that it reaches, in its own module and in others."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType

PACKAGE = "course_utils.checks."


@dataclass(frozen=True)
class Definition:
    """One top-level statement of a module, as code without docstrings: the names it gives, and those it speaks of.

    Of an import of several names there is one of each. `origin` is the module and the name behind an imported one.
    """

    code: str
    gives: frozenset[str]
    uses: frozenset[str]
    origin: tuple[str, str] | None = None


def reached(module: str, names: Iterable[str], without: Iterable[str] = ()) -> dict[str, list[Definition]]:
    """By module of the checks, the definitions behind these names, in their order; none of the modules `without`."""
    found: dict[str, set[str]] = {}
    ahead = [(module, name) for name in names]
    while ahead:
        home, name = ahead.pop()
        if name in found.setdefault(home, set()):
            continue
        found[home].add(name)
        for one in _giving(home, name):
            ahead += [(home, used) for used in one.uses if _giving(home, used)]
            if one.origin and one.origin[0].startswith(PACKAGE) and one.origin[0] not in without:
                ahead.append(one.origin)
    return {
        home: [one for one in definitions(importlib.import_module(home)) if one.gives & wanted]
        for home, wanted in found.items()
    }


def name_of(value: object, module: ModuleType) -> str:
    """The name that a value has in a module."""
    found = next((name for name, its in vars(module).items() if its is value), None)
    if found is None:
        raise LookupError(f"{module.__name__} gives no name to {value!r}, so it cannot be cut out")
    return found


@functools.cache
def definitions(module: ModuleType) -> tuple[Definition, ...]:
    """All that a module defines or imports, in order."""
    tree = ast.parse(inspect.getsource(module))
    return tuple(one for statement in tree.body for one in _of(statement))


def code_of(tree: ast.AST) -> str:
    """The code as text, without its docstrings; comments and layout are none of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


@functools.cache
def _by_name(module: str) -> Mapping[str, list[Definition]]:
    found: dict[str, list[Definition]] = {}
    for one in definitions(importlib.import_module(module)):
        for name in one.gives:
            found.setdefault(name, []).append(one)
    return found


def _giving(module: str, name: str) -> list[Definition]:
    return _by_name(module).get(name, [])


def _of(statement: ast.stmt) -> Iterator[Definition]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield _import(statement, alias)
        return
    code = code_of(statement)
    uses = frozenset(node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name))
    yield Definition(code, frozenset(_given_by(statement)), uses)


def _given_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    for node in (node for target in targets for node in ast.walk(target)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _import(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> Definition:
    gives = frozenset([alias.asname or alias.name.partition(".")[0]])
    if isinstance(statement, ast.Import):
        return Definition(ast.unparse(ast.Import([alias])), gives, frozenset())
    code = ast.unparse(ast.ImportFrom(statement.module, [alias], statement.level))
    return Definition(code, gives, frozenset(), (statement.module or "", alias.name))
