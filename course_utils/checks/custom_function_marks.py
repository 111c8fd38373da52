"""Unit 06, custom Functions: the exercises on what the judges see and on what is announced, and their mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.autograd import Function, gradcheck, gradgradcheck

from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.functions import function, gradients_of, second_derivatives

UNIT = "06_custom_function"


# predict_judges ------------------------------------------------------------------------------------------------

_VERDICTS = tuple(f"{judge} on {name}" for name in "ABC" for judge in ("gradcheck", "gradgradcheck"))


def _probe_judges(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("1 for passes, 0 for fails", answer, parts=_VERDICTS)


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


PREDICT_JUDGES = Exercise(
    name="predict_judges",
    unit=UNIT,
    title="Predict what both judges say",
    points=2,
    probe=_probe_judges,
    truth=_verdicts(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "the_second_includes_the_first",
            (0, 0, 1, 0, 1, 1),
            "B and C are right. For A you let gradgradcheck fail because gradcheck does. It never looks at the "
            "forward: it takes A's backward as it stands. Is the derivative of *that* right?",
        ),
        Misconception(
            "both_see_everything",
            (0, 0, 0, 0, 1, 1),
            "You let both judges find every fault. They look at different things: one at the first derivative, the "
            "other at the derivative of the backward.",
        ),
        Misconception(
            "saved_properly_is_enough",
            (0, 1, 1, 1, 1, 1),
            "A and C are right. B saves t with `save_for_backward`, so t is watched and freed. But does autograd know "
            "where t came from?",
            also=((0, 0, 1, 1, 1, 1),),
        ),
        Misconception(
            "judges_exchanged",
            (1, 0, 0, 1, 1, 1),
            "Each verdict stands under the wrong judge. gradcheck compares the backward with nudges of the forward.",
        ),
        Misconception(
            "nudged_where_it_hides",
            (1, 1, 1, 0, 1, 1),
            "B and C are right. A's two gradients stand in each other's place. That hides where x and y are equal. "
            "Are they?",
        ),
        Misconception(
            "intermediate_breaks_the_first",
            (0, 1, 0, 0, 1, 1),
            "A and C are right. For B: the value of t is right when the backward runs, so what is the first "
            "derivative?",
            also=((0, 0, 0, 1, 1, 1), (0, 1, 0, 1, 1, 1)),
        ),
    ),
    hints=(
        "gradcheck: is what the backward returns the derivative of the forward, at these inputs?",
        "gradgradcheck: take the backward's own formula, right or wrong. Can autograd differentiate it through "
        "everything that it uses?",
    ),
    when_right="Two judges, two questions. Ask both, and then think of what neither of them looks at.",
)


# mend_dirty ----------------------------------------------------------------------------------------------------


def _probe_dirty(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(compute: Callable[..., object]) -> object:
        return (lambda incoming, x: compute(answer.apply, incoming, x)) if callable(answer) else answer

    def used_again(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[object, ...]:
        leaf = x.clone().requires_grad_()
        h = leaf * 3
        result = operation(h)
        return h, result is h, torch.autograd.grad(h * 1, leaf, incoming)[0]

    def of_result(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        return gradients_of(lambda leaf: operation(leaf * 3), incoming, (x,))

    def twice(operation: Callable[[Tensor], Tensor], weights: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        return second_derivatives(lambda leaf: operation(leaf * 3), weights, (x,))

    def on_a_leaf(operation: Callable[[Tensor], Tensor], incoming: Tensor, x: Tensor) -> Tensor:
        return operation(x.clone().requires_grad_())

    def given() -> dict[str, Tensor]:
        return {"incoming": draw.tensor(2, high=1.5), "x": draw.tensor(2, low=0.2, high=0.8)}

    parts = ("h", "the result is h itself", "gradient of x")
    yield call("h used again afterwards", asked(used_again), parts=parts, by_hand=False, **given())
    yield call("the result", asked(of_result), parts=("value", "gradient of x"), by_hand=False, **given())
    yield call("second derivative", asked(twice), parts=("along x",), by_hand=False, **given())
    yield call("a leaf that requires a gradient", asked(on_a_leaf), by_hand=False, **given())


class _Exp(Function):
    """PyTorch's own way to do it, with its own backward."""

    @classmethod
    def apply(cls, x: Tensor) -> Tensor:
        return x.exp_()


def _in_place(forward: Callable[[Function, Tensor], Tensor], backward: Callable | None = None) -> type:
    usual = backward or (lambda ctx, g: g * ctx.saved_tensors[0])
    return function("ExpInPlace", forward, usual)


def _unmarked(ctx: Function, x: Tensor) -> Tensor:
    x.exp_()
    ctx.save_for_backward(x)
    return x


def _marked(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_dirty(x)
    return _unmarked(ctx, x)


def _out_of_place(ctx: Function, x: Tensor) -> Tensor:
    y = x.exp()
    ctx.save_for_backward(y)
    return y


def _marked_and_cloned(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_dirty(x)
    return _unmarked(ctx, x).clone()


def _saved_before(ctx: Function, x: Tensor) -> Tensor:
    ctx.save_for_backward(x.clone())
    ctx.mark_dirty(x)
    return x.exp_()


def _kept(ctx: Function, x: Tensor) -> Tensor:
    ctx.mark_dirty(x)
    ctx.y = x.exp_().clone()
    return x


MEND_DIRTY = Exercise(
    name="mend_dirty",
    unit=UNIT,
    title="Mend an operation that works in place",
    points=2,
    probe=_probe_dirty,
    truth=_Exp,
    given=_in_place(_unmarked),
    when_as_given="h has its new value, and still hangs on its old node. Who tells autograd that h was changed?",
    misconceptions=(
        Misconception(
            "not_in_place_any_more",
            _in_place(_out_of_place),
            "This gives a right result, and leaves h as it was. The operation is meant to work in place: whoever uses "
            "it wants no second tensor.",
        ),
        Misconception(
            "another_tensor_returned",
            _in_place(_marked_and_cloned),
            "What is marked as changed must also be what you return: that very tensor gets the new node.",
        ),
        Misconception(
            "saved_before_the_change",
            _in_place(_saved_before),
            "You save x as it was before, and multiply by it. The derivative of exp is exp: the value after the "
            "change.",
        ),
        Misconception(
            "a_copy_kept",
            _in_place(_kept, lambda ctx, g: g * ctx.y),
            "The first derivative is right. For the second, autograd would have to know where your copy came from. "
            "The result itself has a place in the graph.",
        ),
        Misconception(
            "derivative_missing",
            _in_place(_marked, lambda ctx, g: g * 1),
            "The mark is right. Your backward passes the gradient on as it came: where is the derivative of exp?",
        ),
    ),
    hints=(
        "ctx has a method that announces an input which was changed in place.",
        "Announce it in the forward. The rest of the given code can stay.",
    ),
    when_right="h hangs on your node now, and leaves are protected as they are from PyTorch's own operations in place.",
)


EXERCISES = (PREDICT_JUDGES, MEND_DIRTY)
