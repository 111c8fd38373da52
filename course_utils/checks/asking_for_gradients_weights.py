"""Unit 05, asking for gradients: the exercise on the weights' gradient for each sample, and its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.asking_for_gradients_loops import loop_mistakes, through_dot_grad
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of, vector_jacobian_product

UNIT = "05_asking_for_gradients"


# for_each_sample -----------------------------------------------------------------------------------------------

Losses = Callable[[Tensor, Tensor], Tensor]


def _losses(w: Tensor, x: Tensor) -> Tensor:
    return ((x @ w.reshape(-1, 3).T) ** 3 / 10).sum(-1)


def _probe_samples(answer: object, draw: Draw) -> Iterator[Observation]:
    def stacked(w: Tensor, x: Tensor) -> tuple[object, ...]:
        mine = w.clone()
        found = answer(_losses, mine, x)
        return found, mine.requires_grad, mine.grad is not None

    parts = ("stacked result", "w requires a gradient afterwards", "w has a .grad afterwards")
    for shape, samples in (((3,), 4), ((2, 3), 3)):
        asked = stacked if callable(answer) else answer
        yield call(
            "for each sample", asked, by_hand=False, parts=parts, w=draw.tensor(*shape), X=draw.tensor(samples, 3)
        )


def _samples_alone(losses_of: Losses, w: Tensor, x: Tensor) -> Tensor:
    one = torch.ones(1, dtype=w.dtype)
    return torch.stack([vector_jacobian_product(lambda w, row=row: losses_of(w, row[None]), one, w)[0] for row in x])


def _from_losses(ask: Callable[[Tensor, Tensor], object]) -> Callable[[Losses, Tensor, Tensor], object]:
    """Marks a copy of w, computes, and asks."""

    def for_each_sample(losses_of: Losses, w: Tensor, x: Tensor) -> object:
        w = leaf_of(w)
        return ask(losses_of(w, x), w)

    return for_each_sample


def _of_the_sum(losses: Tensor, w: Tensor) -> Tensor:
    return torch.autograd.grad(losses.sum(), w)[0]


def _loop(losses: Tensor, w: Tensor, keep: bool = True) -> Tensor:
    return torch.stack([torch.autograd.grad(loss, w, retain_graph=keep)[0] for loss in losses])


def _by_the_samples(losses_of: Losses, w: Tensor, x: Tensor) -> Tensor:
    x = leaf_of(x)
    return torch.autograd.grad(losses_of(w, x).sum(), x)[0]


def _marks_the_given(losses_of: Losses, w: Tensor, x: Tensor) -> Tensor:
    w.requires_grad_()
    return _loop(losses_of(w, x), w)


def _fills_the_given(losses_of: Losses, w: Tensor, x: Tensor) -> Tensor:
    w.requires_grad_()
    found = []
    for loss in losses_of(w, x):
        w.grad = None
        loss.backward(retain_graph=True)
        found.append(w.grad)
    return torch.stack(found)


FOR_EACH_SAMPLE = Exercise(
    name="for_each_sample",
    unit=UNIT,
    title="A gradient of the weights for each sample",
    points=4,
    probe=_probe_samples,
    truth=_samples_alone,
    misconceptions=(
        Misconception(
            "one_sum_for_all",
            _from_losses(_of_the_sum),
            "This is the gradient of all losses together. Their samples meet in w: here a sum cannot be taken apart "
            "again.",
            also=(_from_losses(lambda losses, w: torch.autograd.grad(losses.mean(), w)[0]),),
        ),
        Misconception(
            "first_sample_for_all",
            _from_losses(lambda losses, w: _loop(losses[:1].expand(len(losses)), w)),
            "Every entry is that of the first sample. Which loss does the entry i belong to?",
        ),
        Misconception(
            "w_taken_apart",
            lambda losses_of, w, x: torch.func.vmap(torch.func.grad(losses_of))(w, x),
            "`vmap` takes apart every argument, w too. Which argument of `vmap` says that only X has a dimension of "
            "samples in front?",
        ),
        Misconception(
            "multiple_outputs_are_summed",
            _from_losses(lambda losses, w: torch.stack(torch.autograd.grad(list(losses), [w] * len(losses)))),
            "Every entry is the same sum. Either one call made them, and one call is one backward pass. Or they are "
            "all one tensor, `w.grad`, and every backward has added to it.",
            also=(
                _from_losses(lambda losses, w: _of_the_sum(losses, w).expand(len(losses), *w.shape)),
                _from_losses(lambda losses, w: torch.stack(through_dot_grad(losses, w))),
            ),
        ),
        *loop_mistakes(
            lambda collect: _from_losses(lambda losses, w: torch.stack(collect(losses, w))),
            one="gradient",
            of_the_last="sample",
            dot_grad="w.grad",
        ),
        Misconception(
            "divided_by_count",
            _from_losses(lambda losses, w: _loop(losses / len(losses), w)),
            "Each gradient is divided by the number of samples. Asked for are the gradients of the single losses, not "
            "of their mean.",
        ),
        Misconception(
            "batched_grads_means_batched_data",
            _from_losses(
                lambda losses, w: torch.autograd.grad(losses, w, torch.ones_like(losses), is_grads_batched=True)[0]
            ),
            "With is_grads_batched=True, the first dimension of the weights counts the questions, and each question "
            "has the shape of the losses. Which matrix asks for one loss at a time?",
        ),
        Misconception(
            "graph_freed",
            _from_losses(lambda losses, w: _loop(losses, w, keep=False)),
            "The first sample works. Then the graph is gone: a pass frees what was saved. Here one graph is to be gone "
            "through once for each sample.",
        ),
        Misconception(
            "with_respect_to_the_samples",
            _by_the_samples,
            "You ask how the losses change with X. Asked for is how each of them changes with w.",
        ),
        Misconception(
            "w_is_changed",
            _marks_the_given,
            "The gradients are right, and `w` is no longer as it was given. On which tensor could you set the flag "
            "instead?",
            also=(_fills_the_given,),
        ),
    ),
    hints=(
        "The losses are the outputs, w is the input: these are the rows of a Jacobian.",
        "A loop over the losses, or one-hot weights in a matrix with `is_grads_batched=True`.",
        "Make a copy of w that requires a gradient, before you compute the losses. `torch.stack` puts the gradients "
        "under each other.",
    ),
    when_right="Added up, they are the gradient that training uses. Apart, they say which sample pulls where.",
)


EXERCISES = (FOR_EACH_SAMPLE,)
