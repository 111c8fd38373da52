"""Links in lessons lead to a notebook and to a heading in it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
LINK = re.compile(r"\]\(([\w./]*\.ipynb)?#?([^)#:]*)\)")  # to a notebook, a heading, or both
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def text_of(notebook: Path) -> str:
    cells = nbformat.read(notebook, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def anchors(notebook: Path) -> set[str]:
    """What JupyterLab makes of each heading: blanks become hyphens, and the rest of what is shown stays."""
    return {heading.strip().replace("`", "").replace(" ", "-") for heading in HEADING.findall(text_of(notebook))}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_links_lead_somewhere(notebook: Path):
    lost = [
        f"{file}#{anchor}"
        for file, anchor in LINK.findall(text_of(notebook))
        if not (target := notebook.parent / file if file else notebook).is_file()
        or (anchor and anchor not in anchors(target))
    ]
    assert lost == []
