"""Unit 03, which graphs get built: the functions in which a graph is cut, and how mending them fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import flag, fresh, gradients, recording

UNIT = "03_requires_grad"


def _watched(answer: object, incoming: Tensor, leaves: int) -> object:
    """The answer on fresh leaves in place of its first inputs: its value, its flag, and the leaves' gradients."""
    if not callable(answer):
        return answer

    def on_leaves(*inputs: Tensor) -> tuple[object, ...] | None:
        with recording():
            fresh_ones = [fresh(value) for value in inputs[:leaves]]
            result = answer(*fresh_ones, *inputs[leaves:])
            return None if result is None else (result, flag(result), *gradients(result, fresh_ones, incoming))

    return on_leaves


# mend_rotation -------------------------------------------------------------------------------------------------


def _probe_rotation(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = ("value", "requires_grad", "gradient of point", "gradient of angle")
    for _ in range(2):
        point, incoming, angle = draw.tensor(2), draw.tensor(2), draw.tensor(low=0.3, high=1.3)
        watched = _watched(answer, incoming, leaves=2)
        yield call("turned point", watched, parts=parts, by_hand=False, point=point, angle=angle)
    # a point that is data: whatever requires a gradient then does so for the angle, or by itself
    flipped = _angle_first(answer) if callable(answer) else answer
    watched = _watched(flipped, incoming, leaves=1)
    parts = ("value", "requires_grad, where the point requires none", "gradient of angle")
    yield call("turned point", watched, parts=parts, by_hand=False, angle=angle, point=point)


def _angle_first(turn: Callable[[Tensor, Tensor], object]) -> Callable[[Tensor, Tensor], object]:
    return lambda angle, point: turn(point, angle)


def _turned(point: Tensor, angle: Tensor) -> Tensor:
    """By a product of complex numbers."""
    turned = torch.complex(point[0], point[1]) * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned)


