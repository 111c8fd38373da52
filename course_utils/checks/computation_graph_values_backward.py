"""Unit 02, the computation graph: the exercise on the backward pass of an engine for tensors, and its mistakes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor

from course_utils.checks.computation_graph_order import depth_first, level_by_level, recursive
from course_utils.checks.computation_graph_values import SHAPES
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Evidence, Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.expressions import random_program
from course_utils.checks.given import in_order
from course_utils.checks.graphs import Value, by_autograd, run

UNIT = "02_computation_graph"


# engine_backward -----------------------------------------------------------------------------------------------

_DEEP = 2_000
_CHAIN = "gradient of a"
_SMALL = (
    ("L = a * b", {"a": (3,), "b": (3,)}),
    ("L = a + a", {"a": (3,)}),
    ("t = a * a; u = t * t; L = t + u", {"a": (3,)}),
    ("t = a * b; u = t * a; L = u * t", {"a": (2, 2), "b": (2, 2)}),
)


def _probe_engine(answer: object, draw: Draw) -> Iterator[Observation]:
    for program, leaves in _programs(draw):
        incoming = draw.tensor(*run("; ".join(program), **leaves)["L"].shape)
        yield _grads(answer, program, leaves, incoming)
    yield _grad_of_chain(answer, *draw.scalars(2))


def _small_graphs_first(evidence: Evidence, truth: Evidence) -> Evidence:
    """An exception from the long chain would hide what is wrong in a small graph, so that stands for it."""
    *small, _ = evidence
    wrong = next((one for one, right in zip(small, truth, strict=False) if not one.agrees_with(right)), None)
    return (*small, replace(wrong, label=_CHAIN)) if wrong else evidence


def _programs(draw: Draw) -> Iterator[tuple[tuple[str, ...], dict[str, Tensor]]]:
    for program, shapes in _SMALL:
        yield (program,), {name: draw.tensor(*shape) for name, shape in shapes.items()}
    leaves = {name: draw.tensor(*shape) for name, shape in SHAPES.items()}
    for _ in range(2):
        yield random_program(draw, leaves, steps=6), leaves


def _grad_of_chain(answer: object, incoming: Tensor, a: Tensor) -> Observation:
    def of_chain(operations: int, incoming: Tensor, a: Tensor) -> object:
        leaf = Value(a)
        node = leaf
        for _ in range(operations):
            node = Value(node.data + a, (node, leaf), torch.add)
        answer(node, incoming)
        return leaf.grad

    asked = of_chain if callable(answer) else answer
    return call(_CHAIN, asked, operations=_DEEP, incoming=incoming, a=a)


def _grads(answer: object, lines: tuple[str, ...], leaves: Mapping[str, Tensor], incoming: Tensor) -> Observation:
    """What stands in `.grad` of the leaves after the answer has run."""

    def of_program(program: object, incoming: Tensor, *data: Tensor) -> tuple[object, ...]:
        made = {name: Value(value) for name, value in zip(leaves, data, strict=True)}
        answer(run("; ".join(lines), **made)["L"], incoming)
        grads = tuple(leaf.grad for leaf in made.values())
        return grads if len(grads) > 1 else grads[0]

    parts = tuple(f"gradient of {name}" for name in leaves)
    shown = lines[0] if len(lines) == 1 else lines
    asked = of_program if callable(answer) else answer
    label = "gradients" if len(parts) > 1 else parts[0]
    return call(label, asked, parts=parts if len(parts) > 1 else (), program=shown, incoming=incoming, **leaves)


def _fill_grads(result: Value, incoming: Tensor) -> None:
    for node, gradient in by_autograd(result, incoming):
        node.grad = gradient


def _sum(grad: Tensor | None, gradient: Tensor) -> Tensor:
    return gradient if grad is None else grad + gradient


def _walked(
    meet: Callable[[Tensor | None, Tensor], Tensor] = _sum,
    start: Callable[[Tensor], Tensor] = lambda incoming: incoming,
    order: Callable[[Value], list[Value]] = in_order,
) -> Callable[[Value, Tensor], None]:
    """The right loop, with another way to put together what a node has and what arrives, another start or order."""

    def backward(result: Value, incoming: Tensor) -> None:
        result.grad = start(incoming)
        for node in reversed(order(result)):
            for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
                parent.grad = meet(parent.grad, gradient)

    return backward


def _sum_in_place(grad: Tensor | None, gradient: Tensor) -> Tensor:
    if grad is None:
        return gradient
    grad += gradient
    return grad


def _waiting(take: int, once: bool) -> Callable[[Value, Tensor], None]:
    """A node waits for its turn as soon as something arrives: in a stack (take -1), or in a queue (take 0).

    With `once`, it does so at its first message alone.
    """

    def backward(result: Value, incoming: Tensor) -> None:
        result.grad = incoming
        waiting = [result]
        while waiting:
            node = waiting.pop(take)
            for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
                if parent.grad is None or not once:
                    waiting.append(parent)
                parent.grad = _sum(parent.grad, gradient)

    return backward


def _straight_ahead(at_once: bool, once: bool = False) -> Callable[[Value, Tensor], None]:
    """A node calls its parents: each one `at_once` when its message is there, or when all messages are sent."""

    def backward(result: Value, incoming: Tensor) -> None:
        seen = set()

        def send(node: Value) -> None:
            if once and node in seen:
                return
            seen.add(node)
            for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
                parent.grad = _sum(parent.grad, gradient)
                if at_once:
                    send(parent)
            if not at_once:
                for parent in node.parents:
                    send(parent)

        result.grad = incoming
        send(result)

    return backward


def _as_met(result: Value) -> list[Value]:
    """Each node where recursion first meets it; turned round."""
    met: dict[Value, None] = {}

    def visit(node: Value) -> None:
        if node not in met:
            met[node] = None
            for parent in node.parents:
                visit(parent)

    visit(result)
    return list(met)[::-1]


ENGINE_BACKWARD = Exercise(
    name="engine_backward",
    unit=UNIT,
    title="The backward pass of an engine",
    points=4,
    probe=_probe_engine,
    settle=_small_graphs_first,
    truth=_fill_grads,
    misconceptions=(
        Misconception(
            "overwrites",
            _walked(lambda grad, gradient: gradient),
            "A message that arrives at a node replaces the one before. In `a + a`, two arrive at a.",
        ),
        Misconception(
            "incoming_ignored",
            _walked(start=torch.ones_like),
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
            "passes_on_too_early",
            _walked(order=level_by_level),
            "t passes on before the message from u has arrived. Which order makes it wait?",
            also=(
                _walked(order=depth_first),
                _walked(order=_as_met),
                _waiting(take=-1, once=True),
                _waiting(take=0, once=True),
                _straight_ahead(at_once=True, once=True),
                _straight_ahead(at_once=False, once=True),
            ),
        ),
        Misconception(
            "passes_on_too_often",
            _waiting(take=-1, once=False),
            "A node passes on more than once, and what it sent before is in its sum again. When is it ready to pass "
            "on, once and for all?",
            also=(
                _waiting(take=0, once=False),
                _straight_ahead(at_once=True),
                _straight_ahead(at_once=False),
            ),
        ),
        Misconception(
            "calls_too_deep",
            _walked(order=recursive),
            "Your gradients are right, and for 2,000 operations in a row your function calls itself 2,000 times. "
            "Python allows about 1,000 calls inside each other. Which list could tell you, without such calls, which "
            "node is next?",
        ),
        Misconception(
            "added_to_none",
            _walked(operator.iadd),
            "grad is None until the first message arrives, and nothing can be added to None. What should the first "
            "message do?",
            also=(_walked(operator.add), _walked(lambda grad, gradient: gradient + grad)),
        ),
        Misconception(
            "incoming_of_another_shape",
            _walked(start=lambda incoming: torch.tensor(1.0)),
            "The incoming gradient has the wrong shape. Do you use `incoming`?",
            also=(
                _walked(start=lambda incoming: torch.tensor(1.0, dtype=incoming.dtype)),
                _walked(start=lambda incoming: incoming.sum()),
            ),
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


EXERCISES = (ENGINE_BACKWARD,)
