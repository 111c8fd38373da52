"""A judge from outside: can a fresh head still tell the domains apart, once the features stand still?"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from course_utils.adversarial.moons import Domains, two_domains
from course_utils.adversarial.networks import Networks
from course_utils.adversarial.training import Run

_STEPS, _RATE, _MOMENTUM = 600, 0.1, 0.9
_OTHERS = 10_000  # seeds of training, and those of points to be judged by, lie so far apart


def fresh_domain_accuracy(run: Run) -> float:
    """How often a domain head that begins anew is right, on points that nothing was trained with."""
    net = run.last.networks()
    head = Networks(_OTHERS + run.seed).domain
    optimizer = torch.optim.SGD(head.parameters(), lr=_RATE, momentum=_MOMENTUM)
    features, domains = _examples(net, run.domains)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        functional.binary_cross_entropy_with_logits(head(features), domains).backward()
        optimizer.step()
    features, domains = _examples(net, two_domains(_OTHERS + run.seed))
    with torch.no_grad():
        return ((head(features) > 0) == (domains > 0)).double().mean().item()


def _examples(net: Networks, data: Domains) -> tuple[Tensor, Tensor]:
    """The features of all points, as numbers without a graph, and 1.0 for those of the target."""
    with torch.no_grad():
        features = net.features(torch.cat([data.source, data.target]))
    return features, torch.cat([torch.zeros(len(data.source)), torch.ones(len(data.target))]).to(features.dtype)
