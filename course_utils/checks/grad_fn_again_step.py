"""Unit 04, the recorded graph: the exercise on a step between forward and backward, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import vector_jacobian_product

UNIT = "04_grad_fn"


# mend_step_between ---------------------------------------------------------------------------------------------


def _probe_step(answer: object, draw: Draw) -> Iterator[Observation]:
    def after_the_update(w: Tensor, v: Tensor, lr: float) -> tuple[object, ...]:
        leaves = [value.clone().requires_grad_() for value in (w, v)]
        for leaf in leaves:
            leaf.grad = torch.full_like(leaf, 10.0)  # left over from the last update
        with torch.enable_grad():
            answer(*leaves, torch.optim.SGD(leaves, lr=lr))
        return tuple(leaf.detach() for leaf in leaves)

    asked = after_the_update if callable(answer) else answer
    for size in (2, 3):
        w, v = draw.tensor(size), draw.tensor(size)
        yield call("after the update", asked, parts=("w", "v"), by_hand=False, w=w, v=v, lr=draw.whole(2, 9) / 100)


def _losses(w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    product = w * v
    return product.sum(), (product**2).sum()


def _one_step(w: Tensor, v: Tensor, optimizer: torch.optim.Optimizer) -> None:
    one = torch.ones((), dtype=w.dtype)
    gradients = vector_jacobian_product(lambda w, v: sum(_losses(w, v)), one, w, v)
    with torch.no_grad():
        for leaf, gradient in zip((w, v), gradients, strict=True):
            leaf.copy_(leaf - optimizer.param_groups[0]["lr"] * gradient)


Update = Callable[[Tensor, Tensor, torch.optim.Optimizer], None]


def _doing(*actions: str, retain_graph: bool = True) -> Update:
    """The losses computed once, and then these actions in their order."""

    def update(w: Tensor, v: Tensor, optimizer: torch.optim.Optimizer) -> None:
        first, second = _losses(w, v)
        optimizer.zero_grad()
        for action in actions:
            if action == "step":
                optimizer.step()
            elif action == "zero":
                optimizer.zero_grad()
            else:
                {"first": first, "second": second}[action].backward(retain_graph=retain_graph)

    return update


def _cut_off(w: Tensor, v: Tensor, optimizer: torch.optim.Optimizer) -> None:
    sum(_losses(w.detach(), v.detach())).backward()
    optimizer.step()


def _alternating(clear: bool) -> Update:
    def update(w: Tensor, v: Tensor, optimizer: torch.optim.Optimizer) -> None:
        optimizer.zero_grad()
        _losses(w, v)[0].backward()
        optimizer.step()
        if clear:
            optimizer.zero_grad()
        _losses(w, v)[1].backward()
        optimizer.step()

    return update


def _averaged(w: Tensor, v: Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    (sum(_losses(w, v)) / 2).backward()
    optimizer.step()


def _of_the_product(w: Tensor, v: Tensor, optimizer: torch.optim.Optimizer) -> None:
    first, second = _losses(w, v)
    optimizer.zero_grad()
    (first * second).backward()
    optimizer.step()


def _nothing_cleared(w: Tensor, v: Tensor, optimizer: torch.optim.Optimizer) -> None:
    sum(_losses(w, v)).backward()
    optimizer.step()


MEND_STEP_BETWEEN = Exercise(
    name="mend_step_between",
    unit=UNIT,
    title="A step between forward and backward",
    points=3,
    probe=_probe_step,
    truth=_one_step,
    given=_doing("first", "step", "second", "step"),
    when_as_given="Whatever is retained or not: the second backward comes after w and v were changed in place. It was "
    "recorded with the old ones.",
    misconceptions=(
        Misconception(
            "two_steps",
            _doing("first", "second", "step", "step"),
            "Both gradients are there before anything is changed. Then you take two steps, each with the sum of both. "
            "Asked for is one.",
        ),
        Misconception(
            "forward_again",
            _alternating(True),
            "You compute the forward again after the first step. That runs, and it is another method: the second loss "
            "is then taken at other values of w and v. Asked for is one step from the values that both losses share.",
            also=(_alternating(False),),
        ),
        Misconception(
            "first_loss_only",
            _doing("first", "step"),
            "This is a step with the gradient of the first loss alone.",
        ),
        Misconception(
            "second_loss_only",
            _doing("first", "zero", "second", "step"),
            "This is a step with the gradient of the second loss alone. What has become of the first one's?",
            also=(_doing("second", "step"),),
        ),
        Misconception(
            "freed_by_the_first_pass",
            _doing("first", "second", "step", retain_graph=False),
            "Both losses lead through the node of `product`. The first backward frees what that node has saved, and "
            "the second one needs it. How many passes does the sum of two losses take?",
            also=(_doing("first", "step", "second", "step", retain_graph=False),),
        ),
        Misconception(
            "cut_off",
            _cut_off,
            "You have cut the losses off from w and v: no way back leads there any more. The message of the given code "
            "is about the order of its lines.",
        ),
        Misconception(
            "no_step",
            _doing("first", "second"),
            "w and v are what they were before. Does the optimizer take a step, and are the gradients there when it "
            "does?",
        ),
        Misconception(
            "losses_multiplied",
            _of_the_product,
            "The gradient of a product of losses is not the sum of their gradients. What do you do with two losses, so "
            "that their gradients are added?",
        ),
        Misconception(
            "averaged",
            _averaged,
            "Your step is half as long: you take the mean of the losses. The gradients of both losses are to be added.",
        ),
        Misconception(
            "old_gradients_kept",
            _nothing_cleared,
            "What was in `.grad` before the update is still in it, and takes part in the step. Which line of the given "
            "code emptied it?",
        ),
    ),
    hints=(
        "Which line changes w and v? Which lines need them as they were?",
        "Two backward passes add up in `.grad`. So does one backward pass through the sum of two losses.",
    ),
    when_right="First all backward passes, then the step. The values belong to the graph until its last backward.",
)


EXERCISES = (MEND_STEP_BETWEEN,)
