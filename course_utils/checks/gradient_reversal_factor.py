"""Unit 07, gradient reversal: the exercise on the schedule of the factor, and the mistakes it can name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception

UNIT = "07_gradient_reversal"


# mend_schedule -------------------------------------------------------------------------------------------------


def _probe_schedule(answer: object, draw: Draw) -> Iterator[Observation]:
    def whole_training(batches: int, epochs: int) -> list[object]:
        return [answer(batch, epoch, batches, epochs) for epoch in range(epochs) for batch in range(batches)]

    given = {"batch": draw.whole(1, 3), "epoch": draw.whole(1, 2), "batches": draw.whole(5, 8), "epochs": 7}
    yield call("factor", answer, by_hand=False, **given)
    yield call("factor at the first batch", answer, by_hand=False, batch=0, epoch=0, batches=draw.whole(3, 6), epochs=2)
    batches = draw.whole(3, 5)
    given = {"batches": batches, "epochs": draw.whole(6, 8) - batches}
    asked = whole_training if callable(answer) else answer
    yield call("factors of a whole training", asked, by_hand=False, **given)


def _by_tanh(batch: int, epoch: int, batches: int, epochs: int) -> float:
    """The same curve by another name: twice a sigmoid of 10 p, less 1, is tanh(5 p)."""
    count = sum(batches for _ in range(epoch)) + batch
    return math.tanh(5 * count / (batches * epochs))


def _schedule(
    progress: Callable[[int, int, int, int], float], constant: float = 10
) -> Callable[[int, int, int, int], float]:
    return lambda *place: 2 / (1 + math.exp(-constant * progress(*place))) - 1


def _progress(batch: int, epoch: int, batches: int, epochs: int) -> float:
    return (batch + epoch * batches) / (epochs * batches)


def _not_divided(batch: int, epoch: int, batches: int, epochs: int) -> float:
    return batch + epoch * batches / epochs / batches


MEND_SCHEDULE = Exercise(
    name="mend_schedule",
    unit=UNIT,
    title="Mend the schedule of the factor",
    points=2,
    probe=_probe_schedule,
    truth=_by_tanh,
    given=_schedule(_not_divided, constant=-10),
    misconceptions=(
        Misconception(
            "progress_not_normalised",
            _schedule(_not_divided),
            "The sign is right now. Print the progress for all batches of two epochs: does it stay between 0 and 1, "
            "and does it only rise?",
            also=(
                _schedule(lambda i, e, n, m: min(1.0, _not_divided(i, e, n, m))),
                _schedule(lambda i, e, n, m: i + e * n),
                _schedule(lambda i, e, n, m: (i + e * n) / n),
                _schedule(lambda i, e, n, m: (i + e * n) / m / 1),
            ),
        ),
        Misconception(
            "negative_factor",
            _schedule(_progress, constant=-10),
            "The progress is right. Your factor is negative, and the layer's backward has a minus already: two of them "
            "turn nothing.",
        ),
        Misconception(
            "rises_by_epochs_only",
            _schedule(lambda i, e, n, m: e / m),
            "Your progress stays where it is within an epoch. It is to rise at each batch.",
        ),
        Misconception(
            "starts_again_in_each_epoch",
            _schedule(lambda i, e, n, m: i / n),
            "Your progress starts again with each epoch. How many batches have there been before?",
            also=(_schedule(lambda i, e, n, m: (i + e) / (m * n)),),
        ),
        Misconception(
            "one_batch_ahead",
            _schedule(lambda i, e, n, m: (i + 1 + e * n) / (m * n)),
            "Your progress is ahead by one batch. At the very first one, nothing has been done yet.",
            also=(_schedule(lambda i, e, n, m: (i + e * n) / (m * n - 1)),),
        ),
        Misconception(
            "batches_and_epochs_exchanged",
            _schedule(lambda i, e, n, m: (e + i * m) / (m * n)),
            "Batches lie within epochs. How many batches are behind you when epoch number `epoch` begins?",
        ),
        Misconception(
            "sigmoid_not_stretched",
            lambda i, e, n, m: 1 / (1 + math.exp(-10 * _progress(i, e, n, m))),
            "At the first batch your factor is 0.5. The formula stretches that curve, so that it begins at 0.",
            also=(lambda i, e, n, m: 2 / (1 + math.exp(-10 * _progress(i, e, n, m))),),
        ),
    ),
    hints=(
        "How many batches have been done before this one, in all epochs together? And how many will there be in all?",
        "The progress is the first number divided by the second. Python divides before it adds.",
        "The formula has a minus before 10 p.",
    ),
    when_right="From 0 to nearly 1, and never negative: there is one minus, and it is in the layer.",
)


EXERCISES = (MEND_SCHEDULE,)
