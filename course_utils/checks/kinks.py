"""Unit 08, kinks: the exercises on slopes that are chosen, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of, vector_jacobian_product

UNIT = "08_kinks"

Function = Callable[[Tensor], Tensor]


# predict_kinks -------------------------------------------------------------------------------------------------

_ZERO = torch.tensor(0.0, dtype=torch.float64)
_AT_ZERO: dict[str, Function] = {
    "a": lambda x: torch.relu(x) + torch.maximum(x, _ZERO),
    "b": lambda x: torch.where(x >= 0, 3 * x, x),
    "c": lambda x: x.abs() + 2 * x,
    "d": lambda x: 5 * torch.relu(x) - 2 * torch.relu(-x) + x,
}


def _probe_slopes(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=tuple(_AT_ZERO))


def _slope_at_zero(function: Function) -> float:
    return vector_jacobian_product(function, torch.ones_like(_ZERO), _ZERO)[0].item()


PREDICT_KINKS = Exercise(
    name="predict_kinks",
    unit=UNIT,
    title="Four gradients at a kink",
    points=2,
    probe=_probe_slopes,
    truth=tuple(_slope_at_zero(function) for function in _AT_ZERO.values()),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "relu_equals_maximum",
            (0, 3, 2, 1),
            "In a, you let `maximum` pick what `relu` picks. The values agree; what does `maximum` do with two equal "
            "numbers?",
        ),
        Misconception(
            "relu_takes_one",
            (1.5, 3, 2, 4),
            "You let `relu` pass the gradient on at 0. For d you would have to pass it on twice. What does the table "
            "of section 2 say of it?",
            also=((1.5, 3, 2, 8),),
        ),
        Misconception(
            "relu_takes_a_half",
            (1, 3, 2, 4.5),
            "You give `relu` the slope 1/2, the mean of its two sides. That is what the nudge to both sides says, and "
            "what `maximum` takes. `relu` has another choice.",
            also=((1, 3, 2, 2.5),),
        ),
        Misconception(
            "where_takes_the_other_branch",
            (0.5, 1, 2, 1),
            "In b, x is 0 and the condition is `x >= 0`. Which branch is chosen, and what is its slope?",
        ),
        Misconception(
            "where_takes_the_mean",
            (0.5, 2, 2, 1),
            "In b you take the mean of the two slopes. `where` makes no mean: it passes the gradient to the branch "
            "that it has chosen.",
        ),
        Misconception(
            "abs_takes_a_side",
            (0.5, 3, 3, 1),
            "In c you take the slope of `abs` on the right. At 0 it can be anything from -1 to 1; which one is picked?",
            also=((0.5, 3, 1, 1),),
        ),
        Misconception(
            "true_slope_of_the_whole",
            (0.5, 3, 2, 6),
            "In d you take a slope of the whole function. Autograd looks at each `relu` alone, and adds what they "
            "give.",
            also=((0.5, 3, 2, 3),),
        ),
        Misconception(
            "no_derivative_means_nan",
            (float("nan"),) * 4,
            "At a kink there is no derivative, and still no `nan`: each operation picks a number.",
        ),
    ),
    hints=(
        "Take each operation alone: what does it pass on at 0?",
        "The table of section 2 has `relu`, `maximum` and `where`. The explorer knows `abs`.",
    ),
    when_right="Each part picks for itself, and the sum of the picks is what you get.",
)


# supports ------------------------------------------------------------------------------------------------------

_CURVES: dict[str, Function] = {
    "relu": torch.relu,
    "abs(x) + x**2": lambda x: x.abs() + x**2,
    "x**2": torch.square,
}


def _probe_supports(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(f: str, x: Tensor, slope: Tensor, points: Tensor) -> object:
        return answer(_CURVES[f], x, slope, points)

    near, far = draw.tensor(5, low=0.1, high=1.4), draw.tensor(5)
    moved = draw.scalars(1)[0].abs() + 0.005  # at none of the points, where a tangent would touch within rounding
    zero = torch.zeros_like(moved)
    cases = (
        ("relu", zero, 0.0), ("relu", zero, 0.63), ("relu", zero, 1.0), ("relu", zero, 1.17), ("relu", zero, -0.21),
        ("abs(x) + x**2", zero, -1.0), ("abs(x) + x**2", zero, 1.0), ("abs(x) + x**2", zero, 3.9),
        ("relu", moved, 0.43), ("x**2", moved, 2 * moved.item()), ("x**2", -moved, -2 * moved.item()),
        ("x**2", moved, -2 * moved.item()),
    )  # fmt: skip
    for f, x, slope in cases:
        for points in (torch.cat([near.abs(), -far.abs()]), torch.cat([-near.abs(), far.abs() + 2.6])):
            given = {"f": f, "x": x.clone(), "slope": torch.tensor(slope, dtype=x.dtype), "points": points}
            yield call("whether the line supports the curve", asked if callable(answer) else answer, **given)


def _supports_by_gap(f: Function, x: Tensor, slope: Tensor, points: Tensor) -> bool:
    """The smallest gap between curve and line is not below 0."""
    return min((f(point) - f(x) - slope * (point - x)).item() for point in points) >= 0


def _line(f: Function, x: Tensor, slope: Tensor, points: Tensor) -> Tensor:
    return f(x) + slope * (points - x)


SUPPORTS = Exercise(
    name="supports",
    unit=UNIT,
    title="Whether a line supports a curve",
    points=3,
    probe=_probe_supports,
    truth=_supports_by_gap,
    misconceptions=(
        Misconception(
            "touching_not_allowed",
            lambda f, x, slope, points: bool((_line(f, x, slope, points) < f(points)).all()),
            "You ask for a line strictly below the curve. A line may also touch it: relu has the slope 0 as a "
            "subgradient at 0.",
        ),
        Misconception(
            "above_in_place_of_below",
            lambda f, x, slope, points: bool((_line(f, x, slope, points) >= f(points)).all()),
            "You ask whether the line stays above the curve.",
        ),
        Misconception(
            "at_one_point_is_enough",
            lambda f, x, slope, points: bool((_line(f, x, slope, points) <= f(points)).any()),
            "You are content if the line is below the curve at one of the points. What is asked for?",
        ),
        Misconception(
            "line_through_the_origin",
            lambda f, x, slope, points: bool((slope * points <= f(points)).all()),
            "Your line goes through the origin. It is to go through the curve at x.",
        ),
        Misconception(
            "offset_forgotten",
            lambda f, x, slope, points: bool((f(x) + slope * points <= f(points)).all()),
            "Your line has the right slope and starts at the height f(x), and it has that height at 0. Where should it "
            "have it?",
        ),
        Misconception(
            "steepness_by_size",
            lambda f, x, slope, points: bool((((f(points) - f(x)) / (points - x)).abs() >= slope.abs()).all()),
            "You compare how steep the two are, without the sign. On the left of x the line must not fall more slowly "
            "than the curve rises; on the right it must not rise faster.",
        ),
        Misconception(
            "same_side_for_both",
            lambda f, x, slope, points: bool(((f(points) - f(x)) / (points - x) >= slope).all()),
            "You divide by `points - x`. On the left of x this is below 0, and turns the comparison round.",
        ),
        Misconception(
            "one_answer_for_each_point",
            lambda f, x, slope, points: _line(f, x, slope, points) <= f(points),
            "You give an answer for each point. Asked for is one: whether it holds at all of them.",
        ),
    ),
    hints=(
        "How high is the line at a point p? It starts at the height f(x) at the place x.",
        "Compare the line's heights with `f(points)`, all of them at once. `.all()` says whether all are True.",
    ),
    when_right="This is the definition of a subgradient, tried at some points.",
)


# max_backward --------------------------------------------------------------------------------------------------


def _probe_max(answer: object, draw: Draw) -> Iterator[Observation]:
    for ties in (1, 2, 3):
        x = draw.tensor(5)
        x[torch.tensor([1, 4, 2])[:ties]] = 3.2
        yield call(f"gradient of x, {ties} the largest", answer, incoming=draw.scalars(1)[0], x=x)
    yield call("gradient of x, all below 0", answer, incoming=draw.scalars(1)[0], x=-draw.tensor(4).abs())


def _max_by_autograd(incoming: Tensor, x: Tensor) -> Tensor:
    return vector_jacobian_product(lambda x: x.max(), incoming, x)[0]


def _largest(x: Tensor) -> Tensor:
    return (x == x.max()).to(x.dtype)


def _to_the_first(incoming: Tensor, x: Tensor) -> Tensor:
    gradient = torch.zeros_like(x)
    gradient[x.argmax()] = incoming
    return gradient


MAX_BACKWARD = Exercise(
    name="max_backward",
    unit=UNIT,
    title="The backward of the largest entry",
    points=2,
    probe=_probe_max,
    truth=_max_by_autograd,
    misconceptions=(
        Misconception(
            "all_to_one_place",
            _to_the_first,
            "With a single largest entry this is right. With equal ones, you send everything to one of them. `x.max()` "
            "does not know a place.",
        ),
        Misconception(
            "not_shared",
            lambda incoming, x: incoming * _largest(x),
            "Each of the equal entries gets the whole incoming gradient. If all of them rise together by a small step, "
            "how much does the largest rise?",
        ),
        Misconception(
            "incoming_ignored",
            lambda incoming, x: _largest(x) / _largest(x).sum(),
            "These are the shares alone. Where does `incoming` come in?",
        ),
        Misconception(
            "shared_among_all",
            lambda incoming, x: torch.full_like(x, 1 / len(x)) * incoming,
            "You share among all entries. A small step of an entry that is not the largest changes nothing.",
        ),
        Misconception(
            "value_in_place_of_share",
            lambda incoming, x: incoming * x * _largest(x) / _largest(x).sum(),
            "You multiply by the largest value. When the largest entry rises by a step, by how much does `x.max()` "
            "rise?",
        ),
        Misconception(
            "weighted_by_softmax",
            lambda incoming, x: incoming * torch.softmax(x, 0),
            "This is the gradient of `logsumexp`, a smooth relative of max. Entries that are not the largest get "
            "nothing here.",
        ),
    ),
    hints=(
        "Which entries are the largest? A comparison with `x.max()` says so.",
        "Their shares must add up to 1. How many are there?",
    ),
    when_right="Shares that add up to one are a subgradient; `max(dim)` would have picked another.",
)


# choose_identity -----------------------------------------------------------------------------------------------

_IDENTITIES: dict[str, Function] = {
    "a": lambda x: torch.relu(x) - torch.relu(-x),
    "b": lambda x: torch.maximum(x, _ZERO) + torch.minimum(x, _ZERO),
    "c": lambda x: torch.where(x > 0, x, _ZERO) + torch.where(x < 0, x, _ZERO),
    "d": lambda x: x.abs() * x.sign(),
}


def _probe_identity(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


def _true_identity() -> str:
    (letter,) = (letter for letter, function in _IDENTITIES.items() if _slope_at_zero(function) == 1)
    return letter


CHOOSE_IDENTITY = Exercise(
    name="choose_identity",
    unit=UNIT,
    title="Where choices at a kink add up to the true slope",
    points=1,
    probe=_probe_identity,
    truth=_true_identity(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "chain_rule_holds_at_kinks",
            "a",
            "That is the example of section 3. What does each of the two ReLUs pick at 0?",
        ),
        Misconception(
            "where_passes_both",
            "c",
            "At 0 neither condition is true, so both choose the constant. What passes on to x then?",
        ),
        Misconception(
            "sign_and_abs_cancel",
            "d",
            "A product passes to each factor the incoming gradient times the other one. How large are `x.sign()` and "
            "`x.abs()` at 0?",
        ),
    ),
    hints=("Go through the parts: what does each of them pass on at 0? Then add.",),
    when_right="It comes out right because the two halves happen to pick shares that add up to 1.",
)


# straight_sign -------------------------------------------------------------------------------------------------


def _probe_straight(answer: object, draw: Draw) -> Iterator[Observation]:
    def both(x: Tensor, g: Tensor) -> tuple[object, ...]:
        leaf = leaf_of(x)
        y = answer(leaf)
        return y, torch.autograd.grad(y, leaf, g)[0]

    parts = ("values", "gradient of x for the weights g")
    for shape in ((6,), (2, 4)):
        asked = both if callable(answer) else answer
        given = {"x": draw.tensor(*shape, low=0.2), "g": draw.tensor(*shape)}
        yield call("straight-through sign", asked, by_hand=False, parts=parts, **given)


class _Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx: torch.autograd.Function, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.sign()

    @staticmethod
    def backward(ctx: torch.autograd.Function, grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return grad_output * (x.abs() < 1)


def _with_value_of_sign(carrier: Function) -> Function:
    return lambda x: carrier(x) + (x.sign() - carrier(x)).detach()


STRAIGHT_SIGN = Exercise(
    name="straight_sign",
    unit=UNIT,
    title="A sign that passes a gradient on",
    points=3,
    probe=_probe_straight,
    truth=_Sign.apply,
    misconceptions=(
        Misconception(
            "ste_without_the_gate",
            _with_value_of_sign(lambda x: x),
            "The value is right, and a gradient comes through everywhere. Where |x| > 1 it is to be 0.",
        ),
        Misconception(
            "ste_detach_wrong_part",
            lambda x: (x.sign() - x) + x.detach(),
            "The value is right, and the gradient has the wrong sign: the minus in front of x is what it sees. Which "
            "part of the line should be detached?",
            also=(lambda x: (x.sign() - x.clamp(-1, 1)) + x.clamp(-1, 1).detach(),),
        ),
        Misconception(
            "everything_detached",
            lambda x: x.sign().detach(),
            "The value is right, and nothing leads back to x: a detached tensor has no history.",
        ),
        Misconception(
            "flat_sign",
            torch.sign,
            "This is the sign itself: its gradient is 0 everywhere, which is correct and useless. What could the "
            "gradient pass through in its place?",
        ),
        Misconception(
            "gated_value",
            lambda x: torch.where(x.abs() < 1, x + (x.sign() - x).detach(), torch.zeros_like(x)),
            "The gradient is right. The value is 0 where |x| > 1; it is to be the sign there too.",
        ),
        Misconception(
            "gate_turned_round",
            _with_value_of_sign(lambda x: torch.where(x.abs() > 1, x, torch.zeros_like(x))),
            "The gradient passes where |x| > 1, and not where |x| < 1. It should be the other way round.",
        ),
        Misconception(
            "clamped_value",
            lambda x: x.clamp(-1, 1),
            "The gradient is right. The value is not the sign: between -1 and 1 it is x itself.",
        ),
    ),
    hints=(
        "Find a function with the wanted gradient first; its value does not matter yet.",
        "Section 6: add the difference to the wanted value, and keep the gradient from seeing it.",
    ),
    when_right="Forward a sign, backward something that can learn: a lie with a purpose.",
)


EXERCISES = (PREDICT_KINKS, SUPPORTS, MAX_BACKWARD, CHOOSE_IDENTITY, STRAIGHT_SIGN)
