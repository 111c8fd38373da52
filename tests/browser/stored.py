"""The notebooks of a unit as they are stored, to hold a page against."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class StoredUnit:
    """The lesson, the exercises and the solutions of the unit of this name."""

    name: str

    @cached_property
    def lesson(self) -> NotebookNode:
        return self._read("notebooks")

    @cached_property
    def exercises(self) -> NotebookNode:
        return self._read("exercises")

    @cached_property
    def solutions(self) -> NotebookNode:
        return self._read("solutions")

    def _read(self, folder: str) -> NotebookNode:
        return nbformat.read(ROOT / folder / f"{self.name}.ipynb", as_version=4)


def named(notebook: NotebookNode, *, tag: str | None = None, start: str = "") -> dict[str, NotebookNode]:
    """The code cells whose name begins so and which have the tag, by name."""
    cells = {cell.metadata["name"]: cell for cell in notebook.cells if "name" in cell.metadata}
    return {
        name: cell
        for name, cell in cells.items()
        if name.startswith(start) and (tag is None or tag in cell.metadata.get("tags", []))
    }


def last_output(cell: NotebookNode) -> str:
    """The text of what a cell shows last."""
    return cell.outputs[-1].data["text/plain"]
