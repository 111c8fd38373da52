"""Unit 03, which graphs get built: the exercises on flags and leaves, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.plain import Array, Plain
from course_utils.checks.recorded import recording

UNIT = "03_requires_grad"


def _flags_seen(answer: object, parts: tuple[str, ...]) -> Observation:
    """A prediction that consists of True and False; 1 and 0 count as these."""
    seen = numbers_of("prediction", answer, parts=parts)
    return replace(seen, value=_as_flags(seen.value))


def _as_flags(value: Plain) -> Plain:
    if isinstance(value, tuple):
        return tuple(map(_as_flags, value))
    if not isinstance(value, Array) or not set(value.numbers) <= {0.0, 1.0}:
        return value
    flags = tuple(Array((), "bool", (number,)) for number in value.numbers)
    return flags if value.shape else flags[0]


# predict_flags -------------------------------------------------------------------------------------------------


def _probe_flags(answer: object, draw: Draw) -> Iterator[Observation]:
    yield _flags_seen(answer, parts=tuple(f"{name}.requires_grad" for name in "pqrstu"))


def _flags() -> tuple[bool, ...]:
    with recording():
        a = torch.tensor([1.0, 2.0])
        b = torch.tensor([3.0, 4.0], requires_grad=True)
        p = a * 2
        q = p + b
        with torch.no_grad():
            r = q * b
        s = r + 1
        t = r + b
        u = q.argmax()
    return tuple(tensor.requires_grad for tensor in (p, q, r, s, t, u))


PREDICT_FLAGS = Exercise(
    name="predict_flags",
    unit=UNIT,
    title="Predict six flags",
    points=2,
    probe=_probe_flags,
    truth=_flags(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "all_inputs_must_require",
            (False, False, False, False, False, False),
            "You ask that every input requires a gradient. Of the two inputs of q, p requires none, and b does. Is "
            "there a gradient to be computed, then?",
            also=((False, False, False, False, True, False),),
        ),
        Misconception(
            "mode_is_inherited",
            (False, True, False, False, False, False),
            "You let `no_grad` go on to t, because r was made there. r is now an ordinary tensor without history. What "
            "does the other input of t say?",
        ),
        Misconception(
            "mode_only_pauses_backward",
            (False, True, True, True, True, False),
            "You take r to be recorded. r is made inside the block, and the mode counts while an operation runs. (What "
            "comes after the block starts from r as it is.)",
            also=((False, True, True, False, True, False),),
        ),
        Misconception(
            "s_follows_from_b",
            (False, True, False, True, True, False),
            "r is right. s is made outside the block, from r and 1. Which of these two requires a gradient?",
        ),
        Misconception(
            "argmax_is_differentiable",
            (False, True, False, False, True, True),
            "argmax gives the place of the largest number. Which dtype does a place have, and can it move by a small "
            "step?",
        ),
        Misconception(
            "flag_goes_to_everything",
            (True, True, False, False, True, False),
            "p is made from a and 2. Whether something later uses b does not matter for p.",
        ),
        Misconception(
            "several_flags_wrong",
            (True, False, True, True, False, True),
            "More than one of your flags is wrong. Ask three things of each line: does one of its inputs require a "
            "gradient, is the grad mode enabled there, and can the result move by a small step?",
            also=((True, True, True, True, True, True), (True, True, True, True, True, False)),
        ),
    ),
    hints=(
        "Go line by line. For each result: does one of its inputs require a gradient? Is the grad mode enabled there?",
        "r is made inside the block. s and t are made outside again, from r as it is.",
        "u holds a whole number.",
    ),
    when_right="One input that requires a gradient is enough, and the mode at that moment decides.",
)


# predict_leaves ------------------------------------------------------------------------------------------------


def _probe_leaves(answer: object, draw: Draw) -> Iterator[Observation]:
    yield _flags_seen(answer, parts=tuple(f"{name}.is_leaf" for name in "acdefgh"))


def _leaves() -> tuple[bool, ...]:
    with recording():
        a = torch.zeros(3, dtype=torch.float64)
        b = torch.ones(3, dtype=torch.float64, requires_grad=True)
        c = a + 1
        d = b + 1
        e = d.detach() * 5
        f = torch.nn.Parameter(d)
        g = b.to(torch.float32)
        with torch.no_grad():
            h = b * 2
    return tuple(tensor.is_leaf for tensor in (a, c, d, e, f, g, h))


PREDICT_LEAVES = Exercise(
    name="predict_leaves",
    unit=UNIT,
    title="Predict what is a leaf",
    points=2,
    probe=_probe_leaves,
    truth=_leaves(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "computed_is_no_leaf",
            (True, False, False, False, True, False, False),
            "You take a tensor for no leaf because it was computed. What counts is whether the operation was "
            "*recorded*.",
            also=(
                (True, False, False, False, False, False, False),
                (True, False, False, True, True, False, False),
                (True, False, False, True, True, False, True),
            ),
        ),
        Misconception(
            "detached_is_no_leaf",
            (True, True, False, False, True, False, True),
            "e is made from `d.detach()`. Does that require a gradient, and is the multiplication recorded, then?",
        ),
        Misconception(
            "recorded_and_a_leaf",
            (True, True, True, True, True, False, True),
            "d is made from b, and b requires a gradient. Is this addition recorded?",
        ),
        Misconception(
            "leaf_means_requires_grad",
            (False, False, False, False, True, False, False),
            "You take a tensor for no leaf because it requires no gradient. No recorded operation made it: there is no "
            "node behind it, either.",
            also=((False, True, False, True, True, False, True),),
        ),
        Misconception(
            "conversion_is_no_operation",
            (True, True, False, True, True, True, True),
            "A conversion to another dtype makes a new tensor, by an operation. And b requires a gradient.",
        ),
        Misconception(
            "parameter_keeps_history",
            (True, True, False, True, False, False, True),
            "d has a history. Does the parameter that is made from it take this history over?",
        ),
        Misconception(
            "no_grad_forgotten",
            (True, True, False, True, True, False, False),
            "For h you look at b alone. Look at where the operation runs.",
        ),
        Misconception(
            "several_leaves_wrong",
            (False, False, True, False, False, True, False),
            "More than one of your answers is wrong. Ask of each line whether an operation in it is recorded: is a "
            "tensor used that requires a gradient, and is the grad mode enabled there?",
        ),
    ),
    hints=(
        "A tensor is a leaf if no recorded operation made it. Which of these lines are recorded?",
        "Recorded are only the lines that use a tensor which requires a gradient, where the grad mode is enabled.",
        "A parameter always begins anew.",
    ),
    when_right="All that is not recorded is a leaf, and so is every parameter.",
)


EXERCISES = (PREDICT_FLAGS, PREDICT_LEAVES)
