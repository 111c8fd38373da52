"""Every exercise notebook, as a learner gets it, runs from top to bottom, and each check waits for an answer."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "exercises").glob("*.ipynb"))


def tagged(notebook: nbformat.NotebookNode, tag: str) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if tag in cell.metadata.get("tags", ())]


def test_there_are_exercises():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_unsolved_notebook_runs_and_each_check_waits(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COURSE_PROGRESS", "memory")
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output.output_type in ("error", "stream")]
    checks = tagged(notebook, "check")
    assert checks
    for cell in checks:
        (output,) = cell.outputs
        assert f"{cell.metadata.name.removesuffix('.check')}: not attempted yet" in output.data["text/plain"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_answer_cell_differs_from_its_solution(path: Path):
    exercises, solutions = (
        {cell.metadata.name: cell.source for cell in tagged(nbformat.read(source, as_version=4), "answer")}
        for source in (path, ROOT / "solutions" / path.name)
    )
    assert exercises
    assert exercises.keys() == solutions.keys()
    assert not [name for name, source in exercises.items() if source == solutions[name]]
