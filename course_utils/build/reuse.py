"""Outputs that a notebook on disk already has, carried over where the code that made them is unchanged."""

from __future__ import annotations

import copy
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_utils.build.assemble import Target
from course_utils.build.outputs import normalised, output_faults


def read_notebook(path: Path) -> NotebookNode | None:
    """The notebook at `path`; None where there is none, or nothing that can be read as one."""
    try:
        text = path.read_text(encoding="utf-8")
        notebook = nbformat.v4.reads(text)
        # all that is done with it below, tried once here
        for cell in notebook.cells:
            _ = cell.cell_type, cell.source, cell.metadata
            if cell.cell_type == "code":
                _ = cell.execution_count, [output.output_type for output in cell.outputs]
    except (OSError, ValueError, LookupError, AttributeError, TypeError):
        return None
    return notebook


def carried_over(target: Target, old: NotebookNode | None, root: Path) -> NotebookNode | str:
    """The target's notebook with the outputs of `old`, or the reason why it must be executed."""
    if old is None:
        return "has no outputs yet"
    new = copy.deepcopy(target.notebook)
    new_code, old_code = code_cells(new), code_cells(old)
    if [_what_runs(cell) for cell in new_code] != [_what_runs(cell) for cell in old_code]:
        return "its code has changed"
    if all(cell.execution_count is None and not cell.outputs for cell in old_code) and old_code:
        return "its outputs are missing"
    if [cell.execution_count for cell in old_code] != list(range(1, len(old_code) + 1)):
        return "it was not run from top to bottom in one go"
    for count, (cell, before) in enumerate(zip(new_code, old_code, strict=True), start=1):
        cell.execution_count = count
        try:
            cell.outputs = [] if is_personal(cell) else normalised(before.outputs, count)
        except (LookupError, AttributeError, TypeError):
            return "its outputs cannot be read"
        if output_faults(cell.outputs, may_raise(cell), root):
            return "its outputs are not fit to be stored"
    return new


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """The notebook's code cells, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def may_raise(cell: NotebookNode) -> bool:
    """Whether the cell is tagged as one that raises on purpose."""
    return "raises-exception" in cell.metadata.get("tags", [])


def is_personal(cell: NotebookNode) -> bool:
    """Whether the cell shows what differs from reader to reader: it runs, and nothing of it is stored."""
    return "personal" in cell.metadata.get("tags", [])


def _what_runs(cell: NotebookNode) -> tuple[str, list[str]]:
    return cell.source, list(cell.metadata.get("tags", []))
