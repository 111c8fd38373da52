"""Unit 05, asking for gradients: the exercise on the rows of a Jacobian, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor

from course_utils.checks.asking_for_gradients_loops import loop_mistakes
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of, vector_jacobian_product

UNIT = "05_asking_for_gradients"

Function = Callable[[Tensor], Tensor]


# mend_jacobian -------------------------------------------------------------------------------------------------


def _probe_jacobian(answer: object, draw: Draw) -> Iterator[Observation]:
    def at(matrix: Tensor, x: Tensor) -> object:
        return answer(lambda x: matrix @ x**3, x)

    for outputs, inputs in ((2, 3), (4, 2)):
        asked = at if callable(answer) else answer
        matrix = draw.tensor(outputs, inputs)
        yield call("Jacobian of A @ x**3", asked, by_hand=False, A=matrix, x=draw.tensor(inputs))


def _rows(f: Function, x: Tensor) -> Tensor:
    one_hot = torch.eye(len(f(x)), dtype=x.dtype)
    return torch.stack([vector_jacobian_product(f, row, x)[0] for row in one_hot])


def _asked(ask: Callable[[Tensor, Tensor], object]) -> Callable[[Function, Tensor], object]:
    """The given code with another last line: it gets y and x."""

    def jacobian(f: Function, x: Tensor) -> object:
        x = leaf_of(x)
        return ask(f(x), x)

    return jacobian


def _one_by_one(y: Iterable[Tensor], x: Tensor, keep: bool = True) -> Tensor:
    return torch.stack([torch.autograd.grad(entry, x, retain_graph=keep)[0] for entry in y])


def _some_rows(count: Callable[[Tensor, Tensor], int]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda y, x: _one_by_one([y[i] for i in range(count(y, x))], x)


def _stack_of(weights: Callable[[Tensor, Tensor], Tensor], batched: bool = True) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda y, x: torch.autograd.grad(y, x, weights(y, x), is_grads_batched=batched)[0]


MEND_JACOBIAN = Exercise(
    name="mend_jacobian",
    unit=UNIT,
    title="A Jacobian, row by row or at once",
    points=3,
    probe=_probe_jacobian,
    truth=_rows,
    given=_asked(lambda y, x: torch.stack(torch.autograd.grad(list(y), [x] * len(y)))),
    when_as_given="All rows are the same sum. Either one call made them, and one call is one backward pass. Or they "
    "are all one tensor, `x.grad`, and every backward has added to it.",
    misconceptions=(
        Misconception(
            "jacobian_transposed",
            _asked(lambda y, x: _one_by_one(y, x).T),
            "Each number is right, and what belongs to one output stands in a column. One pass with a single 1 gives "
            "all about one output: a row.",
        ),
        Misconception(
            "rows_summed",
            _asked(lambda y, x: torch.autograd.grad(y, x, torch.ones_like(y))[0]),
            "This is the sum of the rows: weights of ones. Each row needs weights of its own.",
            also=(_asked(lambda y, x: torch.autograd.grad(y.sum(), x)[0]),),
        ),
        *loop_mistakes(
            lambda collect: _asked(lambda y, x: torch.stack(collect(y, x))),
            one="row",
            of_the_last="output",
            dot_grad="x.grad",
        ),
        Misconception(
            "first_row_for_all",
            _asked(lambda y, x: torch.autograd.grad(y[0], x)[0].expand(len(y), len(x))),
            "Every row is the row of the first output. Which entry of y does the row i belong to?",
        ),
        Misconception(
            "batched_grads_means_batched_data",
            _asked(_stack_of(lambda y, x: torch.ones_like(y))),
            "With is_grads_batched=True, the first dimension of the weights counts the questions, and each question "
            "has the shape of y. Yours does not fit. Which matrix has a row for each entry of y, with one 1 in it?",
            also=(_asked(_stack_of(lambda y, x: torch.eye(len(x), dtype=y.dtype))),),
        ),
        Misconception(
            "rows_counted_by_the_inputs",
            _asked(_some_rows(lambda y, x: len(x))),
            "You take as many rows as `x` has entries. To what does a row belong, and how many of these are there?",
        ),
        Misconception(
            "two_rows_whatever_comes",
            _asked(_some_rows(lambda y, x: 2)),
            "With two outputs it works. Another `f` may have another number of them: here there are four.",
            also=(_asked(_stack_of(lambda y, x: torch.eye(2, dtype=y.dtype))),),
        ),
        Misconception(
            "stack_without_the_flag",
            _asked(_stack_of(lambda y, x: torch.eye(len(y), dtype=y.dtype), batched=False)),
            "A whole stack of weights goes in, and torch is not told that it is a stack.",
        ),
        Misconception(
            "graph_freed",
            _asked(lambda y, x: _one_by_one(y, x, keep=False)),
            "The first row works. Then the graph is gone: a pass frees what was saved. Here one graph is to be gone "
            "through several times on purpose.",
        ),
    ),
    hints=(
        "What comes back from one pass, if g is 1 at the place i and 0 elsewhere?",
        "With a loop: a row for each i, and `retain_graph=True`. `torch.stack` puts rows under each other.",
        "Without a loop: all these g in one matrix, and `is_grads_batched=True`.",
    ),
    when_right="One pass for each output: that is the price of a Jacobian, whoever runs the loop.",
)


EXERCISES = (MEND_JACOBIAN,)
