"""Unit 05, asking for gradients: the predictions of `.grad` and of weights, and their mistakes."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from course_utils.checks.asking_for_gradients_training import MEND_TRAINING
from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import vector_jacobian_product

UNIT = "05_asking_for_gradients"


# predict_dot_grad ----------------------------------------------------------------------------------------------

_SEEN = ("first", "second", "asked", "third", "fourth")


def _probe_dot_grad(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=_SEEN)


def _dot_grad() -> tuple[float, ...]:
    with autograd():
        w = torch.tensor(7.0, requires_grad=True)
        (3 * w).backward()
        first = w.grad.item()
        (w * w).backward()
        second = w.grad.item()
        asked = torch.autograd.grad(5 * w, w)[0].item()
        third = w.grad.item()
        w.grad = None
        (w * w).backward()
        return first, second, asked, third, w.grad.item()


PREDICT_DOT_GRAD = Exercise(
    name="predict_dot_grad",
    unit=UNIT,
    title="What stands in .grad, call after call",
    points=2,
    probe=_probe_dot_grad,
    truth=_dot_grad(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "backward_overwrites_grad",
            (3, 14, 5, 14, 14),
            "For `second` you take the gradient of w * w alone. What stood in w.grad before this call, and who has "
            "cleared it?",
            also=((3, 14, 5, 5, 14), (3, 14, 5, 19, 14)),
        ),
        Misconception(
            "grad_writes_too",
            (3, 17, 5, 22, 14),
            "You let torch.autograd.grad add to w.grad. Of the two ways to ask, which one leaves no trace there?",
        ),
        Misconception(
            "grad_replaces",
            (3, 17, 5, 5, 14),
            "You let torch.autograd.grad write its result into w.grad. Where does it put what it found?",
        ),
        Misconception(
            "grad_returns_the_total",
            (3, 17, 22, 17, 14),
            "For `asked` you add what stood in w.grad. What is returned belongs to this one question alone.",
            also=((3, 17, 22, 22, 14),),
        ),
        Misconception(
            "never_emptied",
            (3, 17, 5, 17, 31),
            "For `fourth` you count what stood in w.grad before it was set to None. What is left of it?",
            also=((3, 17, 5, 22, 36),),
        ),
        Misconception(
            "values_in_place_of_gradients",
            (21, 70, 35, 70, 49),
            "These are made of the values of 3 * w, w * w and 5 * w. How much does each of them change with w?",
            also=((21, 49, 35, 49, 49), (21, 49, 35, 35, 49)),
        ),
        Misconception(
            "one_factor_of_the_square",
            (3, 10, 5, 10, 7),
            "In w * w, w is used twice. Two messages come back to it.",
            also=((3, 7, 5, 7, 7),),
        ),
    ),
    hints=(
        "Write down two numbers for each line: what this call computes, and what stands in w.grad afterwards.",
        "`backward` adds to w.grad. `torch.autograd.grad` returns, and leaves w.grad alone.",
    ),
    when_right="`.grad` is an account into which every `backward` pays. `torch.autograd.grad` only tells you a number.",
)


# predict_weights -----------------------------------------------------------------------------------------------


def _probe_weights(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=("x.grad[0]", "x.grad[1]"))


def _weighted() -> tuple[float, ...]:
    x, weights = (torch.tensor(values, dtype=torch.float64) for values in ([3.0, 5.0], [2.0, -1.0, 0.5]))
    (gradient,) = vector_jacobian_product(lambda x: torch.stack([x[0] * x[1], x[0] + 4 * x[1], x[1] ** 2]), weights, x)
    return tuple(gradient.tolist())


PREDICT_WEIGHTS = Exercise(
    name="predict_weights",
    unit=UNIT,
    title="Predict what weights bring back",
    points=2,
    probe=_probe_weights,
    truth=_weighted(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "weights_ignored",
            (6, 17),
            "This is what weights of ones would give: the rows of the Jacobian, added. Each entry of y has a weight of "
            "its own here.",
        ),
        Misconception(
            "gradient_argument_is_a_scale",
            (12, -17),
            "You add the rows of the Jacobian, and scale what comes back for x[0] by the first weight and for x[1] by "
            "the second. There are three weights. To what do they belong?",
        ),
        Misconception(
            "first_row_only",
            (10, 6),
            "The first row is weighted right. y has two more entries, which depend on x too.",
        ),
        Misconception(
            "averaged",
            (3, 7 / 3),
            "You divide by the number of outputs. The weights say already how much of each goes in.",
        ),
        Misconception(
            "sign_of_a_weight_lost",
            (11, 15),
            "The weight of y[1] is negative: what y[1] brings is taken away.",
        ),
        Misconception("swapped", (7, 9), "Both numbers are right, each in the other's place. x[0] comes first."),
        Misconception(
            "square_taken_for_a_product",
            (9, 4.5),
            "x.grad[0] is right. For x[1]: how fast does x[1] ** 2 change with x[1], at 5?",
        ),
        Misconception(
            "factor_lost",
            (9, 10),
            "x.grad[0] is right. For x[1]: how fast does y[1] = x[0] + 4 * x[1] change with x[1]?",
        ),
    ),
    hints=(
        "Write the Jacobian: a row for each entry of y, a column for x[0] and one for x[1].",
        "Multiply each row by its weight, and add the rows up.",
    ),
    when_right="Each weight multiplies a whole row. The column of an input adds up what the rows bring.",
)


EXERCISES = (PREDICT_DOT_GRAD, MEND_TRAINING, PREDICT_WEIGHTS)
