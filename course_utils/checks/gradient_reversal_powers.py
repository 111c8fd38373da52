"""Unit 07, gradient reversal: the exercise on further derivatives, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course_utils.adversarial import reverse
from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, numbers_of
from course_utils.checks.exercise import Exercise, Misconception

UNIT = "07_gradient_reversal"


# predict_derivatives -------------------------------------------------------------------------------------------


def _probe_derivatives(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("derivatives", answer, parts=("first", "second", "third"))


def _derivatives() -> tuple[float, ...]:
    with autograd():
        x = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
        value, found = reverse(x, 0.5) ** 4, []
        for _ in range(3):
            (value,) = torch.autograd.grad(value, x, create_graph=True)
            found.append(value.item())
    return tuple(found)


PREDICT_DERIVATIVES = Exercise(
    name="predict_derivatives",
    unit=UNIT,
    title="Predict what becomes of further derivatives",
    points=2,
    probe=_probe_derivatives,
    truth=_derivatives(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "turned_only_once",
            (-16.0, -24.0, -24.0),
            "These are the derivatives of the first one, -2 * x**3, as mathematics has it. The first backward uses the "
            "layer's result: what has to be passed to get from there to x?",
        ),
        Misconception(
            "factor_only_once",
            (-16.0, 24.0, -24.0),
            "The signs are right. Each time that the layer is passed, the sign changes; what else does the layer do?",
        ),
        Misconception(
            "factor_forgotten",
            (-32.0, 48.0, -48.0),
            "The signs are right, and would be all with factor 1. Here it is 0.5.",
        ),
        Misconception(
            "restored_for_good",
            (-16.0, 12.0, 6.0),
            "First and second are right. The sign is restored by a second turn. And the third pass?",
            also=((-16.0, 24.0, 24.0), (-32.0, 48.0, 48.0), (-16.0, 48.0, 48.0)),
        ),
        Misconception(
            "signs_forgotten",
            (16.0, 12.0, 6.0),
            "The sizes are right. Each passage through the layer has a minus, too.",
            also=((-16.0, -12.0, -6.0), (32.0, 48.0, 48.0)),
        ),
    ),
    hints=(
        "Write r for the layer's result. Each derivative by r is an ordinary one: 4 r**3, 12 r**2, 24 r.",
        "From r to x, each pass goes through the layer once more.",
        "So a first derivative has one factor of -0.5, and a second one has two.",
    ),
    when_right="(-0.5) to the power of the order. A loss with second derivatives behind such a layer is no longer "
    "reversed.",
)


EXERCISES = (PREDICT_DERIVATIVES,)
