"""Unit 02, the computation graph: the exercises on order and on where a gradient comes in, and their mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.given import in_order
from course_utils.checks.graphs import Node, Number, by_autograd, run
from course_utils.checks.oracle import vector_jacobian_product
from course_utils.checks.plain import agree, plain

UNIT = "02_computation_graph"


# mend_overwriting ----------------------------------------------------------------------------------------------

_SHARED = (
    "a = x * y; b = x * y; L = a + b",
    "a = x ** 2; b = a ** 2; L = a + b",
    "a = x + y; b = a * x; L = b * a",
)


def _probe_overwriting(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_program(program: str, x: float, y: float) -> tuple[object, ...]:
        leaves = {"x": Number(x), "y": Number(y)}
        made = run(program, **leaves)
        answer(made["L"])
        return tuple(made[name].grad for name in ("a", "b", "x", "y"))

    parts = tuple(f"{name}.grad" for name in ("a", "b", "x", "y"))
    for program in _SHARED:
        x, y = (value.item() for value in draw.scalars(2))
        asked = of_program if callable(answer) else answer
        yield call("gradients", asked, parts=parts, program=program, x=x, y=y)


def _fill_grads(result: Number) -> None:
    for node, gradient in by_autograd(result):
        node.grad = gradient.item()


def _walked(meet: Callable[[float, float, float], float], backwards: bool = True) -> Callable[[Number], None]:
    """A backward that puts together, at each parent, what it has, the node's gradient, and the local derivative."""

    def backward(result: Number) -> None:
        result.grad = 1.0
        order = in_order(result)
        for node in reversed(order) if backwards else order:
            for parent, slope in zip(node.parents, node.slopes, strict=True):
                parent.grad = meet(parent.grad, node.grad, slope)

    return backward


def _resent(result: Number) -> None:
    """Goes on to a parent at once, with what has arrived there so far."""

    def send(node: Number) -> None:
        for parent, slope in zip(node.parents, node.slopes, strict=True):
            parent.grad += node.grad * slope
            send(parent)

    result.grad = 1.0
    send(result)


MEND_OVERWRITING = Exercise(
    name="mend_overwriting",
    unit=UNIT,
    title="Mend a backward that loses messages",
    points=2,
    probe=_probe_overwriting,
    truth=_fill_grads,
    given=_walked(lambda grad, incoming, slope: incoming * slope),
    misconceptions=(
        Misconception(
            "only_additions_accumulate",
            _walked(lambda grad, incoming, slope: grad + incoming if slope == 1.0 else incoming * slope),
            "You add up where the local derivative is 1, as in an addition, and replace elsewhere. It does not matter "
            "which operation a message comes from. What matters is that several messages arrive at one node.",
        ),
        Misconception(
            "averaged",
            _walked(lambda grad, incoming, slope: (grad + incoming * slope) / 2),
            "You take the mean of what is there and what arrives. A small step of x moves L along both paths at once: "
            "the two changes add.",
        ),
        Misconception(
            "multiplied",
            _walked(lambda grad, incoming, slope: (grad or 1.0) * incoming * slope),
            "You multiply what is there by what arrives. Factors multiply along one path. Here messages from "
            "different paths meet.",
        ),
        Misconception(
            "local_derivative_only",
            _walked(lambda grad, incoming, slope: grad + slope),
            "You add up the local derivatives alone. What a node sends on depends on what it has received.",
        ),
        Misconception(
            "incoming_only",
            _walked(lambda grad, incoming, slope: grad + incoming),
            "The messages are added up, but each arrives as it was sent off. By which factor does an operation "
            "change a gradient that goes through it?",
        ),
        Misconception(
            "sent_on_before_all_arrived",
            _resent,
            "You add up, and go on to each parent at once. A parent that gets a second message later sends the first "
            "one once more. When is it ready to send?",
        ),
        Misconception(
            "inputs_first",
            _walked(lambda grad, incoming, slope: grad + incoming * slope, backwards=False),
            "Your loop begins at the inputs. No gradient has arrived there yet. At which end does it start?",
        ),
    ),
    hints=(
        "In the first program x has two messages to receive, one from a and one from b. Look at what x.grad holds "
        "after each of them.",
        "What an earlier message has brought must still be there afterwards.",
    ),
    when_right="Whatever the operation: where several messages arrive, they add up.",
)


