"""A moment of a training on the two moons: what is shown of it, and the same in words."""

from __future__ import annotations

from dataclasses import dataclass

from course_utils.adversarial import Moment, Run


@dataclass(frozen=True)
class Shown:
    """One moment of a training."""

    run: Run
    place: int

    @property
    def moment(self) -> Moment:
        return self.run.moments[self.place]


def share(value: float) -> str:
    """An accuracy as it is written everywhere: two digits."""
    return f"{value:.2f}"


def title(run: Run) -> str:
    """Which training it is."""
    strength = f"lambda rises to {run.strength:g}" if run.strength else "lambda stays 0: source only"
    return f"seed {run.seed}, {strength}"


def sentences(shown: Shown) -> str:
    """What the picture shows, in a few short sentences."""
    moment = shown.moment
    return (
        f"{title(shown.run).capitalize()}. After step {moment.step}: lambda {moment.factor:.2f}. The label head is "
        f"right for {share(moment.source)} of the source points and {share(moment.target)} of the target points. The "
        f"domain head is right for {share(moment.domain)} of all points; guessing gives 0.50."
    )
