"""Unit 09, second derivatives: the exercise on the residual of an equation, and the mistakes it can name."""

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
    gradient = torch.func.grad(u)
    hessians = torch.func.vmap(torch.func.jacrev(gradient))(x)
    return torch.func.vmap(gradient)(x)[:, 0] - k * hessians[:, 1, 1]


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


def _time_not_recorded(values: Tensor, x: Tensor, k: float) -> Tensor:
    u_t = gradient_of_sum(values, x, create_graph=False, retain_graph=True)[:, 0]
    return u_t - k * gradient_of_sum(gradient_of_sum(values, x)[:, 1], x)[:, 1]


def _graph_freed(values: Tensor, x: Tensor, k: float) -> Tensor:
    first = gradient_of_sum(values, x)
    u_xx = torch.autograd.grad(first[:, 1].sum(), x)[0][:, 1]
    return first[:, 0] - k * u_xx


def _of_fresh_slices(values: Tensor, x: Tensor, k: float) -> Tensor:
    time, place = x[:, 0], x[:, 1]
    u_t, u_x = gradient_of_sum(values, time), gradient_of_sum(values, place)
    return u_t - k * gradient_of_sum(u_x, place)


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
            "Something that you want to differentiate has no graph. Does your X require a gradient? And which argument "
            "records the first gradient? (`retain_graph` keeps the old graph.)",
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
        ),
        Misconception(
            "sides_exchanged",
            _combined(lambda u_t, u_xx, k: k * u_xx - u_t),
            "Both derivatives are right. The residual is the left side minus the right side, and yours is the other "
            "way round.",
        ),
        Misconception(
            "time_not_recorded",
            _residual(_time_not_recorded),
            "The values are right. But the gradient that arrives at `a` is not: u_t is a constant in your result. "
            "Which of your calls do not record?",
        ),
        Misconception(
            "k_forgotten",
            _combined(lambda u_t, u_xx, k: u_t - u_xx),
            "Both derivatives are right. Where is k?",
            also=(_combined(lambda u_t, u_xx, k: k * (u_t - u_xx)), _combined(lambda u_t, u_xx, k: k * u_t - u_xx)),
        ),
        Misconception(
            "square_of_the_slope",
            _combined(_difference, lambda first, x: first[:, 1] ** 2),
            "In the place of u_xx stands the square of u_x. u_xx is a derivative: that of u_x.",
        ),
        Misconception(
            "made_a_loss_already",
            _combined(lambda u_t, u_xx, k: (u_t - k * u_xx) ** 2),
            "This is a loss made of the residual. Asked for is the residual itself, one number for each sample.",
            also=(
                _combined(lambda u_t, u_xx, k: (u_t - k * u_xx).mean()),
                _combined(lambda u_t, u_xx, k: ((u_t - k * u_xx) ** 2).mean()),
            ),
        ),
        Misconception(
            "kept_as_columns",
            _combined(lambda u_t, u_xx, k: (u_t - k * u_xx)[:, None]),
            "The numbers are right, as a column of shape (N, 1). The shape (N,) is asked for.",
        ),
        Misconception(
            "slice_is_the_same_tensor",
            _residual(_of_fresh_slices),
            "A slice of X that is made after u was computed is a new tensor, and u was not computed from it. Which "
            "tensor was it computed from?",
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


EXERCISES = (HEAT_RESIDUAL,)
