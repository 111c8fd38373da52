"""The course's own exercise notebooks, against which submissions are held: what is given, asked and checked."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from course_utils.grading.names import Kind, check_calls, definitions, names_used
from course_utils.refusal import Refusal

Role = Literal["given", "answer", "check"]


@dataclass(frozen=True)
class PristineCell:
    """One code cell of a solution notebook. `stub` is what exercises/ has in its place."""

    role: Role
    source: str
    stub: str
    name: str
    id: str
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """One exercise: the index of its answer cell and of its check cell, and what the check is given."""

    exercise: str
    answer: int
    check: int
    expression: str
    defined: dict[str, Kind] = field(hash=False)

    @property
    def needed(self) -> set[str]:
        """The names that the answer has to define."""
        return names_used(self.expression) & set(self.defined)


@dataclass(frozen=True)
class Pristine:
    """A unit's exercise notebook: its code cells in order."""

    unit: str
    cells: tuple[PristineCell, ...]

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The exercises in the order of their checks."""
        answers = {cell.name: index for index, cell in enumerate(self.cells) if cell.role == "answer"}
        found = []
        for index, cell in enumerate(self.cells):
            for call in check_calls(cell.source) if cell.role == "check" else ():
                if call.exercise not in answers:
                    raise Refusal(
                        f"solutions/{self.unit}.ipynb: the check of {call.exercise!r} has no answer cell of that "
                        "name. Run `course build`."
                    )
                answer = answers[call.exercise]
                defined = definitions(self.cells[answer].source)
                found.append(Question(call.exercise, answer, index, call.expression, defined))
        return tuple(found)

    @cached_property
    def exercises(self) -> tuple[str, ...]:
        """The exercises' names, in order."""
        return tuple(question.exercise for question in self.questions)


def read_course(root: Path) -> dict[str, Pristine]:
    """Every unit that has a solution notebook, by its name. Refuses if there is none."""
    units = {path.stem: _read(root, path.stem) for path in sorted((root / "solutions").glob("*.ipynb"))}
    if not units:
        raise Refusal(f"{root / 'solutions'} holds no notebooks: run `course build` first, then grade.")
    return units


def _read(root: Path, unit: str) -> Pristine:
    solution = _code_cells(root / "solutions" / f"{unit}.ipynb")
    stubs = {cell["id"]: _text(cell) for cell in _code_cells(root / "exercises" / f"{unit}.ipynb")}
    return Pristine(unit, tuple(_cell(cell, stubs.get(cell["id"], "")) for cell in solution))


def _code_cells(path: Path) -> list[dict]:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return [cell for cell in cells if cell["cell_type"] == "code" and cell["id"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = "is not there" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise Refusal(f"{path} {reason}: run `course build` first, then grade.") from error


def _cell(cell: dict, stub: str) -> PristineCell:
    tags = tuple(cell["metadata"].get("tags", ()))
    role: Role = "answer" if "answer" in tags else "check" if "check" in tags else "given"
    return PristineCell(role, _text(cell), stub, cell["metadata"].get("name", ""), cell["id"], tags)


def _text(cell: dict) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
