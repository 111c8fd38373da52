"""Unit 09, second derivatives: the exercises on H times v and on nesting, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of
from course_utils.checks.recorded import gradients
from course_utils.checks.second_derivatives import gradient_of_sum
from course_utils.graph.work import count_work

UNIT = "09_second_derivatives"

Function = Callable[[Tensor], Tensor]


# hessian_times -------------------------------------------------------------------------------------------------

_FEW, _MANY, _MOST_WORK = 10, 40, 8
_WORK = f"with x {_MANY // _FEW} times as long, more than {_MOST_WORK} times the work"
Product = Callable[[Function, Tensor, Tensor], object]


def _chain(x: Tensor) -> Tensor:
    return (x[:-1] ** 3 * x[1:]).sum()


def _probe_product(answer: object, draw: Draw) -> Iterator[Observation]:
    def product(x: Tensor, v: Tensor) -> tuple[object, ...]:
        found = answer(lambda x: x[0] ** 2 * x[1] + x[1] ** 3 * x[2], x, v)
        return found, x.requires_grad

    def work(x: Tensor, v: Tensor) -> bool:
        computed = []
        for times in (_FEW, _MANY):
            with count_work() as counted:
                answer(_chain, x.repeat(times // 2), v.repeat(times // 2))
            computed.append(counted.numbers)
        return computed[1] > _MOST_WORK * computed[0]

    label = "H times v, for x[0]**2 * x[1] + x[1]**3 * x[2]"
    for _ in range(2):
        asked = product if callable(answer) else answer
        parts = ("H times v", "x requires a gradient afterwards")
        yield call(label, asked, by_hand=False, parts=parts, x=draw.tensor(3), v=draw.tensor(3))
    asked = work if callable(answer) else answer
    yield call(_WORK, asked, by_hand=False, shown=(), x=draw.tensor(2), v=draw.tensor(2))


def _by_torch_func(f: Function, x: Tensor, v: Tensor) -> Tensor:
    _, pull_back = torch.func.vjp(torch.func.grad(f), x)
    return pull_back(v)[0]


def _product(ask: Callable[[Tensor, Tensor, Tensor], object], **options: object) -> Product:
    """A copy is marked, the gradient taken, and asked about by `ask`, which gets the gradient, x and v."""

    def hessian_times(f: Function, x: Tensor, v: Tensor) -> object:
        x = leaf_of(x)
        (gradient,) = torch.autograd.grad(f(x), x, **(options or {"create_graph": True}))
        return ask(gradient, x, v)

    return hessian_times


def _back(output: Tensor, x: Tensor, weights: Tensor | None = None, **options: object) -> Tensor:
    return torch.autograd.grad(output, x, weights, **options)[0]


def _rows(gradient: Tensor, x: Tensor) -> Tensor:
    return torch.stack([_back(entry, x, retain_graph=True) for entry in gradient])


def _diagonal(gradient: Tensor, x: Tensor) -> Tensor:
    return _rows(gradient, x).diagonal()


def _product_of_the_given(f: Function, x: Tensor, v: Tensor) -> Tensor:
    x.requires_grad_()
    return _back(_back(f(x), x, create_graph=True), x, v)


HESSIAN_TIMES = Exercise(
    name="hessian_times",
    unit=UNIT,
    title="H times v, without H",
    points=3,
    probe=_probe_product,
    truth=_by_torch_func,
    misconceptions=(
        Misconception(
            "whole_hessian",
            lambda f, x, v: torch.func.hessian(f)(x) @ v,
            "The numbers are right. But with a longer x, your code does far more work: it makes the whole Hessian, "
            "row by row. Weights would give H v in one pass.",
            also=(
                _product(lambda gradient, x, v: _rows(gradient, x) @ v),
                lambda f, x, v: torch.autograd.functional.hessian(f, x) @ v,
            ),
        ),
        Misconception(
            "v_ignored",
            _product(lambda gradient, x, v: _back(gradient.sum(), x)),
            "These are the sums of the rows of H: weights of ones. Where does v come in?",
            also=(_product(lambda gradient, x, v: _back(gradient, x, torch.ones_like(gradient))),),
        ),
        Misconception(
            "v_outside",
            _product(lambda gradient, x, v: _back(gradient.sum(), x) * v),
            "You add the rows of H first, and multiply by v afterwards, entry by entry. In H v, the entries of v are "
            "weights inside the sum.",
        ),
        Misconception(
            "diagonal_only",
            _product(lambda gradient, x, v: _diagonal(gradient, x) * v),
            "You multiply v by the diagonal of H. What of the mixed derivatives?",
        ),
        Misconception(
            "first_derivative",
            _product(lambda gradient, x, v: gradient * v),
            "This is made of first derivatives. H v tells how the gradient changes if x moves along v.",
            also=(
                _product(lambda gradient, x, v: gradient),
                _product(lambda gradient, x, v: gradient @ v),
                lambda f, x, v: torch.func.jvp(f, (x,), (v,))[1],
            ),
        ),
        Misconception(
            "curvature_in_place_of_the_vector",
            _product(lambda gradient, x, v: _back(gradient, x, v) @ v),
            "You have multiplied by v twice: a single number, the curvature along v (times the square of its length). "
            "H v is a vector.",
        ),
        Misconception(
            "not_recorded",
            _product(lambda gradient, x, v: _back(gradient, x, v), create_graph=False),
            "Something that you want to differentiate has no graph. Does your x require a gradient? And which argument "
            "records the gradient? (`retain_graph` keeps the old graph.)",
            also=(_product(lambda gradient, x, v: _back(gradient @ v, x), retain_graph=True),),
        ),
        Misconception(
            "given_tensor_changed",
            _product_of_the_given,
            "The numbers are right, and the caller's x is no longer as it was. On which tensor could you set the flag?",
        ),
    ),
    hints=(
        "The first call gives the gradient, recorded. What do weights v make of the rows of its Jacobian?",
        "`grad_outputs=v` in the second call; or differentiate the number `gradient @ v`.",
        "Or forward over reverse: `torch.func.jvp` of `torch.func.grad(f)`.",
    ),
    when_right="Two passes, whatever the length of x. So curvature can be looked at in networks, too.",
)


# mend_nested ---------------------------------------------------------------------------------------------------

_G = {
    "y**2 * (x - 2 * y)": lambda x, y: y**2 * (x - 2 * y),
    "torch.sin(x * y)": lambda x, y: torch.sin(x * y),
}
Nested = Callable[[Callable[[Tensor, Tensor], Tensor], Tensor], object]


def _probe_nested(answer: object, draw: Draw) -> Iterator[Observation]:
    def nested(g: str, x: Tensor, weights: Tensor) -> tuple[object, ...]:
        x = leaf_of(x)
        found = answer(_G[g], x)
        return found, *gradients(found, [x], weights)

    for g in _G:
        asked = nested if callable(answer) else answer
        parts = ("slope", "its own gradient")
        given = {"g": g, "x": draw.tensor(3), "weights": draw.tensor(3)}
        yield call("slope of g along y, where y = x", asked, by_hand=False, parts=parts, **given)


def _nested_by_argument(g: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    return torch.func.grad(lambda x, y: g(x, y).sum(), argnums=1)(x, x)


def _nested(ask: Callable[[Callable[[Tensor, Tensor], Tensor], Tensor], object]) -> Nested:
    return ask


def _slope(value: Tensor, of: Tensor, **options: object) -> Tensor:
    return gradient_of_sum(value, of, **options)


def _own(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_()


def _cut(g: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    y = _own(x)
    return _slope(g(x, y), y)


def _x_cut(g: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    return _slope(g(x.detach(), x), x)


def _not_recorded_inside(g: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    y = x.clone()
    return _slope(g(x, y), y, create_graph=False)


def _along_x(g: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    first = x.clone()
    return _slope(g(first, x.clone()), first)


def _clone_unused(g: Callable[[Tensor, Tensor], Tensor], x: Tensor) -> Tensor:
    y = x.clone()
    return _slope(g(x, x), y)


MEND_NESTED = Exercise(
    name="mend_nested",
    unit=UNIT,
    title="One tensor in two roles",
    points=2,
    probe=_probe_nested,
    truth=_nested_by_argument,
    given=_nested(lambda g, x: _slope(g(x, x), x)),
    when_as_given="It still moves both roles at once: `torch.autograd.grad` differentiates with respect to a tensor, "
    "in all its uses. And where y is computed from x, the gradient of x takes both ways.",
    misconceptions=(
        Misconception(
            "y_cut_off",
            _cut,
            "The slope is right. But its own gradient is not: y does not come from x any more, so what comes by way of "
            "y is lost. How can y be another tensor, and still come from x?",
        ),
        Misconception(
            "x_cut_off",
            _x_cut,
            "The slope is right. But its own gradient lacks what comes by way of x: you have detached it. It is y that "
            "needs a tensor of its own.",
        ),
        Misconception(
            "not_recorded",
            _not_recorded_inside,
            "The slope is right, and nothing leads back from it to x. It is to be differentiated once more.",
            also=(lambda g, x: _cut(g, x).detach(),),
        ),
        Misconception(
            "slope_along_x",
            _along_x,
            "This is the slope of g along its first argument. Asked for is the second.",
        ),
        Misconception(
            "clone_not_used",
            _clone_unused,
            "You ask for the gradient of a tensor that g was not given.",
        ),
        Misconception(
            "summed",
            lambda g, x: _slope(g(x, y := x.clone()), y).sum(),
            "You add the slopes up. There is one for each entry of x.",
        ),
    ),
    hints=(
        "How many tensors does g get, if y is x?",
        "Give y a tensor of its own that still comes from x: an operation that changes no value makes one.",
    ),
    when_right="torch.func.grad avoids the question: it differentiates with respect to an argument.",
)


EXERCISES = (HESSIAN_TIMES, MEND_NESTED)
