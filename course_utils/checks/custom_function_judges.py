"""Unit 06, custom Functions: the exercise on what two judges see, and the mistakes it can name."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function, gradcheck, gradgradcheck

from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, in_one_row, numbers_of
from course_utils.checks.exercise import Exercise, Later, Misconception
from course_utils.checks.functions import function

UNIT = "06_custom_function"


# predict_judges ------------------------------------------------------------------------------------------------

_VERDICTS = tuple(f"{judge} on {name}" for name in "ABC" for judge in ("gradcheck", "gradgradcheck"))


def _probe_judges(answer: object, draw: Draw) -> Iterator[Observation]:
    yield in_one_row(numbers_of("1 for passes, 0 for fails", answer, parts=_VERDICTS))


def _saves_all(result: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def keep(ctx: Function, *inputs: Tensor) -> Tensor:
        ctx.save_for_backward(*inputs)
        return result(*inputs)

    return keep


def _square_and_keep(ctx: Function, x: Tensor) -> Tensor:
    t = 1 + x
    ctx.save_for_backward(t)
    return t**2


def _verdicts() -> tuple[int, ...]:
    """What both judges say of the three Functions of the exercise."""
    exchanged = function("A", _saves_all(torch.mul), lambda ctx, g: tuple(g * one for one in ctx.saved_tensors))
    keeps = function("B", _square_and_keep, lambda ctx, g: g * 2 * ctx.saved_tensors[0])
    right = function("C", _saves_all(lambda x: x**3), lambda ctx, g: g * 3 * ctx.saved_tensors[0] ** 2)
    with autograd():
        x, y = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (0.5, 3.0))
        given = ((exchanged, (x, y)), (keeps, (x,)), (right, (x,)))
        return tuple(
            int(judge(made.apply, inputs, raise_exception=False))
            for made, inputs in given
            for judge in (gradcheck, gradgradcheck)
        )


_Pair = tuple[int, int]  # what gradcheck says, and gradgradcheck
_SOUND: _Pair = (1, 1)
_PAIRS = tuple(itertools.product((0, 1), repeat=2))


def _answers(a: tuple[_Pair, ...], b: tuple[_Pair, ...], c: tuple[_Pair, ...] = (_SOUND,)) -> tuple[object, ...]:
    """Every answer with one of these pairs for A, for B, and for C."""
    return tuple(sum(pairs, ()) for pairs in itertools.product(a, b, c))


def _wrong(label: str, says: str, *answers: object) -> Misconception:
    return Misconception(label, answers[0], says, also=answers[1:])


PREDICT_JUDGES = Exercise(
    name="predict_judges",
    unit=UNIT,
    title="Predict what both judges say",
    points=2,
    probe=_probe_judges,
    truth=Later(_verdicts),
    tells_expected=False,
    misconceptions=(
        _wrong(
            "both_see_everything",
            "You let both judges find the fault of A, and that of B. They look at different things: one at the first "
            "derivative, the other at the derivative of the backward.",
            *_answers(((0, 0),), ((0, 0),)),
        ),
        _wrong(
            "judges_exchanged",
            "Each verdict on A and B stands under the wrong judge. gradcheck compares the backward with nudges of the "
            "forward.",
            *_answers(((1, 0),), ((0, 1),)),
        ),
        _wrong(
            "the_second_includes_the_first",
            "For A you let gradgradcheck fail because gradcheck does. It does not ask whether the backward fits the "
            "forward: it takes A's backward as it stands. Is the derivative of *that* right?",
            *_answers(((0, 0),), ((1, 0), (0, 1), (1, 1))),
        ),
        _wrong(
            "nudged_where_it_hides",
            "A's two gradients stand in each other's place. That hides where x and y are equal. Are they?",
            *_answers(((1, 1),), ((1, 0), (0, 0), (0, 1), (1, 1))),
        ),
        _wrong(
            "exchanged_for_a",
            "For A, each verdict stands under the wrong judge. gradcheck compares the backward with nudges of the "
            "forward.",
            *_answers(((1, 0),), ((1, 0), (0, 0), (1, 1))),
        ),
        _wrong(
            "saved_properly_is_enough",
            "A and C are right. B saves t with `save_for_backward`, so t is watched and freed. But does autograd know "
            "where t came from?",
            *_answers(((0, 1),), ((1, 1),)),
        ),
        _wrong(
            "intermediate_breaks_the_first",
            "A and C are right. For B: the value of t is right when the backward runs, so what is the first "
            "derivative?",
            *_answers(((0, 1),), ((0, 0), (0, 1))),
        ),
        _wrong(
            "sound_one_rejected",
            "C's backward is the derivative of its forward, and it saves its input. What could a judge object to?",
            *_answers(_PAIRS, _PAIRS, ((0, 0), (0, 1), (1, 0))),
        ),
    ),
    hints=(
        "gradcheck: is what the backward returns the derivative of the forward, at these inputs?",
        "gradgradcheck: take the backward's own formula, right or wrong. Can autograd differentiate it through "
        "everything that it uses?",
    ),
    when_right="Two judges, two questions. Ask both, and then think of what neither of them looks at.",
)


EXERCISES = (PREDICT_JUDGES,)
