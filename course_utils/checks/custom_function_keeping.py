"""Unit 06, custom Functions: the exercises on what a forward keeps for its backward, and their mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.functions import (
    by_autograd,
    function,
    gradients_after_change,
    gradients_of,
    is_custom,
    second_derivatives,
)

UNIT = "06_custom_function"


# mend_list -----------------------------------------------------------------------------------------------------


def _probe_list(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        if not callable(answer):
            return answer
        return lambda incoming, *tensors: compute(lambda *leaves: answer(list(leaves)), incoming, tensors)

    def whose(penalty: Callable[..., Tensor], incoming: Tensor, tensors: Sequence[Tensor]) -> bool:
        return is_custom(penalty(*(one.clone().requires_grad_() for one in tensors)))

    for shapes in ([(3,), (2, 2)], [(2,)], [(2,), (), (1, 3)]):
        tensors = {f"w{place}": draw.tensor(*shape) for place, shape in enumerate(shapes, 1)}
        given = {"incoming": draw.scalars(1)[0], **tensors}
        parts = ("value", *(f"gradient of {name}" for name in tensors))
        yield call("value and gradients", asked(gradients_of), parts=parts, by_hand=False, **given)
    yield call("made by a Function of yours", asked(whose), by_hand=False, **given)
    label = "gradients, w3 being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(gradients_after_change), parts=parts[1:], by_hand=False, **given)


Penalty = Callable[[Sequence[Tensor]], Tensor]


def _squares(tensors: Sequence[Tensor]) -> Tensor:
    return sum((one * one).sum() for one in tensors)


def _penalty(backward: Callable[[Tensor, tuple[Tensor, ...]], object]) -> Penalty:
    """The operation on unpacked tensors, with a backward that gets the incoming gradient and the tensors."""

    def keep(ctx: Function, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return _squares(tensors)

    made = function("Penalty", keep, lambda ctx, g: backward(g, ctx.saved_tensors))
    return lambda tensors: made.apply(*tensors)


def _in_a_list() -> Penalty:
    def keep(ctx: Function, tensors: Sequence[Tensor]) -> Tensor:
        ctx.tensors = tensors
        return _squares(tensors)

    made = function("Penalty", keep, lambda ctx, g: [2 * g * one for one in ctx.tensors])
    return lambda tensors: made.apply(tensors)


def _kept() -> Penalty:
    def keep(ctx: Function, *tensors: Tensor) -> Tensor:
        ctx.tensors = tensors
        return _squares(tensors)

    made = function("Penalty", keep, lambda ctx, g: tuple(2 * g * one for one in ctx.tensors))
    return lambda tensors: made.apply(*tensors)


_BY_AUTOGRAD = by_autograd("Penalty", lambda *tensors: _squares(tensors))

MEND_LIST = Exercise(
    name="mend_list",
    unit=UNIT,
    title="Mend a Function that takes its tensors in a list",
    points=2,
    probe=_probe_list,
    truth=lambda tensors: _BY_AUTOGRAD.apply(*tensors),
    given=_in_a_list(),
    when_as_given="Still no gradient arrives. What does `apply` see: tensors, or one list?",
    misconceptions=(
        Misconception(
            "list_of_gradients",
            _penalty(lambda g, tensors: [2 * g * one for one in tensors]),
            "The tensors are arguments of their own now. Your backward returns a list, and a list counts as one value. "
            "`tuple(...)` makes a tuple of it.",
        ),
        Misconception(
            "one_gradient_for_all",
            _penalty(lambda g, tensors: 2 * g * tensors[0]),
            "Your backward returns one gradient. There is one argument for each tensor.",
        ),
        Misconception(
            "kept_as_an_attribute",
            _kept(),
            "The gradients are right, unless a tensor is changed in place before the backward. Then they are wrong, "
            "and nobody notices. Who would notice it?",
        ),
        Misconception(
            "without_a_function",
            _squares,
            "Right numbers: PyTorch's own operations give them. But here the operation is to be yours, with its own "
            "backward.",
        ),
        Misconception(
            "incoming_ignored",
            _penalty(lambda g, tensors: tuple(2 * one for one in tensors)),
            "The penalty is seldom the end. Where does `grad_output` come in?",
        ),
        Misconception(
            "factor_missing",
            _penalty(lambda g, tensors: tuple(g * one for one in tensors)),
            "Every gradient is half of what it should be. What is the derivative of a square?",
        ),
    ),
    hints=(
        "`apply` looks at its direct arguments. `apply(*tensors)` makes each tensor one of them.",
        "`def forward(ctx, *tensors)` takes as many as come, and `save_for_backward(*tensors)` saves them all.",
        "The backward returns a tuple with one gradient for each tensor, in their order.",
    ),
    when_right="Now the length of the list does not matter, and each tensor has its own arrow in the graph.",
)


# mend_intermediate ---------------------------------------------------------------------------------------------


def _probe_intermediate(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        return (lambda incoming, x: compute(answer.apply, incoming, (x,))) if callable(answer) else answer

    parts = ("value", "gradient of x")
    given = {"incoming": draw.tensor(3), "x": draw.tensor(3)}
    yield call("value and gradient", asked(gradients_of), parts=parts, by_hand=False, **given)
    given = {"weights": draw.tensor(3), "x": draw.tensor(3)}
    yield call("second derivative", asked(second_derivatives), parts=("along x",), by_hand=False, **given)
    given = {"incoming": draw.tensor(2), "x": draw.tensor(2)}
    label = "gradient, x being changed in place before the backward if autograd lets that pass"
    yield call(label, asked(gradients_after_change), parts=parts[1:], by_hand=False, **given)


def _log_square(backward: Callable[[Tensor, Tensor], object], *, once: bool = False) -> type:
    """The operation that saves x, with a backward that gets the incoming gradient and x."""

    def keep(ctx: Function, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.log(1 + x * x)

    def from_ctx(ctx: Function, g: Tensor) -> object:
        return backward(g, *ctx.saved_tensors)

    return function("LogSquare", keep, once_differentiable(from_ctx) if once else from_ctx)


def _keeps_t(ctx: Function, x: Tensor) -> Tensor:
    ctx.save_for_backward(x)
    ctx.t = 1 + x * x
    return torch.log(ctx.t)


def _keeps_x(ctx: Function, x: Tensor) -> Tensor:
    ctx.x = x
    return torch.log(1 + x * x)


def _from_t(ctx: Function, g: Tensor) -> Tensor:
    (x,) = ctx.saved_tensors
    return g * 2 * x / ctx.t


MEND_INTERMEDIATE = Exercise(
    name="mend_intermediate",
    unit=UNIT,
    title="Mend a second derivative",
    points=3,
    probe=_probe_intermediate,
    truth=by_autograd("LogSquare", lambda x: torch.log(1 + x * x)),
    given=function("LogSquare", _keeps_t, _from_t),
    when_as_given="Saving t in another way does not help: it is still a value that the forward computed on the way. "
    "Which values does autograd know?",
    misconceptions=(
        Misconception(
            "refuses_a_second_derivative",
            _log_square(lambda g, x: g * 2 * x / (1 + x * x), once=True),
            "`once_differentiable` announces that there is no second derivative. Here there is one, and it is asked "
            "for.",
        ),
        Misconception(
            "not_watched",
            function("LogSquare", _keeps_x, lambda ctx, g: g * 2 * ctx.x / (1 + ctx.x * ctx.x)),
            "Both derivatives are right. But a change of x in place between forward and backward is no longer noticed. "
            "The given code did notice it. Which line did that?",
        ),
        Misconception(
            "detached_again",
            _log_square(lambda g, x: g * 2 * x.detach() / (1 + x.detach() ** 2)),
            "Your backward computes t again, from a detached x. To the second pass that is a constant, too.",
        ),
        Misconception(
            "half_recomputed",
            _log_square(lambda g, x: g * 2 * x.detach() / (1 + x * x)),
            "Only a part of the backward is known to the second pass. Where x is detached, it is a constant.",
        ),
        Misconception(
            "square_is_its_own_derivative",
            _log_square(lambda g, x: g * x * x / (1 + x * x)),
            "A logarithm brings down one over what is inside, and then the derivative of the inside. What is that of "
            "1 + x * x?",
        ),
        Misconception(
            "inner_derivative_missing",
            _log_square(lambda g, x: g / (1 + x * x)),
            "The second factor of the chain rule is missing: by how much does 1 + x * x rise with x?",
        ),
    ),
    hints=(
        "The forward runs with recording off. So which tensors in it have a place in the graph outside?",
        "x has. Everything else can be computed from it, in the backward, where recording is on when it is needed.",
    ),
    when_right="Inputs and outputs may be saved. All else is computed again: a little time, for true derivatives.",
)


EXERCISES = (MEND_LIST, MEND_INTERMEDIATE)
