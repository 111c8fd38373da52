"""Unit 09, second derivatives: the exercises on equations, H times v and nesting, and the mistakes they can name."""

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


# heat_residual -------------------------------------------------------------------------------------------------

_U = "a * X[:, 1]**3 * X[:, 0]**2 + torch.sin(a * X[:, 0] * X[:, 1])"
_OF_RESIDUAL = ("residual", "gradient of a", "X requires a gradient afterwards")
Residual = Callable[[Function, Tensor, float], object]


def _u(x: Tensor, a: Tensor) -> Tensor:
    time, place = x.unbind(-1)
    return a * place**3 * time**2 + torch.sin(a * time * place)


def _probe_residual(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_u(x: Tensor, k: float, a: Tensor, weights: Tensor) -> tuple[object, ...]:
        a = leaf_of(a)
        found = answer(lambda x: _u(x, a), x, k)
        return found, *gradients(found, [a], weights), x.requires_grad

    for samples in (3, 4):
        given = {
            "X": draw.tensor(samples, 2, low=0.4, high=1.6),
            "k": draw.scalars(1)[0].item(),
            "a": draw.scalars(1)[0],
            "weights": draw.tensor(samples),
        }
        asked = of_u if callable(answer) else answer
        label = f"residual of u = {_U}, and the gradient that it sends to a"
        yield call(label, asked, by_hand=False, parts=_OF_RESIDUAL, **given)


def _residual_by_hessians(u: Function, x: Tensor, k: float) -> Tensor:
    slopes = torch.func.vmap(torch.func.grad(u))(x)
    return slopes[:, 0] - k * torch.func.vmap(torch.func.hessian(u))(x)[:, 1, 1]


def _residual(ask: Callable[[Tensor, Tensor, float], object]) -> Residual:
    """A copy is marked, u computed, and asked about by `ask`, which gets values, X and k."""

    def residual(u: Function, x: Tensor, k: float) -> object:
        x = leaf_of(x)
        return ask(u(x), x, k)

    return residual


def _combined(
    combine: Callable[[Tensor, Tensor, float], object],
    second: Callable[[Tensor, Tensor], Tensor] = lambda first, x: gradient_of_sum(first[:, 1], x)[:, 1],
) -> Residual:
    """u_t, and what is taken for u_xx, put together by `combine`; `second` gets the first gradient and X."""

    def ask(values: Tensor, x: Tensor, k: float) -> object:
        first = gradient_of_sum(values, x)
        return combine(first[:, 0], second(first, x), k)

    return _residual(ask)


def _difference(u_t: Tensor, u_xx: Tensor, k: float) -> Tensor:
    return u_t - k * u_xx


def _asked_of_u(values: Tensor, x: Tensor, k: float) -> Tensor:
    return gradient_of_sum(values, x)[:, 0] - k * gradient_of_sum(values, x)[:, 1]


def _columns_exchanged(values: Tensor, x: Tensor, k: float) -> Tensor:
    first = gradient_of_sum(values, x)
    return first[:, 1] - k * gradient_of_sum(first[:, 0], x)[:, 0]


def _not_recorded(values: Tensor, x: Tensor, k: float) -> Tensor:
    first = gradient_of_sum(values, x, create_graph=False, retain_graph=True)
    return first[:, 0] - k * gradient_of_sum(first[:, 1], x)[:, 1]


def _graph_freed(values: Tensor, x: Tensor, k: float) -> Tensor:
    first = gradient_of_sum(values, x)
    u_xx = torch.autograd.grad(first[:, 1].sum(), x)[0][:, 1]
    return first[:, 0] - k * u_xx


def _constant_second(first: Tensor, x: Tensor) -> Tensor:
    return gradient_of_sum(first[:, 1], x, create_graph=False, retain_graph=True)[:, 1]


def _of_the_given(u: Function, x: Tensor, k: float) -> Tensor:
    x.requires_grad_()
    first = gradient_of_sum(u(x), x)
    return first[:, 0] - k * gradient_of_sum(first[:, 1], x)[:, 1]


HEAT_RESIDUAL = Exercise(
    name="heat_residual",
    unit=UNIT,
    title="The residual of the heat equation",
    points=4,
    probe=_probe_residual,
    truth=_residual_by_hessians,
    misconceptions=(
        Misconception(
            "second_derivative_from_output",
            _residual(_asked_of_u),
            "In the place of u_xx stands u_x: the second question was asked of u again. What is its output to be?",
        ),
        Misconception(
            "rows_added",
            _combined(_difference, lambda first, x: gradient_of_sum(first, x)[:, 1]),
            "Your second question is about the sum of the whole first gradient. So u_tx is in it too. Which column of "
            "the first gradient is u_x?",
        ),
        Misconception(
            "mixed_in_place_of_second",
            _combined(_difference, lambda first, x: gradient_of_sum(first[:, 0], x)[:, 1]),
            "You take u_tx, how u_t changes with x. Which column does each of the two questions need?",
            also=(_combined(_difference, lambda first, x: gradient_of_sum(first[:, 1], x)[:, 0]),),
        ),
        Misconception(
            "last_call_not_recorded",
            _combined(_difference, _constant_second),
            "The values are right. But the gradient that arrives at `a` is not: u_xx is a constant in your result, so "
            "training would look at u_t alone. Which of your calls do not record?",
            also=(
                _combined(
                    _difference,
                    lambda first, x: gradient_of_sum(first[:, 1], x)[:, 1].detach(),
                ),
            ),
        ),
        Misconception(
            "graph_freed_by_the_last_call",
            _residual(_graph_freed),
            "The values are right. But your last call has freed what the gradient of `a` needs. The result is to be "
            "differentiated again: what does every call need, then?",
        ),
        Misconception(
            "first_call_not_recorded",
            _residual(_not_recorded),
            "The first gradient has no graph, so it cannot be differentiated. `retain_graph` keeps the old one.",
            also=(
                _residual(lambda u, x, k: gradient_of_sum(gradient_of_sum(u, x, create_graph=False)[:, 1], x)[:, 1]),
            ),
        ),
        Misconception(
            "columns_exchanged",
            _residual(_columns_exchanged),
            "You have exchanged time and place. Column 0 is t, column 1 is x.",
        ),
        Misconception(
            "sign_turned",
            _combined(lambda u_t, u_xx, k: u_t + k * u_xx),
            "Both derivatives are right, and they are added. Where both sides are equal, the residual is 0.",
            also=(_combined(lambda u_t, u_xx, k: k * u_xx - u_t),),
        ),
        Misconception(
            "k_forgotten",
            _combined(lambda u_t, u_xx, k: u_t - u_xx),
            "Both derivatives are right. Where is k?",
            also=(_combined(lambda u_t, u_xx, k: k * (u_t - u_xx)), _combined(lambda u_t, u_xx, k: k * u_t - u_xx)),
        ),
        Misconception(
            "detached",
            _combined(lambda u_t, u_xx, k: (u_t - k * u_xx).detach()),
            "The values are right, and nothing can be trained with them: your result has no graph.",
        ),
        Misconception(
            "given_tensor_changed",
            _of_the_given,
            "The numbers are right, and the caller's X is no longer as it was. On which tensor could you set the flag?",
        ),
    ),
    hints=(
        "One gradient of u holds both first derivatives: column 0 is u_t, column 1 is u_x.",
        "u_xx is the second question: its output is u_x, and you need column 1 of the answer.",
        "The residual becomes part of a loss. So the last call must record as well.",
    ),
    when_right="This is the heart of a network that learns from a physical law. Unit 11 builds one.",
)


# hessian_times -------------------------------------------------------------------------------------------------

_FEW, _MANY, _MOST_WORK = 10, 80, 20
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


def _forward_over_reverse(f: Function, x: Tensor, v: Tensor) -> Tensor:
    return torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]


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
    truth=_forward_over_reverse,
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
            "The gradient has no graph, so it cannot be differentiated. Which argument of the first call records one?",
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


EXERCISES = (HEAT_RESIDUAL, HESSIAN_TIMES, MEND_NESTED)
