"""How long tracing and recording take beside a plain backward pass.

Run `python benchmarks/graph.py` for the table, `python benchmarks/graph.py 1000` for some lengths
only. Each number is the best of several runs on a fresh graph.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Iterator
from time import perf_counter

import torch
from torch import Tensor, nn

from course_utils.graph import record, trace

LENGTHS = (1_000, 10_000, 100_000)
RUNS = {1_000: 5, 10_000: 3, 100_000: 1}


def chain(length: int) -> Tensor:
    """A result of `length` operations in a row."""
    y = torch.tensor(1.0, requires_grad=True)
    for _ in range(length):
        y = y.sin()
    return y


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


def resnet_like(blocks: int = 21, channels: int = 32) -> Tensor:
    """The loss of a network with about 300 nodes."""
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, channels, 3, padding=1), *(Block(channels) for _ in range(blocks))]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))
    return net(torch.randn(8, 3, 32, 32)).logsumexp(1).mean()


def seconds(build: Callable[[], Tensor], run: Callable[[Tensor], object], runs: int) -> float:
    """The best time of `run`, each time on a graph of its own."""
    return min(_times(build, run, runs))


def _times(
    build: Callable[[], Tensor], run: Callable[[Tensor], object], runs: int
) -> Iterator[float]:
    for _ in range(runs):
        output = build()
        start = perf_counter()
        kept = run(output)
        yield perf_counter() - start
        del kept, output


def row(name: str, build: Callable[[], Tensor], runs: int) -> str:
    """One line of the table; the time to free what was made does not count."""
    nodes = len(trace(build()))
    plain = seconds(build, lambda y: y.backward(), runs)
    traced = seconds(build, trace, runs)
    recorded = seconds(build, record, runs)
    return f"| {name} | {nodes:,} | {plain:.4f} | {traced:.3f} | {recorded:.3f} |"


def main() -> None:
    lengths = tuple(map(int, sys.argv[1:])) or LENGTHS
    seconds(lambda: chain(10), record, 1)  # the first call of everything is slower
    print(f"torch {torch.__version__}, Python {platform.python_version()}, ", end="")
    print(f"{torch.get_num_threads()} threads; seconds\n")
    print("| graph | nodes | plain backward | trace | record |")
    print("|---|---:|---:|---:|---:|")
    for length in lengths:
        print(row("chain", lambda length=length: chain(length), RUNS.get(length, 1)), flush=True)
    print(row("ResNet-like", resnet_like, 3))


if __name__ == "__main__":
    main()
