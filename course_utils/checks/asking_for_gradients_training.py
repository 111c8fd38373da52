"""Unit 05, asking for gradients: the exercise on a training loop, and the mistakes it can name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import vector_jacobian_product

UNIT = "05_asking_for_gradients"


# mend_training -------------------------------------------------------------------------------------------------

_AFTER = ("w", "w.requires_grad", "w.is_leaf", "what train returns", "it returns w itself", "grad mode afterwards")
Loss = Callable[[Tensor], Tensor]
Train = Callable[[Loss, Tensor, int, float], Tensor]


def _probe_training(answer: object, draw: Draw) -> Iterator[Observation]:
    def trained(w: Tensor, target: Tensor, left_in_grad: Tensor | None, steps: int, lr: float) -> tuple[object, ...]:
        leaf = w.clone().requires_grad_()
        leaf.grad = None if left_in_grad is None else left_in_grad.clone()
        with warnings.catch_warnings(), torch.enable_grad():  # which also puts the grad mode right afterwards
            warnings.simplefilter("ignore")  # torch's, where .grad of a tensor that is no leaf is read
            returned = answer(lambda w: ((w - target) ** 2).sum().reshape(1), leaf, steps, lr)
            return leaf, leaf.requires_grad, leaf.is_leaf, returned, returned is leaf, torch.is_grad_enabled()

    for steps, lr, left in ((1, 0.3, draw.tensor(3)), (3, 0.15, draw.tensor(3)), (2, 0.2, None)):
        w, target = draw.tensor(3), draw.tensor(3)
        given = {"w": w, "target": target, "left_in_grad": left, "steps": steps, "lr": lr}
        asked = trained if callable(answer) else answer
        yield call("after training", asked, by_hand=False, parts=_AFTER, **given)


def _descend(loss_of: Loss, w: Tensor, steps: int, lr: float) -> Tensor:
    for _ in range(steps):
        (gradient,) = vector_jacobian_product(loss_of, torch.ones(1, dtype=w.dtype), w)
        w.data.sub_(lr * gradient)
    return w


def _train(one_step: Callable[[Loss, Tensor, float], Tensor], before: Callable[[Tensor], None] | None = None) -> Train:
    """A loop over `one_step`, which returns the w to go on with; `before` is done once."""

    def train(loss_of: Loss, w: Tensor, steps: int, lr: float) -> Tensor:
        if before:
            before(w)
        for _ in range(steps):
            w = one_step(loss_of, w, lr)
        return w

    return train


def _clear(w: Tensor) -> None:
    w.grad = None


def _update(w: Tensor, lr: float) -> Tensor:
    with torch.no_grad():
        w -= lr * w.grad
    return w


def _replace(w: Tensor, lr: float) -> Tensor:
    with torch.no_grad():
        w = w - lr * w.grad
        return w  # noqa: RET504 (as it is written)


def _given_step(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    loss_of(w).backward()
    return _replace(w, lr)


def _uncleared(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    loss_of(w).backward()
    return _update(w, lr)


def _replaced(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    _clear(w)
    return _given_step(loss_of, w, lr)


def _replaced_and_recorded(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    _clear(w)
    loss_of(w).backward()
    return w - lr * w.grad


def _made_a_leaf_again(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    return _replaced(loss_of, w, lr).requires_grad_()


def _uncleared_and_made_a_leaf_again(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    return _given_step(loss_of, w, lr).requires_grad_()


def _in_place_and_recorded(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    _clear(w)
    loss_of(w).backward()
    w -= lr * w.grad
    return w


def _cleared_before_use(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    loss_of(w).backward()
    _clear(w)
    return _update(w, lr)


def _zeroed_before_use(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    loss_of(w).backward()
    w.grad.zero_()
    return _update(w, lr)


def _cleared_after(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    w = _uncleared(loss_of, w, lr)
    _clear(w)
    return w


def _zeroed_first(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    w.grad.zero_()
    return _uncleared(loss_of, w, lr)


def _returns_another(loss_of: Loss, w: Tensor, steps: int, lr: float) -> Tensor:
    return _descend(loss_of, w, steps, lr).detach()


def _loss_of_the_start(loss_of: Loss, w: Tensor, steps: int, lr: float) -> Tensor:
    loss = loss_of(w)
    for _ in range(steps):
        _clear(w)
        loss.backward(retain_graph=True)
        _update(w, lr)
    return w


def _uphill(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    _clear(w)
    loss_of(w).backward()
    return _update(w, -lr)


def _added_to_none(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    torch.optim.SGD([w], lr).zero_grad()
    w.grad += torch.autograd.grad(loss_of(w), w)[0]
    return _update(w, lr)


def _switched_off(loss_of: Loss, w: Tensor, lr: float) -> Tensor:
    _clear(w)
    torch.set_grad_enabled(True)
    loss_of(w).backward()
    torch.set_grad_enabled(False)
    w -= lr * w.grad
    return w


MEND_TRAINING = Exercise(
    name="mend_training",
    unit=UNIT,
    title="Mend a training loop",
    points=3,
    probe=_probe_training,
    truth=_descend,
    given=_train(_given_step),
    misconceptions=(
        Misconception(
            "never_cleared",
            _train(_uncleared),
            "The same tensor is changed now. But `backward` adds to what stands in w.grad. Whose gradients are in it "
            "when your code uses it?",
        ),
        Misconception(
            "stale_gradient_counts",
            _train(_cleared_after),
            "You clear w.grad after each step. What stood there before the call counts in the first step.",
        ),
        Misconception(
            "cleared_once",
            _train(_uncleared, before=_clear),
            "You clear w.grad once, before the loop. What does the second step find there?",
            also=(_train(_uncleared, before=lambda w: w.grad.zero_()),),
        ),
        Misconception(
            "update_replaces_leaf",
            _train(_replaced),
            "A line that begins with `w =` gives the name w to another tensor. The tensor of the caller stays as it "
            "was. How is a tensor changed in place?",
            also=(_train(_replaced_and_recorded), _train(_made_a_leaf_again), _train(_uncleared_and_made_a_leaf_again)),
        ),
        Misconception(
            "update_is_recorded",
            _train(_in_place_and_recorded),
            "You change w in place, which is right. But the update itself is recorded, and torch refuses to change a "
            "leaf while it records. What switches recording off?",
        ),
        Misconception(
            "cleared_before_use",
            _train(_cleared_before_use),
            "You clear w.grad between `backward` and the update. What is left for the update to use?",
            also=(_train(_zeroed_before_use),),
        ),
        Misconception(
            "zeroed_where_there_is_none",
            _train(_zeroed_first),
            "Before the first `backward` there is no gradient: `w.grad` is None, and None has no `zero_()`. What "
            "clears it in both cases?",
        ),
        Misconception(
            "returns_another_tensor",
            _returns_another,
            "w is trained. What comes back has the same values, and is another tensor. `train` was to return `w`.",
        ),
        Misconception(
            "zero_grad_writes_zeros",
            _train(_added_to_none),
            "You add to w.grad after `zero_grad()`. What has stood there since PyTorch 2.0: zeros, or something else?",
        ),
        Misconception(
            "recording_left_off",
            _train(_switched_off),
            "w is right. But after the call recording is still switched off. A `with` block would switch "
            "it on again, at its end.",
        ),
        Misconception(
            "one_step_only",
            lambda loss_of, w, steps, lr: _descend(loss_of, w, 1, lr),
            "This is w after a single step. Where does `return` stand?",
        ),
        Misconception(
            "loss_of_the_start",
            _loss_of_the_start,
            "The first step is right. After it w has changed, and your loss is still the one of the first w. When is "
            "it to be computed?",
        ),
        Misconception(
            "rate_ignored",
            lambda loss_of, w, steps, lr: _descend(loss_of, w, steps, 1.0),
            "The steps go in the right direction, and are too long. What has become of `lr`?",
        ),
        Misconception(
            "uphill",
            _train(_uphill),
            "w goes the wrong way: the loss grows. In which direction does the gradient point?",
        ),
    ),
    hints=(
        "Go through one step and note what stands in w.grad before each line.",
        "`backward` adds. So something must empty w.grad before it is called, in every step.",
        "The caller holds the tensor that came in. Only a change in place reaches it: an operator like `-=`, under "
        "`torch.no_grad()`.",
    ),
    when_as_given="If you have mended one fault: does the caller's tensor change, and what is in w.grad at the start?",
    when_right="Clear, compute, pass back, change in place: an optimizer does nothing else.",
)
