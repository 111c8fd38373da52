"""Runs a backward pass and returns everything that happened in it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType

import torch
from torch import Tensor, nn

from .captured import Capture, with_captures
from .data import Place
from .events import Accumulated, Returned
from .memory import no_collections
from .recorder import Recorder
from .recording import Recording, SecondOrder
from .second_order import second_order
from .trace import Survey, survey
from .values import LARGEST_KEPT, first_sentence, same
from .walk import live_place


def record(
    output: Tensor | Sequence[Tensor],
    /,
    gradient: Tensor | Sequence[Tensor | None] | None = None,
    *,
    create_graph: bool = False,
    retain_graph: bool | None = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
    with_respect_to: Tensor | Sequence[Tensor] | None = None,
    allow_unused: bool = False,
    keep: int = LARGEST_KEPT,
    **named: Tensor | nn.Module,
) -> Recording:
    """The events of a backward pass from `output`, which really runs and fills `.grad`.

    It is `output.backward(gradient, retain_graph, create_graph, inputs)`, or, if `with_respect_to`
    is given, `torch.autograd.grad(output, with_respect_to, gradient, ...)`, which leaves `.grad`
    alone. Several outputs take a list of gradients. Tensors of more than `keep` elements are kept
    as statistics. Other keyword arguments give tensors and modules their names.

    Afterwards graph, hooks and `.grad` are as after a plain backward pass. If that raises, so does
    this; the exception then has the events so far in its attribute `recording`.
    """
    if inputs is not None and with_respect_to is not None:
        raise TypeError(
            "`record` got both `inputs` and `with_respect_to`. Give `inputs` to fill `.grad` of "
            "these tensors only, `with_respect_to` to leave every `.grad` alone."
        )
    caller = sys._getframe(1)
    found = survey("record", output, named, caller)
    backward = _Backward(
        outputs=found.outputs,
        gradients=_as_list(gradient) or [None] * len(found.outputs),
        chosen=_as_list(inputs if with_respect_to is None else with_respect_to),
        chooses=inputs is not None,
        returns=with_respect_to is not None,
        retain_graph=create_graph if retain_graph is None else retain_graph,
        create_graph=create_graph,
        allow_unused=allow_unused,
    )
    with no_collections():
        recorder = _run(backward, found, keep)
        return _recording(recorder, _second_order(recorder, backward, named, caller))


@dataclass
class _Backward:
    """The backward pass that was asked for."""

    outputs: list[Tensor]
    gradients: list[Tensor | None]
    chosen: list[Tensor]
    chooses: bool
    """Whether only the chosen tensors get their `.grad`."""
    returns: bool
    """Whether gradients are returned, as `torch.autograd.grad` does, instead of accumulated."""
    retain_graph: bool
    create_graph: bool
    allow_unused: bool
    results: Sequence[Tensor | None] = field(default=())

    def run(self) -> None:
        options = {"retain_graph": self.retain_graph, "create_graph": self.create_graph}
        if self.returns:
            self.results = torch.autograd.grad(
                self.outputs,
                self.chosen,
                self.gradients,
                allow_unused=self.allow_unused,
                **options,
            )
        else:
            inputs = self.chosen if self.chooses else None
            torch.autograd.backward(self.outputs, self.gradients, inputs=inputs, **options)

    def seeds(self) -> list[Tensor | None]:
        """The gradients to start with; None where torch will refuse to supply one."""
        return [
            torch.ones_like(output) if gradient is None and output.numel() == 1 else gradient
            for output, gradient in zip(self.outputs, self.gradients, strict=False)
        ]

    def differentiated(self, found: Survey) -> dict[Place, Tensor]:
        """The gradients that came out, each at the place of the tensor it belongs to."""
        if self.returns:
            pairs = zip(self.chosen, self.results, strict=True)
            return {_place(found, tensor): grad for tensor, grad in pairs if grad is not None}
        return {
            place: tensor.grad
            for place, tensor in found.tensors.items()
            if (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not None
        }


def _run(backward: _Backward, found: Survey, keep: int) -> Recorder:
    places = [_place(found, tensor) for tensor in backward.chosen]
    recorder = Recorder(
        found,
        create_graph=backward.create_graph,
        frees=not backward.retain_graph,
        wanted={place for place in places if place is not None},
        keep=keep,
    )
    for place, seed in zip(found.graph.roots, backward.seeds(), strict=False):
        if isinstance(seed, Tensor):
            recorder.seed(place, seed)
    try:
        try:
            recorder.attach()
            backward.run()
        finally:
            recorder.detach()
    except Exception as error:
        error.recording = _recording(recorder, error=first_sentence(error))
        raise
    captures = _captures(recorder, backward, places)
    recorder.events = with_captures(recorder.events, captures, recorder.left_waiting())
    return recorder


def _captures(recorder: Recorder, backward: _Backward, places: list[Place | None]) -> list[Capture]:
    """What the engine set aside: results to return, and gradients of tensors that are no leaves."""
    chosen = {place: tensor for place, tensor in zip(places, backward.chosen, strict=True) if place is not None}
    filled = recorder.retained if backward.returns else {**recorder.retained, **chosen}
    captures: list[Capture] = [
        Accumulated(place, recorder.arrived(place), before, after)
        for place in sorted(_unseen(recorder, filled))
        if not same(before := recorder.grad_before(place), after := recorder.grad(filled[place]))
    ]
    if backward.returns:
        for place, gradient in zip(places, backward.results, strict=True):
            if place is not None:
                captures.append(Returned(place, recorder.snapshot(gradient)))
    return captures


def _unseen(recorder: Recorder, filled: Mapping[Place, Tensor]) -> set[Place]:
    """The places of tensors other than leaves whose `.grad` may have been filled with no event."""
    landed = {event.place for event in recorder.events if isinstance(event, Accumulated)}
    return {place for place, tensor in filled.items() if not tensor.is_leaf} - landed


def _recording(recorder: Recorder, second: SecondOrder | None = None, error: str | None = None) -> Recording:
    graph, seeds, events = recorder.graph, tuple(recorder.seeds), tuple(recorder.events)
    return Recording(graph, seeds, events, second, error)


def _second_order(
    recorder: Recorder,
    backward: _Backward,
    named: Mapping[str, object],
    caller: FrameType | None,
) -> SecondOrder | None:
    if not backward.create_graph:
        return None
    graph = recorder.graph
    of = "gradient of {}" if backward.returns else "{}.grad"
    gradients = {
        of.format(graph.name_of(place)): gradient
        for place, gradient in backward.differentiated(recorder.survey).items()
    }
    return second_order(recorder, gradients, named, caller)


def _place(found: Survey, tensor: Tensor) -> Place | None:
    """Where the gradient of `tensor` arrives; None if it is not in the graph."""
    if not tensor.requires_grad:
        return None
    node, result = live_place(tensor)
    number = found.walk.numbers.get(node)
    return None if number is None else Place(number, result)


def _as_list(tensors: Tensor | Sequence | None) -> list:
    if tensors is None:
        return []
    return [tensors] if isinstance(tensors, Tensor) else list(tensors)
