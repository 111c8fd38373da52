"""One py:percent source as cells: what an author wrote, before anything is made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import jupytext
import nbformat

from course_utils.build.faults import Fault
from course_utils.build.outline import Unit

KNOWN_TAGS = ("answer", "check", "raises-exception", "reveal", "personal")
# Jupytext's own notes about how the text was laid out; they say nothing about the cell.
_LAYOUT = {"cell_marker", "lines_to_next_cell", "lines_to_end_of_cell_marker"}
# `comment_magics` off: a comment that begins with a percent sign stays the comment it is.
_FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
_MARKER = re.compile(r"#\s*%%")


@dataclass(frozen=True)
class Cell:
    """One cell of a source, with the line its marker stands on where that is certain."""

    kind: str
    source: str
    number: int
    name: str | None = None
    tags: tuple[str, ...] = ()
    line: int | None = None

    @property
    def label(self) -> str:
        """How a message names this cell: by its name, or by its number and first words."""
        if self.name:
            return f'"{self.name}"'
        words = self.source.strip().partition("\n")[0][:40]
        return f"{self.number} ({self.kind}: {words})" if words else f"{self.number} ({self.kind})"


@dataclass(frozen=True)
class Source:
    """One lesson or exercise file: `file` is its path below the course's root."""

    unit: Unit
    kind: str
    file: str
    cells: tuple[Cell, ...]

    def fault(self, cell: Cell, message: str, offset: int = 0) -> Fault:
        """A fault at `cell`, or at its source line number `offset` (counted from 1)."""
        if cell.line is None:
            return Fault(self.file, message, cell=cell.label)
        return Fault(self.file, message, cell.line + offset, cell.label)


def read_source(root: Path, unit: Unit, kind: str) -> tuple[Source, list[Fault]]:
    """The unit's `lesson` or `exercise` source, and what could not be understood in it."""
    file = unit.source(kind)
    try:
        text, unread = _with_sound_markers((root / file).read_text(encoding="utf-8-sig"))
        notebook = jupytext.reads(text, fmt=dict(_FORMAT))
    except (OSError, ValueError) as error:
        return Source(unit, kind, file, ()), [Fault(file, f"cannot be read: {error}")]
    lines = _marker_lines(text, len(notebook.cells))
    cells, faults = [], [Fault(file, message, line) for line, message in unread]
    for index, raw in enumerate(notebook.cells):
        metadata = {key: value for key, value in raw.metadata.items() if key not in _LAYOUT}
        cell = Cell(
            raw.cell_type,
            raw.source,
            index + 1,
            metadata["name"] if isinstance(metadata.get("name"), str) else None,
            _tags(metadata.get("tags")),
            lines[index],
        )
        cells.append(cell)
        here = Source(unit, kind, file, ())
        faults += [here.fault(cell, message) for message in _metadata_faults(metadata)]
    if not text.strip():
        faults.append(Fault(file, "the file has no cells; begin one with `# %% [markdown]`"))
    return Source(unit, kind, file, tuple(cells)), faults


def _with_sound_markers(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with markers that Jupytext cannot take made plain, and what is wrong with each."""
    lines = text.splitlines()
    faults = []
    for index, line in enumerate(lines):
        if _MARKER.match(line) and not _is_sound(line):
            lines[index] = "# %% [markdown]" if "[markdown]" in line else "# %%"
            message = f'cell `{line}`: a name is a text, tags are a list: name="..." tags=["..."]'
            faults.append((index + 1, message))
    return "\n".join(lines) + "\n", faults


def _is_sound(marker: str) -> bool:
    try:
        jupytext.reads(f"{marker}\n", fmt=dict(_FORMAT))
    except nbformat.ValidationError:
        return False
    return True


def _tags(value: object) -> tuple[str, ...]:
    return tuple(str(tag) for tag in value) if isinstance(value, list) else ()


def _marker_lines(text: str, cells: int) -> list[int | None]:
    """The line of each cell's marker; unknown where a marker inside a string spoils the count."""
    lines = [n for n, line in enumerate(text.splitlines(), start=1) if _MARKER.match(line)]
    return list(lines) if len(lines) == cells else [None] * cells


def _metadata_faults(metadata: dict[str, object]) -> Iterable[str]:
    for key, value in metadata.items():
        if key == "incorrectly_encoded_metadata":
            yield f'cannot read `{value}`; write `# %% name="..." tags=["..."]`'
        elif key == "tags":
            for tag in _tags(value):
                if tag not in KNOWN_TAGS:
                    yield f"unknown tag `{tag}`; known: {', '.join(KNOWN_TAGS)}"
        elif key != "name":
            yield f"`{key}` = {value!r} is not used in this course; a cell has a name and tags"
