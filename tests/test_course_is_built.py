"""The committed notebooks are what the sources give, and running them again gives the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from course_utils.build.command import build
from course_utils.checks import catalogue


def test_the_committed_notebooks_are_what_the_sources_give(root: Path, capsys: pytest.CaptureFixture[str]):
    assert build(root, check=True, known_exercises=catalogue()) == 0, capsys.readouterr().out


def test_no_output_depends_on_the_hash_seed(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    built = []
    for seed in ("1", "2"):
        copy = tmp_path / seed
        shutil.copytree(root / "sources", copy / "sources")
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        assert build(copy) == 0
        built.append({path.relative_to(copy): path.read_bytes() for path in copy.rglob("*.ipynb")})
    assert built[0]
    assert built[0] == built[1]
