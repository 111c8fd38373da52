"""Unit 08, kinks: the exercises on gradients that become nan, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.kinks import UNIT
from course_utils.checks.oracle import leaf_of


def _value_and_gradient(answer: Callable[..., Tensor]) -> Callable[..., tuple[object, ...]]:
    """What the answer gives for a copy of x and other tensors, and the gradient of x for the weights g."""

    def both(x: Tensor, g: Tensor, *others: Tensor) -> tuple[object, ...]:
        leaf = leaf_of(x)
        value = answer(leaf, *others)
        return value, torch.autograd.grad(value, leaf, g)[0]

    return both


class _WithGradient(torch.autograd.Function):
    """A value, and a gradient of the input that is worked out by formula: an oracle that autograd plays no part in."""

    @staticmethod
    def forward(ctx: torch.autograd.Function, x: Tensor, value: Tensor, local: Tensor) -> Tensor:
        ctx.save_for_backward(local)
        return value.clone()

    @staticmethod
    def backward(ctx: torch.autograd.Function, grad_output: Tensor) -> tuple[Tensor, None, None]:
        (local,) = ctx.saved_tensors
        return grad_output.reshape(*grad_output.shape, *[1] * (local.dim() - grad_output.dim())) * local, None, None


# mend_lengths --------------------------------------------------------------------------------------------------


def _probe_lengths(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = ("lengths", "gradient of x for the weights g")
    for zeros in ((1,), (0, 3)):
        x = draw.tensor(4, 3)
        x[torch.tensor(zeros)] = 0
        asked = _value_and_gradient(answer) if callable(answer) else answer
        yield call("lengths of rows", asked, by_hand=False, parts=parts, x=x, g=draw.tensor(4))


def _lengths(x: Tensor) -> Tensor:
    with torch.no_grad():
        lengths = torch.linalg.vector_norm(x, dim=1)
        directions = x / torch.where(lengths == 0, torch.ones_like(lengths), lengths)[:, None]
    return _WithGradient.apply(x, lengths, directions)


def _squares(x: Tensor) -> Tensor:
    return (x**2).sum(dim=1)


MEND_LENGTHS = Exercise(
    name="mend_lengths",
    unit=UNIT,
    title="A length with a gradient at 0",
    points=3,
    probe=_probe_lengths,
    truth=_lengths,
    given=lambda x: _squares(x).sqrt(),
    when_as_given="The gradient of a row of zeros is still `nan`. Where on the way back does 0 meet infinity?",
    misconceptions=(
        Misconception(
            "eps_inside_changes_values",
            lambda x: (_squares(x) + 1e-12).sqrt(),
            "The gradient is finite now. But a row of zeros has a length above 0: the root of your small number.",
            also=tuple(
                way
                for eps in (1e-12, 1e-10, 1e-8, 1e-6)
                for way in (
                    lambda x, eps=eps: (_squares(x) + eps).sqrt(),
                    lambda x, eps=eps: _squares(x).clamp(min=eps).sqrt(),
                )
            ),
        ),
        Misconception(
            "eps_outside_sqrt",
            lambda x: _squares(x).sqrt() + 1e-6,
            "A small number outside the root changes the value, and not the slope of the root. That is still infinite "
            "at 0.",
        ),
        Misconception(
            "row_dropped",
            lambda x: torch.stack([row.norm() if bool(row.any()) else torch.ones(()).to(x) for row in x]),
            "The gradients are right. The length of a row of zeros is 0.",
        ),
        Misconception(
            "length_of_everything",
            lambda x: x.norm(),
            "This is one length for the whole tensor. Each row has its own.",
        ),
        Misconception(
            "columns_in_place_of_rows",
            lambda x: x.norm(dim=0),
            "These are the lengths of the columns.",
        ),
        Misconception(
            "detached_at_zero",
            lambda x: torch.where(_squares(x) > 0, 1.0, 0.0) * x.detach().norm(dim=1),
            "The values are right, and nothing leads back to x.",
            also=(lambda x: x.detach().norm(dim=1),),
        ),
    ),
    hints=(
        "The root sends infinity back where it is given 0. What could be given to it there?",
        "A first `where` before the root makes its input safe. A second one, after it, puts the 0 back.",
        "Or is there an operation of PyTorch whose author has thought of this?",
    ),
    when_right="A named operation, or the double where: both keep infinity from being computed.",
)


# mend_entropy --------------------------------------------------------------------------------------------------


def _probe_entropy(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = ("entropy", "gradient of p for the weight g")
    for zeros in ((2,), (0, 3)):
        p = draw.tensor(5).abs() / 4
        p[torch.tensor(zeros)] = 0
        asked = _value_and_gradient(answer) if callable(answer) else answer
        yield call("entropy", asked, by_hand=False, parts=parts, p=p, g=draw.scalars(1)[0])


def _entropy(p: Tensor) -> Tensor:
    with torch.no_grad():
        value = torch.special.entr(p).sum()
        local = torch.where(p == 0, torch.zeros_like(p), -torch.log(p) - 1)
    return _WithGradient.apply(p, value, local)


MEND_ENTROPY = Exercise(
    name="mend_entropy",
    unit=UNIT,
    title="An entropy with a gradient at 0",
    points=3,
    probe=_probe_entropy,
    truth=_entropy,
    given=lambda p: torch.where(p > 0, -p * p.log(), 0.0).sum(),
    when_as_given="The value was protected before. On the way back, what does the branch that was not chosen compute?",
    misconceptions=(
        Misconception(
            "logarithm_kept_finite",
            lambda p: (-p * (p + 1e-12).log()).sum(),
            "No `nan` any more. But at 0 the gradient is now minus the logarithm of your small number, which is large. "
            "It is to be 0.",
            also=tuple(
                way
                for eps in (1e-12, 1e-10, 1e-9, 1e-8, 1e-7)
                for way in (
                    lambda p, eps=eps: (-p * (p + eps).log()).sum(),
                    lambda p, eps=eps: (-p * p.clamp(min=eps).log()).sum(),
                )
            ),
        ),
        Misconception(
            "named_operation_with_infinity",
            lambda p: torch.special.entr(p).sum(),
            "This operation knows that 0 log 0 is 0. Its slope at 0 is infinite, and it says so. Asked for is 0.",
        ),
        Misconception(
            "sign_forgotten",
            lambda p: (p[p > 0] * p[p > 0].log()).sum(),
            "This is the entropy with the wrong sign.",
        ),
    ),
    hints=(
        "`where` computes both branches. What is the slope of the logarithm at 0?",
        "What could stand in the place of each 0, before the logarithm, so that nothing infinite is computed?",
    ),
    when_right="The condition before the operation protects the gradient, the one behind it the value.",
)


# mend_missing --------------------------------------------------------------------------------------------------


def _probe_missing(answer: object, draw: Draw) -> Iterator[Observation]:
    def both(x: Tensor, target: Tensor, g: Tensor) -> tuple[object, ...]:
        return _value_and_gradient(answer)(x, g, target)

    parts = ("loss", "gradient of x for the weight g")
    for missing in ((1,), (0, 4), ()):
        target = draw.tensor(5)
        target[torch.tensor(missing, dtype=torch.long)] = float("nan")
        given = {"x": draw.tensor(5), "target": target, "g": draw.scalars(1)[0]}
        yield call("loss", both if callable(answer) else answer, by_hand=False, parts=parts, **given)


def _missing(x: Tensor, target: Tensor) -> Tensor:
    with torch.no_grad():
        gap = torch.where(target == target, x - target, torch.zeros_like(x))
        known = (target == target).sum()
        loss, local = (gap**2).sum() / known, 2 * gap / known
    return _WithGradient.apply(x, loss, local)


def _gap(x: Tensor, target: Tensor) -> Tensor:
    return (x - target) ** 2


MEND_MISSING = Exercise(
    name="mend_missing",
    unit=UNIT,
    title="A loss over the targets that are there",
    points=2,
    probe=_probe_missing,
    truth=_missing,
    given=lambda x, target: _gap(x, target)[~target.isnan()].mean(),
    when_as_given="The entries are left out behind the square. What does the square send back for those?",
    misconceptions=(
        Misconception(
            "missing_counts_as_zero",
            lambda x, target: _gap(x, target.nan_to_num(0.0)).mean(),
            "A missing target counts as 0 now, and pulls its x there. It is to play no part.",
            also=(lambda x, target: _gap(x, torch.where(target.isnan(), 0.0, target)).mean(),),
        ),
        Misconception(
            "divided_by_all",
            lambda x, target: _gap(x, torch.where(target.isnan(), x, target)).mean(),
            "The sum of the squares is right. You divide by the number of all entries; how many are known?",
            also=(lambda x, target: _gap(x, torch.where(target.isnan(), x.detach(), target)).mean(),),
        ),
        Misconception(
            "sum_in_place_of_mean",
            lambda x, target: _gap(x[~target.isnan()], target[~target.isnan()]).sum(),
            "This is the sum over the known entries. Asked for is their mean.",
        ),
        Misconception(
            "only_one_side_masked",
            lambda x, target: ((x - target[~target.isnan()]) ** 2).mean(),
            "Only the targets are left out. Which entries of x belong to those that remain?",
        ),
    ),
    hints=(
        "The gradient of a square is 2 * (x - target). What is that where the target is `nan`?",
        "Leave the entries out before you compute with them: in both tensors.",
    ),
    when_right="What is never computed cannot send `nan` back.",
)


# mend_attention ------------------------------------------------------------------------------------------------


def _probe_attention(answer: object, draw: Draw) -> Iterator[Observation]:
    def all_three(scores: Tensor, mask: Tensor, values: Tensor, g: Tensor) -> tuple[object, ...]:
        leaves = leaf_of(scores), leaf_of(values)
        output = answer(leaves[0], mask, leaves[1])
        return output, *torch.autograd.grad(output, leaves, g)

    parts = ("result", "gradient of scores for the weights g", "gradient of values for the weights g")
    for hidden in (1, 0):
        mask = torch.tensor([[True, False, True], [True, True, False], [False, True, True]])
        mask[hidden] = False
        given = {"scores": draw.tensor(3, 3), "mask": mask, "values": draw.tensor(3, 2), "g": draw.tensor(3, 2)}
        yield call("attention", all_three if callable(answer) else answer, by_hand=False, parts=parts, **given)


def _attention_by_rows(scores: Tensor, mask: Tensor, values: Tensor) -> Tensor:
    """Row by row: exponentials of what is visible alone; where nothing is, zeros that depend on both inputs."""
    rows = []
    for row, visible in zip(scores, mask, strict=True):
        weights = row[visible].exp()
        rows.append((weights / weights.sum()) @ values[visible] if visible.any() else 0 * values.sum(0) + 0 * row.sum())
    return torch.stack(rows)


def _softmax(scores: Tensor, mask: Tensor, hide: float) -> Tensor:
    return torch.softmax(scores.masked_fill(~mask, hide), dim=1)


_INFINITE = -float("inf")

MEND_ATTENTION = Exercise(
    name="mend_attention",
    unit=UNIT,
    title="A row that sees nothing",
    points=3,
    probe=_probe_attention,
    truth=_attention_by_rows,
    given=lambda scores, mask, values: _softmax(scores, mask, _INFINITE) @ values,
    when_as_given="A row in which all scores are minus infinity: what is their largest, and what is left when it is "
    "subtracted?",
    misconceptions=(
        Misconception(
            "finite_and_not_masked",
            lambda scores, mask, values: _softmax(scores, mask, -1e9) @ values,
            "No `nan` any more. But a row that may see nothing gives the mean of all values: all its scores are the "
            "same large number. It is to give zeros.",
            also=(lambda scores, mask, values: _softmax(scores, mask, -1e30) @ values,),
        ),
        Misconception(
            "result_repaired",
            lambda scores, mask, values: (_softmax(scores, mask, _INFINITE) @ values).nan_to_num(0.0),
            "The result is right. On the way back its 0 still meets the `nan` in the softmax: a gradient is `nan`.",
            also=(
                lambda scores, mask, values: torch.where(
                    mask.any(1, keepdim=True), _softmax(scores, mask, _INFINITE) @ values, 0.0
                ),
            ),
        ),
        Misconception(
            "masked_after_the_softmax",
            lambda scores, mask, values: (torch.softmax(scores, dim=1) * mask) @ values,
            "The hidden scores still take their part of the softmax, so the others no longer add up to 1.",
        ),
        Misconception(
            "hidden_by_zero",
            lambda scores, mask, values: _softmax(scores, mask, 0.0) @ values,
            "A score of 0 is not hidden: its exponential is 1. Which scores have an exponential of almost 0?",
            also=(lambda scores, mask, values: (_softmax(scores, mask, 0.0) * mask) @ values,),
        ),
    ),
    hints=(
        "Which number, in place of minus infinity, makes an exponential of 0, and can be subtracted from itself?",
        "With it a fully hidden row weighs all values alike. What takes these weights away?",
    ),
    when_right="Finite inside, and masked again at the end.",
)


EXERCISES = (MEND_LENGTHS, MEND_ENTROPY, MEND_MISSING, MEND_ATTENTION)
