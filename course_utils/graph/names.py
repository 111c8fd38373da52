"""What the tensors in a graph are called: explicit names, a module's parameters, the caller's
variables, matched by identity."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import FrameType

from torch import Tensor, nn
from torch.autograd.graph import Node as LiveNode

from .walk import Walk

Named = tuple[str, Tensor]


class Names:
    """The names given to tensors, found again by the leaf itself or by `(grad_fn, output_nr)`.

    The first name a tensor gets stays, and no two tensors get the same one.
    """

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._by_edge: dict[tuple[LiveNode, int], str] = {}
        self._by_tensor: dict[int, str] = {}
        self._taken: set[str] = set()
        self.tensors: dict[str, Tensor] = {}
        """Every tensor of the graph that has a name; it keeps them alive, so that ids stay true."""

    def add(self, name: str, tensor: Tensor) -> None:
        """Calls `tensor` by `name`, unless one of the two is taken."""
        if name in self._taken:
            return
        if tensor.is_leaf:
            known, key = self._by_tensor, id(tensor)
        else:
            known, key = self._by_edge, _edge(tensor)
            if key is None or key[0] not in self._walk.numbers:
                return
        if key not in known:
            known[key] = name
            self._taken.add(name)
            self.tensors[name] = tensor

    def of_result(self, node: LiveNode, result: int) -> str | None:
        """The name of a result of `node`."""
        return self._by_edge.get((node, result))

    def of_leaf(self, tensor: Tensor) -> str | None:
        """The name of a tensor that no operation in the graph made, constant or not."""
        return self._by_tensor.get(id(tensor))


def collect_names(walk: Walk, explicit: Mapping[str, object], caller: FrameType | None) -> Names:
    """All names: what was passed in first, then the caller's tensors, then the caller's modules."""
    names = Names(walk)
    variables = caller_variables(caller)
    for name, tensor in (*_named(explicit.items()), *_tensors(variables), *_parameters(variables)):
        names.add(name, tensor)
    return names


def check_names(call: str, explicit: Mapping[str, object]) -> None:
    """Stops with a clear line if something that cannot carry a gradient was given a name."""
    for name, value in explicit.items():
        if not isinstance(value, (Tensor, nn.Module)):
            raise TypeError(
                f"`{call}(..., {name}=...)` got a {type(value).__name__}. "
                f"Names are given to tensors and modules: `{call}(y, x=x, model=model)`."
            )


def _named(items: Iterable[tuple[str, object]]) -> list[Named]:
    return [*_tensors(items), *_parameters(items)]


def _tensors(items: Iterable[tuple[str, object]]) -> Iterator[Named]:
    # type() and not isinstance(), which asks a lazy object for its __class__ and so runs its code
    return ((name, value) for name, value in items if issubclass(type(value), Tensor))


def _parameters(items: Iterable[tuple[str, object]]) -> Iterator[Named]:
    for name, module in items:
        if issubclass(type(module), nn.Module):
            for path, parameter in module.named_parameters():
                yield f"{name}.{path}", parameter


def caller_variables(caller: FrameType | None) -> list[tuple[str, object]]:
    """The caller's variables, without those that notebooks and Python keep for themselves."""
    if caller is None:
        return []
    found = [item for item in caller.f_locals.items() if not item[0].startswith("_")]
    if sys.version_info < (3, 13) and caller.f_code.co_flags & inspect.CO_OPTIMIZED:
        # a function's f_locals is a copy that would keep its tensors alive until it returns
        caller.f_locals.clear()
    return found


def _edge(tensor: Tensor) -> tuple[LiveNode, int] | None:
    try:
        return tensor.grad_fn, tensor.output_nr
    except RuntimeError:  # a view that a later in-place change has made invalid
        return None
