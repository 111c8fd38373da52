"""What each tool shows of a small graph, and what it raises: asked of the tools, not of their docs.

`shown.py TOOL` prints the answers as one line of JSON.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
from rivals import TOOLS, Task, torchlens_both
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from course_utils.graph import Graph, Recording, record, trace

VALUES = {3.0, 5.0, 15.0, 225.0}
"""x, y, x*y and (x*y)**2 at x=3, y=5."""
GRADIENTS = {30.0, 150.0, 90.0}
"""What travels along the three edges; the 1 that the pass starts with is not on an edge."""


class Product(nn.Module):
    """(x*y)**2: four nodes, three edges, and no number twice."""

    def __init__(self) -> None:
        super().__init__()
        self.y = nn.Parameter(torch.tensor(5.0))

    def forward(self, x: Tensor) -> Tensor:
        return (x * self.y) ** 2


class Square(torch.autograd.Function):
    """An operation that a user wrote."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, incoming: Tensor) -> Tensor:
        return 2 * ctx.saved_tensors[0] * incoming


class Custom(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return Square.apply(x).sin()


class Checkpointed(nn.Module):
    """Counts how often the code inside its checkpoint runs."""

    def __init__(self, use_reentrant: bool) -> None:
        super().__init__()
        self.use_reentrant = use_reentrant
        self.runs = 0

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.inside, x, use_reentrant=self.use_reentrant)

    def inside(self, x: Tensor) -> Tensor:
        self.runs += 1
        return x.sin().exp()


@dataclass(frozen=True)
class Shown:
    """How many nodes a tool shows, and which numbers as values and as gradients on edges."""

    nodes: int
    values: set[float]
    gradients: set[float]


def _of_graph(graph: Graph) -> Shown:
    kept = [result for node in graph for result in node.results]
    kept += [saved for node in graph for saved in node.saved]
    return Shown(len(graph), {one.value for one in kept if isinstance(one.value, float)}, set())


def _of_recording(recording: Recording) -> Shown:
    shown = _of_graph(recording.graph)
    sent = {message.value for message in recording.messages}
    return Shown(shown.nodes, shown.values, sent)


def _of_torchviz(dot) -> Shown:
    labels = re.findall(r'label="?([^"\]]+)', dot.source)
    nodes = [label for label in labels if "Backward" in label or "AccumulateGrad" in label]
    numbers = {float(text) for label in labels for text in re.findall(r"\d+(?:\.\d+)?", label)}
    return Shown(len(nodes), numbers, numbers)


def _of_torchlens(log) -> Shown:
    values = {layer.out.item() for layer in log.layer_list}
    values |= {parameter.value.item() for parameter in log.params}
    sent = [call.grad_inputs or () for node in log.grad_fns for call in node.calls.values()]
    gradients = {gradient.item() for several in sent for gradient in several if gradient is not None}
    return Shown(len(log.grad_fns), values, gradients)


def _torchviz_in_full(output: Tensor) -> object:
    import torchviz

    return torchviz.make_dot(output, show_saved=True, show_attrs=True)


def _torchlens_of_tensor(output: Tensor) -> object:
    import torchlens

    return torchlens.trace(output)


@dataclass(frozen=True)
class Asked:
    """How to ask a tool to show all it can, and how to read its answer."""

    run: Callable[[object], object]
    read: Callable[[object], Shown]
    of_tensor: Callable[[Tensor], object]
    runs_backward: bool


ASKED = {
    "trace": Asked(trace, _of_graph, trace, False),
    "record": Asked(record, _of_recording, record, True),
    "torchviz": Asked(_torchviz_in_full, _of_torchviz, _torchviz_in_full, False),
    "torchlens, both passes": Asked(torchlens_both, _of_torchlens, _torchlens_of_tensor, True),
}


def answers(name: str) -> dict[str, str]:
    """One answer to each question, in words."""
    prepare, asked = TOOLS[name].prepare, ASKED[name]
    x = torch.tensor(3.0, requires_grad=True)
    shown = asked.read(asked.run(prepare(Task(Product(), x))))
    return {
        "given a tensor": _outcome(lambda: asked.of_tensor(Task(Product(), x).output())),
        "nodes of (x*y)**2, which has 4": str(shown.nodes),
        "values, of 4": str(len(VALUES & shown.values)),
        "gradients on edges, of 3": str(len(GRADIENTS & shown.gradients)),
        "custom Function after backward": _outcome(lambda: _after_backward(name)),
        "extra runs of checkpointed code": _outcome(lambda: _extra_runs(name, False)),
        "the same, reentrant checkpoint": _outcome(lambda: _extra_runs(name, True)),
    }


def _outcome(ask: Callable[[], object]) -> str:
    try:
        answer = ask()
    except Exception as error:
        return type(error).__name__
    return str(answer) if isinstance(answer, int) else "works"


def _after_backward(name: str) -> None:
    ready = TOOLS[name].prepare(Task(Custom(), torch.tensor(3.0, requires_grad=True)))
    if isinstance(ready, Tensor):
        ready.backward(retain_graph=ASKED[name].runs_backward)
    else:
        ready.output().backward()
    ASKED[name].run(ready)


def _extra_runs(name: str, use_reentrant: bool) -> int:
    model = Checkpointed(use_reentrant)
    asked = ASKED[name]
    kept = asked.run(TOOLS[name].prepare(Task(model, torch.tensor(3.0, requires_grad=True))))
    asked.read(kept)
    return model.runs - (2 if asked.runs_backward else 1)


if __name__ == "__main__":
    print(json.dumps(answers(sys.argv[1])))
