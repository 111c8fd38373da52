"""Unit 09, Second derivatives: the exercises, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import vector_jacobian_product

UNIT = "09_second_derivatives"


def _probe_square(answer: object, draw: Draw) -> Iterator[Observation]:
    for shape in ((), (2, 3)):
        yield call("gradient of x", answer, incoming=draw.tensor(*shape), x=draw.tensor(*shape))


def _square(incoming: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return vector_jacobian_product(torch.square, incoming, x)[0]


SQUARE = Exercise(
    name="second_derivatives_square",
    unit=UNIT,
    title="The backward of a square",
    points=1,
    probe=_probe_square,
    truth=_square,
    misconceptions=(
        Misconception(
            "incoming_ignored",
            lambda incoming, x: 2 * x,
            "This is the derivative of the square itself. What comes after it has a slope too: `incoming`. How do "
            "two slopes that follow each other combine?",
        ),
        Misconception(
            "factor_dropped",
            lambda incoming, x: x * incoming,
            "Your gradient is half of what it should be. Write the square as x * x: in how many places does x stand?",
        ),
        Misconception(
            "value_taken_for_derivative",
            lambda incoming, x: x**2 * incoming,
            "You multiply by the value of the square. A gradient asks how fast the value changes when x changes.",
        ),
    ),
    hints=(
        "What is the derivative of x**2?",
        "The caller wants the gradient of something that comes after the square. Where does `incoming` come in?",
    ),
)

EXERCISES = (SQUARE,)