# topological_order ---------------------------------------------------------------------------------------------

_DEPTH = 10_000
_FAULTS = ("nodes left out", "nodes that come twice", "nodes that come before one of their parents", "strange members")
_ORDERED = (
    "a = x ** 2; b = a ** 2; L = a + b",
    "a = x * y; b = a * x; c = b * a; L = c + a",
    "a = x + y; b = a * y; c = x * b; d = c * c; L = d + x",
)


def _faults_of(answer: Callable[[Node], Sequence[Node]], result: Node) -> tuple[int, ...] | None:
    """How far the answer's list is from an order: all 0 for each of the orders that there are; None for no list."""
    order = answer(result)
    if order is None:
        return None
    order = list(order)
    expected = in_order(result)
    known = {id(node) for node in expected}
    first: dict[int, int] = {}
    for place, node in enumerate(order):
        first.setdefault(id(node), place)
    early = sum(
        any(first.get(id(parent), -1) > first[id(node)] for parent in node.parents)
        for node in expected
        if id(node) in first
    )
    left_out = len(known - set(first))
    return left_out, len(order) - len(first), early, len(set(first) - known)


def _deep(depth: int) -> Node:
    x = Number(1.0)
    node = x
    for _ in range(depth):
        node = Number(0.0, (node, x))  # what is computed plays no part here
    return node


