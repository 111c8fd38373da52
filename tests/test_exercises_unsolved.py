"""Every exercise notebook hands out less than its solution. (tests/browser runs it: each check waits for an answer.)"""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "exercises").glob("*.ipynb"))


def tagged(notebook: nbformat.NotebookNode, tag: str) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", ())]


def test_there_are_exercises():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_answer_cell_differs_from_its_solution(path: Path):
    exercises, solutions = (
        {cell.metadata.name: cell.source for cell in tagged(nbformat.read(source, as_version=4), "answer")}
        for source in (path, ROOT / "solutions" / path.name)
    )
    assert exercises
    assert exercises.keys() == solutions.keys()
    assert not [name for name, source in exercises.items() if source == solutions[name]]
