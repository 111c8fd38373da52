"""Unit 06, custom Functions: the mistakes that several of its exercises can name."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from course_utils.checks.exercise import Misconception


def composed(name: str, compute: Callable[..., Tensor]) -> type:
    """A class of this name that is no Function: its `apply` is made of PyTorch's own operations."""
    return type(name, (), {"apply": staticmethod(compute)})


def without_a_function(witness: object) -> Misconception:
    """Right numbers without a Function of the learner's."""
    return Misconception(
        "without_a_function",
        witness,
        "Right numbers, and PyTorch's own operations give them. Here the operation is to be yours: a Function with its "
        "own backward.",
    )


def refuses_a_second_derivative(witness: object) -> Misconception:
    """`once_differentiable` where a second derivative is asked for."""
    return Misconception(
        "refuses_a_second_derivative",
        witness,
        "`once_differentiable` announces that there is no second derivative. Here there is one, and it is asked for.",
    )


def unknown_to_the_graph(*witnesses: object) -> Misconception:
    """An intermediate, or a copy of an input, saved as if it had a place in the outer graph."""
    return Misconception(
        "intermediate_saved",
        witnesses[0],
        "The gradients are right, their own derivative is not. When the backward is differentiated, something that it "
        "computes with is a constant: made on the way to the result or copied with recording off, detached, or taken "
        "out as a number. Which tensors have a place in the graph outside?",
        also=witnesses[1:],
    )


def incoming_ignored(*witnesses: object) -> Misconception:
    """A backward that returns the local derivative alone."""
    return Misconception(
        "incoming_ignored",
        witnesses[0],
        "Your backward returns the local derivative alone. Where does `grad_output` come in?",
        also=witnesses[1:],
    )


def attribute_is_not_watched(witness: object) -> Misconception:
    """A tensor kept as an attribute of ctx, and changed before the backward."""
    return Misconception(
        "kept_as_an_attribute",
        witness,
        "The gradients are right, as long as nobody changes a tensor between forward and backward. Here somebody did, "
        "and nothing was noticed. Who watches over tensors until the backward runs?",
    )
