"""The committed notebooks are what the sources give. That running them gives the same, nbval and hash_seed.py say."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_utils.build.command import build
from course_utils.checks import catalogue


def test_the_committed_notebooks_are_what_the_sources_give(root: Path, capsys: pytest.CaptureFixture[str]):
    assert build(root, check=True, known_exercises=catalogue()) == 0, capsys.readouterr().out
