"""Unit 05, asking for gradients: the exercise on a single column, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of, vector_jacobian_product

UNIT = "05_asking_for_gradients"

Function = Callable[[Tensor], Tensor]


# by_column -----------------------------------------------------------------------------------------------------


def _probe_column(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_column(x: Tensor, k: int) -> object:
        return answer(lambda x: x[:, 0] ** 2 * x[:, 1] + x[:, 2] ** 3, x, k)

    for k in (1, 0, 2):
        asked = of_column if callable(answer) else answer
        yield call("derivatives of X[:, 0]**2 * X[:, 1] + X[:, 2]**3", asked, by_hand=False, X=draw.tensor(4, 3), k=k)


def _column_by_autograd(f: Function, x: Tensor, k: int) -> Tensor:
    column = x[:, k].clone()
    others = [x[:, j : j + 1] for j in range(x.shape[1])]

    def of_the_column(column: Tensor) -> Tensor:
        return f(torch.cat([*others[:k], column[:, None], *others[k + 1 :]], dim=1))

    return vector_jacobian_product(of_the_column, torch.ones(len(x), dtype=x.dtype), column)[0]


def _column(ask: Callable[[Tensor, Tensor, int], object]) -> Callable[[Function, Tensor, int], object]:
    """The given code with another last line: it gets the values, X and k."""

    def by_column(f: Function, x: Tensor, k: int) -> object:
        x = leaf_of(x)
        return ask(f(x), x, k)

    return by_column


def _whole(values: Tensor, x: Tensor) -> Tensor:
    return torch.autograd.grad(values.sum(), x)[0]


BY_COLUMN = Exercise(
    name="by_column",
    unit=UNIT,
    title="The derivative with respect to one column",
    points=2,
    probe=_probe_column,
    truth=_column_by_autograd,
    given=_column(lambda values, x, k: torch.autograd.grad(values.sum(), x[:, k], allow_unused=True)[0]),
    when_as_given="It still gives None: from which tensor were the values computed?",
    misconceptions=(
        Misconception(
            "slice_is_the_same_tensor",
            _column(lambda values, x, k: torch.autograd.grad(values.sum(), x[:, k])[0]),
            "Without `allow_unused` the error is back. It has a point: the slice that you ask for is a tensor of its "
            "own, and the values were computed from X, not from it.",
        ),
        Misconception(
            "zeros_in_place_of_none",
            _column(lambda values, x, k: torch.autograd.grad(values.sum(), x[:, k], materialize_grads=True)[0]),
            "Now there are zeros in place of None: they still say that no path was found. The slice that you ask for "
            "is a tensor of its own, and the values do not come from it.",
        ),
        Misconception(
            "row_in_place_of_column",
            _column(lambda values, x, k: _whole(values, x)[k]),
            "You take row k of the gradient: all that belongs to sample k. Which dimension counts the columns?",
        ),
        Misconception(
            "whole_gradient",
            _column(lambda values, x, k: _whole(values, x)),
            "This is the gradient with respect to all of X. Asked for is one column of it.",
        ),
        Misconception(
            "summed_over_samples",
            _column(lambda values, x, k: _whole(values, x)[:, k].sum()),
            "You add the samples up. Each sample has a derivative of its own.",
            also=(_column(lambda values, x, k: _whole(values, x).sum(0)[k]),),
        ),
        Misconception(
            "mean_of_the_values",
            _column(lambda values, x, k: torch.autograd.grad(values.mean(), x)[0][:, k]),
            "You begin at the mean of the values, which divides by their number. Which weights leave each sample's "
            "derivative as it is?",
        ),
        Misconception(
            "index_into_the_tuple",
            _column(lambda values, x, k: torch.autograd.grad(values.sum(), x)[k]),
            "`torch.autograd.grad` returns a tuple, here with a single tensor in it. Your `[k]` looks for column k in "
            "the tuple.",
        ),
        Misconception(
            "always_the_first_column",
            _column(lambda values, x, k: _whole(values, x)[:, 0]),
            "This is the first column, whatever `k` is.",
        ),
        Misconception(
            "first_sample_only",
            _column(lambda values, x, k: torch.autograd.grad(values[0], x)[0][:, k]),
            "You ask about the value of a single sample only. It does not depend on the other rows.",
            also=(_column(lambda values, x, k: torch.autograd.grad(values[k], x)[0][:, k]),),
        ),
        Misconception(
            "f_of_a_column",
            lambda f, x, k: f(x[:, k]),
            "`f` was given one column, and it computes with all of them. With X as it is, what do you ask for?",
            also=(lambda f, x, k: f(x[:, k : k + 1]),),
        ),
    ),
    hints=(
        "`f` was given X. With respect to which tensor can you ask?",
        "The gradient with respect to X has the shape of X. Where in it stands what is asked for?",
    ),
    when_right="Ask for the tensor that was used, and slice the answer.",
)


EXERCISES = (BY_COLUMN,)
