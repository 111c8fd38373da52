"""Unit 09, second derivatives: the exercises on constants and straight pieces, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of

UNIT = "09_second_derivatives"

Function = Callable[[Tensor], Tensor]
Second = Callable[[Function, Tensor], object]


# mend_second ---------------------------------------------------------------------------------------------------

# each with a tensor w, which requires a gradient
_FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "x**3": lambda x, w: x**3,
    "x**2 / 2": lambda x, w: x**2 / 2,
    "5 * x - 1": lambda x, w: 5 * x - 1,
    "w * x, where w requires a gradient": lambda x, w: w * x,
    "w * x**2, where w requires a gradient": lambda x, w: w * x**2,
    "torch.relu(x)": lambda x, w: torch.relu(x),
}
_SEEN = ("second derivatives", "x requires a gradient afterwards")


def _probe_second(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_function(f: str, x: Tensor, w: Tensor) -> tuple[object, ...]:
        w = leaf_of(w)
        found = answer(lambda x: _FUNCTIONS[f](x, w), x)
        return found, x.requires_grad

    for f in _FUNCTIONS:
        asked = of_function if callable(answer) else answer
        given = {"f": f, "x": draw.tensor(2, 2), "w": draw.tensor(2, 2)}
        yield call("second derivatives", asked, by_hand=False, parts=_SEEN, **given)


def _by_torch_func(f: Function, x: Tensor) -> Tensor:
    first = torch.func.grad(lambda x: f(x).sum())
    return torch.func.grad(lambda x: first(x).sum())(x)


def _second(ask: Callable[[Tensor, Tensor], object], **options: object) -> Second:
    """The given code with another second half, which gets the first gradient and x."""

    def second(f: Function, x: Tensor) -> object:
        x = leaf_of(x)
        (first,) = torch.autograd.grad(f(x).sum(), x, **(options or {"create_graph": True}))
        return ask(first, x)

    return second


def _usual(first: Tensor, x: Tensor, **options: object) -> Tensor | None:
    return torch.autograd.grad(first.sum(), x, **options)[0]


def _constant_is(value: Callable[[Tensor, Tensor], object], **options: object) -> Callable[[Tensor, Tensor], object]:
    return lambda first, x: _usual(first, x, **options) if first.requires_grad else value(first, x)


def _zeros(first: Tensor, x: Tensor) -> Tensor:
    return torch.zeros_like(x)


def _marks_the_given(f: Function, x: Tensor) -> object:
    x.requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return _constant_is(_zeros, materialize_grads=True)(first, x)


def _none_where_unused(first: Tensor, x: Tensor) -> Tensor | None:
    return _constant_is(_zeros, allow_unused=True)(first, x)


MEND_SECOND = Exercise(
    name="mend_second",
    unit=UNIT,
    title="A second derivative for any function",
    points=3,
    probe=_probe_second,
    truth=_by_torch_func,
    given=_second(_usual),
    when_as_given="The functions with a curved graph work, as before. Two others still stop: one whose gradient has no "
    "graph, and one whose gradient depends on w alone.",
    misconceptions=(
        Misconception(
            "unused_only",
            _second(lambda first, x: _usual(first, x, materialize_grads=True)),
            "w * x is right now. But for 5 * x - 1 the first gradient is a constant, and a constant has no graph at "
            "all: there is nothing to ask. How can you tell before you ask?",
            also=(_second(lambda first, x: _usual(first, x, allow_unused=True)),),
        ),
        Misconception(
            "constant_only",
            _second(_constant_is(_zeros)),
            "5 * x - 1 is right now. For w * x the first gradient is w: it has a graph, and x is not in it. Which "
            "option gives zeros for an input that plays no part?",
        ),
        Misconception(
            "none_left",
            _second(_none_where_unused),
            "Where x plays no part in the first gradient, you give None. Asked for is a tensor of zeros.",
            also=(_second(_constant_is(lambda first, x: None, allow_unused=True)),),
        ),
        Misconception(
            "constant_returned",
            _second(_constant_is(lambda first, x: first, materialize_grads=True)),
            "Where the first gradient is a constant, you return that constant. How much does a constant change?",
        ),
        Misconception(
            "zero_without_a_shape",
            _second(_constant_is(lambda first, x: 0.0, materialize_grads=True)),
            "For a constant you give a single 0. A derivative has the shape of x.",
            also=(_second(_constant_is(lambda first, x: torch.zeros(()), materialize_grads=True)),),
        ),
        Misconception(
            "retain_graph_in_its_place",
            _second(_constant_is(_zeros, materialize_grads=True), retain_graph=True),
            "Zeros everywhere, even for x**3: no path leads from any of your first gradients back to x. Which argument "
            "records one? (`retain_graph` keeps the old graph, and a leaf made afterwards comes from nowhere.)",
            also=(
                _second(_constant_is(_zeros, materialize_grads=True), retain_graph=None),
                _second(lambda first, x: _usual(first.detach().requires_grad_(), x, materialize_grads=True)),
                lambda f, x: torch.zeros_like(x),
            ),
        ),
        Misconception(
            "given_tensor_changed",
            _marks_the_given,
            "The numbers are right, and the caller's x requires a gradient afterwards. On which tensor could you set "
            "the flag instead?",
        ),
    ),
    hints=(
        "Zero has three forms here. Run the given code on 5 * x - 1 and on w * x, and read both messages.",
        "`first.requires_grad` tells whether there is a graph. If there is none: zeros in the shape of x.",
        "If there is one, and x is not in it, `materialize_grads=True` gives zeros.",
    ),
    when_right="Curved, straight or constant: your function gives a tensor each time.",
)


# choose_curvature ----------------------------------------------------------------------------------------------


def _probe_choice(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


def _bent() -> str:
    """The option whose second derivative by the input is not 0, found by asking torch.func about each."""
    generator = torch.Generator().manual_seed(0)
    drawn = {"generator": generator, "dtype": torch.float64}
    inner, outer = torch.randn(2, 8, **drawn), torch.randn(8, **drawn)
    x = torch.randn(2, **drawn)

    def net(x: Tensor) -> Tensor:
        return torch.relu(x @ inner) @ outer

    options = {
        "a": net,
        "b": lambda x: torch.nn.functional.leaky_relu(x @ inner) @ outer,
        "c": lambda x: net(x) ** 2,
        "d": lambda x: net(x).abs(),
    }
    (found,) = (letter for letter, f in options.items() if torch.func.jacrev(torch.func.grad(f))(x).abs().max() > 1e-9)
    return found


CHOOSE_CURVATURE = Exercise(
    name="choose_curvature",
    unit=UNIT,
    title="Choose what has curvature",
    points=1,
    probe=_probe_choice,
    truth=_bent(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "relu_net_has_curvature",
            "a",
            "Linear layers and ReLUs make straight pieces. What is the second derivative inside a straight piece?",
        ),
        Misconception(
            "leaky_relu_is_smooth",
            "b",
            "A leaky ReLU has a slope on both sides of its kink. Does the slope change on either side?",
        ),
        Misconception(
            "absolute_value_bends",
            "d",
            "An absolute value turns the sign of some pieces. Are they straight afterwards, or not?",
        ),
    ),
    hints=(
        "Inside one piece, `net(x)` is a straight line: k * x + b. What does each option make of that?",
        "Differentiate twice what you have found.",
    ),
    when_right="A straight piece stays straight under everything that is made of straight pieces itself.",
)


EXERCISES = (MEND_SECOND, CHOOSE_CURVATURE)
