"""What is noticed in a stored notebook: another number, another text of a picture, a drawing that hashes decide."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course_utils import testing

NUMBERS = "print('the gradients are', 2 * 2 * 3**2, 'and', 2 * 2**2 * 3)"
PICTURE = """\
from IPython.display import display
display({'text/plain': 'a graph of 3 nodes',
         'text/html': '<img src="data:image/svg+xml;base64,aaaa">'}, raw=True)"""
BY_HASH = """\
from IPython.display import display
display({'text/plain': 'letters',
         'text/html': '<img src="data:image/svg+xml;base64,' + ''.join(set('abcdefghijkl')) + '">'}, raw=True)"""
OF_TESTS = ("nbval_sanitize.cfg", "conftest.py", "hash_seed.py", "kept_predictions.py", "schedule.py")
TAKEN_ALONG = ("pyproject.toml", *(f"tests/{name}" for name in OF_TESTS))
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def printed(text: str):
    return new_output("stream", name="stdout", text=f"{text}\n")


def shown(text: str, drawing: str):
    html = f'<img src="data:image/svg+xml;base64,{drawing}">'
    return new_output("display_data", data={"text/plain": text, "text/html": html})


STORED = {  # per cell: the code, what is stored of it, and whether that is still true
    "numbers as they are": (NUMBERS, printed("the gradients are 36 and 24"), True),
    "one number changed": (NUMBERS, printed("the gradients are 36 and 54"), False),
    "picture as it is": (PICTURE, shown("a graph of 3 nodes", "aaaa"), True),
    "picture drawn otherwise": (PICTURE, shown("a graph of 3 nodes", "bbbb"), True),
    "picture with another text": (PICTURE, shown("a graph of 4 nodes", "aaaa"), False),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[str, dict[str, bool]]:
    """Whether each check passed when `course test` ran two notebooks, by notebook and by the check's name."""
    clone = tmp_path_factory.mktemp("clone")
    for folder in ("tests", "notebooks"):
        (clone / folder).mkdir()
    for name in TAKEN_ALONG:
        (clone / name).write_bytes((root / name).read_bytes())
    write(clone / "notebooks" / "stored.ipynb", *((source, output) for source, output, _ in STORED.values()))
    write(clone / "notebooks" / "by_hash.ipynb", (BY_HASH, shown("letters", "abcdefghijkl")))
    arguments = testing.pytest_arguments(clone, ["-n0", "-p", "no:cacheprovider", "-rA"])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=clone, env={**os.environ, "PYTEST_ADDOPTS": ""}, capture_output=True, text=True,
    )  # fmt: skip
    found = re.findall(r"^(PASSED|FAILED) notebooks/(\w+)\.ipynb::([\w ]+)", run.stdout, re.MULTILINE)
    assert run.returncode == 1, run.stdout
    outcomes: dict[str, dict[str, bool]] = {}
    for outcome, notebook, check in found:
        outcomes.setdefault(notebook, {})[check.strip()] = outcome == "PASSED"
    assert {notebook: len(checks) for notebook, checks in outcomes.items()} == {"stored": len(STORED) + 1, "by_hash": 2}
    return outcomes


def write(path: Path, *cells: tuple[str, nbformat.NotebookNode]) -> None:
    notebook = new_notebook(
        cells=[
            new_code_cell(source, outputs=[output], execution_count=count)
            for count, (source, output) in enumerate(cells, start=1)
        ],
        metadata={"kernelspec": KERNEL},
    )
    nbformat.write(notebook, path)


@pytest.mark.parametrize("name", STORED)
def test_a_stored_output_passes_if_and_only_if_it_is_still_true(outcomes: dict[str, dict[str, bool]], name: str):
    assert outcomes["stored"][f"Cell {list(STORED).index(name)}"] == STORED[name][2]


def test_a_drawing_that_hashes_decide_is_found_and_no_other(outcomes: dict[str, dict[str, bool]]):
    assert outcomes["by_hash"] == {"Cell 0": True, "under another hash seed": False}
    assert outcomes["stored"]["under another hash seed"]
