"""Runs a function under chosen switches and grad modes, and reads from the tensors what autograd recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from .data import Graph
from .part import RecordedPart, nothing_of, recorded_part
from .trace import survey

GradMode = Literal["enabled", "no_grad", "inference_mode"]
MODES: Mapping[GradMode, Callable[[], AbstractContextManager]] = {
    "enabled": torch.enable_grad,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
}
Function = Callable[..., Tensor | Mapping[str, Tensor]]


@dataclass(frozen=True)
class Flags:
    """What a tensor says of itself."""

    requires_grad: bool
    is_leaf: bool
    is_inference: bool
    grad_fn: str | None

    @classmethod
    def of(cls, tensor: Tensor) -> Flags:
        """Read from the live tensor."""
        grad_fn = None if tensor.grad_fn is None else tensor.grad_fn.name()
        return cls(tensor.requires_grad, tensor.is_leaf, tensor.is_inference(), grad_fn)


@dataclass(frozen=True)
class Outcome:
    """What came of one run: the flags of the inputs and of the named results, and the part that was recorded.

    The last of the results is the one whose graph is shown.
    """

    mode: GradMode
    inputs: Mapping[str, Flags]
    results: Mapping[str, Flags]
    part: RecordedPart


class Experiment:
    """A function with its inputs, to be run again and again under other settings.

    The function returns a tensor, or a mapping from names to tensors whose last one is the result. Each run gets
    inputs of its own, so that nothing is left behind. `whole` is the graph when everything is recorded.
    """

    def __init__(self, function: Function, inputs: Mapping[str, Tensor]) -> None:
        self._function, self._inputs = function, dict(inputs)
        everything = {name: self.can_require_grad(name) for name in inputs}
        graph = self._run(everything, "enabled")[2]
        if graph is None:
            raise ValueError(
                "nothing is recorded even when every input requires a gradient: the graph is cut inside the function. "
                "Give a function whose result depends on its inputs."
            )
        self.whole: Graph = graph

    def can_require_grad(self, name: str) -> bool:
        """Whether the input has a dtype that can have a gradient."""
        return self._inputs[name].is_floating_point() or self._inputs[name].is_complex()

    def run(self, requires_grad: Mapping[str, bool], mode: GradMode) -> Outcome:
        """What torch does when the inputs require a gradient as said, and the function runs in this mode."""
        inputs, results, graph = self._run(requires_grad, mode)
        part = nothing_of(self.whole) if graph is None else recorded_part(self.whole, graph)
        return Outcome(mode, _flags(inputs), _flags(results), part)

    def _run(
        self, requires_grad: Mapping[str, bool], mode: GradMode
    ) -> tuple[dict[str, Tensor], dict[str, Tensor], Graph | None]:
        with torch.inference_mode(False):  # inputs are ordinary tensors wherever this is called
            inputs = {name: value.detach().clone() for name, value in self._inputs.items()}
            for name, wanted in requires_grad.items():
                inputs[name].requires_grad_(wanted)
            with MODES[mode]():
                results = _named(self._function(**inputs))
            *_, result = results.values()
            recorded = result.requires_grad
            graph = survey("trace", result, {**inputs, **results}, None).graph if recorded else None
        return inputs, results, graph


def _named(returned: object) -> dict[str, Tensor]:
    named = returned if isinstance(returned, Mapping) else {"result": returned}
    if not named or not all(isinstance(value, Tensor) for value in named.values()):
        raise TypeError(
            "the function must return a tensor, or a mapping from names to tensors, the last of them the result; "
            f"it returned a {type(returned).__name__}."
        )
    return dict(named)


def _flags(tensors: Mapping[str, Tensor]) -> dict[str, Flags]:
    return {name: Flags.of(tensor) for name, tensor in tensors.items()}
