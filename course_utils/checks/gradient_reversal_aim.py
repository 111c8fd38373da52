"""Unit 07, gradient reversal: the exercises on what a layer turns, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.adversarial import reverse
from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, choice_of, numbers_of
from course_utils.checks.exercise import Exercise, Misconception

UNIT = "07_gradient_reversal"


# predict_turned ------------------------------------------------------------------------------------------------


def _probe_turned(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("gradients", answer, parts=("w.grad", "a.grad", "d.grad"))


def _turned() -> tuple[float, ...]:
    with autograd():
        w, a, d = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (3.0, 5.0, 8.0))
        h = w * 2.0
        (a * h + d * reverse(h + 1, 0.5)).backward()
        return w.grad.item(), a.grad.item(), d.grad.item()


PREDICT_TURNED = Exercise(
    name="predict_turned",
    unit=UNIT,
    title="Predict who is turned",
    points=2,
    probe=_probe_turned,
    truth=_turned(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "reversal_affects_later_layers",
            (2.0, 6.0, -3.5),
            "What is turned, or halved, in your d.grad, should not be. On its way from the loss, does the message for "
            "d come through the layer?",
            also=((2.0, 6.0, -7.0), (2.0, 6.0, 3.5), (26.0, 6.0, -3.5), (26.0, 6.0, -7.0), (-6.0, 6.0, -7.0)),
        ),
        Misconception(
            "everything_is_turned",
            (-13.0, -3.0, -3.5),
            "A message is turned that has not passed the layer. It stands in one branch only: what reaches w over the "
            "other branch, and what reaches a?",
            also=((-26.0, -6.0, -7.0), (-13.0, 6.0, 7.0), (-26.0, 6.0, 7.0), (-13.0, 6.0, -3.5)),
        ),
        Misconception(
            "layer_forgotten",
            (26.0, 6.0, 7.0),
            "These are the gradients without the layer. Two messages meet at h: which of them has passed the layer?",
        ),
        Misconception(
            "factor_forgotten",
            (-6.0, 6.0, 7.0),
            "The sign is turned in the right place. With the factor 0.5, half of the message goes on.",
        ),
        Misconception(
            "one_branch_forgotten",
            (-8.0, 6.0, 7.0),
            "That is what w receives from one of the branches alone. h is used twice, and messages add up.",
            also=((10.0, 6.0, 7.0),),
        ),
        Misconception(
            "input_forgotten",
            (1.0, 6.0, 7.0),
            "a and d are right, and 1 is what arrives at h. From h to w there is one more local derivative.",
        ),
        Misconception(
            "weights_for_values",
            (2.0, 5.0, 8.0),
            "w is right. For the heads you gave the weights themselves. If a grows a little, how fast does a * h grow?",
            also=((2.0, 5.0, -4.0), (2.0, 5.0, -8.0), (2.0, 5.0, 4.0)),
        ),
        Misconception(
            "values_exchanged",
            (2.0, 6.0, 6.0),
            "w is right. Each head's weight gets the value that its head has read. Do both heads read the same?",
            also=((2.0, 7.0, 6.0), (2.0, 7.0, 7.0)),
        ),
    ),
    hints=(
        "The weights of the heads first: the local derivative of a * h by a is the value of h. What is the value of "
        "the layer's result?",
        "Two messages arrive at h. The one from d * reverse(q, 0.5) has passed the layer: d, times -0.5.",
        "Add them up, and go on to w.",
    ),
    when_right="The layer turns the messages that pass it. Whoever gets theirs before it notices nothing.",
)


# choose_loss ---------------------------------------------------------------------------------------------------


def _probe_loss(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


_Head = Callable[[Tensor], Tensor]
_LOSSES: dict[str, Callable[[Tensor, _Head, _Head], Tensor]] = {
    "a": lambda h, label, domain: label(h) - 0.5 * domain(h),
    "b": lambda h, label, domain: label(h) + 0.5 * domain(reverse(h, 1.0)),
    "c": lambda h, label, domain: label(h) - 0.5 * domain(reverse(h, 1.0)),
    "d": lambda h, label, domain: label(h) + reverse(domain(h), 0.5),
}


def _does_what_is_wanted(loss: Callable[[Tensor, _Head, _Head], Tensor]) -> bool:
    with autograd():
        w, a, d = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (2.0, 3.0, 5.0))
        loss(w * 1.0, lambda h: a * h, lambda h: d * h).backward()
    down_for_the_domain_head = d.grad > 0  # its own loss is d * h, with h above 0
    label_loss_down_and_domain_loss_up = torch.sign(w.grad - 3.0) == -1  # besides the 3 from the label head
    return bool(a.grad > 0 and down_for_the_domain_head and label_loss_down_and_domain_loss_up)


def _the_one_that_does() -> str:
    (letter,) = (letter for letter, loss in _LOSSES.items() if _does_what_is_wanted(loss))
    return letter


CHOOSE_LOSS = Exercise(
    name="choose_loss",
    unit=UNIT,
    title="One loss for two players",
    points=1,
    probe=_probe_loss,
    truth=_the_one_that_does(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "minus_loss_equals_reversal",
            "a",
            "The features go the right way. The minus stands before everything that the domain head computes: in which "
            "direction does the head's own weight go?",
        ),
        Misconception(
            "minus_in_loss_and_reversal",
            "c",
            "There is a minus in the loss, and the layer is a second one. For the features, two minus signs make a "
            "plus. How many does the domain head see?",
        ),
        Misconception(
            "layer_on_the_loss",
            "d",
            "On the loss, the layer lies between the loss and everything else. Who gets a message that has not passed "
            "it?",
        ),
    ),
    hints=(
        "For each line ask twice: how many minus signs does a message pass on its way to the domain head's weights, "
        "and how many on its way to the features?",
        "The head needs none, the features need one.",
    ),
    when_right="The layer is the minus, and it stands between the two players.",
)


EXERCISES = (PREDICT_TURNED, CHOOSE_LOSS)
