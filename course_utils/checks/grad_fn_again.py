"""Unit 04, the recorded graph: the exercise on history that is carried along, and the mistakes it can name."""

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
_SEEN = (*(f"gradient {i + 1}" for i in range(_STEPS)), "mean", "a gradient holds a graph", "the mean holds a graph")


def _probe_history(answer: object, draw: Draw) -> Iterator[Observation]:
    def gradients_and_mean(w: Tensor, inputs: list[Tensor]) -> object:
        with torch.enable_grad():
            returned = answer(w.clone().requires_grad_(), inputs)
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            return returned
        gradients, mean = returned
        return *gradients, mean, any(map(_has_a_graph, gradients)), _has_a_graph(mean)

    asked = gradients_and_mean if callable(answer) else answer
    for _ in range(2):
        w, *inputs = draw.scalars(_STEPS + 1, high=1.0)
        yield call("gradients and mean", asked, parts=_SEEN, by_hand=False, w=w, inputs=inputs)


def _has_a_graph(value: object) -> bool:
    return getattr(value, "grad_fn", None) is not None


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


Train = Callable[[Tensor, list[Tensor]], tuple[list[Tensor], object]]


def _training(
    keep: Callable[[Tensor], Tensor] = Tensor.detach,
    note: Callable[[Tensor], object] = Tensor.item,
    forward: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda w, h, x: torch.tanh(w * h + x),
    retain_graph: bool = False,
) -> Train:
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


def _last_loss_for_the_mean(w: Tensor, inputs: list[Tensor]) -> tuple[list[Tensor], float]:
    losses: list[float] = []
    gradients, _ = _training(note=lambda loss: losses.append(loss.item()) or 0.0)(w, inputs)
    return gradients, losses[-1] / len(inputs)


def _with_their_graphs(w: Tensor, inputs: list[Tensor]) -> tuple[list[Tensor], float]:
    h, gradients, total = torch.ones_like(inputs[0]), [], 0.0
    for x in inputs:
        h = torch.tanh(w * h.detach() + x)
        loss = (h - 0.5) ** 2
        gradients += torch.autograd.grad(loss, w, create_graph=True)
        total = total + loss.item()
    return gradients, total / len(inputs)


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


def _one_tensor(empty: Callable[[Tensor], object], note: Callable[[Tensor], object] = lambda w: None) -> Train:
    """`w.grad` stays one tensor: what is done with it before each backward, and after it was noted."""

    def train(w: Tensor, inputs: list[Tensor]) -> tuple[list[Tensor], float]:
        h, gradients, total = torch.ones_like(inputs[0]), [], 0.0
        for x in inputs:
            h = torch.tanh(w * h.detach() + x)
            loss = (h - 0.5) ** 2
            empty(w)
            loss.backward()
            gradients.append(w.grad)
            note(w)
            total = total + loss.item()
        return gradients, total / len(inputs)

    return train


def _set_to_zero(w: Tensor) -> None:
    if w.grad is not None:
        w.grad.zero_()


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
        Misconception(
            "gradients_hold_graphs",
            _with_their_graphs,
            "The numbers are right. But your gradients have a `grad_fn` each: `create_graph=True` records the backward "
            "pass as well.",
        ),
        Misconception(
            "no_mean",
            lambda w, inputs: (_training()(w, inputs)[0], _training()(w, inputs)[1] * len(inputs)),
            "The gradients are right. The second value is to be the mean of the losses: of all of them, and divided by "
            "their number.",
            also=(_last_loss_for_the_mean,),
        ),
        Misconception(
            "gradients_alone",
            lambda w, inputs: _training()(w, inputs)[0],
            "Your function returns the gradients alone. The given code returns two things: the list, and the mean.",
        ),
        Misconception(
            "one_tensor_noted",
            _one_tensor(_set_to_zero),
            "All members of your list are one and the same tensor, so they show what is in it at the end. A backward "
            "pass adds into the tensor that is in `w.grad`, if there is one. Which line of the given code made each "
            "iteration begin with a tensor of its own?",
            also=(_one_tensor(lambda w: None), _one_tensor(lambda w: None, _set_to_zero)),
        ),
        Misconception(
            "nothing_there_to_set_to_zero",
            _one_tensor(lambda w: w.grad.zero_()),
            "Before the first backward pass `w.grad` is None: there is nothing that could be set to zero. How did the "
            "given code empty it?",
        ),
    ),
    hints=(
        "Two things carry history out of an iteration. One is used in the next iteration, one after the loop.",
        "h is needed as a number, not as the result of operations. So is the loss, once its backward is done.",
        "`detach()` gives the value of a tensor without its history.",
    ),
    when_right="`retain_graph=True` had kept the error away, and all iterations alive.",
)


EXERCISES = (MEND_HISTORY,)
