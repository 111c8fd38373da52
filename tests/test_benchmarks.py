"""What a benchmark takes from elsewhere is there; the numbers themselves are nobody's test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

OF_BROWSER_TESTS = "Lab LabPage arguments free_port get_browser is_root stop wait_until_up CHROMIUM_OPTIONS SETTINGS"


def run(root: Path, *arguments: str) -> str:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=root / "benchmarks", capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["grading", "graph", "moons"])
def test_a_benchmark_says_how_it_is_used(name: str, root: Path):
    assert run(root, f"{name}.py", "--help").startswith("usage:")


def test_the_clicks_are_measured_in_the_jupyterlab_of_the_browser_tests(root: Path):
    script = "import pictures; print(*dir(pictures.browser_tests()))"
    assert set(OF_BROWSER_TESTS.split()) <= set(run(root, "-c", script).split())
