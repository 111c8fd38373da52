"""The three networks of domain-adversarial training: features, and two heads that read them."""

from __future__ import annotations

import torch
from torch import nn

WIDTH = 32


class Networks(nn.Module):
    """`features` turns points (n, 2) into features (n, 32); `label` and `domain` turn features into a logit each (n,).

    A logit above 0 says: the lower moon, the target domain. All parameters are float64, so that a training of 1,000
    steps comes to the same result on every machine, to the digits that anyone looks at.
    """

    def __init__(self, seed: int, width: int = WIDTH) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.features = nn.Sequential(_linear(2, width), nn.Tanh(), _linear(width, width), nn.Tanh())
            self.label = nn.Sequential(_linear(width, 1), nn.Flatten(0))
            self.domain = nn.Sequential(_linear(width, width), nn.ReLU(), _linear(width, 1), nn.Flatten(0))


def _linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, dtype=torch.float64)
