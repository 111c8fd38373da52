"""Where the networks of one moment stand: the label head's answer over the plane, and the features in two numbers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from course_utils.adversarial.moons import Domains
from course_utils.adversarial.networks import Networks

Point = tuple[float, float]
Segment = tuple[Point, Point]


@dataclass(frozen=True)
class Field:
    """The label head's logits at the nodes of a grid over `xs` by `ys`: a row for each y, from low to high."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    rows: tuple[tuple[float, ...], ...]

    def boundary(self) -> list[Segment]:
        """Short lines along which the logit is 0: the points that the head takes for neither moon."""
        return [
            segment for i in range(len(self.ys) - 1) for j in range(len(self.xs) - 1) for segment in self._cut(i, j)
        ]

    def _cut(self, i: int, j: int) -> list[Segment]:
        """The lines across one cell of the grid, from edge to edge."""
        corners = [(i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j)]
        values = [self.rows[row][column] for row, column in corners]
        signs = [value > 0 for value in values]
        if all(signs) or not any(signs):
            return []
        met = []
        for one, other in ((0, 1), (1, 2), (2, 3), (3, 0)):
            if signs[one] != signs[other]:
                share = values[one] / (values[one] - values[other])
                (row, column), (next_row, next_column) = corners[one], corners[other]
                x = self.xs[column] + share * (self.xs[next_column] - self.xs[column])
                y = self.ys[row] + share * (self.ys[next_row] - self.ys[row])
                met.append((x, y))
        return list(zip(met[::2], met[1::2], strict=True))


def field_of(net: Networks, xs: tuple[float, ...], ys: tuple[float, ...]) -> Field:
    """What the label head says at every node of the grid."""
    up, across = torch.meshgrid(torch.tensor(ys).double(), torch.tensor(xs).double(), indexing="ij")
    with torch.no_grad():
        logits = net.label(net.features(torch.stack([across.reshape(-1), up.reshape(-1)], dim=1)))
    return Field(xs, ys, tuple(map(tuple, logits.reshape(len(ys), len(xs)).tolist())))


def feature_plane(net: Networks, domains: Domains) -> tuple[Tensor, Tensor]:
    """The features of source and target, each as two numbers (n, 2) of the 32.

    The first is the distance from the label head's boundary: below 0 the head says upper moon, above 0 lower moon. The
    second lies along that boundary, in the direction in which all points together spread most.
    """
    with torch.no_grad():
        features = net.features(torch.cat([domains.source, domains.target]))
        length = net.label[0].weight[0].norm()
        reads = net.label[0].weight[0] / length
        rest = features - features.mean(0)
        rest = rest - rest @ reads[:, None] * reads
        widest = torch.linalg.svd(rest, full_matrices=False).Vh[0]
        spread = rest @ widest
        height = torch.cat([domains.source, domains.target])[:, 1]
        sign = torch.where(spread @ height < 0, -1.0, 1.0)  # svd may give either of the two directions
        both = torch.stack([net.label(features) / length, sign * spread], dim=1)
    return both[: len(domains.source)], both[len(domains.source) :]
