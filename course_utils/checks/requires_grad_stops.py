"""Unit 03, which graphs get built: the exercise on a target that counts as a number, and its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import flag, fresh, gradients, recording

UNIT = "03_requires_grad"
_DISCOUNT = 0.9


# fixed_target --------------------------------------------------------------------------------------------------


def _probe_target(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = (
        "loss",
        "it requires a gradient",
        "gradient of w",
        "w.grad afterwards",
        "w.requires_grad afterwards",
        "grad mode afterwards",
    )
    incoming = draw.tensor()

    def on_a_leaf(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> tuple[object, ...] | None:
        with recording():
            leaf = fresh(w)
            loss = answer(leaf, now, later, reward)
            enabled = torch.is_grad_enabled()
            torch.set_grad_enabled(True)
            (gradient,) = gradients(loss, [leaf], incoming)
            return None if loss is None else (loss, flag(loss), gradient, leaf.grad, leaf.requires_grad, enabled)

    for rows, columns in ((2, 3), (4, 2)):
        asked = on_a_leaf if callable(answer) else answer
        now, later = draw.tensor(rows, columns), draw.tensor(rows, columns)
        yield call(
            "loss",
            asked,
            parts=parts,
            by_hand=False,
            w=draw.tensor(columns),
            now=now,
            later=later,
            reward=draw.tensor(rows),
        )


class _KnownGradient(torch.autograd.Function):
    """A value and its gradient by formula: 2/m times the sum of each difference times its row of `now`."""

    @staticmethod
    def forward(ctx: object, w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
        difference = now @ w - reward - _DISCOUNT * (later @ w)
        ctx.gradient = 2 / len(reward) * (now.T @ difference)
        return (difference @ difference) / len(reward)

    @staticmethod
    def backward(ctx: object, incoming: Tensor) -> tuple[Tensor | None, ...]:
        return incoming * ctx.gradient, None, None, None


Loss = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def _loss(
    estimate_of: Callable[[Tensor], Tensor] = lambda w: w,
    target_of: Callable[[Tensor], Tensor] = lambda w: w,
    mean: Callable[[Tensor], Tensor] = torch.mean,
) -> Loss:
    """The loss in which estimate and target are computed with what is made of w."""

    def loss(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
        target = reward + _DISCOUNT * (later @ target_of(w))
        return mean((now @ estimate_of(w) - target) ** 2)

    return loss


def _detached_too_late(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    target = reward + _DISCOUNT * (later @ w)
    difference = now @ w - target
    target.detach_()
    return (difference**2).mean()


def _in_no_grad(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    with torch.no_grad():
        return _loss()(w, now, later, reward)


def _with_flag_off(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    w.requires_grad_(False)
    target = reward + _DISCOUNT * (later @ w)
    w.requires_grad_(True)
    loss = ((now @ w - target) ** 2).mean()
    w.requires_grad_(False)
    return loss


def _mode_left_off(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    estimate = now @ w
    torch.set_grad_enabled(False)
    target = reward + _DISCOUNT * (later @ w)
    torch.set_grad_enabled(True)
    loss = ((estimate - target) ** 2).mean()
    torch.set_grad_enabled(False)
    return loss


def _detached(w: Tensor) -> Tensor:
    return w.detach()


def _differences(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    return now @ w - reward - _DISCOUNT * (later @ w.detach())


def _all_discounted(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    return ((now @ w - _DISCOUNT * (reward + later @ w.detach())) ** 2).mean()


def _backward_inside(retain_graph: bool) -> Loss:
    def loss(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
        result = _loss(target_of=_detached)(w, now, later, reward)
        result.backward(retain_graph=retain_graph)
        return result

    return loss


FIXED_TARGET = Exercise(
    name="fixed_target",
    unit=UNIT,
    title="A target that stands still",
    points=3,
    probe=_probe_target,
    truth=_KnownGradient.apply,
    misconceptions=(
        Misconception(
            "target_passes_gradient",
            _loss(),
            "The loss is right, and the gradient of w has a second part: it comes through the target. Is the target "
            "cut off, and is it cut off before the difference uses it?",
            also=(_detached_too_late,),
        ),
        Misconception(
            "wrong_side_detached",
            _loss(estimate_of=_detached),
            "The estimate is cut off, and the target is not. Which of the two is to be pulled?",
        ),
        Misconception(
            "nothing_recorded",
            _in_no_grad,
            "The loss requires no gradient: neither the target nor the estimate is recorded. Only the target should be "
            "left out.",
            also=(_loss(_detached, _detached),),
        ),
        Misconception(
            "requires_grad_on_the_loss",
            lambda *inputs: _in_no_grad(*inputs).requires_grad_(),
            "Your loss is a leaf with the flag set. It is joined to nothing, and w gets no gradient.",
        ),
        Misconception(
            "number_returned",
            lambda *inputs: _loss(target_of=_detached)(*inputs).item(),
            "Your loss is right, and it is a plain number: nothing leads back from it to w. Whoever calls your "
            "function wants to go backward from the loss.",
            also=(lambda *inputs: _loss()(*inputs).item(),),
        ),
        Misconception(
            "backward_inside",
            _backward_inside(retain_graph=False),
            "You go backward inside the function. That is the caller's step: it fills `w.grad`, and frees what the "
            "graph of your loss has saved. Return the loss alone.",
            also=(_backward_inside(retain_graph=True),),
        ),
        Misconception(
            "summed",
            _loss(target_of=_detached, mean=torch.sum),
            "Everything stops where it should. But this is the sum of the squared differences, and not their mean.",
        ),
        Misconception(
            "another_loss",
            _loss(target_of=_detached, mean=lambda squares: squares),
            "Everything stops where it should. But the loss is to be one number: each difference squared, and then the "
            "mean of them.",
            also=(
                lambda *inputs: _differences(*inputs).mean() ** 2,
                lambda *inputs: _differences(*inputs).abs().mean(),
            ),
        ),
        Misconception(
            "discount_misplaced",
            _loss(target_of=lambda w: w.detach() / _DISCOUNT),
            "Compare your target with the formula of the text. What does 0.9 multiply there?",
            also=(_all_discounted,),
        ),
        Misconception(
            "detaches_w_itself",
            _loss(target_of=lambda w: w.detach_()),
            "After your function, w itself requires no gradient. A method with an underscore at its end changes the "
            "tensor that it belongs to, and so does a flag that is set.",
        ),
        Misconception(
            "flag_left_off",
            _with_flag_off,
            "The loss and its gradient are right. But w requires no gradient any more, when your function has ended.",
        ),
        Misconception(
            "mode_left_off",
            _mode_left_off,
            "The loss and its gradient are right. But the grad mode is off when your function has ended, and nothing "
            "is recorded from there on.",
        ),
    ),
    hints=(
        "Compute the target on a line of its own. What makes a tensor with the same numbers and no history?",
        "The difference must use the target without history. Detaching it later comes too late.",
        "`((now @ w - target) ** 2).mean()`: here w has to be the one that requires a gradient.",
    ),
    when_right="Targets, labels made by a network, running means: what only serves as a number is detached.",
)


EXERCISES = (FIXED_TARGET,)
