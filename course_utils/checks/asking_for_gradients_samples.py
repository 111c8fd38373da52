"""Unit 05, asking for gradients: the exercises on samples that may mix, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.asking_for_gradients_loops import through_dot_grad
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of, vector_jacobian_product

UNIT = "05_asking_for_gradients"

Function = Callable[[Tensor], Tensor]


# each_output ---------------------------------------------------------------------------------------------------


def _probe_outputs(answer: object, draw: Draw) -> Iterator[Observation]:
    def at(c: Tensor, t: Tensor) -> tuple[object, ...]:
        mine = t.clone()
        return answer(lambda t: c * t**3 + c**2 * t, mine), mine.requires_grad

    parts = ("derivatives", "t requires a gradient afterwards")

    for samples, outputs in ((4, 2), (2, 3)):
        asked = at if callable(answer) else answer
        given = {"c": draw.tensor(outputs), "t": draw.tensor(samples, 1)}
        yield call("derivatives of c * t**3 + c**2 * t", asked, by_hand=False, parts=parts, **given)


def _outputs_by_autograd(f: Function, t: Tensor) -> Tensor:
    """Sample by sample and output by output: one number with respect to one number."""
    shape = f(t).shape
    rows = []
    for sample in t:
        one_hot = torch.eye(shape[1], dtype=t.dtype)
        rows.append([vector_jacobian_product(lambda s: f(s[None])[0], row, sample)[0] for row in one_hot])
    return torch.stack([torch.cat(row) for row in rows])


def _outputs(ask: Callable[[Tensor, Tensor], object]) -> Callable[[Function, Tensor], object]:
    """Marks a copy of t, computes, and asks."""

    def each_output(f: Function, t: Tensor) -> object:
        t = leaf_of(t)
        return ask(f(t), t)

    return each_output


def _columns(y: Tensor, t: Tensor, keep: bool = True) -> list[Tensor]:
    return [torch.autograd.grad(y[:, k].sum(), t, retain_graph=keep)[0] for k in range(y.shape[1])]


def _marks_the_given_t(f: Function, t: Tensor) -> Tensor:
    t.requires_grad_()
    return torch.cat(_columns(f(t), t), dim=1)


EACH_OUTPUT = Exercise(
    name="each_output",
    unit=UNIT,
    title="A derivative for each output of each sample",
    points=3,
    probe=_probe_outputs,
    truth=_outputs_by_autograd,
    misconceptions=(
        Misconception(
            "output_components_collapsed",
            _outputs(lambda y, t: torch.autograd.grad(y, t, torch.ones_like(y))[0]),
            "One pass gives one number for each entry of t. In it the outputs of a sample are added up. How many "
            "passes keep them apart?",
            also=(_outputs(lambda y, t: torch.autograd.grad(y.sum(), t)[0].squeeze()),),
        ),
        Misconception(
            "one_dot_grad_for_all",
            _outputs(lambda y, t: torch.cat(through_dot_grad(y.T, t), dim=1)),
            "Every column is the same sum over the outputs. Either one pass made them, or they are all one tensor, "
            "`t.grad`, and every backward has added to it.",
            also=(_outputs(lambda y, t: torch.autograd.grad(y, t, torch.ones_like(y))[0].expand(y.shape)),),
        ),
        Misconception(
            "last_output_for_all",
            _outputs(lambda y, t: torch.cat(through_dot_grad(y.T, t, zeroed=True), dim=1)),
            "Every column is that of the last output: they are all one tensor, `t.grad`, and each pass writes into it. "
            "What makes a gradient yours?",
        ),
        Misconception(
            "never_cleared",
            _outputs(lambda y, t: torch.cat(through_dot_grad(y.T, t, copied=True), dim=1)),
            "The first column is right, and each later one contains those before it. What does `backward` do to what "
            "stands in t.grad?",
        ),
        Misconception(
            "outputs_in_rows",
            _outputs(lambda y, t: torch.cat(_columns(y, t), dim=1).T),
            "The numbers are right. Your rows are the outputs; asked for is a row for each sample.",
        ),
        Misconception(
            "dimension_left",
            _outputs(lambda y, t: torch.stack(_columns(y, t), dim=1)),
            "The numbers are right. Each gradient has the shape of t, with a dimension of size 1, and `torch.stack` "
            "adds one more.",
            also=(_outputs(lambda y, t: torch.stack(_columns(y, t))),),
        ),
        Misconception(
            "under_each_other",
            _outputs(lambda y, t: torch.cat(_columns(y, t))),
            "The gradients of the outputs stand under each other, in one column. They belong side by side.",
        ),
        Misconception(
            "mean_over_samples",
            _outputs(
                lambda y, t: torch.cat(
                    [torch.autograd.grad(y[:, k].mean(), t, retain_graph=True)[0] for k in range(y.shape[1])], dim=1
                )
            ),
            "You begin at the mean over the samples, which divides by their number. Which weights leave each sample's "
            "derivative as it is?",
        ),
        Misconception(
            "first_sample_only",
            _outputs(
                lambda y, t: torch.cat([torch.autograd.grad(one, t, retain_graph=True)[0] for one in y[0]], dim=1)
            ),
            "You ask about the outputs of the first sample only. They do not depend on the other entries of t.",
        ),
        Misconception(
            "t_is_changed",
            _marks_the_given_t,
            "The derivatives are right, and `t` is no longer as it was given: it requires a gradient now. On which "
            "tensor could you set the flag instead?",
        ),
        Misconception(
            "graph_freed",
            _outputs(lambda y, t: torch.cat(_columns(y, t, keep=False), dim=1)),
            "The first output works. Then the graph is gone: a pass frees what was saved. Here one graph is to be "
            "gone through once for each output.",
        ),
    ),
    hints=(
        "For one output k: the samples do not mix. Which single number has a gradient that tells every sample's own "
        "derivative of output k?",
        "It has the shape of t, (N, 1): a column. You need m columns, side by side: `torch.cat(..., dim=1)`.",
    ),
    when_right="Samples may be added up, because they do not mix. Outputs may not: they share their t.",
)


# choose_trick --------------------------------------------------------------------------------------------------

_MODELS: dict[str, Function] = {
    "a": lambda x: torch.tanh(x - x.mean(0)).sum(1),
    "b": lambda x: torch.tanh(x - x.mean(1, keepdim=True)).sum(1),
    "c": lambda x: (torch.softmax(x, 0) ** 2).sum(1),
    "d": lambda x: torch.cumsum(x, 0).sum(1),
}


def _probe_trick(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


def _samples_stay_apart(model: Function) -> bool:
    """Whether no output depends on another sample, at a batch without symmetries."""
    x = Draw(5).tensor(4, 3)
    for sample, one_hot in enumerate(torch.eye(4, dtype=x.dtype)):
        (gradient,) = vector_jacobian_product(model, one_hot, x)
        others = torch.cat([gradient[:sample], gradient[sample + 1 :]])
        if others.abs().max() > 1e-9:
            return False
    return True


def _true_trick() -> str:
    (letter,) = (letter for letter, model in _MODELS.items() if _samples_stay_apart(model))
    return letter


CHOOSE_TRICK = Exercise(
    name="choose_trick",
    unit=UNIT,
    title="Where the gradient of a sum tells of each sample",
    points=1,
    probe=_probe_trick,
    truth=_true_trick(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "batch_independence_assumed",
            "a",
            "`x.mean(0)` runs down the columns: over the samples. Every output gets a part of every sample. Along "
            "which dimension may a mean run, so that samples stay apart?",
        ),
        Misconception(
            "softmax_by_sample",
            "c",
            "`torch.softmax(x, 0)` divides by a sum that runs over dimension 0. What does that dimension count?",
        ),
        Misconception(
            "running_sum_by_sample",
            "d",
            "`torch.cumsum(x, 0)` adds up from row to row. What does the second output depend on?",
        ),
    ),
    hints=(
        "In each formula, look for the operation that puts several entries of x together. Along which dimension does "
        "it run?",
        "Dimension 0 counts the samples, dimension 1 the entries of a sample.",
    ),
    when_right="Whatever runs over dimension 1 stays inside a sample.",
)


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
    when_as_given="If you have changed how the mean is detached: what else is computed from the whole batch?",
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
            "other_variance",
            _norm(_detached(_mean), lambda x: x.var(0).detach()),
            "The values have changed: `var` divides by N - 1 unless it is told `unbiased=False`.",
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
            "The samples no longer mix, because each is measured by itself. That is another layer, with other values.",
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


EXERCISES = (EACH_OUTPUT, CHOOSE_TRICK, STANDARDISE)
