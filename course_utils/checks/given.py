"""What exercises hand out ready made, because a learner writes it in another exercise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import torch

from course_utils.graph import Diary


class Made(Protocol):
    """Anything that points back at what it was made from."""

    parents: Sequence[Made]


Node = TypeVar("Node", bound=Made)


def in_order(result: Node) -> list[Node]:
    """Every node behind `result`, once, each after all of its parents; `result` is the last one."""
    missing = _uses(result)
    ready, order = [result], []
    while ready:
        node = ready.pop()
        order.append(node)
        for parent in node.parents:
            missing[id(parent)] -= 1
            if missing[id(parent)] == 0:
                ready.append(parent)
    return order[::-1]


def _uses(result: Made) -> dict[int, int]:
    """How often each node behind `result` is a parent, by the node's id."""
    uses: dict[int, int] = {}
    found = [result]
    for node in found:
        for parent in node.parents:
            if id(parent) not in uses:
                found.append(parent)
            uses[id(parent)] = uses.get(id(parent), 0) + 1
    return uses


def sum_to_shape(incoming: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """The gradient of a tensor of that shape, which was broadcast to the shape of `incoming`."""
    return incoming.sum_to_size(shape)


def diary_of(
    function: Callable[..., Any], value: type, backward: Callable[[Any, torch.Tensor], None], **start: torch.Tensor
) -> Diary | None:
    """What a learner's engine does with a function of single numbers, turn by turn; None while it is not finished.

    A node's turn lasts from the call of its `pass_back` to that of the next node's.
    """
    leaves = {name: value(data) for name, data in start.items()}
    try:
        result = function(**leaves)
        incoming = torch.ones_like(result.data)
        order = in_order(result)
        for node in order:
            node.op = getattr(node, "op", "") or _method_of(node.pass_back)
        diary = Diary(result, L=result, **leaves)
        turns = _Turns(diary)
        for node in order:
            turns.watch(node)
        backward(result, incoming)
    except NotImplementedError:
        return None
    turns.end()
    return diary


def _method_of(pass_back: Callable[..., object]) -> str:
    """The sign or name of the operation whose method has defined this function: `*`, `exp`; "" where unknown."""
    outer = getattr(pass_back, "__qualname__", "").split(".<locals>")[0].rpartition(".")[2]
    return _SIGNS.get(outer, outer.strip("_").capitalize() if outer.isidentifier() else "")


_SIGNS = {"__add__": "+", "__mul__": "*", "__pow__": "**", "__matmul__": "@"}


class _Turns:
    """Notes a node in the diary when its turn is over."""

    def __init__(self, diary: Diary) -> None:
        self._diary = diary
        self._at: Any = None

    def watch(self, node: Any) -> None:
        pass_back = node.pass_back

        def watched(incoming: torch.Tensor) -> object:
            self.end()
            self._at = node
            return pass_back(incoming)

        node.pass_back = watched

    def end(self) -> None:
        if self._at is not None:
            self._diary.note(self._at)


def beside_torch(
    function: Callable[..., Any],
    value: type,
    backward: Callable[[Any, torch.Tensor], None],
    start: dict[str, torch.Tensor],
) -> Beside:
    """The gradients of `function` by an engine of the learner's and by torch's, side by side."""
    mine = {name: value(data) for name, data in start.items()}
    theirs = {name: data.clone().requires_grad_() for name, data in start.items()}
    try:
        result = function(**mine)
        backward(result, torch.ones_like(result.data))
    except NotImplementedError:
        return Beside(())
    function(**theirs).backward()
    return Beside(tuple((name, mine[name].grad, theirs[name].grad) for name in start))


@dataclass(frozen=True)
class Beside:
    """A name, a learner's gradient and torch's, for each input; none while the engine is not finished."""

    rows: tuple[tuple[str, torch.Tensor | None, torch.Tensor], ...]

    def __repr__(self) -> str:
        if not self.rows:
            return "Exercises 8 and 9 are still open."
        return "\n".join(_row(*row) for row in self.rows)


def _row(name: str, mine: torch.Tensor | None, theirs: torch.Tensor) -> str:
    if mine is None:
        return f"{name:14} yours has received nothing"
    agree = mine.shape == theirs.shape and torch.allclose(mine, theirs)
    return f"{name:14} {'agree' if agree else 'DIFFER'}: yours {_short(mine)}, PyTorch's {_short(theirs)}"


def _short(tensor: torch.Tensor) -> str:
    numbers = [f"{number:.3f}" for number in tensor.reshape(-1).tolist()]
    return f"{', '.join(numbers[:3])}{' ...' if len(numbers) > 3 else ''}"
