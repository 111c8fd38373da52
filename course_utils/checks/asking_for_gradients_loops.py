"""Loops over the outputs that collect `.grad`, as learners write them; for the mistakes of several exercises."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torch import Tensor

from course_utils.checks.exercise import Misconception

Collect = Callable[[Iterable[Tensor], Tensor], list[Tensor]]


def through_dot_grad(
    outputs: Iterable[Tensor], leaf: Tensor, *, copied: bool = False, zeroed: str = ""
) -> list[Tensor]:
    """What a list holds to which `leaf.grad`, or a copy of it, is appended after each backward; nothing clears it.

    `zeroed` says where in the loop zeros are written into it: "before" the backward, or "after" it was appended.
    """
    found = []
    for output in outputs:
        if zeroed == "before" and leaf.grad is not None:
            leaf.grad.zero_()
        output.sum().backward(retain_graph=True)
        found.append(leaf.grad.clone() if copied else leaf.grad)
        if zeroed == "after":
            leaf.grad.zero_()
    return found


def loop_mistakes(
    answer: Callable[[Collect], object], *, one: str, of_the_last: str, dot_grad: str
) -> tuple[Misconception, ...]:
    """The mistakes of an answer that collects its gradients in a loop, for every way in which that goes wrong.

    `answer` makes the answer from a function that collects, `one` is what is collected ("row"), `dot_grad` where from.
    """
    itself = f"If you collect `{dot_grad}` itself,"
    yours = f"What gives each {one} a tensor of its own?"
    return (
        Misconception(
            "never_cleared",
            answer(lambda outputs, leaf: through_dot_grad(outputs, leaf, copied=True)),
            f"The first {one} is right, and each later one contains those before it. What does `backward` do to what "
            f"stands in {dot_grad}?",
        ),
        Misconception(
            "last_one_for_all",
            answer(lambda outputs, leaf: through_dot_grad(outputs, leaf, zeroed="before")),
            f"Every {one} is that of the last {of_the_last}. {itself} all of them are one tensor, and each pass writes "
            f"into it. {yours}",
        ),
        Misconception(
            "emptied_afterwards",
            answer(lambda outputs, leaf: through_dot_grad(outputs, leaf, zeroed="after")),
            f"There are only zeros. {itself} then what you have collected is emptied together with it: it is one "
            f"tensor. {yours}",
        ),
    )
