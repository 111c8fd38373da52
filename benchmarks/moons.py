"""Trains on the two moons for many seeds, on the source only and against the domain head, and prints the tables.

`python benchmarks/moons.py` takes about three minutes and prints the tables of benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import torch
from torch import Tensor

from course_utils.adversarial import Batch, Networks, Run, adversarial_loss, fresh_domain_accuracy, train

REACHED = 0.9


@dataclass(frozen=True)
class Way:
    """A way to train: what lambda rises to, and whether it has that value from the first step."""

    strength: float
    constant: bool = False

    def train(self, seed: int) -> Run:
        return train(seed, self.strength, loss=self._at_once if self.constant else adversarial_loss)

    def _at_once(self, net: Networks, batch: Batch, factor: float) -> Tensor:
        return adversarial_loss(net, batch, self.strength)


WAYS = {
    "source only": Way(0.0),
    "lambda rises to 0.3": Way(0.3),
    "lambda rises to 1": Way(1.0),
    "lambda rises to 3": Way(3.0),
    "lambda is 1 from the first step": Way(1.0, constant=True),
}
SIDE_BY_SIDE = ("source only", "lambda rises to 1")


def measure(ways: Sequence[str], seeds: range) -> dict[str, list[Run]]:
    """The trainings of each way, in the order of the seeds."""
    return {way: [WAYS[way].train(seed) for seed in seeds] for way in ways}


def print_summary(runs: Mapping[str, Sequence[Run]]) -> None:
    """Prints a row for each way: its target accuracies, and what the two kinds of judges say of its domains."""
    print(
        f"| training | target over {REACHED:g} | median | lowest | highest | domain head, median | fresh head, median |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for way, its in runs.items():
        target = [run.last.target for run in its]
        over = f"{sum(value > REACHED for value in target)} of {len(target)}"
        shown = (median(target), min(target), max(target), median(run.last.domain for run in its))
        fresh = median(map(fresh_domain_accuracy, its))
        print(f"| {way} | {over} | {' | '.join(f'{value:.2f}' for value in (*shown, fresh))} |", flush=True)


def print_seeds(runs: Mapping[str, Sequence[Run]]) -> None:
    """Prints a row for each seed, with two ways side by side."""
    one, other = (runs[way] for way in SIDE_BY_SIDE)
    heads = " | ".join(f"{way}: {what}" for way in SIDE_BY_SIDE for what in ("source", "target", "domain head"))
    print(f"\n| seed | {heads} |\n|{'---:|' * 7}")
    for pair in zip(one, other, strict=True):
        values = [value for run in pair for value in (run.last.source, run.last.target, run.last.domain)]
        print(f"| {pair[0].seed} | {' | '.join(f'{value:.2f}' for value in values)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30, help="how many seeds, from 0 on")
    parser.add_argument("--only", nargs="+", choices=WAYS, default=list(WAYS), help="which ways to train")
    asked = parser.parse_args()
    torch.set_num_threads(1)  # networks as small as these are fastest so
    start = time.perf_counter()
    runs = measure(asked.only, range(asked.seeds))
    seconds = (time.perf_counter() - start) / (asked.seeds * len(runs))
    print_summary(runs)
    if runs.keys() >= {*SIDE_BY_SIDE}:
        print_seeds(runs)
    print(f"\ntorch {torch.__version__}, one thread: {seconds:.1f} seconds a training.")


if __name__ == "__main__":
    main()
