"""ruff finds nothing, and every Python file is formatted as ruff does it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("command", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_is_content(root, command):
    run = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache"],
        cwd=root, capture_output=True, text=True, encoding="utf-8",
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
