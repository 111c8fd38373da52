"""Unit 02, the computation graph: the two exercises that make an engine for tensors, and their mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import NotAttempted, Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.expressions import random_program
from course_utils.checks.given import in_order
from course_utils.checks.graphs import Node, Value, by_autograd, run
from course_utils.checks.plain import Raised

UNIT = "02_computation_graph"
_SHAPES: Mapping[str, tuple[int, ...]] = {"a": (2, 3), "b": (3,), "c": (2, 1), "d": (3, 2)}


# operations ----------------------------------------------------------------------------------------------------

_SINGLE = (
    ("L = a * b", {"a": (2, 3), "b": (2, 3)}),
    ("L = a * b", {"a": (2, 3), "b": (3,)}),
    ("L = a * b", {"a": (2, 1), "b": (4, 2, 3)}),
    ("L = a ** 3", {"a": (2, 3)}),
    ("L = a @ b", {"a": (2, 3), "b": (3, 4)}),
    ("L = a @ b", {"a": (3, 3), "b": (3, 3)}),
    ("L = a.exp()", {"a": (2, 3)}),
    ("L = a.relu()", {"a": (3, 4)}),
    ("L = a.sum()", {"a": (2, 3)}),
)


_UNWRITTEN = Raised("NotImplementedError")


def _probe_operations(answer: object, draw: Draw) -> Iterator[Observation]:
    seen: list[Observation] = []
    for program, shapes in _SINGLE:
        low, high = (0.1, 1.0) if "relu" in program else (0.5, 2.5)  # a threshold near 0 must be told from 0
        leaves = {name: draw.tensor(*shape, low=low, high=high) for name, shape in shapes.items()}
        seen.append(_attempt(answer, draw, (program,), leaves))
    if all(one.value == _UNWRITTEN for one in seen):
        raise NotAttempted
    leaves = {name: draw.tensor(*shape) for name, shape in _SHAPES.items()}
    seen += [_attempt(answer, draw, random_program(draw, leaves, steps=6), leaves) for _ in range(2)]
    yield from seen


def _attempt(answer: object, draw: Draw, program: tuple[str, ...], leaves: Mapping[str, Tensor]) -> Observation:
    """The value and the gradients that a class of values gives for a program; a stub in the way is evidence, too."""

    def of_program(program: object, incoming: Tensor, *data: Tensor) -> tuple[object, ...]:
        made = {name: answer(value) for name, value in zip(leaves, data, strict=True)}
        result = run("; ".join(lines), **made)["L"]
        found = _carried_back(result, incoming)
        return result.data, *(found.get(id(leaf)) for leaf in made.values())

    lines = program
    parts = ("value of L", *(f"gradient of {name}" for name in leaves))
    incoming = draw.tensor(*run("; ".join(lines), **leaves)["L"].shape)
    shown = lines[0] if len(lines) == 1 else lines
    asked = of_program if callable(answer) else answer
    try:
        return call("value and gradients", asked, parts=parts, program=shown, incoming=incoming, **leaves)
    except NotAttempted:
        story = f"`{shown}` uses an operation that is still to be written."
        return Observation("value and gradients", _UNWRITTEN, (("program", shown),), parts, story=story)


def _carried_back(result: Node, incoming: Tensor) -> dict[int, Tensor]:
    """The gradient of each node by its id, with the `pass_back` of each."""
    found = {id(result): incoming}
    for node in reversed(in_order(result)):
        gradients = node.pass_back(found[id(node)])
        if not isinstance(gradients, tuple | list) or len(gradients) != len(node.parents):
            raise ValueError(
                f"`pass_back` must return a tuple with one gradient for each parent, {len(node.parents)} here. A comma "
                "makes a tuple of a single one: `return gradient,`"
            )
        for parent, gradient in zip(node.parents, gradients, strict=True):
            found[id(parent)] = found[id(parent)] + gradient if id(parent) in found else gradient
    return found


PassBack = Callable[..., object]


def _with(**pass_backs: PassBack) -> type[Value]:
    """The right class, but for the operations named: these get another `pass_back(incoming, *data)`."""

    class Changed(Value):
        def pass_back(self, incoming: Tensor) -> object:
            name = getattr(self.formula, "__name__", "")
            other = pass_backs.get({"<lambda>": "power"}.get(name, name))
            if other is None:
                return super().pass_back(incoming)
            return other(incoming, *(parent.data for parent in self.parents))

    return Changed


OPERATIONS = Exercise(
    name="operations",
    unit=UNIT,
    title="The operations of an engine",
    points=5,
    probe=_probe_operations,
    truth=Value,
    misconceptions=(
        Misconception(
            "not_summed",
            _with(mul=lambda incoming, a, b: (incoming * b, incoming * a)),
            "The product is right where both have one shape. Where one of them was broadcast, its gradient comes back "
            "with the shape of the result. What was copied forward is summed backward.",
        ),
        Misconception(
            "swapped_factors",
            _with(
                mul=lambda incoming, a, b: (
                    (incoming * a).sum_to_size(a.shape) if a.shape == incoming.shape else incoming * a,
                    (incoming * b).sum_to_size(b.shape) if b.shape == incoming.shape else incoming * b,
                )
            ),
            "In a product each factor gets the incoming gradient times the other factor. Yours gets itself.",
        ),
        Misconception(
            "exponent_kept",
            _with(power=lambda incoming, a: (incoming * 3 * a**3,)),
            "The exponent has come down as a factor, and the power is still the old one. What is the derivative of "
            "x**n?",
        ),
        Misconception(
            "transposes_missing",
            _with(matmul=lambda incoming, a, b: (incoming @ b, a @ incoming)),
            "In the matrix product the right matrices are multiplied, but not transposed. Let the shapes decide: a is "
            "(n, k), b is (k, m), `incoming` is (n, m).",
        ),
        Misconception(
            "exp_of_incoming",
            _with(exp=lambda incoming, a: (incoming.exp(),)),
            "You take the exponential of the incoming gradient. The derivative of exp belongs to the input, and the "
            "incoming gradient is a factor.",
        ),
        Misconception(
            "exp_derived_like_a_power",
            _with(exp=lambda incoming, a: (incoming * a * torch.exp(a - 1),)),
            "x * exp(x - 1) would be the rule of a power. In exp(x) the input stands in the exponent.",
        ),
        Misconception(
            "exp_derivative_missing",
            _with(exp=lambda incoming, a: (incoming,)),
            "exp passes the gradient on as it came. A small step of x changes exp(x) by how many times the step?",
        ),
        Misconception(
            "relu_of_incoming",
            _with(relu=lambda incoming, a: (incoming.clamp(min=0),)),
            "You cut off negative gradients. What decides is the input: where it was positive, relu let it through, "
            "and there the gradient passes, whatever its sign.",
        ),
        Misconception(
            "relu_passes_values",
            _with(relu=lambda incoming, a: (incoming * a.clamp(min=0),)),
            "You multiply by the value that relu gave. Where relu lets a number through, how much does its result "
            "change with a small step?",
        ),
        Misconception(
            "relu_passes_all",
            _with(relu=lambda incoming, a: (incoming,)),
            "relu passes every gradient on. Where the input is negative, its result is 0, before a small step and "
            "after it.",
        ),
        Misconception(
            "sum_not_spread",
            _with(sum=lambda incoming, a: (incoming,)),
            "The gradient of a sum is right as a number. The input has a shape, and its gradient has the same one.",
        ),
        Misconception(
            "sum_shared_out",
            _with(sum=lambda incoming, a: (incoming * torch.ones_like(a) / a.numel(),)),
            "You share the gradient of the sum out. That is the rule of the mean. Raise one entry by a small step: by "
            "how much does the sum rise?",
        ),
        Misconception(
            "incoming_ignored",
            _with(exp=lambda incoming, a: (a.exp(),), relu=lambda incoming, a: ((a > 0).double(),)),
            "In exp and relu you return the derivative alone. Where does `incoming` come in?",
        ),
    ),
    hints=(
        "Follow the pattern of `__add__`: compute the new data, write down how a gradient passes back, return a new "
        "Value with both parents.",
        "The rules are those of unit 01. In a product, multiply first and then sum to the shape of the parent.",
        "An operation with one parent returns a tuple with one member: `return incoming * ...,` with the comma.",
        "exp: its derivative is exp itself. relu: 1 where the input is positive, 0 elsewhere. sum: `incoming` is one "
        "number, and `expand` spreads it.",
    ),
    when_right="Seven operations, each one a pair. Most of a neural network needs no others.",
)


# engine_backward -----------------------------------------------------------------------------------------------

_DEEP = 2_000
_SMALL = (
    ("L = a * b", {"a": (3,), "b": (3,)}),
    ("L = a + a", {"a": (3,)}),
    ("t = a * a; u = t * t; L = t + u", {"a": (3,)}),
    ("t = a * b; u = t * a; L = u * t", {"a": (2, 2), "b": (2, 2)}),
)


def _probe_engine(answer: object, draw: Draw) -> Iterator[Observation]:
    for program, shapes in _SMALL:
        yield _grads(answer, draw, (program,), {name: draw.tensor(*shape) for name, shape in shapes.items()})
    leaves = {name: draw.tensor(*shape) for name, shape in _SHAPES.items()}
    for _ in range(2):
        yield _grads(answer, draw, random_program(draw, leaves, steps=6), leaves)

    def of_chain(operations: int, incoming: Tensor, a: Tensor) -> object:
        leaf = Value(a)
        node = leaf
        for _ in range(operations):
            node = Value(node.data + a, (node, leaf), torch.add)
        answer(node, incoming)
        return leaf.grad

    incoming, a = draw.scalars(2)
    asked = of_chain if callable(answer) else answer
    yield call("gradient of a", asked, operations=_DEEP, incoming=incoming, a=a)


def _grads(answer: object, draw: Draw, program: tuple[str, ...], leaves: Mapping[str, Tensor]) -> Observation:
    """What stands in `.grad` of the leaves after the answer has run."""

    def of_program(program: object, incoming: Tensor, *data: Tensor) -> tuple[object, ...]:
        made = {name: Value(value) for name, value in zip(leaves, data, strict=True)}
        answer(run("; ".join(lines), **made)["L"], incoming)
        grads = tuple(leaf.grad for leaf in made.values())
        return grads if len(grads) > 1 else grads[0]

    lines = program
    parts = tuple(f"gradient of {name}" for name in leaves)
    incoming = draw.tensor(*run("; ".join(lines), **leaves)["L"].shape)
    shown = lines[0] if len(lines) == 1 else lines
    asked = of_program if callable(answer) else answer
    label = "gradients" if len(parts) > 1 else parts[0]
    return call(label, asked, parts=parts if len(parts) > 1 else (), program=shown, incoming=incoming, **leaves)


def _fill_grads(result: Value, incoming: Tensor) -> None:
    for node, gradient in by_autograd(result, incoming):
        node.grad = gradient


def _walked(
    meet: Callable[[Tensor | None, Tensor], Tensor], start: Callable[[Tensor], Tensor] = lambda incoming: incoming
) -> Callable[[Value, Tensor], None]:
    """The right order, with another way to put together what a node has and what arrives, or another start."""

    def backward(result: Value, incoming: Tensor) -> None:
        result.grad = start(incoming)
        for node in reversed(in_order(result)):
            for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
                parent.grad = meet(parent.grad, gradient)

    return backward


def _sum(grad: Tensor | None, gradient: Tensor) -> Tensor:
    return gradient if grad is None else grad + gradient


def _sum_in_place(grad: Tensor | None, gradient: Tensor) -> Tensor:
    if grad is None:
        return gradient
    grad += gradient
    return grad


def _resent(result: Value, incoming: Tensor) -> None:
    result.grad = incoming
    stack = [result]
    while stack:
        node = stack.pop()
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            parent.grad = _sum(parent.grad, gradient)
            if parent.parents:
                stack.append(parent)


ENGINE_BACKWARD = Exercise(
    name="engine_backward",
    unit=UNIT,
    title="The backward pass of an engine",
    points=4,
    probe=_probe_engine,
    truth=_fill_grads,
    misconceptions=(
        Misconception(
            "overwrites",
            _walked(lambda grad, gradient: gradient),
            "A message that arrives at a node replaces the one before. In `a + a`, two arrive at a.",
        ),
        Misconception(
            "incoming_ignored",
            _walked(_sum, torch.ones_like),
            "Your backward starts with ones. It was given an incoming gradient: the result may go on into something "
            "larger.",
        ),
        Misconception(
            "adds_in_place",
            _walked(_sum_in_place),
            "`+=` writes into the tensor that is there. An addition hands one and the same tensor to both of its "
            "parents, and here even to your caller: each of them sees it change. How do you add without writing?",
        ),
        Misconception(
            "averaged",
            _walked(lambda grad, gradient: gradient if grad is None else (grad + gradient) / 2),
            "You take the mean of the messages. A small step of an input moves the result along every path at once: "
            "the changes add.",
        ),
        Misconception(
            "sent_on_before_all_arrived",
            _resent,
            "Each node sends on whenever something arrives. What came first is then sent on again with what comes "
            "later. When is a node ready?",
        ),
        Misconception(
            "first_message_kept",
            _walked(lambda grad, gradient: gradient if grad is None else grad),
            "Only the first message stays at each node. In `a + a`, two arrive at a.",
        ),
        Misconception(
            "inputs_keep_nothing",
            lambda result, incoming: None,
            "Nothing stands in `.grad` of the inputs. Your function returns nothing: it leaves its results in the "
            "nodes. Where does it write to them?",
            also=(lambda result, incoming: dict(by_autograd(result, incoming)),),
        ),
    ),
    hints=(
        "It is the loop of exercise 5. What was `node.grad * slope` there, for each parent, is now a member of what "
        "`node.pass_back(node.grad)` returns.",
        "`grad` is None until the first message arrives, and None cannot be added to.",
        "Start with `result.grad = incoming`. Then go through `reversed(in_order(result))`.",
    ),
    when_right="These few lines are an engine. It needs no idea of what the operations are.",
)


EXERCISES = (OPERATIONS, ENGINE_BACKWARD)
