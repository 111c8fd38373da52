"""Submissions made by hand from a real exercise notebook."""

from __future__ import annotations

import copy
import json
from pathlib import Path

UNIT = "01_one_operation"


class HandedIn:
    """The exercise notebook, as a learner gets it, to be filled in and spoilt."""

    def __init__(self, exercises: Path, solutions: Path) -> None:
        self.notebook = json.loads(exercises.read_text("utf-8"))
        solved = json.loads(solutions.read_text("utf-8"))["cells"]
        self.right = {one["metadata"].get("name"): "".join(one["source"]) for one in solved}

    def copy(self) -> HandedIn:
        return copy.deepcopy(self)

    @property
    def cells(self) -> list[dict]:
        return self.notebook["cells"]

    def cell(self, name: str) -> dict:
        return next(one for one in self.cells if one["metadata"].get("name") == name)

    def answer(self, **answers: str) -> HandedIn:
        for name, source in answers.items():
            self.cell(name)["source"] = source
        return self

    def solve(self, *but: str) -> HandedIn:
        """Put the right answer into every answer cell, but those named."""
        for cell in self.cells:
            name = cell["metadata"].get("name")
            if "answer" in cell["metadata"].get("tags", []) and name not in but:
                cell["source"] = self.right[name]
        return self

    def insert(self, source: str, *, before: str | None = None, after: str | None = None) -> HandedIn:
        """Add a cell of the learner's own."""
        place = self.cells.index(self.cell(before or after)) + (after is not None)
        self.cells.insert(place, {"cell_type": "code", "metadata": {}, "source": source, "outputs": []})
        return self

    def strip(self) -> HandedIn:
        """Lose all metadata and ids, as some editors do."""
        self.notebook["metadata"] = {}
        for cell in self.cells:
            cell["metadata"] = {}
            cell.pop("id", None)
        return self

    def content(self) -> bytes:
        """The file as it would stand on the disk."""
        return json.dumps(self.notebook).encode()

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.content())
        return path
