"""Unit 01, forward and backward of one operation: the exercises on numbers, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import derivative, vector_jacobian_product

UNIT = "01_one_operation"
XY = ("gradient of x", "gradient of y")


# square_times_cube ---------------------------------------------------------------------------------------------


def _probe_square_times_cube(answer: object, draw: Draw) -> Iterator[Observation]:
    for _ in range(2):
        incoming, x, y = draw.scalars(3)
        yield call("gradients", answer, parts=XY, incoming=incoming, x=x, y=y)
    incoming, x, y = draw.tensor(2, 3), draw.tensor(2, 3), draw.tensor(2, 3)
    yield call("gradients", answer, parts=XY, incoming=incoming, x=x, y=y)


SQUARE_TIMES_CUBE = Exercise(
    name="square_times_cube",
    unit=UNIT,
    title="The backward of x**2 * y**3",
    points=3,
    probe=_probe_square_times_cube,
    truth=lambda incoming, x, y: vector_jacobian_product(lambda x, y: x**2 * y**3, incoming, x, y),
    misconceptions=(
        Misconception(
            "swapped_partials",
            lambda incoming, x, y: (3 * x**2 * y**2 * incoming, 2 * x * y**3 * incoming),
            "Both formulas are right, but each stands in the other's place. The gradient of the first input comes"
            " first.",
        ),
        Misconception(
            "incoming_ignored",
            lambda incoming, x, y: (2 * x * y**3, 3 * x**2 * y**2),
            "These are the derivatives of the operation itself. They answer the question only if the incoming "
            "gradient is 1. Here the result goes on into a larger computation. Where does `incoming` come in?",
        ),
        Misconception(
            "local_derivative_missing",
            lambda incoming, x, y: (incoming, incoming),
            "Your backward returns the incoming gradient as it came. That is right for an operation whose "
            "derivatives are 1. What does a small step of x do to x**2 * y**3?",
        ),
        Misconception(
            "other_factor_dropped",
            lambda incoming, x, y: (2 * x * incoming, 3 * y**2 * incoming),
            "2*x is the derivative of x**2, and 3*y**2 that of y**3. But the operation multiplies the two. While "
            "x moves, y**3 stands still: as what does it stay in the derivative?",
        ),
        Misconception(
            "both_factors_differentiated",
            lambda incoming, x, y: (2 * x * 3 * y**2 * incoming, 2 * x * 3 * y**2 * incoming),
            "You take the derivative of x**2 and that of y**3, and multiply them. Only one input is nudged at a "
            "time. What happens to y**3 while x moves?",
        ),
        Misconception(
            "exponent_kept",
            lambda incoming, x, y: (2 * x**2 * y**3 * incoming, 3 * x**2 * y**3 * incoming),
            "The exponents have come down as factors, and the powers are still the old ones. What is the "
            "derivative of x**2?",
        ),
        Misconception(
            "incoming_added",
            lambda incoming, x, y: (2 * x * y**3 + incoming, 3 * x**2 * y**2 + incoming),
            "You add the incoming gradient to the derivative. A step of x becomes larger in the operation, and "
            "larger again in what comes after. How do two such factors combine?",
        ),
    ),
    hints=(
        "Nudge x and leave y as it is. Then y**3 is a fixed number in front of x**2. What is the derivative with "
        "respect to x?",
        "Test your two derivatives at x = 1, y = 2 with an incoming gradient of 1: they are 16 and 12.",
        "The caller wants the gradients of something that comes after z. Multiply each derivative by `incoming`, "
        "and return them in the order of the inputs.",
    ),
    when_right="Test where the inputs differ, and with an incoming gradient that is not 1: this is what the check did.",
)


# predict_messages ----------------------------------------------------------------------------------------------


def _probe_messages(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=XY)


def _messages() -> tuple[float, ...]:
    x, y, incoming = (torch.tensor(v, dtype=torch.float64) for v in (1.0, -2.0, -3.0))
    gradients = vector_jacobian_product(lambda x, y: (x * y) ** 2, incoming, x, y)
    return tuple(gradient.item() for gradient in gradients)


PREDICT_MESSAGES = Exercise(
    name="predict_messages",
    unit=UNIT,
    title="Predict the two gradients",
    points=2,
    probe=_probe_messages,
    truth=_messages(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "incoming_ignored",
            (8.0, -4.0),
            "These are dz/dx and dz/dy. The question asks about L = -3*z. How much does L change when z changes "
            "by one?",
        ),
        Misconception(
            "swapped_partials",
            (12.0, -24.0),
            "Both numbers are right, each in the other's place. The gradient of x comes first.",
        ),
        Misconception(
            "sign_dropped",
            (24.0, -12.0),
            "The sizes are right. L falls when z rises. What does that do to both gradients?",
        ),
        Misconception(
            "value_as_incoming",
            (-96.0, 48.0),
            "It looks as if you multiplied by the value of L, which is -12. The incoming gradient is dL/dz: how "
            "fast L changes with z, not how large it is.",
        ),
        Misconception(
            "y_taken_as_positive",
            (-24.0, -12.0),
            "The gradient of x is right: y enters it squared. In the gradient of y, y keeps its sign, and here y "
            "is negative.",
        ),
        Misconception(
            "swapped_and_incoming_ignored",
            (-4.0, 8.0),
            "Two things at once: each number stands in the other's place, and both are the derivatives of z "
            "alone. How much does L change when z changes by one?",
        ),
        Misconception(
            "swapped_and_sign_dropped",
            (-12.0, 24.0),
            "Two things at once: each number stands in the other's place, and both have the wrong sign. L falls "
            "when z rises.",
        ),
    ),
    hints=(
        "First the derivatives of z alone, at x = 1 and y = -2: 2*x*y**2 and 2*x**2*y.",
        "L = -3*z, so the gradient that comes in at z is -3, whatever z is.",
    ),
    when_right="The operation needs one number from outside, -3. The value of L, -12, plays no part.",
)


# central_difference --------------------------------------------------------------------------------------------


def _cubic(coefficients: Tensor) -> Callable[[Tensor], Tensor]:
    a, b, c, d = coefficients.unbind()
    return lambda x: a + b * x + c * x**2 + d * x**3


def _probe_difference(answer: object, draw: Draw) -> Iterator[Observation]:
    for h in (0.25, 0.125):  # with 0.5, a division by 2 * h could be left out
        function, (x,) = _cubic(draw.tensor(4)), draw.scalars(1)
        yield call("slope", answer, function=function, x=x, h=h, shown=("x", "h"))


def _slope(function: Callable[[Tensor], Tensor], x: Tensor, h: float) -> Tensor:
    """What the central difference gives for a cubic: f' + h**2 * f''' / 6, exactly, from autograd alone."""
    return derivative(function, x) + h**2 * derivative(function, x, order=3) / 6


CENTRAL_DIFFERENCE = Exercise(
    name="central_difference",
    unit=UNIT,
    title="The slope by a central difference",
    points=2,
    probe=_probe_difference,
    truth=_slope,
    misconceptions=(
        Misconception(
            "forward_difference",
            lambda f, x, h: (f(x + h) - f(x)) / h,
            "This is the slope between x and x + h, to one side only. Its error shrinks like h. Let the two "
            "points lie on both sides of x, and the error shrinks like h**2.",
        ),
        Misconception(
            "backward_difference",
            lambda f, x, h: (f(x) - f(x - h)) / h,
            "This is the slope between x - h and x, to one side only. Let the two points lie on both sides of x.",
        ),
        Misconception(
            "divided_by_h",
            lambda f, x, h: (f(x + h) - f(x - h)) / h,
            "Your slope is twice as steep as it should be. How far apart are the two points?",
        ),
        Misconception(
            "not_divided",
            lambda f, x, h: f(x + h) - f(x - h),
            "This is how much f changes between the two points. A slope is that change, divided by something.",
        ),
        Misconception(
            "wrong_precedence",
            lambda f, x, h: (f(x + h) - f(x - h)) / 2 * h,
            "Python divides by 2 and then multiplies by h: `a / 2 * h` is `(a / 2) * h`. What should stand below "
            "the line?",
        ),
        Misconception(
            "brackets_missing",
            lambda f, x, h: f(x + h) - f(x - h) / (2 * h),
            "Python divides before it subtracts: here only f(x - h) is divided. What should be divided?",
            also=(lambda f, x, h: f(x + h) - f(x - h) / 2 * h,),
        ),
        Misconception(
            "own_step",
            lambda f, x, h: (f(x + 1e-6) - f(x - 1e-6)) / 2e-6,
            "Your result does not depend on `h`. Use the step that the caller hands in: it is the caller who "
            "knows how much rounding there is.",
        ),
        Misconception(
            "slope_to_the_left_turned_round",
            lambda f, x, h: ((f(x + h) - f(x)) / h + (f(x - h) - f(x)) / h) / 2,
            "You take the mean of two slopes, and that is a good idea. On the left, the step goes from x - h to "
            "x. In which order must the two values be subtracted there?",
        ),
    ),
    hints=(
        "Evaluate the function a little to the right of x, and a little to the left.",
        "The two points are h to the right and h to the left. How far apart are they?",
    ),
    when_right="This judge never sees the formula of a derivative. That is why it can be trusted to test one.",
)


# mend_quotient -------------------------------------------------------------------------------------------------


def _probe_quotient(answer: object, draw: Draw) -> Iterator[Observation]:
    for _ in range(2):
        incoming, x, y = draw.scalars(3)
        yield call("gradients", answer, parts=XY, incoming=incoming, x=x, y=y)


MEND_QUOTIENT = Exercise(
    name="mend_quotient",
    unit=UNIT,
    title="Mend the backward of x / y",
    points=2,
    probe=_probe_quotient,
    truth=lambda incoming, x, y: vector_jacobian_product(torch.div, incoming, x, y),
    given=lambda incoming, x, y: (incoming / y, -x / y**2),
    misconceptions=(
        Misconception(
            "sign_dropped",
            lambda incoming, x, y: (incoming / y, incoming * x / y**2),
            "The gradient of y has the wrong sign. If a positive y grows, does a positive x / y grow or shrink?",
        ),
        Misconception(
            "incoming_added",
            lambda incoming, x, y: (incoming / y, incoming - x / y**2),
            "In the gradient of y you add the incoming gradient. In the gradient of x it is a factor. Which of "
            "the two is it?",
        ),
        Misconception(
            "square_dropped",
            lambda incoming, x, y: (incoming / y, -incoming * x / y),
            "Look at the power of y in the gradient of y. x / y is x * y**-1. What is the derivative of y**-1?",
        ),
        Misconception(
            "x_dropped",
            lambda incoming, x, y: (incoming / y, -incoming / y**2),
            "-1 / y**2 is the derivative of 1 / y. The operation is x / y.",
        ),
        Misconception(
            "made_the_same_mistake_twice",
            lambda incoming, x, y: (1 / y, -x / y**2),
            "Now neither gradient contains the incoming gradient. Before, one of them did. Which was the right one?",
        ),
        Misconception(
            "inverse_operation",
            lambda incoming, x, y: (incoming * y, x / incoming),
            "You undo the division: from the quotient back to x and y. A backward does not compute inputs. It "
            "computes how much the result changes when an input changes.",
            also=(lambda incoming, x, y: (incoming * y, incoming * x),),
        ),
    ),
    hints=(
        "Compare the two gradients that the given code returns. Both belong to the same result. What is in the "
        "one and not in the other?",
        "Call the code once with incoming = 1 and once with incoming = 10. Which of its gradients does not notice?",
    ),
    when_right="With an incoming gradient of 1, the given code cannot be told from the right one.",
)


# choose_addition -----------------------------------------------------------------------------------------------

_ADDITION_CLAIMS: dict[str, Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]] = {
    "a": lambda incoming, p, q: (incoming / 2, incoming / 2),
    "b": lambda incoming, p, q: (incoming, incoming),
    "c": lambda incoming, p, q: (incoming * p / (p + q), incoming * q / (p + q)),
    "d": lambda incoming, p, q: (incoming - q, incoming - p),
}


def _probe_addition(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


def _true_claim() -> str:
    """The one claim about p + q that agrees with autograd."""
    incoming, p, q = Draw(0).scalars(3)
    judge = vector_jacobian_product(torch.add, incoming, p, q)
    (letter,) = (
        letter for letter, claim in _ADDITION_CLAIMS.items() if all(map(torch.allclose, claim(incoming, p, q), judge))
    )
    return letter


CHOOSE_ADDITION = Exercise(
    name="choose_addition",
    unit=UNIT,
    title="What an addition does with its incoming gradient",
    points=1,
    probe=_probe_addition,
    truth=_true_claim(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "addition_splits_gradient",
            "a",
            "Test it: raise p by 0.01. By how much does p + q rise, by 0.01 or by half of it?",
        ),
        Misconception(
            "addition_shares_by_size",
            "c",
            "Test it with p = 1, q = 99: raise p by 0.01. Does it matter to the rise of p + q how large p is?",
        ),
        Misconception(
            "backward_is_inverse",
            "d",
            "This would undo the addition, if `incoming` were the sum. But `incoming` is a gradient: it says how "
            "much the final result changes when p + q does.",
        ),
    ),
    hints=("Raise p by a small step and leave q. How does p + q answer? Then the other way round.",),
    when_right="Nudge either input, and the sum moves by the whole nudge. So both get the whole gradient.",
)


EXERCISES = (
    SQUARE_TIMES_CUBE,
    PREDICT_MESSAGES,
    CENTRAL_DIFFERENCE,
    MEND_QUOTIENT,
    CHOOSE_ADDITION,
)
