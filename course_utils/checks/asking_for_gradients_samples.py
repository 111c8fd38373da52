"""Unit 05, asking for gradients: the exercises on samples that stay apart, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.asking_for_gradients_loops import loop_mistakes, through_dot_grad
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
        *loop_mistakes(
            lambda collect: _outputs(lambda y, t: torch.cat(collect(y.T, t), dim=1)),
            one="column",
            of_the_last="output",
            dot_grad="t.grad",
        ),
        Misconception(
            "two_outputs_whatever_comes",
            _outputs(lambda y, t: torch.cat(_columns(y[:, :2], t), dim=1)),
            "With two outputs it works. Another `f` may have another number of them: here there are three.",
        ),
        Misconception(
            "whole_jacobian",
            lambda f, t: torch.func.jacrev(f)(t),
            "This is a whole Jacobian: each output of each sample, by every entry of `t`. The samples do not mix, so "
            "most of it is 0. Which of its entries are asked for?",
            also=(lambda f, t: torch.func.jacrev(f)(t).squeeze(),),
        ),
        Misconception(
            "outputs_in_rows",
            _outputs(lambda y, t: torch.cat(_columns(y, t), dim=1).T),
            "The numbers are right. Your rows are the outputs; asked for is a row for each sample.",
        ),
        Misconception(
            "dimension_left",
            _outputs(lambda y, t: torch.stack(_columns(y, t), dim=1)),
            "The numbers are right, and there is a dimension of size 1 too many: each gradient has the shape of `t`. "
            "(`torch.stack` adds a dimension, `torch.cat` does not.)",
            also=(
                _outputs(lambda y, t: torch.stack(_columns(y, t))),
                _outputs(lambda y, t: torch.stack(_columns(y, t), dim=2)),
            ),
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
            "batched_grads_means_batched_data",
            _outputs(lambda y, t: torch.autograd.grad(y, t, torch.ones_like(y), is_grads_batched=True)[0]),
            "With is_grads_batched=True, the first dimension of the weights counts the questions, and each question "
            "has the shape of y, (N, m). How many questions are there, and where does each of them have a 1?",
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


EXERCISES = (EACH_OUTPUT, CHOOSE_TRICK)
