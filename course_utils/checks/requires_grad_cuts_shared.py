"""Unit 03, which graphs get built: the plot that shares its numbers with a result, and how mending it fails."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import flag, fresh, gradients, recording

UNIT = "03_requires_grad"


# mend_plot -----------------------------------------------------------------------------------------------------


def _probe_plot(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = ("values for the plot", "they require a gradient", "out afterwards", "gradient behind out afterwards")
    one_small = torch.tensor([-3.0, 1.0, 1.0]) + draw.tensor(3) / 10  # farthest from the mean, and below it
    for a in (draw.tensor(3), draw.tensor(2, 2), one_small):
        incoming = draw.tensor(*a.shape)

        def in_a_network(a: Tensor, incoming: Tensor = incoming) -> tuple[object, ...] | None:
            with recording():
                leaf = fresh(a)
                out = leaf.exp()  # its backward uses the result
                shown = answer(out)
                return (
                    None
                    if shown is None
                    else (shown, flag(shown), out.detach().clone(), *gradients(out, [leaf], incoming))
                )

        asked = in_a_network if callable(answer) else answer
        yield call("out = a.exp(), then for_plot(out)", asked, parts=parts, by_hand=False, a=a)


def _scaled(shown: Tensor) -> Tensor:
    """As the given code does it: in place."""
    shown -= shown.mean()
    shown /= shown.abs().max()
    return shown


def _unrecorded(out: Tensor) -> Tensor:
    with torch.no_grad():
        return _scaled(out)


def _centred(out: Tensor) -> Tensor:
    """Without changing anything in place."""
    moved = out - out.sum() / out.numel()
    return moved / torch.maximum(moved.max(), -moved.min())


def _detached_itself(out: Tensor) -> Tensor:
    shown = _centred(out).detach()
    out.detach_()
    return shown


MEND_PLOT = Exercise(
    name="mend_plot",
    unit=UNIT,
    title="A plot that spoils nothing",
    points=2,
    probe=_probe_plot,
    truth=lambda out: _centred(out).detach(),
    given=lambda out: _scaled(out.detach()),
    when_as_given="`detach()` shares its storage with `out`, and so do views of it and its NumPy array.",
    misconceptions=(
        Misconception(
            "data_shares_storage",
            lambda out: _scaled(out.data),
            "`.data` has the same storage as `out`. `out` is changed now, and autograd does not even notice: compare "
            "the gradient behind it with the right one.",
        ),
        Misconception(
            "second_name",
            _scaled,
            "`=` makes no tensor: it gives `out` a second name. So the lines that follow change `out` itself, and its "
            "history with it.",
            also=(_unrecorded,),
        ),
        Misconception(
            "clone_keeps_history",
            lambda out: _scaled(out.clone()),
            "`out` is safe now. But the copy was recorded: the values for the plot still require a gradient.",
            also=(_centred,),
        ),
        Misconception(
            "detaches_the_original",
            _detached_itself,
            "The values are right, and `out` itself has lost its history: no gradient arrives behind it. Which methods "
            "change the tensor they belong to?",
            also=(lambda out: _scaled(out.detach_()),),
        ),
        Misconception(
            "as_an_array",
            lambda out: _scaled(out.detach().clone()).numpy(),
            "The values are right. Here a tensor is to be returned, and yours is a NumPy array.",
            also=(lambda out: _scaled(out.detach().clone()).tolist(),),
        ),
    ),
    hints=(
        "Which lines change numbers in place? Which tensor has the same numbers in the same storage?",
        "The lesson's section 5 has a table with three ways. One of them leaves `out` as it is.",
    ),
    when_right="Without history, and with numbers of its own: these are two different wishes.",
)


EXERCISES = (MEND_PLOT,)
