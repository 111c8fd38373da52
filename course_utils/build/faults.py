"""A fault in the course's sources: where it is and what to do, in one line, so that all are reported at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """What is wrong at one place; `str()` gives the line that is printed."""

    file: str
    message: str
    line: int | None = None
    cell: str | None = None

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        if self.cell is not None:
            place += f", cell {self.cell}"
        return f"{place}: {self.message}"


def listed(names: Iterable[object]) -> str:
    """The names with commas between them, or `none`."""
    return ", ".join(str(name) for name in names) or "none"
