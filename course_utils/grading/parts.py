"""A merged notebook taken apart: for each exercise those cells that it needs, so that it can run alone."""

from __future__ import annotations

import ast
import builtins
import functools
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from course_utils.grading.merge import Merged, MergedCell
from course_utils.grading.names import definitions, parsed


@dataclass(frozen=True)
class Part:
    """One exercise, and the positions in the merged notebook of the cells that run for it; the last shows evidence."""

    exercise: str
    positions: tuple[int, ...]


@functools.lru_cache(maxsize=4096)  # asked for before the run and after it
def parts(merged: Merged) -> tuple[Part, ...]:
    """A part for each exercise, in order.

    Its cells are those before its evidence that are given or the learner's own, its answer, and, of other answers,
    those that define a name which it uses.
    """
    evidence = [place for place, cell in enumerate(merged.cells) if cell.role == "evidence"]
    return tuple(Part(merged.cells[place].exercise, _needed(merged.cells, place)) for place in evidence)


def _needed(cells: Sequence[MergedCell], evidence: int) -> tuple[int, ...]:
    exercise = cells[evidence].exercise
    own = [place for place in range(evidence) if cells[place].exercise == exercise]
    needed: set[int] = set()
    ahead = [evidence, *own]
    while ahead:
        place = ahead.pop()
        if place in needed:
            continue
        needed.add(place)
        before = evidence if cells[place].role != "extra" else place
        for name in used_names(cells[place].source):
            ahead += _last_that_binds(name, cells, before, besides=place)
    always = {place for place in range(evidence) if cells[place].role in ("given", "extra")}
    return tuple(sorted(needed | always))


def _last_that_binds(name: str, cells: Sequence[MergedCell], before: int, besides: int) -> list[int]:
    """The nearest cell before that place which gives the name a value."""
    found = (
        place
        for place in reversed(range(before))
        if place != besides and cells[place].role != "evidence" and name in bound_names(cells[place].source)
    )
    return [place for place in [next(found, None)] if place is not None]


@functools.lru_cache(maxsize=4096)
def used_names(source: str) -> frozenset[str]:
    """The names that a cell needs from elsewhere, as far as its text tells."""
    tree = parsed(source)
    if tree is None:
        return frozenset()
    try:
        names = frozenset(_global_names(symtable.symtable(ast.unparse(tree), "cell", "exec")))
    except (SyntaxError, ValueError, RecursionError):
        names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    # for `x += 1`, a symbol table says only that x gets a value
    added = (node.target for node in ast.walk(tree) if isinstance(node, ast.AugAssign))
    return (names | {node.id for node in added if isinstance(node, ast.Name)}) - frozenset(vars(builtins))


def _global_names(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module"):
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _global_names(inner)


@functools.lru_cache(maxsize=4096)
def bound_names(source: str) -> frozenset[str]:
    """The names to which a cell gives a value, by whatever statement."""
    tree = parsed(source)
    if tree is None:
        return frozenset(definitions(source))
    try:
        table = symtable.symtable(ast.unparse(tree), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return frozenset(definitions(source))
    return frozenset(one.get_name() for one in table.get_symbols() if one.is_assigned() or one.is_imported())