def _turn_with(matrix_of: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda point, angle: matrix_of(torch.cos(angle), torch.sin(angle)) @ point


def _new_leaf(result: Tensor) -> Tensor:
    return result.detach().clone().requires_grad_()


MEND_ROTATION = Exercise(
    name="mend_rotation",
    unit=UNIT,
    title="Mend a rotation that cannot be learnt",
    points=2,
    probe=_probe_rotation,
    truth=_turned,
    given=_turn_with(lambda c, s: torch.tensor([[c, -s], [s, c]])),
    when_as_given="`torch.tensor` reads plain numbers, however they are written: what it makes is a new leaf, and no "
    "way leads back from it to the angle.",
    misconceptions=(
        Misconception(
            "requires_grad_on_the_result",
            lambda point, angle: _new_leaf(_turned(point, angle)),
            "The result says that it requires a gradient, and no gradient reaches what it was made from. It is a new "
            "leaf. A flag does not join what has been cut.",
            also=(lambda point, angle: torch.tensor(_turned(point, angle).tolist(), requires_grad=True),),
        ),
        Misconception(
            "flag_on_the_matrix",
            _turn_with(lambda c, s: torch.tensor([[c, -s], [s, c]], requires_grad=True)),
            "The matrix is a new leaf, and now it has a flag: a gradient arrives at the matrix, and stops there. From "
            "its plain numbers no way leads back to the angle.",
        ),
        Misconception(
            "turned_the_other_way",
            _turn_with(lambda c, s: torch.stack([torch.stack([c, s]), torch.stack([-s, c])])),
            "Gradients arrive now. But rows and columns of the matrix are exchanged, so the point turns the other way.",
            also=(_turn_with(lambda c, s: torch.stack([torch.stack([c, -s]), torch.stack([s, c])], dim=1)),),
        ),
        Misconception(
            "point_is_cut",
            lambda point, angle: _turned(point.detach(), angle),
            "The angle gets its gradient now, and the point has lost its own. Something takes the bare numbers of the "
            "point.",
        ),
        Misconception(
            "nothing_recorded",
            lambda point, angle: _turned(point, angle).detach(),
            "Now the result requires no gradient at all. Does a step of your code take bare numbers, or stand where "
            "nothing is recorded?",
        ),
    ),
    hints=(
        "`torch.tensor([...])` reads its elements as plain numbers. Which operations put tensors together, and are "
        "recorded?",
        "`torch.stack([c, -s])` is a row of the matrix. How do two rows become a matrix?",
    ),
    when_right="stack and cat are operations. torch.tensor is a new beginning.",
)


# mend_position -------------------------------------------------------------------------------------------------


def _probe_position(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = ("value", "requires_grad", "gradient of scores")
    for count in (3, 4):
        scores, positions = draw.tensor(count, high=1.5), draw.tensor(count, low=1.0, high=9.0)
        watched = _watched(answer, draw.tensor(), leaves=1)
        sharpness = draw.tensor(low=1.2, high=2.0).abs().item()
        yield call(
            "mean position",
            watched,
            parts=parts,
            by_hand=False,
            scores=scores,
            positions=positions,
            sharpness=sharpness,
        )


def _mean_position(scores: Tensor, positions: Tensor, sharpness: float) -> Tensor:
    """The derivative of log(sum(exp(sharpness * scores + t * positions))) at t = 0."""
    shift = torch.zeros((), dtype=scores.dtype, requires_grad=True)
    total = torch.logsumexp(sharpness * scores + shift * positions, 0)
    return torch.autograd.grad(total, shift, create_graph=True)[0]


def _weighted(
    weights_of: Callable[[Tensor, Tensor, float], Tensor],
) -> Callable[[Tensor, Tensor, float], Tensor]:
    return lambda scores, positions, sharpness: (weights_of(scores, positions, sharpness) * positions).sum()


def _weighted_indices(scores: Tensor, positions: Tensor, sharpness: float) -> Tensor:
    indices = torch.arange(len(scores), dtype=scores.dtype)
    return (torch.softmax(sharpness * scores, 0) * indices).sum()


MEND_POSITION = Exercise(
    name="mend_position",
    unit=UNIT,
    title="A position that a gradient can move",
    points=3,
    probe=_probe_position,
    truth=_mean_position,
    given=lambda scores, positions, sharpness: positions[scores.argmax()],
    when_as_given="Whatever is computed from the index alone cannot pass a gradient on to the scores.",
    misconceptions=(
        Misconception(
            "flag_on_the_index",
            lambda scores, positions, sharpness: positions[scores.argmax()].clone().requires_grad_(),
            "The result is a new leaf now. It requires a gradient, and none goes back to the scores.",
        ),
        Misconception(
            "weights_detached",
            _weighted(lambda scores, positions, sharpness: torch.softmax(sharpness * scores, 0).detach()),
            "The value is right, and nothing reaches the scores: the weights are taken as bare numbers.",
            also=(_weighted(lambda scores, positions, sharpness: torch.softmax(sharpness * scores.data, 0)),),
        ),
        Misconception(
            "sharpness_missing",
            _weighted(lambda scores, positions, sharpness: torch.softmax(scores, 0)),
            "The weights do not depend on the sharpness. It belongs in front of the scores, before the softmax.",
        ),
        Misconception(
            "divided_by_sharpness",
            _weighted(lambda scores, positions, sharpness: torch.softmax(scores / sharpness, 0)),
            "You divide by the sharpness, as by a temperature. The larger it is, the more the largest score is to "
            "count.",
        ),
        Misconception(
            "sharpness_outside",
            _weighted(lambda scores, positions, sharpness: sharpness * torch.softmax(scores, 0)),
            "The sharpness multiplies the weights. Their sum is no longer 1. It is to multiply the scores.",
        ),
        Misconception(
            "weights_do_not_sum_to_one",
            _weighted(lambda scores, positions, sharpness: torch.exp(sharpness * scores)),
            "These weights are positive, and their sum is not 1. What does the softmax do after the exponential?",
            also=(_weighted(lambda scores, positions, sharpness: torch.sigmoid(sharpness * scores)),),
        ),
        Misconception(
            "scores_as_weights",
            _weighted(lambda scores, positions, sharpness: sharpness * scores),
            "The scores themselves are your weights. Scores may be negative, and weights may not. What makes weights "
            "of them?",
            also=(
                _weighted(lambda scores, positions, sharpness: scores),
                _weighted(lambda scores, positions, sharpness: scores / scores.sum()),
            ),
        ),
        Misconception(
            "not_added_up",
            lambda scores, positions, sharpness: torch.softmax(sharpness * scores, 0) * positions,
            "Your result has an entry for each position. The mean position is one number. What makes a mean of "
            "positions and their weights?",
            also=(lambda scores, positions, sharpness: torch.softmax(sharpness * scores, 0),),
        ),
        Misconception(
            "indices_for_positions",
            _weighted_indices,
            "You average the indices 0, 1, 2, and so on. Here the positions are given: they are any numbers.",
        ),
        Misconception(
            "number_returned",
            lambda *inputs: _mean_position(*inputs).item(),
            "The value is right, and it is a plain number: nothing leads back from it to the scores.",
        ),
        Misconception(
            "sum_taken_for_mean",
            lambda scores, positions, sharpness: (torch.softmax(sharpness * scores, 0) * positions).mean(),
            "The weights have the sum 1 already. With them the mean is a sum. You divide once more.",
        ),
        Misconception(
            "positions_in_the_softmax",
            lambda scores, positions, sharpness: torch.softmax(sharpness * scores * positions, 0).sum(),
            "The positions went into the softmax. They are what is averaged; only the scores decide the weights.",
            also=(lambda scores, positions, sharpness: (torch.softmax(positions, 0) * scores * sharpness).sum(),),
        ),
    ),
    hints=(
        "First the weights: `torch.softmax(..., 0)` of the scores, which the sharpness has multiplied.",
        "Then each position times its weight, and all of it added up.",
    ),
    when_right="The larger the sharpness, the nearer to argmax, and the smaller the gradients far from a tie.",
)


EXERCISES = (MEND_ROTATION, MEND_POSITION)
