"""Unit 09, second derivatives: the exercises on constants and straight pieces, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of, vector_jacobian_product

UNIT = "09_second_derivatives"

Function = Callable[[Tensor], Tensor]
Derivative = Callable[[Function, Tensor, int], object]


# mend_order ----------------------------------------------------------------------------------------------------

# each with a tensor w, which requires a gradient, and the order that is asked for
_ASKED: tuple[tuple[str, Callable[[Tensor, Tensor], Tensor], int], ...] = (
    ("x**3", lambda x, w: x**3, 1),
    ("x**3", lambda x, w: x**3, 2),
    ("w * x**2, where w requires a gradient", lambda x, w: w * x**2, 2),
    ("5 * x - 1", lambda x, w: 5 * x - 1, 2),
    ("w * x, where w requires a gradient", lambda x, w: w * x, 2),
    ("w * x**2, where w requires a gradient", lambda x, w: w * x**2, 4),
    ("x * x * x", lambda x, w: x * x * x, 4),
    ("x**3", lambda x, w: x**3, 5),
    ("torch.relu(x)", lambda x, w: torch.relu(x), 3),
    ("x**2 / 2 + torch.sin(x)", lambda x, w: x**2 / 2 + torch.sin(x), 3),
    ("(x > 0).double(), which has no graph", lambda x, w: (x > 0).double(), 1),
    ("w, where w requires a gradient", lambda x, w: w, 2),
)
_SEEN = ("derivatives", "x requires a gradient afterwards")


def _probe_order(answer: object, draw: Draw) -> Iterator[Observation]:
    def asked(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., tuple[object, ...]]:
        def of_function(f: str, x: Tensor, n: int, w: Tensor) -> tuple[object, ...]:
            w = leaf_of(w)
            found = answer(lambda x: function(x, w), x, n)
            return found, x.requires_grad

        return of_function

    for words, function, n in _ASKED:
        given = {"f": words, "x": draw.tensor(2, 2), "n": n, "w": draw.tensor(2, 2)}
        run = asked(function) if callable(answer) else answer
        yield call("derivatives of order n", run, by_hand=False, parts=_SEEN, **given)


def _by_torch_func(f: Function, x: Tensor, n: int) -> Tensor:
    for _ in range(n):
        f = _once(f)
    return f(x)


def _once(f: Function) -> Function:
    return torch.func.grad(lambda x: f(x).sum())


def _in_a_loop(take: Callable[[Tensor, Tensor], object], *, copies: bool = True) -> Derivative:
    """The given loop with another body: it gets the last value and x. What is no tensor with a graph ends it."""

    def derivative(f: Function, x: Tensor, n: int) -> object:
        x = leaf_of(x) if copies else x.requires_grad_()
        value = f(x)
        for _ in range(n):
            value = take(value, x)
        return value

    return derivative


def _usual(value: Tensor, x: Tensor, **options: object) -> Tensor | None:
    return torch.autograd.grad(value.sum(), x, **{"create_graph": True, **options})[0]


def _unless_constant(value: Tensor, x: Tensor) -> Tensor:
    return _usual(value, x) if value.requires_grad else torch.zeros_like(x)


def _zeros_or(value: Tensor, x: Tensor) -> Tensor:
    return _usual(value, x, materialize_grads=True) if value.requires_grad else torch.zeros_like(x)


def _none_where_unused(value: Tensor | None, x: Tensor) -> Tensor | None:
    if value is None or not value.requires_grad:
        return None
    return _usual(value, x, allow_unused=True)


def _none_or_zeros(value: Tensor, x: Tensor) -> Tensor | None:
    return _usual(value, x, allow_unused=True) if value.requires_grad else torch.zeros_like(x)


def _stops_at_a_constant(value: Tensor, x: Tensor) -> Tensor:
    return _usual(value, x, materialize_grads=True) if value.requires_grad else value


def _number_for_a_constant(f: Function, x: Tensor, n: int) -> object:
    x = leaf_of(x)
    value = f(x)
    for _ in range(n):
        if not value.requires_grad:
            return 0.0
        value = _usual(value, x, materialize_grads=True)
    return value


def _recorded_once(f: Function, x: Tensor, n: int) -> Tensor:
    x = leaf_of(x)
    value = f(x)
    for _ in range(n):
        if not value.requires_grad:
            return torch.zeros_like(x)
        value = _usual(value, x, create_graph=False, retain_graph=True, materialize_grads=True)
    return value


def _guarded_after_the_first(f: Function, x: Tensor, n: int) -> Tensor:
    x = leaf_of(x)
    value = _usual(f(x), x, materialize_grads=True)
    for _ in range(n - 1):
        value = _zeros_or(value, x)
    return value


def _made_a_leaf(value: Tensor, x: Tensor) -> Tensor:
    return _usual(value, x, create_graph=False, retain_graph=True, materialize_grads=True).requires_grad_()


def _asked_of_f(f: Function, x: Tensor, n: int) -> Tensor:
    x = leaf_of(x)
    value = f(x)
    for _ in range(n):
        derivative = _usual(value, x)
    return derivative


MEND_ORDER = Exercise(
    name="mend_order",
    unit=UNIT,
    title="Derivatives of any order, for any function",
    points=3,
    probe=_probe_order,
    truth=_by_torch_func,
    given=_in_a_loop(_usual),
    when_as_given="Curved functions work, as before. Two others still stop: one whose gradient has no graph, and one "
    "whose gradient depends on w alone.",
    misconceptions=(
        Misconception(
            "unused_only",
            _in_a_loop(lambda value, x: _usual(value, x, materialize_grads=True)),
            "w * x is right now. But the first derivative of 5 * x - 1 is a constant, and a constant has no graph at "
            "all: there is nothing to ask. How can you tell before you ask?",
        ),
        Misconception(
            "none_for_an_unused_input",
            _in_a_loop(lambda value, x: _usual(value, x, allow_unused=True)),
            "`allow_unused=True` gives None where x plays no part. Which option gives zeros in its place? And a "
            "constant has no graph at all: can you tell before you ask?",
            also=(_in_a_loop(_none_or_zeros),),
        ),
        Misconception(
            "first_call_unguarded",
            _guarded_after_the_first,
            "All is right where f(x) has a graph. A function may be constant from the start, and then your first "
            "question already stops. Ask before every call.",
        ),
        Misconception(
            "zeros_always",
            lambda f, x, n: torch.zeros_like(x),
            "You give zeros for every function, for x**3 too.",
        ),
        Misconception(
            "constant_only",
            _in_a_loop(_unless_constant),
            "5 * x - 1 is right now. But the first derivative of w * x is w: it has a graph, and x is not in it. Which "
            "option gives zeros for an input that plays no part?",
        ),
        Misconception(
            "none_left",
            _in_a_loop(_none_where_unused),
            "Where nothing depends on x any more, you give None. Asked for is a tensor of zeros.",
        ),
        Misconception(
            "constant_returned",
            _in_a_loop(_stops_at_a_constant),
            "Where a derivative is a constant, you keep that constant. How much does a constant change?",
        ),
        Misconception(
            "zero_without_a_shape",
            _number_for_a_constant,
            "For a constant you give a single 0. A derivative has the shape of x.",
        ),
        Misconception(
            "retain_graph_in_its_place",
            _recorded_once,
            "Every derivative beyond the first is 0, even that of x**3: no path leads from your first one back to x. "
            "Which argument records one? (`retain_graph` keeps the old graph, and a leaf made afterwards comes from "
            "nowhere.)",
            also=(_in_a_loop(_made_a_leaf),),
        ),
        Misconception(
            "asked_of_f_again",
            _asked_of_f,
            "This is the first derivative, each time asked of f anew. Of what is the second one the derivative?",
        ),
        Misconception(
            "given_tensor_changed",
            _in_a_loop(_zeros_or, copies=False),
            "The numbers are right, and the caller's x requires a gradient afterwards. On which tensor could you set "
            "the flag instead?",
        ),
    ),
    hints=(
        "Zero has three forms here. Run the given code on 5 * x - 1 and on w * x, and read both messages.",
        "`value.requires_grad` tells whether there is a graph. If there is none: zeros in the shape of x.",
        "If there is one, and x is not in it, `materialize_grads=True` gives zeros.",
    ),
    when_right="Curved, straight or constant: your function gives a tensor each time, of any order.",
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

    def slope(f: Function, x: Tensor) -> float:
        (gradient,) = vector_jacobian_product(f, torch.ones((), dtype=x.dtype), x)
        return (gradient * step).sum().item()

    step = 1e-4 * torch.randn(2, **drawn)
    (found,) = (letter for letter, f in options.items() if abs(slope(f, x + step) - slope(f, x - step)) > 1e-9)
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


EXERCISES = (MEND_ORDER, CHOOSE_CURVATURE)
