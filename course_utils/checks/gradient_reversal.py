"""Unit 07, gradient reversal: the exercises on writing the layer, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.functions import function, gradients_of, is_custom, second_derivatives

UNIT = "07_gradient_reversal"

Way = Callable[[Tensor, float], Tensor]


def _beside(way: Way, incoming: Tensor, x: Tensor, factor: float) -> Tensor:
    """The gradient of x in `way(x, factor) + x`: an addition sends both sides one tensor, `incoming` itself."""
    leaf = x.clone().requires_grad_()
    return torch.autograd.grad(way(leaf, factor) + leaf, leaf, incoming)[0]


def _two_at_once(way: Way, incoming: Tensor, x: Tensor, factor: float, other: float) -> tuple[Tensor, ...]:
    """The gradients of two results that exist at the same time."""
    leaf = x.clone().requires_grad_()
    results = [way(leaf, one) for one in (factor, other)]
    return tuple(torch.autograd.grad(result, leaf, incoming)[0] for result in results)


def _look(asked: Callable[[Callable[..., object]], object], draw: Draw) -> Iterator[Observation]:
    """What both exercises look at: value and gradient, beside another branch, with other factors, and once more."""

    def factors(*names: str) -> dict[str, float]:
        return dict(zip(names, draw.tensor(len(names), low=0.1, high=0.9).abs().tolist(), strict=True))

    parts = ("value", "gradient of x")
    given = {"incoming": draw.tensor(3), "x": draw.tensor(3), **factors("factor")}
    alone = asked(lambda way, incoming, x, factor: gradients_of(way, incoming, (x,), (factor,)))
    yield call("value and gradient", alone, parts=parts, by_hand=False, **given)
    given = {"incoming": draw.tensor(3), "x": draw.tensor(3), **factors("factor")}
    yield call("gradient of x in reversed(x) + x", asked(_beside), by_hand=False, **given)
    given = {"incoming": draw.tensor(2), "x": draw.tensor(2), "factor": 0.0}
    yield call("gradient of x in reversed(x) + x", asked(_beside), by_hand=False, **given)
    given = {"incoming": draw.tensor(2), "x": draw.tensor(2), **factors("factor", "other")}
    label = "gradients of two results that wait at the same time"
    yield call(label, asked(_two_at_once), parts=("with factor", "with other"), by_hand=False, **given)
    given = {"weights": draw.tensor(3), "x": draw.tensor(3), **factors("factor")}
    twice = asked(lambda way, weights, x, factor: second_derivatives(way, weights, (x,), (factor,)))
    yield call("second derivative of the sum of squares", twice, parts=("along x",), by_hand=False, **given)


# reversal_layer ------------------------------------------------------------------------------------------------


def _probe_layer(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        return (lambda *given: compute(answer.apply, *given)) if callable(answer) else answer

    yield from _look(asked, draw)


def _by_detach(x: Tensor, factor: float) -> Tensor:
    return x.detach() + factor * (x.detach() - x)


class _Detached(Function):
    """No Function at all: arithmetic in which autograd sees one of three x."""

    @classmethod
    def apply(cls, x: Tensor, factor: float) -> Tensor:
        return _by_detach(x, factor)


def _keep(ctx: Function, x: Tensor, factor: float) -> Tensor:
    ctx.factor = factor
    return x.view_as(x)


def _layer(
    backward: Callable[[Tensor, float], object], forward: Callable[[Tensor, float], Tensor] | None = None
) -> type:
    """A layer with another backward, which gets the incoming gradient and the factor, or with another forward."""

    def keep(ctx: Function, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return forward(x, factor) if forward else x.view_as(x)

    return function("Reversal", keep, lambda ctx, g: backward(g, ctx.factor))


def _saves_the_factor(ctx: Function, x: Tensor, factor: float) -> Tensor:
    ctx.save_for_backward(factor)
    return x.view_as(x)


def _negated_in_place(g: Tensor, factor: float) -> tuple[Tensor, None]:
    return g.neg_() * factor, None


def _scaled_in_place(g: Tensor, factor: float) -> tuple[Tensor, None]:
    g *= -factor
    return g, None


def _factor_on_the_class() -> type:
    def keep(ctx: Function, x: Tensor, factor: float) -> Tensor:
        made.factor = factor
        return x.view_as(x)

    made = function("Reversal", keep, lambda ctx, g: (-made.factor * g, None))
    return made


def _right(g: Tensor, factor: float) -> tuple[Tensor, None]:
    return -factor * g, None


LAYER = Exercise(
    name="reversal_layer",
    unit=UNIT,
    title="The gradient reversal layer",
    points=3,
    probe=_probe_layer,
    truth=_Detached,
    misconceptions=(
        Misconception(
            "value_turned",
            _layer(lambda g, factor: (-factor * g, None), lambda x, factor: -x),
            "Your layer changes the value. Whoever reads the result is to get x as it is; the change of sign is for "
            "what comes back.",
            also=(
                _layer(lambda g, factor: (-factor * g, None), lambda x, factor: -factor * x),
                _layer(lambda g, factor: (-factor * g, None), lambda x, factor: factor * x),
                _layer(lambda g, factor: (factor * g, None), lambda x, factor: -x),
                _layer(lambda g, factor: (factor * g, None), lambda x, factor: -factor * x),
                _layer(lambda g, factor: (g, None), lambda x, factor: -factor * x),
            ),
        ),
        Misconception(
            "not_turned",
            _layer(lambda g, factor: (factor * g, None)),
            "The size of the gradient is right. It is not turned: is there a minus that got lost, or two of them?",
        ),
        Misconception(
            "factor_ignored",
            _layer(lambda g, factor: (-g, None)),
            "The sign is right. Your gradient has the size of the incoming one, whatever the factor is.",
        ),
        Misconception(
            "none_missing",
            _layer(lambda g, factor: -factor * g),
            "The forward has two arguments, x and the factor. Your backward returns one value (a list counts as one). "
            "What is there to return for a number?",
        ),
        Misconception(
            "number_gets_a_gradient",
            _layer(lambda g, factor: (-factor * g, 0.0)),
            "Your backward returns something for the factor. That is a plain number: no tensor could receive it.",
            also=(_layer(lambda g, factor: (-factor * g, g)), _layer(lambda g, factor: (-factor * g, factor))),
        ),
        Misconception(
            "number_saved_as_a_tensor",
            function("Reversal", _saves_the_factor, lambda ctx, g: (-ctx.saved_tensors[0] * g, None)),
            "`save_for_backward` takes tensors only, and the factor is a number. Where can a number wait?",
        ),
        Misconception(
            "writes_into_grad_output",
            _layer(_scaled_in_place),
            "Alone, the gradient is right. Your backward writes into `grad_output`, which an addition hands to its "
            "other side as well.",
            also=(_layer(_negated_in_place), _layer(lambda g, factor: (g.mul_(-factor), None))),
        ),
        Misconception(
            "factor_on_the_class",
            _factor_on_the_class(),
            "There is one class for all calls. With two results alive, the second factor has replaced the first before "
            "the first backward runs. What is there once for each call?",
        ),
        Misconception(
            "cut_for_the_second",
            _layer(lambda g, factor: (-factor * g.detach(), None)),
            "The first derivative is right. With `detach`, autograd cannot differentiate your backward once more.",
            also=(_layer(lambda g, factor: (-factor * g.data, None)),),
        ),
    ),
    hints=(
        "The forward keeps the factor as an attribute of ctx, and gives x back.",
        "The backward makes a new tensor from `grad_output` and the factor, and owes a value for the factor as well.",
    ),
    when_right="One line of backward, and it is no derivative of its forward. Autograd takes it as it is.",
)


# reverse_by_detach ---------------------------------------------------------------------------------------------


def _probe_by_detach(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        return (lambda *given: compute(answer, *given)) if callable(answer) else answer

    def to_the_last_digit(way: Way, x: Tensor) -> tuple[bool, ...]:
        return tuple(torch.equal(way(x.clone().requires_grad_(), factor), x) for factor in (0.1, 0.3, 0.7))

    def in_plain_arithmetic(way: Way, x: Tensor, factor: float) -> bool:
        result = way(x.clone().requires_grad_(), factor)
        return not is_custom(result) and not result._backward_hooks

    def unrecorded(way: Way, x: Tensor, factor: float) -> Tensor:
        with torch.no_grad():
            return way(x, factor)

    yield from _look(asked, draw)
    x = draw.tensor(20)
    parts = tuple(f"factor {factor}" for factor in (0.1, 0.3, 0.7))
    yield call("the value is x to the last digit", asked(to_the_last_digit), parts=parts, by_hand=False, x=x)
    given = {"x": draw.tensor(2), "factor": draw.tensor(1, low=0.1, high=0.9).abs().item()}
    yield call("made without a Function and without a hook", asked(in_plain_arithmetic), by_hand=False, **given)
    yield call("value where nothing is recorded", asked(unrecorded), by_hand=False, **given)


def _with_a_hook(x: Tensor, factor: float) -> Tensor:
    own = x.view_as(x)
    if own.requires_grad:
        own.register_hook(lambda grad: -factor * grad)
    return own


def _in_another_order(x: Tensor, factor: float) -> Tensor:
    """The truth, which adds its zero the other way round."""
    return x.detach() - factor * (x - x.detach())


BY_DETACH = Exercise(
    name="reverse_by_detach",
    unit=UNIT,
    title="A reversal layer without a Function",
    points=2,
    probe=_probe_by_detach,
    truth=_in_another_order,
    misconceptions=(
        Misconception(
            "rounded",
            lambda x, factor: (1 + factor) * x.detach() - factor * x,
            "The gradient is right, and the value nearly: products were rounded before they were subtracted. Which "
            "difference is exactly 0, so that a factor cannot do it any harm?",
            also=(
                lambda x, factor: -factor * x + (1 + factor) * x.detach(),
                lambda x, factor: -factor * x + x.detach() + factor * x.detach(),
                lambda x, factor: x.detach() - factor * x + factor * x.detach(),
            ),
        ),
        Misconception(
            "mirrored",
            lambda x, factor: x - (1 + factor) * x.detach(),
            "Autograd sees the x that is not detached. In yours, that one stands with a factor of 1, and the value is "
            "wrong, too.",
            also=(
                lambda x, factor: x - 2 * x.detach(),
                lambda x, factor: (1 + factor) * x - factor * x.detach(),
            ),
        ),
        Misconception(
            "value_turned",
            lambda x, factor: -factor * x,
            "The gradient is right, the value is not. What can be added that corrects the value, and that autograd "
            "does not see?",
            also=(lambda x, factor: x.detach() - factor * x, lambda x, factor: 2 * x.detach() - factor * x),
        ),
        Misconception(
            "not_turned",
            lambda x, factor: x.detach() + factor * (x - x.detach()),
            "The value is right, and so is the size of the gradient. With which sign does the x stand that autograd "
            "sees?",
        ),
        Misconception(
            "factor_ignored",
            lambda x, factor: 2 * x.detach() - x,
            "That is the layer with factor 1: value and sign are right. Where does the factor come in?",
        ),
        Misconception(
            "cut",
            lambda x, factor: x.detach() * (1 + factor) - factor * x.detach(),
            "No gradient comes back: each x in your formula is detached.",
            also=(lambda x, factor: x.detach(), lambda x, factor: x.detach() + factor * (x.detach() - x.detach())),
        ),
        Misconception(
            "with_a_function",
            lambda x, factor: _layer(_right).apply(x, factor),
            "This is right, and made with a Function or a hook. Here the same is asked of plain arithmetic and "
            "`detach`.",
            also=(_with_a_hook,),
        ),
    ),
    hints=(
        "Autograd differentiates only the x that is not detached. Which factor must it have in your formula?",
        "For the value, that term has to be made up for by something detached, and exactly.",
        "x minus a detached x is 0, to the last digit, and its derivative is 1.",
    ),
    when_right="The same gradient, second derivative included, in one line that torch.func and compilers understand.",
)


EXERCISES = (LAYER, BY_DETACH)
