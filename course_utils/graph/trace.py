"""From live tensors to a frozen `Graph`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType

from torch import Tensor, nn
from torch.autograd.graph import Node as LiveNode

from .data import Edge, Graph, Node, NodeKind, Place, Result, SavedTensor
from .memory import no_collections
from .names import Names, caller_variables, check_names, collect_names
from .reasons import absent, no_graph
from .saved import is_custom, read_saved, read_settings
from .values import LARGEST_KEPT, PlainValue, dtype_name, plain_value, snapshot
from .walk import Walk, walk

_LEAF = "torch::autograd::AccumulateGrad"
_NOTES: dict[str, tuple[NodeKind, str]] = {
    "CheckpointFunctionBackward": (
        "opaque",
        "a checkpoint: it computes its piece of the forward pass again and runs a backward pass "
        "of its own, which is not part of this graph",
    ),
    "CompiledFunctionBackward": (
        "opaque",
        "a region that torch.compile made into one operation; its parts are not in this graph",
    ),
    "torch::autograd::Error": (
        "error",
        "raises when a gradient arrives: what made this tensor cannot be differentiated again "
        "(a custom Function marked once_differentiable)",
    ),
    "torch::autograd::CopySlices": (
        "operation",
        "part of this tensor was changed in place through a view; the gradient of the changed "
        "part goes through the change, the rest goes round it",
    ),
}


def trace(output: Tensor | Sequence[Tensor], /, **named: Tensor | nn.Module) -> Graph:
    """The graph behind `output`, or behind several outputs, as plain values.

    Keyword arguments give tensors and modules their names; other tensors get the names of the
    caller's variables. Nothing is run and nothing is changed.

    Raises `NoGraphError` if there is no graph, and says why.
    """
    return survey("trace", output, named, sys._getframe(1)).graph


@dataclass(frozen=True)
class Survey:
    """A graph together with the live nodes and tensors it describes."""

    graph: Graph
    walk: Walk
    outputs: list[Tensor]
    tensors: dict[Place, Tensor]
    """The live tensors in the graph that have a name, and all leaves."""


def survey(
    call: str,
    output: Tensor | Sequence[Tensor],
    named: Mapping[str, object],
    caller: FrameType | None,
) -> Survey:
    """Traces `output` and keeps what is alive, for those who go on to run a backward pass."""
    check_names(call, named)
    outputs = list(output) if isinstance(output, (list, tuple)) else [output]
    for index, tensor in enumerate(outputs):
        if not (isinstance(tensor, Tensor) and tensor.requires_grad):
            name = _name_for_errors(tensor, index, len(outputs), named, caller)
            raise no_graph(tensor, name, call)
    if not outputs:
        raise TypeError(f"`{call}([])`: there is no tensor in this list. Pass at least one output.")
    with no_collections():
        return _Surveyor(walk(outputs), named, caller).survey(outputs)


class _Surveyor:
    """Turns the live nodes of a walk into data, one at a time."""

    def __init__(self, walk: Walk, named: Mapping[str, object], caller: FrameType | None = None) -> None:
        self.walk = walk
        self.explicit = named
        self.names: Names = collect_names(walk, named, caller)
        self.variables = {number: node.variable for number, node in enumerate(walk.nodes) if node.name() == _LEAF}
        self.leaf_places = {id(variable): Place(number, 0) for number, variable in self.variables.items()}
        self.tensors = self._live_tensors()
        self.values: dict[Place, PlainValue] = {}

    def survey(self, outputs: list[Tensor]) -> Survey:
        numbers = self.walk.numbers
        roots = tuple(Place(numbers[node], result) for node, result in self.walk.roots)
        for place, output in zip(roots, outputs, strict=True):
            self.tensors.setdefault(place, output)
        nodes = [self.node(number, live) for number, live in enumerate(self.walk.nodes)]
        graph = Graph(tuple(map(self._with_values, nodes)), self.edges(), roots, self.absent())
        return Survey(graph, self.walk, outputs, self.tensors)

    def node(self, number: int, live: LiveNode) -> Node:
        name = live.name()
        if name == _LEAF:
            return Node(number, name, "leaf", (self.leaf(number),))
        kind, note = _NOTES.get(name, ("custom" if is_custom(live) else "operation", ""))
        saved = read_saved(live, self.identify)
        self._remember_values(saved)
        return Node(
            number,
            name,
            kind,
            self.results(number, live),
            tuple(i for i, edge in enumerate(self.walk.following[number]) if edge[0] is None),
            saved,
            () if kind == "opaque" else read_settings(live),
            note,
        )

    def leaf(self, number: int) -> Result:
        variable = self.variables[number]
        return Result(
            tuple(variable.shape),
            dtype_name(variable.dtype),
            self.names.of_leaf(variable),
            plain_value(variable),
            None if variable.grad is None else snapshot(variable.grad),
        )

    def results(self, number: int, live: LiveNode) -> tuple[Result, ...]:
        results = []
        for index, metadata in enumerate(live._input_metadata):
            try:
                shape, dtype = tuple(metadata.shape), dtype_name(metadata.dtype)
            except (RuntimeError, TypeError):  # a result that is no tensor, or a nested one
                shape = dtype = None
            results.append(Result(shape, dtype, self.names.of_result(live, index)))
        return tuple(results)

    def edges(self) -> tuple[Edge, ...]:
        numbers = self.walk.numbers
        return tuple(
            Edge(number, position, numbers[target], result)
            for number, following in enumerate(self.walk.following)
            for position, (target, result) in enumerate(following)
            if target is not None
        )

    def identify(self, tensor: Tensor) -> tuple[Place | None, str | None]:
        """Where in this graph `tensor` comes from, and its name."""
        if tensor.grad_fn is None:
            return self.leaf_places.get(id(tensor)), self.names.of_leaf(tensor)
        number = self.walk.numbers.get(tensor.grad_fn)
        place = None if number is None else Place(number, tensor.output_nr)
        return place, self.names.of_result(tensor.grad_fn, tensor.output_nr)

    def absent(self) -> tuple[tuple[str, str], ...]:
        """The explicit names of tensors that are not in the graph."""
        present = {id(tensor) for tensor in self.tensors.values()}
        return tuple(
            (name, absent(tensor))
            for name, tensor in self.explicit.items()
            if isinstance(tensor, Tensor) and id(tensor) not in present
        )

    def _live_tensors(self) -> dict[Place, Tensor]:
        tensors = {Place(number, 0): variable for number, variable in self.variables.items()}
        for tensor in self.names.tensors.values():
            place = self.identify(tensor)[0]
            if place is not None:
                tensors[place] = tensor
        return tensors

    def _remember_values(self, saved: tuple[SavedTensor, ...]) -> None:
        """A value that nobody named may still be known, because an operation saved it."""
        for tensor in saved:
            if tensor.result is not None and tensor.value is not None:
                self.values[tensor.result] = tensor.value

    def _with_values(self, node: Node) -> Node:
        if node.kind == "leaf":
            return node
        places = [Place(node.number, index) for index in range(len(node.results))]
        if not any(place in self.values or place in self.tensors for place in places):
            return node
        results = zip(node.results, places, strict=True)
        return replace(node, results=tuple(self._with_value(*pair) for pair in results))

    def _with_value(self, result: Result, place: Place) -> Result:
        tensor = self.tensors.get(place)
        if tensor is None:
            return replace(result, value=self.values.get(place))
        grad = tensor.grad if tensor.retains_grad else None
        return replace(
            result,
            value=plain_value(tensor, LARGEST_KEPT),
            grad=None if grad is None else snapshot(grad),
        )


def _name_for_errors(
    output: object, index: int, count: int, named: Mapping[str, object], caller: FrameType | None
) -> str:
    variables = [*named.items(), *caller_variables(caller)]
    known = [name for name, value in variables if value is output]
    return known[0] if known else "y" if count == 1 else f"output {index}"
