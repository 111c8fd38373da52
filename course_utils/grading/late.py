"""What is late, and what that costs."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

_DAY = 24 * 60 * 60


@dataclass(frozen=True)
class Policy:
    """When the work is due, in seconds since 1970, and the percentage of the points that each day begun costs."""

    due: float | None = None
    percent: float = 0.0

    def days_late(self, handed_in: float) -> int:
        """How many days after the due date have begun; 0 if it is in time."""
        return 0 if self.due is None else max(0, math.ceil((handed_in - self.due) / _DAY))

    def deduction(self, points: float, days: int) -> float:
        """The points that this lateness costs, never more than there are."""
        return round(min(points, points * self.percent * days / 100), 2)


def policy(due: datetime.datetime | None, percent: float) -> Policy | None:
    """The policy that a command line asks for, by this machine's clock; None if it asks for none."""
    return None if due is None else Policy(due.timestamp(), percent)
