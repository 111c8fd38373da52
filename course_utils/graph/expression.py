"""A formula that is written once: computed with tensors, told with names, told with numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

Operand = Tensor | int | float | complex | tuple | bool | None
Tell = Callable[[str], str]

_WEAKEST, _COMPARED, _SUM, _PRODUCT, _SIGN, _POWER, _ATOM = range(7)
_OPERATORS: dict[type, tuple[str, int]] = {
    ast.Add: (" + ", _SUM),
    ast.Sub: (" − ", _SUM),
    ast.Mult: (" × ", _PRODUCT),
    ast.MatMult: (" @ ", _PRODUCT),
    ast.Div: (" / ", _PRODUCT),
    ast.Pow: ("^", _POWER),
}


def _spread(gradient: Tensor, sizes: tuple, dim: object = None, keepdim: bool = True) -> Tensor:
    """The gradient of a sum: one copy for each element that was added."""
    if dim is not None and not keepdim:
        for position in sorted(axis % len(sizes) for axis in dim):
            gradient = gradient.unsqueeze(position)
    return gradient.expand(sizes)


# each with the words around its first argument; further arguments are how, not what
_FUNCTIONS: dict[str, tuple[Callable[..., Tensor], str]] = {
    "cos": (torch.cos, "cos({})"),
    "sin": (torch.sin, "sin({})"),
    "sinh": (torch.sinh, "sinh({})"),
    "cosh": (torch.cosh, "cosh({})"),
    "exp": (torch.exp, "exp({})"),
    "log": (lambda x: torch.log(torch.as_tensor(x)), "log({})"),
    "sign": (torch.sign, "sign({})"),
    "spread": (_spread, "{} for each element"),
    "reshape": (torch.reshape, "{} in the old shape"),
    "transpose": (torch.transpose, "{} transposed"),
    "ones_where": (lambda condition: condition.to(torch.float32), "[{}]"),
}


@dataclass(frozen=True)
class Expression:
    """A formula such as `incoming * cos(self)`, in Python's notation."""

    source: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The operands, in the order in which they are read."""
        found = [node.id for node in ast.walk(self._tree) if isinstance(node, ast.Name)]
        return tuple(dict.fromkeys(name for name in found if name not in _FUNCTIONS))

    @cached_property
    def elementwise(self) -> bool:
        """Whether each element of the outcome comes from one element of each operand."""
        parts = list(ast.walk(self._tree))
        called = {part.func.id for part in parts if isinstance(part, ast.Call)}
        whole = any(isinstance(part, (ast.MatMult, ast.Attribute)) for part in parts)
        return not whole and called.isdisjoint({"spread", "reshape", "transpose"})

    def compute(self, operands: Mapping[str, Operand]) -> Tensor:
        """What the formula gives for these operands."""
        functions = {name: function for name, (function, _) in _FUNCTIONS.items()}
        with torch.no_grad():
            return torch.as_tensor(eval(self._code, functions, dict(operands)))

    def told(self, tell: Tell, ones: frozenset[str] = frozenset()) -> str:
        """The formula as people write it; `tell` gives each operand's text.

        `ones` are operands that are 1 and say nothing as a factor.
        """
        return _told(_without(self._tree, ones), tell)[0]

    @cached_property
    def _tree(self) -> ast.expr:
        return ast.parse(self.source, mode="eval").body

    @cached_property
    def _code(self) -> object:
        return compile(self.source, "<formula>", "eval")


def _without(tree: ast.expr, ones: frozenset[str]) -> ast.expr:
    """The formula without the factors that are 1."""
    if not isinstance(tree, ast.BinOp):
        if isinstance(tree, ast.UnaryOp):
            return ast.UnaryOp(tree.op, _without(tree.operand, ones))
        return tree
    if isinstance(tree.op, ast.Mult) and isinstance(tree.right, ast.Name) and tree.right.id in ones:
        return _without(tree.left, ones)
    return ast.BinOp(_without(tree.left, ones), tree.op, _without(tree.right, ones))


def _told(tree: ast.expr, tell: Tell) -> tuple[str, int]:
    """The text of a part, and how strongly it holds together."""
    match tree:
        case ast.Name(id=name):
            return _operand(tell(name))
        case ast.Constant(value=value):
            return str(value), _ATOM
        case ast.Attribute(value=value):  # only .T and .mT
            return _inside(value, tell, _ATOM) + "ᵀ", _ATOM
        case ast.Call(func=ast.Name(id=name), args=[first, *_]):
            words = _FUNCTIONS[name][1]
            bare = words.startswith("{}")
            text = _inside(first, tell, _ATOM) if bare else _told(first, tell)[0]
            return words.format(text), _WEAKEST if bare else _ATOM
        case ast.UnaryOp(operand=operand):
            return "−" + _inside(operand, tell, _PRODUCT), _SIGN
        case ast.Compare(left=left, comparators=[right]):
            return f"{_told(left, tell)[0]} > {_told(right, tell)[0]}", _COMPARED
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(left, op, right, tell)
    raise TypeError(f"no words for {ast.dump(tree)}")


def _binary(left: ast.expr, op: ast.operator, right: ast.expr, tell: Tell) -> tuple[str, int]:
    sign, strength = _OPERATORS[type(op)]
    if isinstance(op, ast.Pow) and isinstance(right, ast.Constant) and right.value in (2, 3):
        return _inside(left, tell, _ATOM) + {2: "²", 3: "³"}[right.value], _POWER
    # on the right of − and / a part of the same strength needs brackets too
    tighter = strength + (isinstance(op, (ast.Sub, ast.Div, ast.Pow)))
    before = _inside(left, tell, strength + isinstance(op, ast.Pow))
    return f"{before}{sign}{_inside(right, tell, max(tighter, strength))}", strength


def _inside(part: ast.expr, tell: Tell, needed: int) -> str:
    text, strength = _told(part, tell)
    return text if strength >= needed else f"({text})"


def _operand(text: str) -> tuple[str, int]:
    """A negative number stands in brackets wherever something stands beside it."""
    return text, _WEAKEST if text.startswith("-") else _ATOM
