"""A source's cells put together as notebooks: the lesson, or the exercises and their solutions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from nbformat import NotebookNode, from_dict

from course_utils.build.markers import with_solution, with_stub
from course_utils.build.source import Cell, Source

_KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    # no version: it would change with the machine that builds
    "language_info": {
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "pygments_lexer": "ipython3",
    },
}


@dataclass(frozen=True)
class Target:
    """One notebook to be written: `file` is its path below the course's root, `cells` its source's."""

    file: str
    source: Source
    notebook: NotebookNode
    is_executed: bool


def targets(source: Source) -> list[Target]:
    """The notebooks that a faultless source gives, without outputs."""
    name = f"{source.unit.name}.ipynb"
    if source.kind == "lesson":
        return [Target(f"notebooks/{name}", source, _notebook(source, str), True)]
    return [
        Target(f"exercises/{name}", source, _notebook(source, with_stub), False),
        Target(f"solutions/{name}", source, _notebook(source, with_solution), True),
    ]


def _notebook(source: Source, answer: Callable[[str], str]) -> NotebookNode:
    cells = []
    ids = cell_ids(source)
    for cell, cell_id in zip(source.cells, ids, strict=True):
        text = answer(cell.source) if "answer" in cell.tags else cell.source
        node = {
            "cell_type": cell.kind,
            "id": cell_id,
            "metadata": _metadata(cell),
            "source": text,
        }
        if cell.kind == "code":
            node |= {"execution_count": None, "outputs": []}
        cells.append(node)
    metadata = {**_KERNEL, "generated_from": source.file}
    return from_dict({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _metadata(cell: Cell) -> dict[str, object]:
    metadata: dict[str, object] = {}
    if cell.name is not None:
        metadata["name"] = cell.name
    if cell.tags:
        # nbval's own name for a cell of which nothing is stored to compare with
        ignored = ["nbval-ignore-output"] if "personal" in cell.tags else []
        metadata["tags"] = [*cell.tags, *ignored]
    if "check" in cell.tags:
        metadata |= {"editable": False, "deletable": False}
    elif "answer" in cell.tags:
        metadata["deletable"] = False
    if "reveal" in cell.tags:
        # stored outputs must not answer a question before the reader has thought about it
        metadata["jupyter"] = {"outputs_hidden": True}
    return metadata


def cell_ids(source: Source) -> list[str]:
    """An id for each cell: from its name, else from its type and text, so that others keep theirs."""
    ids = []
    seen: Counter[str] = Counter()
    for cell in source.cells:
        base = cell.name.replace(".", "-") if cell.name else _digest(cell)
        seen[base] += 1
        ids.append(base if seen[base] == 1 else f"{base}-{seen[base]}")
    return ids


def _digest(cell: Cell) -> str:
    # begins with a digit, as no name does
    text = f"{cell.kind}\n{cell.source}"
    return "0" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:11]
