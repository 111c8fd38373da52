"""Which tests one worker runs together, and which come first, so that no worker waits long for another at the end."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

# what takes longest, in this order; all else comes after it
LONGEST = (
    "tests/browser/",
    "tests/grading/test_command.py",
    "tests/checks/test_proof.py",
    "tests/test_course_py.py",
    "tests/grading/",
    "notebooks/",
    "solutions/",
)
# files whose tests share nothing that is dear
ONE_BY_ONE = ("tests/checks/test_proof.py",)


def longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items in the order in which they are given out; those of one file stay in theirs."""
    return sorted(items, key=lambda item: _rank(item.nodeid))


def _rank(nodeid: str) -> int:
    return next((place for place, start in enumerate(LONGEST) if nodeid.startswith(start)), len(LONGEST))


class Schedule(LoadFileScheduling):
    """A file's tests go to one worker: a notebook's cells share a kernel, a browser file its pages."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return nodeid if file in ONE_BY_ONE else file
