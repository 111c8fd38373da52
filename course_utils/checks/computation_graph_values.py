"""Unit 02, the computation graph: the exercise on the operations of an engine for tensors, and its mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import NotAttempted, Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.expressions import random_program
from course_utils.checks.given import in_order
from course_utils.checks.graphs import Node, Value, run
from course_utils.checks.plain import Raised

UNIT = "02_computation_graph"
SHAPES: Mapping[str, tuple[int, ...]] = {"a": (2, 3), "b": (3,), "c": (2, 1), "d": (3, 2)}


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
    yield from _if_any_is_written(_attempts_of_one(answer, draw))
    leaves = {name: draw.tensor(*shape) for name, shape in SHAPES.items()}
    for _ in range(2):
        yield _attempt(answer, draw, random_program(draw, leaves, steps=6), leaves)


def _attempts_of_one(answer: object, draw: Draw) -> Iterator[Observation]:
    for program, shapes in _SINGLE:
        low, high = (0.1, 1.0) if "relu" in program else (0.5, 2.5)  # a threshold near 0 must be told from 0
        leaves = {name: draw.tensor(*shape, low=low, high=high) for name, shape in shapes.items()}
        yield _attempt(answer, draw, (program,), leaves)


def _if_any_is_written(attempts: Iterator[Observation]) -> Iterator[Observation]:
    """The attempts; NotAttempted if each of them ends at an operation that is still to be written."""
    first = []
    for attempt in attempts:
        first.append(attempt)
        if attempt.value != _UNWRITTEN:
            break
    else:
        raise NotAttempted
    yield from first
    yield from attempts


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
    """The right class, but for the operations named: these get another `pass_back(incoming, *data)`.

    That of `power` gets the exponent, too.
    """

    class Changed(Value):
        exponent: tuple[int, ...] = ()

        def __pow__(self, n: int) -> Value:
            node = super().__pow__(n)
            node.exponent = (n,)
            return node

        def pass_back(self, incoming: Tensor) -> object:
            name = getattr(self.formula, "__name__", "")
            other = pass_backs.get({"<lambda>": "power"}.get(name, name))
            if other is None:
                return super().pass_back(incoming)
            return other(incoming, *(parent.data for parent in self.parents), *self.exponent)

    return Changed


_ALONE: Mapping[str, PassBack] = {  # the derivatives, without the incoming gradient
    "power": lambda incoming, a, n: (n * a ** (n - 1),),
    "exp": lambda incoming, a: (a.exp(),),
    "relu": lambda incoming, a: ((a > 0).double(),),
    "sum": lambda incoming, a: (torch.ones_like(a),),
}


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
                mul=lambda incoming, a, b: ((incoming * a).sum_to_size(a.shape), (incoming * b).sum_to_size(b.shape))
            ),
            "The gradient of each side is `incoming` times the *other* factor. Yours has the side itself.",
            also=(_with(mul=lambda incoming, a, b: (incoming * a, incoming * b)),),
        ),
        Misconception(
            "exponent_kept",
            _with(power=lambda incoming, a, n: (incoming * n * a**n,)),
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
            _with(**_ALONE),
            "You return the derivative alone. Where does `incoming` come in?",
            also=tuple(_with(**dict(some)) for n in (1, 2, 3) for some in itertools.combinations(_ALONE.items(), n)),
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


EXERCISES = (OPERATIONS,)
