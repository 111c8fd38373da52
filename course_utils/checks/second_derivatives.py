"""Unit 09, second derivatives: the exercises on columns and on what accumulates, and the mistakes they can name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of

UNIT = "09_second_derivatives"

OfSamples = Callable[[Tensor], Tensor]


# mixed_partial -------------------------------------------------------------------------------------------------

_FORMULA = "X[:, 0]**3 * X[:, 1]**2 + X[:, 0] * X[:, 1] * X[:, 2]**2"
_SEEN = ("derivatives", "X requires a gradient afterwards")


def _values(x: Tensor) -> Tensor:
    first, second, third = x.unbind(-1)
    return first**3 * second**2 + first * second * third**2


def _probe_mixed(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_columns(x: Tensor, i: int, j: int) -> tuple[object, ...]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's, where backward() is used with create_graph
            found = answer(lambda x: _values(x), x, i, j)
        return found, x.requires_grad

    for i, j in ((0, 1), (1, 2), (2, 0), (0, 0)):
        asked = of_columns if callable(answer) else answer
        yield call(
            f"second derivatives of {_FORMULA}", asked, by_hand=False, parts=_SEEN, X=draw.tensor(4, 3), i=i, j=j
        )


def _from_hessians(f: OfSamples, x: Tensor, i: int, j: int) -> Tensor:
    return torch.func.vmap(torch.func.jacrev(torch.func.grad(f)))(x)[:, i, j]


Mixed = Callable[[OfSamples, Tensor, int, int], object]
Ask = Callable[[Tensor, Tensor, int, int], object]


def gradient_of_sum(output: Tensor, x: Tensor, **options: object) -> Tensor:
    """The gradient of the sum of `output`, recorded unless the options say otherwise."""
    return torch.autograd.grad(output.sum(), x, **{"create_graph": True, **options})[0]


def _mixed(ask: Ask) -> Mixed:
    """A copy is marked, `f` computed, and asked about by `ask`, which gets values, X, i and j."""

    def mixed(f: OfSamples, x: Tensor, i: int, j: int) -> object:
        x = leaf_of(x)
        return ask(f(x), x, i, j)

    return mixed


def _by_backward(z: Tensor, x: Tensor, i: int, j: int) -> Tensor:
    z.sum().backward(create_graph=True)
    x.grad[:, i].sum().backward()
    second, x.grad = x.grad, None
    return second[:, j]


def _with_the_given(f: OfSamples, x: Tensor, i: int, j: int) -> Tensor:
    x.requires_grad_()
    first = gradient_of_sum(f(x), x)[:, i]
    return gradient_of_sum(first, x)[:, j]


MIXED_PARTIAL = Exercise(
    name="mixed_partial",
    unit=UNIT,
    title="A mixed derivative, column by column",
    points=3,
    probe=_probe_mixed,
    truth=_from_hessians,
    misconceptions=(
        Misconception(
            "first_column_forgotten",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x), x)[:, j]),
            "Your second question is about the sum of the whole first gradient. So the changes of all first "
            "derivatives are added. Of which one do you want to know the change?",
        ),
        Misconception(
            "second_derivative_from_output",
            _mixed(lambda z, x, i, j: gradient_of_sum(z, x)[:, j]),
            "This is a first derivative. Read the last call aloud: the derivative of what, with respect to what?",
            also=(_mixed(lambda z, x, i, j: gradient_of_sum(z, x)[:, i]),),
        ),
        Misconception(
            "not_recorded",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x, create_graph=False)[:, i], x)[:, j]),
            "Something that you want to differentiate has no graph. Does your X require a gradient? And which argument "
            "records the first gradient?",
            also=(
                _mixed(
                    lambda z, x, i, j: gradient_of_sum(
                        gradient_of_sum(z, x, create_graph=False, retain_graph=True)[:, i], x
                    )[:, j]
                ),
            ),
        ),
        Misconception(
            "slice_is_the_same_tensor",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x[:, i]), x[:, j])),
            "A slice that is made in the call is a new tensor, and nothing was computed from it. Which tensor was?",
            also=(
                _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x[:, j])),
                _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x[:, j], allow_unused=True)),
                _mixed(
                    lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x[:, j], materialize_grads=True)
                ),
            ),
        ),
        Misconception(
            "first_left_in_grad",
            _mixed(_by_backward),
            "In X.grad the second derivatives were added to the first ones. `backward` adds; who returns each gradient "
            "by itself?",
        ),
        Misconception(
            "one_column_twice",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x)[:, i]),
            "You take column i both times. The second question has a column of its own.",
            also=(_mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, j], x)[:, j]),),
        ),
        Misconception(
            "rows_taken",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[i], x)[j]),
            "You take rows. A row is all that belongs to one sample; which dimension counts the columns?",
            also=(_mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x)[j]),),
        ),
        Misconception(
            "whole_second_gradient",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x)),
            "This is how the first derivative changes with every column. Asked for is one of them.",
        ),
        Misconception(
            "product_of_first_derivatives",
            _mixed(lambda z, x, i, j: gradient_of_sum(z, x)[:, i] * gradient_of_sum(z, x)[:, j]),
            "You multiply two first derivatives. A second derivative is the derivative of a first one.",
        ),
        Misconception(
            "summed_over_samples",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x)[:, j].sum()),
            "You add the samples up. Each of them has a derivative of its own.",
            also=(_mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z, x)[:, i], x).sum(0)[j]),),
        ),
        Misconception(
            "mean_of_the_values",
            _mixed(lambda z, x, i, j: gradient_of_sum(gradient_of_sum(z.mean(), x)[:, i], x)[:, j]),
            "You begin at the mean of the values, which divides by their number. Which weights leave each sample's "
            "derivative as it is?",
        ),
        Misconception(
            "given_tensor_changed",
            _with_the_given,
            "The numbers are right, and the caller's X is no longer as it was. On which tensor could you set the flag?",
        ),
    ),
    hints=(
        "Two calls of `torch.autograd.grad`. The output of the second is a column of what the first returned.",
        "The first call needs `create_graph=True`; and X must require a gradient: make a copy of it that does.",
        "Both calls ask for the gradient of X as a whole. After each of them, take a column.",
    ),
    when_right="Two questions, and each has its own column.",
)


# predict_accumulated -------------------------------------------------------------------------------------------

_STEPS = ("first", "asked", "second", "third")


def _probe_accumulated(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=_STEPS)


def _accumulated() -> tuple[float, ...]:
    with autograd(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the circle that the program makes on purpose
        w = torch.tensor(2.0, requires_grad=True)
        (w**4).backward(create_graph=True)
        first = w.grad.item()
        asked = torch.autograd.grad(w.grad, w, retain_graph=True)[0].item()
        second = w.grad.item()
        w.grad.backward()
        third = w.grad.item()
        w.grad = None
        return first, asked, second, third


PREDICT_ACCUMULATED = Exercise(
    name="predict_accumulated",
    unit=UNIT,
    title="What stands in .grad after a second derivative",
    points=2,
    probe=_probe_accumulated,
    truth=_accumulated(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "backward_overwrites_grad",
            (32, 48, 32, 48),
            "For `third` you take the second derivative alone. What stood in w.grad before this call, and who has "
            "cleared it?",
        ),
        Misconception(
            "grad_writes_too",
            (32, 48, 80, 128),
            "You let torch.autograd.grad add to w.grad. Of the two ways to ask, which one leaves no trace there?",
            also=((32, 48, 48, 96),),
        ),
        Misconception(
            "second_leaves_no_trace",
            (32, 48, 32, 32),
            "For `third` nothing has changed. w.grad was the output of that backward. And where does a backward put "
            "what it finds for w?",
        ),
        Misconception(
            "derivative_of_the_number",
            (32, 0, 32, 32),
            "You take w.grad for a number that no longer depends on w. What did create_graph=True record?",
            also=((32, 0, 32, 0),),
        ),
        Misconception(
            "first_derivative_again",
            (32, 32, 32, 64),
            "For `asked` you give the derivative of w**4. The output of that call is w.grad: how does that change "
            "with w?",
        ),
        Misconception(
            "power_rule_half_done",
            (32, 24, 32, 56),
            "The first number is right. For `asked`: how fast does 4 * w**3 change with w, at 2?",
            also=((32, 12, 32, 44), (32, 96, 32, 128), (32, 16, 32, 48)),
        ),
        Misconception(
            "values_in_place_of_gradients",
            (16, 32, 16, 48),
            "Your first number is w**4 itself. How fast does it change with w?",
        ),
    ),
    hints=(
        "The first derivative is 4 * w**3, the second is 12 * w**2. Which line computes which?",
        "`torch.autograd.grad` returns what it finds. `backward` adds it to .grad.",
    ),
    when_right="That is why second derivatives are better asked for with torch.autograd.grad.",
)


EXERCISES = (MIXED_PARTIAL, PREDICT_ACCUMULATED)
