"""What an exercise is: a probe, a truth to hold it against, and the misconceptions it can name."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_utils.checks.draw import Draw
    from course_utils.checks.evidence import Evidence, Observation

Probe = Callable[[object, "Draw"], Iterator["Observation"]]


class Later:
    """A truth that is computed when it is needed first: whoever checks another exercise need not wait for it."""

    def __init__(self, compute: Callable[[], object]) -> None:
        self._compute = compute

    @functools.cached_property
    def value(self) -> object:
        """The truth itself."""
        return self._compute()


@dataclass(frozen=True)
class Misconception:
    """An idea that is wrong, the answer that a person who has it writes, and what to say to them.

    `says` follows the evidence that the learner is shown: it names the idea and leaves the last step to them. `also`
    are further answers that come from the same idea.
    """

    label: str
    witness: object = field(repr=False)
    says: str = field(repr=False)
    also: tuple[object, ...] = field(default=(), repr=False)

    @property
    def witnesses(self) -> tuple[object, ...]:
        """Every answer that is known to come from this idea."""
        return (self.witness, *self.also)


@dataclass(frozen=True)
class Exercise:
    """One exercise of a unit, by the name that its answer cell and its `check` call carry.

    `truth` is an answer made by an oracle that knows nothing of the solution: autograd, an identity, a finite
    difference; at once, or `Later`. It goes through the same probe as the learner's answer. The probe itself must not
    know what is true: it goes to where submissions run, the truth does not. `settle` makes, of evidence and the
    truth's, the evidence that counts, where what comes later only counts if what came before is right. `given` is the
    code that the exercise hands out to be mended, if it does: an answer that still behaves like it counts as not
    attempted. `when_as_given` is a thought for who has changed that code, and not what it does.
    Where the answer is a value to be predicted or chosen, `tells_expected` is False: feedback must not give it away.
    `when_right` is the thought to take along, for who has solved it.
    """

    name: str
    unit: str
    title: str
    points: int
    probe: Probe = field(repr=False)
    truth: object = field(repr=False)
    misconceptions: tuple[Misconception, ...] = field(repr=False)
    hints: tuple[str, ...] = field(repr=False)
    given: object | None = field(default=None, repr=False)
    when_as_given: str = field(default="", repr=False)
    tells_expected: bool = True
    when_right: str = field(default="", repr=False)
    settle: Callable[[Evidence, Evidence], Evidence] = field(default=lambda evidence, truth: evidence, repr=False)

    def __post_init__(self) -> None:
        labels = [misconception.label for misconception in self.misconceptions]
        if len(set(labels)) < len(labels):
            raise ValueError(f"exercise {self.name!r}: two misconceptions have the same label")
