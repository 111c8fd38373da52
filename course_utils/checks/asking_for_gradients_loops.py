"""Loops over the outputs that collect `.grad`, as learners write them; for the mistakes of several exercises."""

from __future__ import annotations

from collections.abc import Iterable

from torch import Tensor


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
