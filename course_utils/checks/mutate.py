"""Small changes to a solution, each of which a check must notice: the measure of how closely it looks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Path = tuple[tuple[str, int | None], ...]  # from the module to a node: a field, and a place if it is a list


@dataclass(frozen=True)
class Mutant:
    """A changed solution: what was changed, in words that stay the same from run to run, and the code."""

    change: str
    source: str


def mutants(source: str, first: int, last: int) -> Iterator[Mutant]:
    """Every mutant of the code in lines `first` to `last` of `source`; two with the same code count once.

    Changed are operators, the order of operands, arguments and members, signs, constants, names, comparisons;
    operands, method calls, keyword arguments and statements are dropped.
    """
    tree = ast.parse(source)
    seen = {ast.unparse(tree)}
    names = _parameters(tree)
    for path, node in _walk(tree):
        if not first <= getattr(node, "lineno", 0) <= last:
            continue
        for what, changed in _changes(node, names):
            text = _with_replacement(tree, path, changed)
            if text not in seen:
                seen.add(text)
                yield Mutant(f"`{ast.unparse(node)}`: {what}", text)


def _parameters(tree: ast.Module) -> list[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return sorted({argument.arg for function in functions for argument in function.args.args})


def _walk(node: ast.AST, path: Path = ()) -> Iterator[tuple[Path, ast.AST]]:
    yield path, node
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield from _walk(value, (*path, (field, None)))
        elif isinstance(value, list):
            for place, item in enumerate(value):
                if isinstance(item, ast.AST):
                    yield from _walk(item, (*path, (field, place)))


def _with_replacement(tree: ast.Module, path: Path, node: ast.AST) -> str:
    """The code of the tree with `node` at `path`; the tree is left as it was."""
    parent = tree
    *way, (field, place) = path
    for step, index in way:
        parent = getattr(parent, step) if index is None else getattr(parent, step)[index]
    before = getattr(parent, field)
    setattr(parent, field, node if place is None else [*before[:place], node, *before[place + 1 :]])
    try:
        return ast.unparse(tree)
    finally:
        setattr(parent, field, before)


def _changes(node: ast.AST, names: list[str]) -> Iterator[tuple[str, ast.AST]]:
    """Every change of one node, with what it is called."""
    match node:
        case ast.BinOp():
            yield from _binary(node)
        case ast.UnaryOp(op=ast.USub()):
            yield "sign dropped", node.operand
        case ast.Compare(ops=[op]):
            yield from _comparison(node, op)
        case ast.Constant():
            yield from _constant(node)
        case ast.Name(ctx=ast.Load()) if node.id in names:
            for other in names:
                if other != node.id:
                    yield f"`{other}` instead", ast.Name(other, ast.Load())
        case ast.Tuple(ctx=ast.Load()) if len(node.elts) > 1:
            yield "order reversed", ast.Tuple(node.elts[::-1], ast.Load())
            yield from (("sign changed", _one_negated(node, place)) for place in range(len(node.elts)))
        case ast.Call():
            yield from _calls(node)
        case ast.Attribute(ctx=ast.Load(), attr="T" | "mT"):
            yield "transpose dropped", node.value
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Tuple):
            yield "sign changed", ast.Return(_negated(node.value))
    if isinstance(node, ast.stmt) and not isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield "statement dropped", ast.Pass()


_OTHER_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.Sub),
    ast.Pow: (ast.Mult, ast.Add),
    ast.MatMult: (ast.Mult, ast.Add),
    ast.Mod: (ast.FloorDiv,),
    ast.FloorDiv: (ast.Div,),
}


def _binary(node: ast.BinOp) -> Iterator[tuple[str, ast.AST]]:
    for other in _OTHER_OPERATORS.get(type(node.op), ()):
        yield f"{type(node.op).__name__} made {other.__name__}", ast.BinOp(node.left, other(), node.right)
    if not isinstance(node.op, ast.Add | ast.Mult):
        yield "operands exchanged", ast.BinOp(node.right, node.op, node.left)
    yield "right operand dropped", node.left
    yield "left operand dropped", node.right


def _comparison(node: ast.Compare, op: ast.cmpop) -> Iterator[tuple[str, ast.AST]]:
    for other in (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq):
        if not isinstance(op, other):
            change = f"{type(op).__name__} made {other.__name__}"
            yield change, ast.Compare(node.left, [other()], node.comparators)


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    value = node.value
    if isinstance(value, bool):
        yield f"{not value} instead", ast.Constant(not value)
    elif isinstance(value, int | float):
        yield from ((f"{new} instead", ast.Constant(new)) for new in (value + 1, value - 1, -value) if new != value)
    elif isinstance(value, str):
        yield "text changed", ast.Constant(chr(ord(value[0]) + 1) + value[1:] if value else "x")


def _calls(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.func, ast.Attribute):
        yield "call dropped", node.func.value
    if len(node.args) > 1:
        yield "arguments reversed", ast.Call(node.func, node.args[::-1], node.keywords)
    for place, argument in enumerate(node.args):
        rest = node.args[:place] + node.args[place + 1 :]
        yield f"argument `{ast.unparse(argument)}` dropped", ast.Call(node.func, rest, node.keywords)
    for place, keyword in enumerate(node.keywords):
        rest = node.keywords[:place] + node.keywords[place + 1 :]
        yield f"`{keyword.arg}` dropped", ast.Call(node.func, node.args, rest)


def _negated(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), node)


def _one_negated(node: ast.Tuple, place: int) -> ast.Tuple:
    members = [_negated(member) if i == place else member for i, member in enumerate(node.elts)]
    return ast.Tuple(members, ast.Load())
