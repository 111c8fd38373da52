"""Unit 01, forward and backward of one operation: the exercises on shapes, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import vector_jacobian_product

UNIT = "01_one_operation"


# mean_backward -------------------------------------------------------------------------------------------------


def _probe_mean(answer: object, draw: Draw) -> Iterator[Observation]:
    for shape in ((4,), (2, 3)):
        (incoming,) = draw.scalars(1)
        yield call("gradient of x", answer, incoming=incoming, x=draw.tensor(*shape))


MEAN_BACKWARD = Exercise(
    name="mean_backward",
    unit=UNIT,
    title="The backward of x.mean()",
    points=2,
    probe=_probe_mean,
    truth=lambda incoming, x: vector_jacobian_product(torch.mean, incoming, x)[0],
    misconceptions=(
        Misconception(
            "sum_not_mean",
            lambda incoming, x: incoming * torch.ones_like(x),
            "This is the gradient of the sum. The mean of N numbers is their sum divided by N. What does that "
            "make of the gradient?",
        ),
        Misconception(
            "divided_by_rows",
            lambda incoming, x: incoming * torch.ones_like(x) / len(x),
            "`len(x)` is the number of rows. How many numbers does the mean run over?",
        ),
        Misconception(
            "not_spread",
            lambda incoming, x: incoming / x.numel(),
            "The number is right: every entry of x gets it. But x has a shape, and its gradient has the same shape.",
        ),
        Misconception(
            "multiplied_by_value",
            lambda incoming, x: incoming * x / x.numel(),
            "You multiply by the value of x. Raise one entry of x by a small step: does the mean's change depend "
            "on how large the entry was?",
        ),
        Misconception(
            "mean_of_incoming",
            lambda incoming, x: torch.ones_like(x) / x.numel(),
            "1/N is how much the mean changes with each entry. That is right if the incoming gradient is 1. Where"
            " does `incoming` come in?",
        ),
        Misconception(
            "multiplied_by_count",
            lambda incoming, x: incoming * x.numel() * torch.ones_like(x),
            "You multiply by the number of entries, as if to undo the division of the forward. A backward undoes "
            "nothing. Raise one entry by a small step: by how much does the mean rise?",
        ),
    ),
    hints=(
        "Raise one of N numbers by a small step. By how much does their mean rise?",
        "Every entry gets the same number. `torch.full_like(x, ...)` and `expand` both spread a number over a shape.",
    ),
    when_right="The forward added N numbers up and divided. The backward spreads one number and divides as well.",
)


# bias_backward -------------------------------------------------------------------------------------------------

XB = ("gradient of x", "gradient of b")


def _probe_bias(answer: object, draw: Draw) -> Iterator[Observation]:
    for rows, columns in ((4, 3), (2, 5)):
        incoming, x, b = (
            draw.tensor(rows, columns),
            draw.tensor(rows, columns),
            draw.tensor(columns),
        )
        yield call("gradients", answer, parts=XB, incoming=incoming, x=x, b=b)


BIAS_BACKWARD = Exercise(
    name="bias_backward",
    unit=UNIT,
    title="The backward of x + b, with b copied to every row",
    points=3,
    probe=_probe_bias,
    truth=lambda incoming, x, b: vector_jacobian_product(torch.add, incoming, x, b),
    misconceptions=(
        Misconception(
            "bias_gradient_uses_input",
            lambda incoming, x, b: (incoming, x.sum(0)),
            "You sum the inputs. Raise b[0] by a small step: the first column of the result rises by that step, "
            "whatever x is. So what should be summed?",
        ),
        Misconception(
            "not_summed",
            lambda incoming, x, b: (incoming, incoming),
            "The gradient of b has the shape of the result. b was copied to every row, and each copy sends a "
            "gradient back. What becomes of them where they meet?",
        ),
        Misconception(
            "mean_over_copies",
            lambda incoming, x, b: (incoming, incoming.mean(0)),
            "You average over the rows. Raise b[0] by a small step, and every row rises by the whole step. Do "
            "their effects average, or add?",
        ),
        Misconception(
            "summed_over_columns",
            lambda incoming, x, b: (incoming, incoming.sum(1)),
            "You sum along each row, over the columns. Along which dimension was b copied?",
        ),
        Misconception(
            "dimension_kept",
            lambda incoming, x, b: (incoming, incoming.sum(0, keepdim=True)),
            "The numbers are right. b has one dimension; the gradient you return for it has two.",
        ),
        Misconception(
            "first_copy_only",
            lambda incoming, x, b: (incoming, incoming[0]),
            "You keep the gradient of one copy of b. There is a copy in every row.",
            also=(lambda incoming, x, b: (incoming, incoming[-1]),),
        ),
        Misconception(
            "gradient_split",
            lambda incoming, x, b: (incoming / 2, incoming.sum(0) / 2),
            "You share the incoming gradient out between x and b. Raise x by a small step: the sum rises by the "
            "whole step, not by half.",
        ),
        Misconception(
            "multiplied_by_input",
            lambda incoming, x, b: (incoming, (incoming * x).sum(0)),
            "You multiply by x before you sum. Raise b[0] by a small step: does the change of x + b depend on how"
            " large x is?",
        ),
        Misconception(
            "multiplied_by_bias",
            lambda incoming, x, b: (incoming * b, incoming.sum(0)),
            "You multiply by b. That belongs to x * b. Raise one entry of x by a small step: does the change of x"
            " + b depend on how large b is?",
        ),
        Misconception(
            "backward_of_a_product",
            lambda incoming, x, b: (incoming * b, (incoming * x).sum(0)),
            "This is the backward of x * b, where each input is multiplied by the other. Here they are added: "
            "raise either by a small step. Does the change depend on how large the other is?",
        ),
        Misconception(
            "multiplied_by_itself",
            lambda incoming, x, b: (incoming * x, incoming.sum(0) * b),
            "You multiply a gradient by the value of the input that it belongs to. In an addition, does it matter"
            " how large the input is?",
        ),
        Misconception(
            "incoming_ignored",
            lambda incoming, x, b: (torch.ones_like(x), torch.ones_like(b)),
            "You count as if every incoming gradient were 1. 1 is the derivative of the sum. Where does "
            "`incoming` come in?",
            also=(lambda incoming, x, b: (torch.ones_like(x), len(x) * torch.ones_like(b)),),
        ),
    ),
    hints=(
        "The operation is an addition. What is the derivative of x + b with respect to x, and with respect to b?",
        "Write the result for two rows: x[0] + b and x[1] + b. b stands there twice, so two gradients come back to it.",
        "What was copied forward is summed backward. Which dimension of `incoming` runs over the copies?",
    ),
    when_right="What was copied forward is summed backward.",
)


# matmul_backward -----------------------------------------------------------------------------------------------

XW = ("gradient of x", "gradient of w")


def _probe_matmul(answer: object, draw: Draw) -> Iterator[Observation]:
    # where sizes differ, shapes tell of a forgotten transpose; with square matrices only the numbers do
    for rows, inner, columns in ((2, 3, 4), (3, 3, 3)):
        incoming, x, w = (
            draw.tensor(rows, columns),
            draw.tensor(rows, inner),
            draw.tensor(inner, columns),
        )
        yield call("gradients", answer, parts=XW, incoming=incoming, x=x, w=w)


MATMUL_BACKWARD = Exercise(
    name="matmul_backward",
    unit=UNIT,
    title="The backward of x @ w",
    points=3,
    probe=_probe_matmul,
    truth=lambda incoming, x, w: vector_jacobian_product(torch.matmul, incoming, x, w),
    misconceptions=(
        Misconception(
            "transposes_missing",
            lambda incoming, x, w: (incoming @ w, x @ incoming),
            "The right matrices, multiplied in the right order, but not transposed. With square matrices the "
            "shapes fit by accident. With x of shape (2, 3) and w of shape (3, 4) they do not.",
        ),
        Misconception(
            "wrong_order",
            lambda incoming, x, w: (w.mT @ incoming, incoming @ x.mT),
            "The right matrices, transposed as they should be, multiplied in the wrong order. With x of shape (2,"
            " 3) and w of shape (3, 4), only one order fits.",
        ),
        Misconception(
            "swapped_partials",
            lambda incoming, x, w: (x.mT @ incoming, incoming @ w.mT),
            "Both products are right, each in the other's place. The gradient of x comes first.",
        ),
        Misconception(
            "incoming_ignored",
            lambda incoming, x, w: (
                torch.ones_like(incoming) @ w.mT,
                x.mT @ torch.ones_like(incoming),
            ),
            "It looks as if the incoming gradient were all ones. That is the gradient of the sum of all entries "
            "of the result. Here each entry has a gradient of its own.",
        ),
        Misconception(
            "scalar_rule",
            lambda incoming, x, w: (w, x),
            "For two numbers, the derivatives of x*w are w and x. For matrices each entry of x meets a whole row "
            "of w. Where does `incoming` come in, and which shapes must result?",
        ),
        Misconception(
            "elementwise",
            lambda incoming, x, w: (incoming * w, incoming * x),
            "You multiply entry by entry, as if the operation were x * w. It is a matrix product: every entry of "
            "x takes part in a whole row of the result.",
        ),
        Misconception(
            "mean_over_rows",
            lambda incoming, x, w: (incoming @ w.mT, x.mT @ incoming / len(x)),
            "The gradient of w is divided by the number of rows. The rows' contributions are summed. An average "
            "would come from a mean in the loss, and then it is in `incoming` already.",
        ),
    ),
    hints=(
        "Let the shapes guide you: x is (n, k), w is (k, m), `incoming` is (n, m). The gradient of x must be (n, k).",
        "Which product of an (n, m) matrix and w, or w transposed, has the shape (n, k)?",
        "`w.T` is w transposed. Do the same for the gradient of w: it must be (k, m).",
    ),
    when_right="The shapes found the place of each transpose. With square matrices they could not have.",
)


# sum_to_shape --------------------------------------------------------------------------------------------------


def _probe_sum_to_shape(answer: object, draw: Draw) -> Iterator[Observation]:
    cases = (
        ((2, 3), (3,)),
        ((2, 3), (2, 1)),
        ((4, 2, 3), (2, 1)),
        ((2, 3), (2, 3)),
        ((2, 3), ()),
        ((3, 2, 4), (1, 2, 1)),
        ((2, 0), (2, 0)),
    )
    for large, small in cases:
        incoming = draw.tensor(*large)
        yield call("gradient", answer, incoming=incoming, shape=torch.Size(small))


def _sum_to_shape(incoming: Tensor, shape: torch.Size) -> Tensor:
    small = torch.zeros(shape, dtype=incoming.dtype)
    return vector_jacobian_product(lambda t: t.expand(incoming.shape), incoming, small)[0]


def _leading_only(incoming: Tensor, shape: torch.Size) -> Tensor:
    while incoming.dim() > len(shape):
        incoming = incoming.sum(0)
    return incoming


def _without_keeping(incoming: Tensor, shape: torch.Size) -> Tensor:
    incoming = _leading_only(incoming, shape)
    for dim in reversed(range(len(shape))):
        if shape[dim] == 1:
            incoming = incoming.sum(dim)
    return incoming


def _ones_only(incoming: Tensor, shape: torch.Size) -> Tensor:
    for dim, size in enumerate(shape):
        if size == 1:
            incoming = incoming.sum(dim, keepdim=True)
    return incoming


def _averaged(incoming: Tensor, shape: torch.Size) -> Tensor:
    summed = _sum_to_shape(incoming, shape)
    return summed * summed.numel() / incoming.numel()


def _first_copy(incoming: Tensor, shape: torch.Size) -> Tensor:
    while incoming.dim() > len(shape):
        incoming = incoming[0]
    for dim, size in enumerate(shape):
        if size == 1:
            incoming = incoming.narrow(dim, 0, 1)
    return incoming


SUM_TO_SHAPE = Exercise(
    name="sum_to_shape",
    unit=UNIT,
    title="Undo any broadcasting",
    points=4,
    probe=_probe_sum_to_shape,
    truth=_sum_to_shape,
    misconceptions=(
        Misconception(
            "leading_dimensions_only",
            _leading_only,
            "You sum the dimensions that broadcasting put in front. It also stretches dimensions of size 1. "
            "Compare the shape (2, 1) with the result's (2, 3).",
        ),
        Misconception(
            "size_one_only",
            _ones_only,
            "You sum the dimensions of size 1. Broadcasting also puts new dimensions in front: from (3,) to (2, 3).",
        ),
        Misconception(
            "dimension_lost",
            _without_keeping,
            "A dimension of size 1 disappears when you sum over it. The input had it, so its gradient has it too."
            " Which argument of `sum` keeps it?",
        ),
        Misconception(
            "mean_over_copies",
            _averaged,
            "You average over the copies. Each copy sends its whole gradient back.",
        ),
        Misconception(
            "first_copy_only",
            _first_copy,
            "You take the gradient of one copy. All the copies send one back.",
        ),
        Misconception(
            "reshaped",
            lambda incoming, shape: incoming.reshape(shape),
            "No `reshape`, `view` or `expand` can make fewer numbers of those that are there. What was copied "
            "forward is summed backward.",
        ),
    ),
    hints=(
        "Broadcasting does two things: it puts dimensions in front, and it stretches dimensions of size 1. Undo "
        "the one, then the other.",
        "A sum over dimension 0 removes the first dimension. How many times must that happen?",
        "Then the dimensions of size 1. The sum must leave them there: which argument of `sum` keeps a dimension?",
    ),
    when_right="You have undone every broadcasting there is. Unit 02 will use this function.",
)


EXERCISES = (
    MEAN_BACKWARD,
    BIAS_BACKWARD,
    MATMUL_BACKWARD,
    SUM_TO_SHAPE,
)
