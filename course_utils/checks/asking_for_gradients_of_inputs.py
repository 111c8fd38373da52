"""Unit 05, asking for gradients: the exercise on a gradient for every input, and the mistakes it can name."""

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


def _new_copies_asked(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    return torch.autograd.grad(f(*_copies(inputs)), _copies(inputs), materialize_grads=True)


def _never_flagged(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    return torch.autograd.grad(f(*inputs), inputs, materialize_grads=True)


def _marks_the_given(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    for one in inputs:
        one.requires_grad_()
    return torch.autograd.grad(f(*inputs), inputs, materialize_grads=True)


def _fills_the_given(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> list[Tensor | None]:
    for one in inputs:
        one.requires_grad_()
    f(*inputs).backward()
    return [one.grad for one in inputs]


def _marks_and_fills_the_given(f: Callable[..., Tensor], inputs: Sequence[Tensor]) -> object:
    found = _fills_the_given(f, inputs)
    return [torch.zeros_like(one) if grad is None else grad for one, grad in zip(inputs, found, strict=True)]


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
            "other_tensors_asked",
            _new_copies_asked,
            "Nothing arrives at any of the tensors that you ask: only zeros or None. Which tensors was `f` given, and "
            "which do you ask?",
            also=(_with_copies(lambda output, leaves: [None for _ in leaves]),),
        ),
        Misconception(
            "first_input_only",
            _with_copies(lambda output, leaves: torch.autograd.grad(output, leaves[0], materialize_grads=True)),
            "You ask for the gradient of the first input only. How is the call told about all of them?",
            also=(
                _with_copies(lambda output, leaves: torch.autograd.grad(output, leaves[0], materialize_grads=True)[0]),
                _with_copies(lambda output, leaves: torch.autograd.grad(output, leaves[0])),
                _with_copies(lambda output, leaves: torch.autograd.grad(output, leaves[0])[0]),
            ),
        ),
        Misconception(
            "list_as_one_argument",
            lambda f, inputs: f(_copies(inputs)),
            "`f` takes several tensors, and was given a single list. How is a list handed over as several arguments?",
        ),
        Misconception(
            "given_tensors_changed",
            _marks_the_given,
            "The gradients are right, and the caller's tensors are no longer as they were. On which tensors could you "
            "set the flag instead?",
            also=(_marks_and_fills_the_given,),
        ),
        Misconception(
            "backward_on_the_given",
            _fills_the_given,
            "The tensors of the caller are no longer as they were: they require a gradient, and have one in `.grad`. "
            "And what stands in the `.grad` of an input that plays no part?",
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


EXERCISES = (GRADIENT_FOR_EACH,)
