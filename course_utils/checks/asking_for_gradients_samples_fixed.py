"""Unit 05, asking for gradients: the exercise on a batch norm with mean and variance fixed, and its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of

UNIT = "05_asking_for_gradients"

Function = Callable[[Tensor], Tensor]


# standardise ---------------------------------------------------------------------------------------------------

_SMALL = 1e-5


def _probe_standardise(answer: object, draw: Draw) -> Iterator[Observation]:
    def both(x: Tensor, g: Tensor) -> tuple[object, ...]:
        leaf = leaf_of(x)
        y = answer(leaf)
        return y, torch.autograd.grad(y, leaf, g)[0]

    parts = ("values", "gradient of x for the weights g")
    asked = both if callable(answer) else answer
    for shape in ((3, 2), (5, 1)):
        given = {"x": draw.tensor(*shape, high=4.5), "g": draw.tensor(*shape)}
        yield call("batch norm", asked, by_hand=False, parts=parts, **given)
    small = {"x": draw.tensor(4, 2) * 1e-3, "g": draw.tensor(4, 2)}  # a variance beside which 1e-5 counts
    yield call("batch norm of small numbers", asked, by_hand=False, parts=parts, **small)


def _with_plain_numbers(x: Tensor) -> Tensor:
    """Mean and root as numbers that autograd has never seen."""
    columns = x.detach().numpy()
    mean, root = columns.mean(0), (columns.var(0) + _SMALL) ** 0.5
    return (x - torch.from_numpy(mean)) / torch.from_numpy(root)


def _norm(mean: Function, variance: Function) -> Function:
    """The exercise's code with another mean and variance."""
    return lambda x: (x - mean(x)) / (variance(x) + _SMALL).sqrt()


def _mean(x: Tensor) -> Tensor:
    return x.mean(0)


def _variance(x: Tensor) -> Tensor:
    return x.var(0, unbiased=False)


def _detached(of: Function) -> Function:
    return lambda x: of(x).detach()


STANDARDISE = Exercise(
    name="standardise",
    unit=UNIT,
    title="A batch norm whose samples do not mix in the backward pass",
    points=3,
    probe=_probe_standardise,
    truth=_with_plain_numbers,
    given=_norm(_detached(_mean), _variance),
    when_as_given="Something that is computed from the whole batch still passes gradients on. Which of mean and "
    "variance is no fixed number yet?",
    misconceptions=(
        Misconception(
            "mean_left",
            _norm(_mean, _detached(_variance)),
            "The variance is fixed now, and the mean is not any more. It too is computed from every sample.",
        ),
        Misconception(
            "nothing_detached",
            _norm(_mean, _variance),
            "This is the usual batch norm: mean and variance both pass gradients on to every sample.",
        ),
        Misconception(
            "input_detached",
            lambda x: _norm(_mean, _variance)(x.detach()),
            "The samples themselves are detached: no gradient comes back at all. Which two things were to be fixed?",
            also=(torch.no_grad()(_norm(_mean, _variance)),),
        ),
        Misconception(
            "sample_detached_and_batch_left",
            lambda x: (x.detach() - _mean(x)) / (_variance(x) + _SMALL).sqrt(),
            "You have detached x itself where the mean is taken away from it, so no gradient goes the straight way "
            "from a sample to its own output. Which two things were to be fixed?",
            also=(
                lambda x: (x.detach() - _mean(x)) / (_variance(x).detach() + _SMALL).sqrt(),
                lambda x: (x.detach() - _mean(x).detach()) / (_variance(x) + _SMALL).sqrt(),
            ),
        ),
        Misconception(
            "other_variance",
            _norm(_detached(_mean), lambda x: x.var(0).detach()),
            "The values have changed: `var` and `std` divide by N - 1 unless they are told `unbiased=False`.",
            also=(
                lambda x: (x - _mean(x).detach()) / x.std(0).detach(),
                lambda x: (x - _mean(x).detach()) / (x.std(0).detach() + _SMALL),
            ),
        ),
        Misconception(
            "root_left_out",
            lambda x: (x - _mean(x).detach()) / (_variance(x).detach() + _SMALL),
            "The values have changed: you divide by the variance, and not by its root.",
        ),
        Misconception(
            "constant_left_out",
            lambda x: (x - _mean(x).detach()) / _variance(x).detach().sqrt(),
            "Right, as long as the columns vary a lot. For a column of nearly equal numbers the 1e-5 counts. Where "
            "was it, under the root or outside?",
            also=(
                lambda x: (x - _mean(x).detach()) / (_variance(x).detach().sqrt() + _SMALL),
                lambda x: (x - _mean(x).detach()) / (_variance(x).detach() + 1e-8).sqrt(),
            ),
        ),
        Misconception(
            "one_number_for_all_columns",
            _norm(lambda x: x.mean().detach(), lambda x: x.var(unbiased=False).detach()),
            "The values have changed: each column has a mean and a variance of its own. Along which dimension do they "
            "run?",
        ),
        Misconception(
            "each_sample_by_itself",
            _norm(
                lambda x: x.mean(1, keepdim=True).detach(), lambda x: x.var(1, unbiased=False, keepdim=True).detach()
            ),
            "You take mean and variance along dimension 1, so each sample is measured by itself. That is another "
            "layer, with other values. Which dimension counts the samples of the batch?",
            also=(
                _norm(lambda x: x.mean(1, keepdim=True), lambda x: x.var(1, unbiased=False, keepdim=True)),
                _norm(lambda x: x.mean(1, keepdim=True).detach(), lambda x: x.var(1, unbiased=False, keepdim=True)),
                _norm(lambda x: x.mean(1).detach(), lambda x: x.var(1, unbiased=False).detach()),
                _norm(lambda x: x.mean(1), lambda x: x.var(1, unbiased=False)),
            ),
        ),
        Misconception(
            "fixed_for_good",
            _norm(lambda x: torch.zeros_like(x[0]), lambda x: torch.ones_like(x[0])),
            "A mean of 0 and a variance of 1 do not mix the samples, and do not standardise them. The values must stay "
            "those of this batch.",
        ),
    ),
    hints=(
        "Two things in the last line are computed from the whole batch.",
        "`detach()` gives a tensor with the same values, through which no gradient goes.",
    ),
    when_right="The samples are apart now, and the question is another one: mean and variance count as fixed.",
)


EXERCISES = (STANDARDISE,)
