"""What nbval notices in a stored notebook: another number, another text of a picture; not another drawing."""

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
def outcomes(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[str, bool]:
    """Whether each stored output passed when `course test` ran nbval over the notebook that has them all."""
    clone = tmp_path_factory.mktemp("clone")
    for folder in ("tests", "notebooks"):
        (clone / folder).mkdir()
    sanitize = "tests/nbval_sanitize.cfg"
    (clone / sanitize).write_bytes((root / sanitize).read_bytes())
    cells = [
        new_code_cell(source, outputs=[output], execution_count=count)
        for count, (source, output, _) in enumerate(STORED.values(), start=1)
    ]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    nbformat.write(notebook, clone / "notebooks" / "stored.ipynb")
    arguments = testing.pytest_arguments(clone, ["-n0", "-p", "no:cacheprovider", "-rA"])
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=clone, env={**os.environ, "PYTEST_ADDOPTS": ""}, capture_output=True, text=True,
    )  # fmt: skip
    found = re.findall(r"^(PASSED|FAILED) notebooks/stored\.ipynb::Cell (\d+)", run.stdout, re.MULTILINE)
    assert len(found) == len(STORED), run.stdout
    assert run.returncode == 1, run.stdout
    names = list(STORED)
    return {names[int(number)]: outcome == "PASSED" for outcome, number in found}


@pytest.mark.parametrize("name", STORED)
def test_a_stored_output_passes_if_and_only_if_it_is_still_true(outcomes: dict[str, bool], name: str):
    assert outcomes[name] == STORED[name][2]
