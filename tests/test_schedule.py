"""What runs together on one worker, and in which order the work is given out."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from .conftest import pytest_xdist_make_scheduler
from .schedule import LONGEST, Schedule, longest_first


def test_what_takes_longest_comes_first_and_a_notebooks_cells_stay_in_their_order():
    ids = ["tests/test_a.py::test_b", "tests/test_a.py::test_a", "notebooks/01.ipynb::Cell 0"]
    ids += ["notebooks/01.ipynb::Cell 1", "tests/browser/test_unit_01.py::test_c"]
    ordered = [item.nodeid for item in longest_first([SimpleNamespace(nodeid=one) for one in ids])]
    assert ordered == [ids[4], ids[2], ids[3], ids[0], ids[1]]


def test_everything_that_comes_first_is_there(root):
    assert [start for start in LONGEST if not (root / start).exists()] == []


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("notebooks/01.ipynb::Cell 0", "notebooks/01.ipynb::Cell 1", True),
        ("tests/browser/test_a.py::TestA::test_b", "tests/browser/test_a.py::test_c", True),
        ("tests/checks/test_proof.py::test_a[b]", "tests/checks/test_proof.py::test_a[c]", False),
    ],
)
def test_a_file_is_one_workers_unless_its_tests_share_nothing(one, other, together):
    scope = Schedule.__new__(Schedule)._split_scope
    assert (scope(one) == scope(other)) == together


def test_who_asks_pytest_for_another_distribution_gets_it():
    assert pytest_xdist_make_scheduler(SimpleNamespace(option=SimpleNamespace(dist="each")), None) is None