def _probe_order(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_program(program: str) -> tuple[int, ...] | None:
        return _faults_of(answer, run(program, x=Number(2.0), y=Number(3.0))["L"])

    def of_chain(operations: int) -> tuple[int, ...] | None:
        return _faults_of(answer, _deep(operations))

    known, label = callable(answer), "faults of the order"
    seen = [call(label, of_program if known else answer, parts=_FAULTS, program=program) for program in _ORDERED]
    seen.append(call(label, of_chain if known else answer, parts=_FAULTS, operations=3))
    yield from seen
    faulty = [one for one in seen if not agree(one.value, plain((0, 0, 0, 0)))]
    # a long chain takes its time; what is wrong in a small graph stands for it
    yield faulty[0] if faulty else call(label, of_chain, parts=_FAULTS, operations=_DEPTH)


def _recursive(result: Node) -> list[Node]:
    order: list[Node] = []
    seen: set[Node] = set()

    def visit(node: Node) -> None:
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(result)
    return order


def _level_by_level(result: Node) -> list[Node]:
    """Breadth first from the result, turned round."""
    order = [result]
    for node in order:
        order += [parent for parent in dict.fromkeys(node.parents) if parent not in order]
    return order[::-1]


def _depth_first(result: Node) -> list[Node]:
    """A stack from the result, each node noted when it is first taken, turned round."""
    stack, seen, order = [result], set(), []
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            stack.extend(node.parents)
    return order[::-1]


def _every_arrival(result: Node) -> list[Node]:
    """Nothing is remembered, so a node is listed each time it is reached."""
    stack, order = [result], []
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(node.parents)
    return order[::-1]


TOPOLOGICAL_ORDER = Exercise(
    name="topological_order",
    unit=UNIT,
    title="An order in which every gradient is complete when it is sent on",
    points=4,
    probe=_probe_order,
    truth=in_order,
    misconceptions=(
        Misconception(
            "calls_too_deep",
            _recursive,
            "Your order is right, and for 10,000 operations in a row your function calls itself 10,000 times. Python "
            "allows about 1,000 calls inside each other. Which list of your own could remember where to go on?",
        ),
        Misconception(
            "level_by_level",
            _level_by_level,
            "It looks as if you went through the graph level by level. A node can be near the result on one path, "
            "and far from it on another. Which of the two decides when it is complete?",
        ),
        Misconception(
            "noted_when_first_met",
            _depth_first,
            "It looks as if a node takes its place when your walk first meets it. Another node that uses it may be "
            "met later. What must have happened before a node may take its place?",
        ),
        Misconception(
            "every_arrival_listed",
            _every_arrival,
            "Some nodes come more than once: each time that a path leads to them. Keep note of where you have been.",
        ),
        Misconception(
            "result_first",
            lambda result: in_order(result)[::-1],
            "This is the order for the way back: the result first. Asked for is the order in which the values were "
            "computed, each node after its parents.",
        ),
        Misconception(
            "inputs_left_out",
            lambda result: [node for node in in_order(result) if node.parents],
            "The inputs, which have no parents, are missing. They are nodes too: gradients arrive there.",
        ),
        Misconception(
            "result_left_out",
            lambda result: in_order(result)[:-1],
            "The result itself is missing. The backward pass starts there.",
        ),
    ),
    hints=(
        "With recursion it would be: first all parents, then the node itself. Write that first, on paper.",
        "Now keep a stack: a list from whose end you take. Put each node there twice, with a mark: `(node, False)` "
        "when you meet it, `(node, True)` when its parents are to come first.",
        "Taken with False: put it back with True, then put its parents on top of it. Taken with True: all its parents "
        "are in the list, so append it. Skip what is in the list already. (Counting messages, as in the lesson, works "
        "too.)",
    ),
    when_right="There are many such orders, and every one of them gives the same gradients.",
)


# head_gradient -------------------------------------------------------------------------------------------------


def _probe_head(answer: object, draw: Draw) -> Iterator[Observation]:
    for shape in ((3,), (2, 2)):
        x, head = draw.tensor(*shape), draw.tensor(*shape)
        yield call("gradient of x", answer, by_hand=False, x=x, head=head)


def _from(choose: Callable[[Tensor, Tensor, Tensor, Tensor], None]) -> Callable[[Tensor, Tensor], Tensor]:
    """The given code with another line in place of the one to be mended: it gets x, y, z and the head gradient."""

    def gradient_of_x(x: Tensor, head: Tensor) -> Tensor:
        x = x.clone().requires_grad_()
        y = x * x
        choose(x, y, 3 * y, head)
        return x.grad

    return gradient_of_x


HEAD_GRADIENT = Exercise(
    name="head_gradient",
    unit=UNIT,
    title="A gradient that comes in half way",
    points=2,
    probe=_probe_head,
    truth=lambda x, head: vector_jacobian_product(lambda x: x * x, head, x)[0],
    given=_from(lambda x, y, z, head: z.backward(head)),
    misconceptions=(
        Misconception(
            "head_ignored",
            _from(lambda x, y, z, head: y.sum().backward()),
            "You start at y, which is right, with an incoming gradient of ones. What L does with y is told by `head`.",
            also=(_from(lambda x, y, z, head: y.backward(torch.ones_like(y))),),
        ),
        Misconception(
            "rest_counted_head_ignored",
            _from(lambda x, y, z, head: z.sum().backward()),
            "You start at z, with an incoming gradient of ones. The gradient that is known belongs to y.",
            also=(_from(lambda x, y, z, head: z.backward(torch.ones_like(z))),),
        ),
        Misconception(
            "head_summed",
            _from(lambda x, y, z, head: y.sum().backward(head.sum())),
            "You make one number of `head`. Each entry of y has a gradient of its own.",
        ),
        Misconception(
            "factor_taken_out_twice",
            _from(lambda x, y, z, head: y.backward(head / 3)),
            "You divide by 3. That would undo the 3 in z = 3 * y, if the gradient had to pass z. From y it does not.",
        ),
        Misconception(
            "head_passed_through",
            _from(lambda x, y, z, head: x.backward(head)),
            "You hand `head` to x. It is the gradient of y. Between y and x stands an operation, y = x * x.",
        ),
        Misconception(
            "head_applied_twice",
            _from(lambda x, y, z, head: (y * head).backward(head)),
            "`head` comes in twice. Once is enough: either as a factor of y, or as the incoming gradient.",
        ),
    ),
    hints=(
        "The argument of `t.backward(...)` is the gradient of L with respect to t itself. Of which tensor is `head` "
        "the gradient?",
        "What lies between y and L is contained in `head` already.",
    ),
    when_right="A gradient belongs to one tensor. There it comes in, and everything after that tensor is in it.",
)


EXERCISES = (MEND_OVERWRITING, TOPOLOGICAL_ORDER, HEAD_GRADIENT)
