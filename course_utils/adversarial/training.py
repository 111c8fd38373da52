"""Domain-adversarial training on two moons: the loop, and what is kept of it to look at afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional

from course_utils.adversarial.moons import Domains, two_domains
from course_utils.adversarial.networks import Networks
from course_utils.adversarial.reversal import factor_at, reverse

STEPS = 1000
KEPT = 40
BATCH = 64
RATE, LAST_RATE = 0.1, 0.001
MOMENTUM = 0.9


@dataclass(frozen=True)
class Batch:
    """What one step sees: source points with their labels, target points without; `domains` is 0.0 for the source.

    `domains` belongs to the source points and the target points, one behind the other.
    """

    source: Tensor
    labels: Tensor
    target: Tensor
    domains: Tensor


Loss = Callable[[Networks, Batch, float], Tensor]


def adversarial_loss(net: Networks, batch: Batch, factor: float) -> Tensor:
    """One number to go down: both heads get better at it, and the features worse for the domain head."""
    h = net.features(torch.cat([batch.source, batch.target]))
    label_loss = functional.binary_cross_entropy_with_logits(net.label(h[: len(batch.source)]), batch.labels)
    domain_loss = functional.binary_cross_entropy_with_logits(net.domain(reverse(h, factor)), batch.domains)
    return label_loss + domain_loss


@dataclass(frozen=True)
class Moment:
    """A training after so many steps: the factor of the layer, three accuracies, and a copy of the parameters.

    `domain` is the share of points whose domain the domain head names, with 0.5 for one that guesses.
    """

    step: int
    factor: float
    source: float
    target: float
    domain: float
    parameters: dict[str, Tensor] = field(repr=False, compare=False)

    def networks(self) -> Networks:
        """The networks as they were."""
        net = Networks(0)
        net.load_state_dict(self.parameters)
        return net


@dataclass(frozen=True)
class Run:
    """A training, finished or cut short: its seed, its strength, its data, and the moments that were kept."""

    seed: int
    strength: float
    domains: Domains = field(repr=False, compare=False)
    moments: tuple[Moment, ...] = field(repr=False)

    @property
    def last(self) -> Moment:
        """Where it ended."""
        return self.moments[-1]


def train(seed: int, strength: float = 1.0, *, loss: Loss = adversarial_loss, steps: int = STEPS) -> Run:
    """A whole training. `strength` is what the factor of the layer rises to; with 0, the layer lets nothing back."""
    return Run(seed, strength, two_domains(seed), tuple(moments(seed, strength, loss=loss, steps=steps)))


def moments(
    seed: int, strength: float = 1.0, *, loss: Loss = adversarial_loss, steps: int = STEPS, kept: int = KEPT
) -> Iterator[Moment]:
    """The moments of a training while it runs: the start, `kept` more at the same distance, the last at its end."""
    data, net = two_domains(seed), Networks(seed)
    generator = torch.Generator().manual_seed(1000 + seed)  # other numbers than those that made the data
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE, momentum=MOMENTUM)
    stops = {round(steps * count / kept) for count in range(1, kept + 1)}
    yield _moment(0, 0.0, net, data)
    for step in range(steps):
        progress = step / steps
        factor = strength * factor_at(progress)
        optimizer.param_groups[0]["lr"] = learning_rate(progress)
        optimizer.zero_grad()
        loss(net, _batch(data, generator), factor).backward()
        optimizer.step()
        if step + 1 in stops:
            yield _moment(step + 1, factor, net, data)


def learning_rate(progress: float) -> float:
    """Constant for the first half; then it falls along a line: two players who both slow down come to rest."""
    return RATE if progress < 0.5 else RATE + (LAST_RATE - RATE) * (2 * progress - 1)


def _batch(data: Domains, generator: torch.Generator) -> Batch:
    from_source = torch.randint(len(data.source), (BATCH,), generator=generator)
    from_target = torch.randint(len(data.target), (BATCH,), generator=generator)
    domains = torch.cat([torch.zeros(BATCH, dtype=torch.float64), torch.ones(BATCH, dtype=torch.float64)])
    return Batch(data.source[from_source], data.source_labels[from_source], data.target[from_target], domains)


def _moment(step: int, factor: float, net: Networks, data: Domains) -> Moment:
    with torch.no_grad():
        source, target = net.features(data.source), net.features(data.target)
        named = torch.cat([net.domain(source) <= 0, net.domain(target) > 0])
        return Moment(
            step=step,
            factor=factor,
            source=_accuracy(net.label(source), data.source_labels),
            target=_accuracy(net.label(target), data.target_labels),
            domain=named.double().mean().item(),
            parameters={name: value.clone() for name, value in net.state_dict().items()},
        )


def _accuracy(logits: Tensor, labels: Tensor) -> float:
    return ((logits > 0) == (labels > 0)).double().mean().item()
