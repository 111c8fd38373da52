"""Unit 05, asking for gradients: the exercises on what to ask for, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of, vector_jacobian_product

UNIT = "05_asking_for_gradients"

Function = Callable[[Tensor], Tensor]


# gradient_for_each ---------------------------------------------------------------------------------------------

_FUNCTIONS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "(a * b**2).sum()": lambda a, b, c: (a * b**2).sum(),
    "(b * c[0]).sum() + c.prod()": lambda a, b, c: (b * c[0]).sum() + c.prod(),
}
_LEFT = ("gradients", "an input requires a gradient afterwards", "an input has a .grad afterwards")
ForEach = Callable[[Callable[..., Tensor], Sequence[Tensor]], object]


def _probe_each(answer: object, draw: Draw) -> Iterator[Observation]:
    def gradients(f: str, a: Tensor, b: Tensor, c: Tensor) -> tuple[object, ...]:
        inputs = [tensor.clone() for tensor in (a, b, c)]
        found = answer(_FUNCTIONS[f], inputs)
        return found, any(one.requires_grad for one in inputs), any(one.grad is not None for one in inputs)

    for f in _FUNCTIONS:
        given = {"f": f, "a": draw.tensor(3), "b": draw.tensor(3), "c": draw.tensor(2, 1)}
        yield call("gradients", gradients if callable(answer) else answer, by_hand=False, parts=_LEFT, **given)


def _each_by_autograd(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """0 times every input is added, so that none is unused."""

    def touched(*inputs: Tensor) -> Tensor:
        return f(*inputs) + sum((0 * one).sum() for one in inputs)

    return vector_jacobian_product(touched, torch.ones((), dtype=inputs[0].dtype), *inputs)


def _copies(inputs: Sequence[Tensor]) -> list[Tensor]:
    return [leaf_of(one) for one in inputs]


def _with_copies(ask: Callable[[Tensor, list[Tensor]], object]) -> ForEach:
    """Marks copies, computes, and asks."""

    def gradient_for_each(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
        leaves = _copies(inputs)
        return ask(f(*leaves), leaves)

    return gradient_for_each


def _unused_allowed(output: Tensor, leaves: list[Tensor]) -> tuple[Tensor | None, ...]:
    return torch.autograd.grad(output, leaves, allow_unused=True)


def _from_dot_grad(output: Tensor, leaves: list[Tensor]) -> list[Tensor | None]:
    output.backward()
    return [leaf.grad for leaf in leaves]


def _flag_too_late(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    output = f(*inputs)
    for one in inputs:
        one.requires_grad_()
    return torch.autograd.grad(output, inputs, materialize_grads=True)


def _copies_not_used(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    return torch.autograd.grad(f(*inputs), _copies(inputs), materialize_grads=True)


def _never_flagged(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    return torch.autograd.grad(f(*inputs), inputs, materialize_grads=True)


def _marks_the_given(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    for one in inputs:
        one.requires_grad_()
    return torch.autograd.grad(f(*inputs), inputs, materialize_grads=True)


def _marks_and_fills_the_given(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    for one in inputs:
        one.requires_grad_()
    f(*inputs).backward()
    return [torch.zeros_like(one) if one.grad is None else one.grad for one in inputs]


GRADIENT_FOR_EACH = Exercise(
    name="gradient_for_each",
    unit=UNIT,
    title="A gradient for every input, used or not",
    points=3,
    probe=_probe_each,
    truth=_each_by_autograd,
    misconceptions=(
        Misconception(
            "nones_left",
            _with_copies(_unused_allowed),
            "An input that plays no part gets None. Asked for are zeros in its shape.",
            also=(_with_copies(_from_dot_grad),),
        ),
        Misconception(
            "unused_not_allowed",
            _with_copies(lambda output, leaves: torch.autograd.grad(output, leaves)),
            "One of the inputs plays no part in f, and torch takes that for a mistake unless it is told otherwise. "
            "Which of its two options gives zeros?",
        ),
        Misconception(
            "allow_unused_covers_everything",
            _flag_too_late,
            "No tensor that `f` was given required a gradient at that moment. What has not been recorded then cannot "
            "be asked for later.",
            also=(_never_flagged, _copies_not_used),
        ),
        Misconception(
            "first_input_only",
            _with_copies(lambda output, leaves: torch.autograd.grad(output, leaves[0], materialize_grads=True)),
            "You ask for the gradient of the first input only. How is the call told about all of them?",
        ),
        Misconception(
            "given_tensors_changed",
            _marks_the_given,
            "The gradients are right, and the caller's tensors are no longer as they were. On which tensors could you "
            "set the flag instead?",
            also=(_marks_and_fills_the_given,),
        ),
        Misconception(
            "swapped_inputs_outputs",
            _with_copies(lambda output, leaves: torch.autograd.grad(leaves, output)),
            "Read your call aloud: the derivative of `outputs` with respect to `inputs`. Which of the two comes first?",
            also=(
                _with_copies(lambda output, leaves: torch.autograd.grad(inputs=output, outputs=leaves)),
                _with_copies(lambda output, leaves: torch.autograd.grad(leaves, output, materialize_grads=True)),
            ),
        ),
        Misconception(
            "wrong_keyword_names",
            _with_copies(lambda output, leaves: torch.autograd.grad(output=output, input=leaves)),
            "`torch.autograd.grad` knows no such keyword. Both of its names are plural.",
            also=(
                _with_copies(lambda output, leaves: torch.autograd.grad(output=output, inputs=leaves)),
                _with_copies(lambda output, leaves: torch.autograd.grad(outputs=output, input=leaves)),
            ),
        ),
        Misconception(
            "unused_left_out",
            _with_copies(lambda output, leaves: [g for g in _unused_allowed(output, leaves) if g is not None]),
            "There are three inputs, and fewer gradients. One for each is expected, in their order.",
        ),
        Misconception(
            "zero_without_a_shape",
            _with_copies(lambda output, leaves: [0.0 if g is None else g for g in _unused_allowed(output, leaves)]),
            "For an input that plays no part you give a single 0. A gradient has the shape of its tensor.",
        ),
    ),
    hints=(
        "The flag must be set before f is computed, and not on the tensors of the caller: make copies.",
        "`torch.autograd.grad` takes a list of inputs, and returns a gradient for each of them.",
        "`materialize_grads=True` gives zeros in place of None. Or replace each None yourself: `torch.zeros_like`.",
    ),
    when_right="And the caller will not notice that you were there.",
)


# by_column -----------------------------------------------------------------------------------------------------


def _probe_column(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_column(x: Tensor, k: int) -> object:
        return answer(lambda x: x[:, 0] ** 2 * x[:, 1] + x[:, 2] ** 3, x, k)

    for k in (1, 0, 2):
        asked = of_column if callable(answer) else answer
        yield call("derivatives of X[:, 0]**2 * X[:, 1] + X[:, 2]**3", asked, by_hand=False, X=draw.tensor(4, 3), k=k)


def _column_by_autograd(f: Function, x: Tensor, k: int) -> Tensor:
    column = x[:, k].clone()
    others = [x[:, j : j + 1] for j in range(x.shape[1])]

    def of_the_column(column: Tensor) -> Tensor:
        return f(torch.cat([*others[:k], column[:, None], *others[k + 1 :]], dim=1))

    return vector_jacobian_product(of_the_column, torch.ones(len(x), dtype=x.dtype), column)[0]


def _column(ask: Callable[[Tensor, Tensor, int], object]) -> Callable[[Function, Tensor, int], object]:
    """The given code with another last line: it gets the values, X and k."""

    def by_column(f: Function, x: Tensor, k: int) -> object:
        x = leaf_of(x)
        return ask(f(x), x, k)

    return by_column


def _whole(values: Tensor, x: Tensor) -> Tensor:
    return torch.autograd.grad(values.sum(), x)[0]


BY_COLUMN = Exercise(
    name="by_column",
    unit=UNIT,
    title="The derivative with respect to one column",
    points=2,
    probe=_probe_column,
    truth=_column_by_autograd,
    given=_column(lambda values, x, k: torch.autograd.grad(values.sum(), x[:, k], allow_unused=True)[0]),
    when_as_given="It still gives None: from which tensor were the values computed?",
    misconceptions=(
        Misconception(
            "slice_is_the_same_tensor",
            _column(lambda values, x, k: torch.autograd.grad(values.sum(), x[:, k])[0]),
            "Without `allow_unused` the error is back. It has a point: the slice that you ask for is a tensor of its "
            "own, and the values were computed from X, not from it.",
        ),
        Misconception(
            "zeros_in_place_of_none",
            _column(lambda values, x, k: torch.autograd.grad(values.sum(), x[:, k], materialize_grads=True)[0]),
            "Now there are zeros in place of None: they still say that no path was found. The slice that you ask for "
            "is a tensor of its own, and the values do not come from it.",
        ),
        Misconception(
            "row_in_place_of_column",
            _column(lambda values, x, k: _whole(values, x)[k]),
            "You take row k of the gradient: all that belongs to sample k. Which dimension counts the columns?",
        ),
        Misconception(
            "whole_gradient",
            _column(lambda values, x, k: _whole(values, x)),
            "This is the gradient with respect to all of X. Asked for is one column of it.",
        ),
        Misconception(
            "summed_over_samples",
            _column(lambda values, x, k: _whole(values, x)[:, k].sum()),
            "You add the samples up. Each sample has a derivative of its own.",
            also=(_column(lambda values, x, k: _whole(values, x).sum(0)[k]),),
        ),
        Misconception(
            "mean_of_the_values",
            _column(lambda values, x, k: torch.autograd.grad(values.mean(), x)[0][:, k]),
            "You begin at the mean of the values, which divides by their number. Which weights leave each sample's "
            "derivative as it is?",
        ),
        Misconception(
            "always_the_first_column",
            _column(lambda values, x, k: _whole(values, x)[:, 0]),
            "This is the first column, whatever `k` is.",
        ),
        Misconception(
            "first_sample_only",
            _column(lambda values, x, k: torch.autograd.grad(values[0], x)[0][:, k]),
            "You ask about the value of the first sample only. It does not depend on the other rows.",
        ),
    ),
    hints=(
        "`f` was given X. With respect to which tensor can you ask?",
        "The gradient with respect to X has the shape of X. Where in it stands what is asked for?",
    ),
    when_right="Ask for the tensor that was used, and slice the answer.",
)


EXERCISES = (GRADIENT_FOR_EACH, BY_COLUMN)
