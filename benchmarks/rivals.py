"""The graphs that are measured, and the tools that are measured on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import torch
from torch import Tensor, nn

from course_utils.graph import record, trace


class Chain(nn.Module):
    """A number of operations in a row."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(self.length):
            x = x.sin()
        return x


class Block(nn.Module):
    """Two convolutions and a way round them, as in a ResNet."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.first_norm = nn.BatchNorm2d(channels)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.second_norm = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.first_norm(self.first(x)).relu()
        return (x + self.second_norm(self.second(hidden))).relu()


class Loss(nn.Module):
    """One number from the scores of some classes."""

    def forward(self, scores: Tensor) -> Tensor:
        return scores.logsumexp(1).mean()


@dataclass(frozen=True)
class Task:
    """A model that gives one number, and what to give it."""

    model: nn.Module
    x: Tensor

    def output(self) -> Tensor:
        """The result of the forward pass, with its graph."""
        return self.model(self.x)


def chain(length: int) -> Task:
    return Task(Chain(length), torch.tensor(1.0, requires_grad=True))


def resnet_like(blocks: int = 21, channels: int = 32) -> Task:
    """A network whose graph has about 300 nodes."""
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, channels, 3, padding=1), *(Block(channels) for _ in range(blocks))]
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10), Loss()]
    return Task(nn.Sequential(*layers, *head), torch.randn(8, 3, 32, 32))


def perceptron() -> Task:
    """Two layers, as in the course's first units."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3), Loss())
    return Task(net, torch.randn(5, 4))


CHAINS = (1_000, 10_000, 100_000)
GRAPHS: dict[str, Callable[[], Task]] = {
    "perceptron": perceptron,
    "ResNet-like": resnet_like,
    **{f"chain {length:,}": lambda length=length: chain(length) for length in CHAINS},
}


@dataclass(frozen=True)
class Tool:
    """One call to measure. `prepare` is not measured, and gives `run` what it needs."""

    prepare: Callable[[Task], object]
    run: Callable[[object], object]
    package: str = "torch"

    @property
    def is_installed(self) -> bool:
        return find_spec(self.package) is not None


def _forward_and_backward(task: Task) -> None:
    task.output().backward()


def _torchviz(output: Tensor) -> object:
    import torchviz

    return torchviz.make_dot(output)


def _torchlens_forward(task: Task) -> object:
    import torchlens

    return torchlens.trace(task.model, task.x)


def torchlens_both(task: Task) -> object:
    """What torchlens keeps of a forward and a backward pass, with every gradient."""
    import torchlens

    capture = torchlens.options.CaptureOptions(save_grads=True)
    log = torchlens.trace(task.model, task.x, capture=capture)
    log.log_backward(log[log.output_layers[0]].out)
    return log


def _itself(task: Task) -> Task:
    return task


# torchlens watches the forward pass, so its time has one in it; all others start from the result
TOOLS: dict[str, Tool] = {
    "plain backward": Tool(Task.output, Tensor.backward),
    "plain forward and backward": Tool(_itself, _forward_and_backward),
    "trace": Tool(Task.output, trace),
    "record": Tool(Task.output, record),
    "torchviz": Tool(Task.output, _torchviz, "torchviz"),
    "torchlens, forward": Tool(_itself, _torchlens_forward, "torchlens"),
    "torchlens, both passes": Tool(_itself, torchlens_both, "torchlens"),
}
