"""The hostile class, graded by the real command: right points for all, and nothing gets past the walls."""

from __future__ import annotations

import os
import sys

import pytest
from hostile.run import grade_class, make, show, surroundings
from rich.console import Console

ALL = "COURSE_HOSTILE"
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's"),
    pytest.mark.skipif(os.environ.get("COURSE_WALLS") == "none", reason="COURSE_WALLS=none does without them"),
]


def graded(slow: bool) -> str:
    """The table and its last line, for that part of the class."""
    with surroundings() as outside:
        cases = [case for case in make(outside) if case.slow == slow]
        outcome = grade_class(outside, cases, ["--jobs", str(os.cpu_count() or 1)])
    console = Console(width=130, highlight=False)
    with console.capture() as told:
        show(outcome, console)
    print(told.get())
    return told.get().strip().rpartition("\n")[2]


def verdict(line: str) -> tuple[str, str]:
    """Whether all were right, as `all` or `41 of 42`; and what is said of the run."""
    right, _, rest = line.partition(" right")
    one, other = right.split(" of ")
    return ("all" if one == other else right), rest.partition("; ")[2]


NOTHING = "nothing alive, nothing written outside, nothing destroyed, nothing heard, nothing read"


def test_everyone_gets_the_right_points_and_nothing_gets_out():
    assert verdict(graded(slow=False)) == ("all", NOTHING)


@pytest.mark.skipif(os.environ.get(ALL) != "all", reason=f"takes two minutes more: {ALL}=all")
def test_those_who_take_long_too():
    assert verdict(graded(slow=True)) == ("all", NOTHING)
