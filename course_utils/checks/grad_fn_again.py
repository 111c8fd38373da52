"""Unit 04, the recorded graph: the exercises on going backward twice, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import vector_jacobian_product

UNIT = "04_grad_fn"


# mend_history --------------------------------------------------------------------------------------------------

_STEPS = 3
_SEEN = (*(f"gradient {i + 1}" for i in range(_STEPS)), "mean", "whether the mean holds a graph")


def _probe_history(answer: object, draw: Draw) -> Iterator[Observation]:
    def gradients_and_mean(w: Tensor, inputs: list[Tensor]) -> tuple[object, ...]:
        with torch.enable_grad():
            gradients, mean = answer(w.clone().requires_grad_(), inputs)
        return *gradients, mean, getattr(mean, "grad_fn", None) is not None

    asked = gradients_and_mean if callable(answer) else answer
    for _ in range(2):
        w, *inputs = draw.scalars(_STEPS + 1, high=1.0)
        yield call("gradients and mean", asked, parts=_SEEN, by_hand=False, w=w, inputs=inputs)


def _one_iteration(w: Tensor, h: Tensor, x: Tensor) -> Tensor:
    return (torch.tanh(w * h + x) - 0.5) ** 2


def _each_on_its_own(w: Tensor, inputs: Sequence[Tensor]) -> tuple[list[Tensor], float]:
    """Every iteration differentiated alone, with the hidden state as a plain number."""
    w, h, gradients, losses = w.detach(), torch.ones_like(inputs[0]), [], []
    for x in inputs:
        (gradient,) = vector_jacobian_product(lambda w, h=h, x=x: _one_iteration(w, h, x), torch.ones_like(x), w)
        gradients.append(gradient)
        losses.append(_one_iteration(w, h, x).item())
        h = torch.tanh(w * h + x)
    return gradients, sum(losses) / len(losses)


def _same(h: Tensor) -> Tensor:
    return h


def _training(
    keep: Callable[[Tensor], Tensor] = Tensor.detach,
    note: Callable[[Tensor], object] = Tensor.item,
    forward: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda w, h, x: torch.tanh(w * h + x),
    retain_graph: bool = False,
) -> Callable[[Tensor, list[Tensor]], tuple[list[Tensor], object]]:
    """The loop of the exercise, with what is kept of h, what is noted of the loss, and how h is computed."""

    def train(w: Tensor, inputs: list[Tensor]) -> tuple[list[Tensor], object]:
        h = torch.ones_like(inputs[0])
        gradients, total = [], 0.0
        for x in inputs:
            h = forward(w, h, x)
            loss = (h - 0.5) ** 2
            w.grad = None
            loss.backward(retain_graph=retain_graph)
            gradients.append(w.grad)
            total = total + note(loss)
            h = keep(h)
        return gradients, total / len(inputs)

    return train


def _recording_off(w: Tensor, h: Tensor, x: Tensor) -> Tensor:
    with torch.no_grad():
        return torch.tanh(w * h + x)


def _one_backward(w: Tensor, inputs: list[Tensor]) -> tuple[list[Tensor], float]:
    h, total = torch.ones_like(inputs[0]), 0.0
    for x in inputs:
        h = torch.tanh(w * h + x)
        total = total + (h - 0.5) ** 2
    total.backward()
    return [w.grad] * len(inputs), total.item() / len(inputs)


def _accumulated(w: Tensor, inputs: list[Tensor]) -> tuple[list[Tensor], float]:
    h, gradients, total = torch.ones_like(inputs[0]), [], 0.0
    for x in inputs:
        h = torch.tanh(w * h.detach() + x)
        loss = (h - 0.5) ** 2
        loss.backward()
        gradients.append(w.grad.clone())
        total = total + loss.item()
    return gradients, total / len(inputs)


MEND_HISTORY = Exercise(
    name="mend_history",
    unit=UNIT,
    title="A loop that drags its history along",
    points=3,
    probe=_probe_history,
    truth=_each_on_its_own,
    given=_training(_same, _same, retain_graph=True),
    misconceptions=(
        Misconception(
            "history_kept",
            _training(_same, Tensor.item, retain_graph=True),
            "The first gradient is right, the later ones count the effect of w in earlier iterations too. Through "
            "which value does an iteration lead back to the one before it?",
        ),
        Misconception(
            "total_holds_the_graphs",
            _training(Tensor.detach, _same),
            "The gradients are right. But the mean that you return has a `grad_fn`: it holds the nodes of all "
            "iterations. What of each loss does a mean need?",
            also=(_training(Tensor.detach, _same, retain_graph=True),),
        ),
        Misconception(
            "error_back",
            _training(_same, Tensor.item),
            "Without `retain_graph=True`, the error is back: the second iteration still leads to the nodes of the "
            "first. Which value takes it there?",
            also=(_training(_same, _same),),
        ),
        Misconception(
            "cut_too_early",
            _training(forward=lambda w, h, x: torch.tanh(w * h + x).detach()),
            "You cut between w and the loss of the same iteration. Then nothing leads from the loss to w. Where does "
            "the old iteration end, and the new one begin?",
            also=(
                _training(forward=_recording_off),
                _training(forward=lambda w, h, x: torch.tanh(w.detach() * h + x)),
                _training(forward=lambda w, h, x: torch.tanh((w * h).detach() + x)),
            ),
        ),
        Misconception(
            "state_lost",
            _training(torch.ones_like),
            "Each iteration begins with the first h again, so the hidden state is lost. Only its history should go, "
            "not its value.",
            also=(_training(torch.ones_like, _same),),
        ),
        Misconception(
            "one_backward_at_the_end",
            _one_backward,
            "You go backward once, at the end, through all iterations. Asked for is a gradient for each iteration.",
        ),
        Misconception(
            "gradients_added_up",
            _accumulated,
            "The gradients add up from one iteration to the next: what arrives is added to what is in `.grad`. The "
            "given code emptied it in time.",
        ),
    ),
    hints=(
        "Two things carry history out of an iteration. One is used in the next iteration, one after the loop.",
        "h is needed as a number, not as the result of operations. So is the loss, once its backward is done.",
        "`detach()` gives the value of a tensor without its history.",
    ),
    when_right="`retain_graph=True` had kept the error away, and all iterations alive.",
)


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
            "w and v are what they were before. Who changes them?",
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


EXERCISES = (MEND_HISTORY, MEND_STEP_BETWEEN)
