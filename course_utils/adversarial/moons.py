"""The data: two moons with labels, and two other moons, turned, whose labels training never sees."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

POINTS = 300
NOISE = 0.05
DEGREES = 35.0
_CENTRE = (0.5, 0.25)  # of both moons together: the target turns around it


@dataclass(frozen=True)
class Domains:
    """Points (n, 2) of both domains with their labels (n,), which are 0.0 for the upper moon and 1.0 for the lower.

    `target_labels` are there to measure with. A training that looked at them would prove nothing.
    """

    source: Tensor
    source_labels: Tensor
    target: Tensor
    target_labels: Tensor


def two_domains(seed: int, *, points: int = POINTS, noise: float = NOISE, degrees: float = DEGREES) -> Domains:
    """Source and target of one seed, in float64: drawn apart, and then the target is turned by `degrees`."""
    generator = torch.Generator().manual_seed(seed)
    source, source_labels = _moons(points, noise, generator)
    target, target_labels = _moons(points, noise, generator)
    return Domains(source, source_labels, _turned(target, degrees), target_labels)


def _moons(points: int, noise: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Points on two half circles that reach into each other, by turns on the upper and on the lower one."""
    angles = math.pi * torch.rand(points, generator=generator, dtype=torch.float64)
    labels = torch.arange(points, dtype=torch.float64) % 2
    upper = torch.stack([angles.cos(), angles.sin()], dim=1)
    lower = torch.stack([1 - angles.cos(), 0.5 - angles.sin()], dim=1)
    moons = torch.where(labels[:, None] == 0, upper, lower)
    shaken = moons + noise * torch.randn(points, 2, generator=generator, dtype=torch.float64)
    return shaken - torch.tensor(_CENTRE, dtype=torch.float64), labels


def _turned(points: Tensor, degrees: float) -> Tensor:
    """The points turned around the origin, counterclockwise."""
    angle = math.radians(degrees)
    turn = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    return points @ torch.tensor(turn, dtype=torch.float64)
