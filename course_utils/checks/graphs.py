"""Graphs to try answers on: nodes that know the torch function that made them, so that autograd can judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course_utils.checks.by_hand import autograd
from course_utils.checks.given import in_order
from course_utils.checks.oracle import vector_jacobian_product


class Node:
    """A value that remembers its parents, and the torch function that made it of them."""

    start: object = None  # what `grad` holds before anything has arrived

    def __init__(self, data: object, parents: Sequence[Node] = (), formula: Callable[..., Tensor] | None = None):
        self.data = data
        self.parents = tuple(parents)
        self.formula = formula
        self.grad = self.start

    def made(self, formula: Callable[..., Tensor], *others: Node) -> Node:
        """The node for `formula` of this node and others."""
        parents = (self, *others)
        return type(self)(formula(*(parent.tensor() for parent in parents)), parents, formula)

    def tensor(self) -> Tensor:
        """The data as a tensor."""
        return torch.as_tensor(self.data, dtype=torch.float64)

    def __add__(self, other: Node) -> Node:
        return self.made(torch.add, other)

    def __mul__(self, other: Node) -> Node:
        return self.made(torch.mul, other)

    def __pow__(self, n: int) -> Node:
        return self.made(lambda x: x**n)


class Number(Node):
    """A node of plain numbers, with the local derivative of each parent."""

    start = 0.0

    def made(self, formula: Callable[..., Tensor], *others: Node) -> Node:
        node = super().made(formula, *others)
        node.data = float(node.data)
        return node

    @property
    def slopes(self) -> tuple[float, ...]:
        """The derivative of this node by each of its parents."""
        if self.formula is None:
            return ()
        one = torch.ones((), dtype=torch.float64)
        inputs = (parent.tensor() for parent in self.parents)
        return tuple(slope.item() for slope in vector_jacobian_product(self.formula, one, *inputs))


class Value(Node):
    """A node of tensors, with a backward; also the truth about an engine's operations."""

    def pass_back(self, incoming: Tensor) -> tuple[Tensor, ...]:
        """One gradient for each parent; ValueError where no gradient has arrived yet."""
        if incoming is None:
            raise ValueError("`pass_back` was given None: no message has arrived at this node yet")
        if self.formula is None:
            return ()
        inputs = [parent.data for parent in self.parents]
        if self.formula is torch.add and all(value.shape == incoming.shape for value in inputs):
            return incoming, incoming  # one tensor twice, as additions written by hand return it
        return vector_jacobian_product(self.formula, incoming, *inputs)

    def __matmul__(self, other: Node) -> Node:
        return self.made(torch.matmul, other)

    def exp(self) -> Node:
        """e to the power of each entry."""
        return self.made(torch.exp)

    def relu(self) -> Node:
        """Each entry where it is positive, else 0."""
        return self.made(torch.relu)

    def sum(self) -> Node:
        """The sum of all entries."""
        return self.made(torch.sum)


def by_autograd(result: Node, incoming: Tensor | None = None) -> list[tuple[Node, Tensor]]:
    """Every node behind `result` with its gradient, from torch's engine on the same formulas."""
    order = in_order(result)
    with autograd():
        live: dict[int, Tensor] = {}
        for node in order:
            inputs = [live[id(parent)] for parent in node.parents]
            live[id(node)] = node.formula(*inputs) if inputs else node.tensor().clone().requires_grad_()
        wanted = [live[id(node)] for node in order]
        gradients = torch.autograd.grad(live[id(result)], wanted, None if incoming is None else incoming.clone())
    return list(zip(order, gradients, strict=True))


def run(program: str, **leaves: object) -> dict[str, object]:
    """The variables after a program such as `a = x * y; b = a + x`, which works on any kind of leaves."""
    variables = dict(leaves)
    exec(compile(program, "<expression>", "exec"), {}, variables)
    return variables
