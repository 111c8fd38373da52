"""One more check of every lesson that nbval runs: under another hash seed it gives the same outputs, to the byte.

nbval compares the text, which is the same on every machine. Two runs on one machine may not differ in a picture,
either. The cells that nbval has run are the first of them, so that this takes only one more. In that one, each
prediction is kept before its answer is revealed, and the answer must take it up.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator
from itertools import groupby

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbval.plugin import IPyNbFile, coalesce_streams

from course_utils.build.outputs import normalised
from course_utils.build.reuse import code_cells, is_personal
from course_utils.testing import HASH_SEED

from .kept_predictions import as_stored, keeping

NAME = "under another hash seed"
OTHER_SEED = "2"
assert OTHER_SEED != HASH_SEED


def with_hash_seeds(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The items, with this check behind the cells of each lesson of which none was left out."""
    for file, group in groupby(items, lambda item: item.parent):
        members = list(group)
        yield from members
        if is_lesson(file) and len(members) == len(code_cells(file.nb)):
            yield AnotherHashSeed.from_parent(file, name=NAME)


def is_lesson(file: pytest.Collector | None) -> bool:
    """Whether the items are the cells of a lesson; solutions draw with the same code."""
    return isinstance(file, IPyNbFile) and file.path.parent.name == "notebooks"


class AnotherHashSeed(pytest.Item):
    """The check of one notebook."""

    def runtest(self) -> None:
        """Fails with the cells whose outputs differ."""
        cells = [cell for cell in code_cells(self.parent.nb) if not is_personal(cell)]
        pairs = zip(cells, self._outputs(), outputs_under(OTHER_SEED, self), strict=True)
        differing = [f"{cell.source}\n{first}\n{second}" for cell, first, second in pairs if first != second]
        if differing:
            text = "\n\n".join(differing)
            pytest.fail(f"{len(differing)} cells give something else under another hash seed:\n{text}", pytrace=False)

    def _outputs(self) -> list[list[NotebookNode]]:
        """What nbval got from each cell; where `-k` has left cells out, what they give now."""
        ran = [item for item in self.session.items if item.parent is self.parent and item is not self]
        if len(ran) < len(code_cells(self.parent.nb)) or any(item.test_outputs is None for item in ran):
            return outputs_under(HASH_SEED, self)
        return [comparable(item.test_outputs) for item in ran if not is_personal(item.cell)]

    def reportinfo(self) -> tuple[os.PathLike[str], None, str]:
        """How pytest names the check."""
        return self.path, None, f"{self.path.name}: {NAME}"


def outputs_under(seed: str, item: AnotherHashSeed) -> list[list[NotebookNode]]:
    """What the cells of the item's notebook give in a kernel with that hash seed, but for the personal ones."""
    notebook = copy.deepcopy(item.parent.nb)
    for cell in code_cells(notebook):
        cell.source = keeping(cell)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(item.path.parent)}})
    client.execute(env={**os.environ, "PYTHONHASHSEED": seed})
    pairs = zip(code_cells(item.parent.nb), code_cells(notebook), strict=True)
    return [comparable(as_stored(stored, ran.outputs)) for stored, ran in pairs if not is_personal(stored)]


def comparable(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs without what changes from run to run, whoever has collected them."""
    return normalised(coalesce_streams(outputs), None)
