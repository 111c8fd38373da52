"""Unit 04, the recorded graph: the exercise on updating a leaf, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception

UNIT = "04_grad_fn"


# mend_update ---------------------------------------------------------------------------------------------------

_UPDATED = (
    "w afterwards",
    "w.grad afterwards",
    "w is a leaf",
    "w requires a gradient",
    "an earlier graph notices the change",
    "recording is still on",
)


def _probe_update(answer: object, draw: Draw) -> Iterator[Observation]:
    def after_the_update(w: Tensor, gradient: Tensor, lr: float) -> tuple[object, ...]:
        with torch.enable_grad():
            leaf = w.clone().requires_grad_()
            leaf.grad = gradient.clone()
            earlier = leaf.sin()  # its node saves w as it is now
            answer(leaf, lr)
            recording = torch.is_grad_enabled()
        kept = None if leaf.grad is None else leaf.grad.clone()  # the earlier graph would add to it
        return leaf.detach(), kept, leaf.is_leaf, leaf.requires_grad, _notices(earlier), recording

    asked = after_the_update if callable(answer) else answer
    for shape in ((3,), (2, 2)):
        w, gradient = draw.tensor(*shape), draw.tensor(*shape)
        yield call(
            "after the update",
            asked,
            parts=_UPDATED,
            by_hand=False,
            w=w,
            gradient=gradient,
            lr=draw.whole(11, 19) / 100,
        )


def _notices(earlier: Tensor) -> bool:
    try:
        earlier.sum().backward()
    except RuntimeError:
        return True
    return False


def _by_the_optimizer(w: Tensor, lr: float) -> None:
    torch.optim.SGD([w], lr=lr).step()


def _given_update(w: Tensor, lr: float) -> None:
    w -= lr * w.grad


def _through_a_view(w: Tensor, lr: float) -> None:
    w[:] -= lr * w.grad


def _new_tensor(w: Tensor, lr: float) -> None:
    w = w - lr * w.grad


def _new_leaf(w: Tensor, lr: float) -> None:
    w = (w - lr * w.grad).detach().requires_grad_()


def _copy_changed(w: Tensor, lr: float) -> None:
    with torch.no_grad():
        w = w.clone()
        w -= lr * w.grad if w.grad is not None else 0


def _unseen(w: Tensor, lr: float) -> None:
    w.data -= lr * w.grad


def _uphill(w: Tensor, lr: float) -> None:
    with torch.no_grad():
        w += lr * w.grad


def _switched_off(w: Tensor, lr: float) -> None:
    torch.set_grad_enabled(False)
    w -= lr * w.grad


def _no_longer_required(w: Tensor, lr: float) -> None:
    w.requires_grad_(False)
    w -= lr * w.grad


def _emptied(w: Tensor, lr: float) -> None:
    with torch.no_grad():
        w -= lr * w.grad
    w.grad = None


def _zeroed(w: Tensor, lr: float) -> None:
    with torch.no_grad():
        w -= lr * w.grad
    w.grad.zero_()


def _scaled_gradient(w: Tensor, lr: float) -> None:
    w.grad *= lr
    with torch.no_grad():
        w -= w.grad


def _without_a_gradient(w: Tensor, lr: float) -> None:
    w = w.detach()
    w -= lr * w.grad


def _whole_gradient(w: Tensor, lr: float) -> None:
    with torch.no_grad():
        w -= w.grad


MEND_UPDATE = Exercise(
    name="mend_update",
    unit=UNIT,
    title="Change a leaf",
    points=2,
    probe=_probe_update,
    truth=_by_the_optimizer,
    given=_given_update,
    misconceptions=(
        Misconception(
            "change_hidden",
            _unseen,
            "w has the right values. But an earlier graph that still needs the old w does not notice the change, and "
            "would compute a wrong gradient: `.data` goes past the counter. Is there a way to change w without "
            "recording, in the open?",
        ),
        Misconception(
            "through_a_view",
            _through_a_view,
            "An index makes a view of the leaf, and a change of the view changes the leaf: the same rule, the same "
            "error. What is it that must not be recorded?",
        ),
        Misconception(
            "through_numpy",
            lambda w, lr: w.numpy().__isub__(lr * w.grad.numpy()),
            "A tensor that requires a gradient has no `.numpy()`. And a change through NumPy would go past the "
            "version counter. How can you change w in the open, without recording?",
        ),
        Misconception(
            "new_tensor",
            _new_tensor,
            "The caller's w has not changed: your step went into a new tensor. (`w = ...` gives it the name w inside "
            "your function only.) How do you write into the tensor that is there?",
            also=(_new_leaf, _copy_changed, lambda w, lr: w.detach().clone().sub_(lr * w.grad)),
        ),
        Misconception(
            "detached_has_no_grad",
            _without_a_gradient,
            "`w.detach()` is another tensor, on the same numbers. It has no `.grad`: that belongs to the leaf.",
        ),
        Misconception(
            "recording_left_off",
            _switched_off,
            "w is right. But after your function nothing is recorded any more, anywhere in the program. How can you "
            "switch recording off for one line only?",
        ),
        Misconception(
            "requires_grad_dropped",
            _no_longer_required,
            "w has the right values, and does not require a gradient any more. The next forward would not be recorded.",
        ),
        Misconception(
            "gradient_emptied",
            _emptied,
            "The update is right. But `w.grad` is not what it was. The caller decides when a gradient goes.",
            also=(_zeroed, _scaled_gradient),
        ),
        Misconception(
            "uphill",
            _uphill,
            "You go up: the gradient points to where the loss grows. The given code subtracts it.",
        ),
        Misconception(
            "learning_rate_missing",
            _whole_gradient,
            "You subtract the whole gradient. Where is `lr`?",
        ),
    ),
    hints=(
        "Why does PyTorch refuse to record this line? What would w be afterwards?",
        "The change may happen where nothing is recorded. Which block of Python switches recording off, and on again "
        "at its end?",
    ),
    when_right="Not recorded, but counted: that is how every optimizer changes its parameters.",
)


EXERCISES = (MEND_UPDATE,)
