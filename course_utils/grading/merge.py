"""A submission put into the pristine notebook: its answers in their places, checks turned into evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from course_utils.grading.choose import Choice, choose_answers, identify
from course_utils.grading.names import only_checks, squeezed
from course_utils.grading.pristine import Pristine, PristineCell, Question
from course_utils.grading.submission import LearnerCell

Role = Literal["given", "extra", "answer", "evidence"]
_MARKER = re.compile(r"(\s*#[#\s]*)(PYTEST_VALIDATE_IGNORE_OUTPUT|NBVAL_\w+)(\s*)")


@dataclass(frozen=True)
class MergedCell:
    """One code cell that will run. `exercise` is whose answer or evidence it is, if any's."""

    role: Role
    source: str
    exercise: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Merged:
    """The code cells to run, in order; what had to be repaired, and which answers are nowhere."""

    cells: tuple[MergedCell, ...]
    notes: tuple[str, ...] = ()
    missing: frozenset[str] = field(default_factory=frozenset)


def merge(pristine: Pristine, cells: Sequence[LearnerCell], seed: int) -> Merged:
    """The notebook that tells what the learner's answers do under `seed`, everything else as it was handed out."""
    places = identify(pristine, cells)
    choices, notes = choose_answers(pristine, cells, places)
    notes += _together(choices)
    before = _extras(pristine, cells, places, choices)
    merged: list[MergedCell] = []
    placed: set[int] = set()
    for index, cell in enumerate(pristine.cells):
        merged += [MergedCell("extra", harmless(cells[position].source)) for position in before.get(index, ())]
        if cell.role == "given":
            merged.append(MergedCell("given", cell.source, tags=cell.tags))
        elif cell.role == "answer":
            merged += _answer(cell, cells, choices.get(cell.name), placed)
        else:
            merged += [_evidence(question, seed) for question in pristine.questions if question.check == index]
    after_all = before.get(len(pristine.cells), ())
    merged += [MergedCell("extra", harmless(cells[position].source)) for position in after_all]
    missing = frozenset(pristine.exercises) - set(choices)
    return Merged(tuple(merged), tuple(notes), missing)


def solved(pristine: Pristine, seed: int) -> Merged:
    """The pristine notebook's own answers, merged like a submission: what evidence of right answers looks like."""
    return merge(pristine, [LearnerCell(cell.source, cell.name, cell.id) for cell in pristine.cells], seed)


def harmless(source: str) -> str:
    """The source with nbval's comment markers disarmed: a learner does not decide what is compared."""
    return "".join(_disarmed(line) for line in source.splitlines(keepends=True))


def _disarmed(line: str) -> str:
    marker = _MARKER.fullmatch(line)
    return f"{marker[1]}({marker[2]}){marker[3]}" if marker else line


def _evidence(question: Question, seed: int) -> MergedCell:
    source = (
        "from course_utils.checks import show_evidence\n"
        f"show_evidence({question.exercise!r}, {question.expression}, seed={seed})"
    )
    return MergedCell("evidence", source, question.exercise)


def _answer(
    cell: PristineCell, cells: Sequence[LearnerCell], choice: Choice | None, placed: set[int]
) -> list[MergedCell]:
    if choice is None:
        return []
    merged = []
    if choice.position not in placed:  # one cell may answer two exercises
        placed.add(choice.position)
        merged.append(MergedCell("answer", harmless(cells[choice.position].source), cell.name))
    if choice.alias:
        old, new = choice.alias
        merged.append(MergedCell("answer", f"{old} = {new}", cell.name))
    return merged


def _together(choices: dict[str, Choice]) -> list[str]:
    """Notes on cells that answer several exercises."""
    by_cell: dict[int, list[str]] = {}
    for exercise, choice in choices.items():
        by_cell.setdefault(choice.position, []).append(exercise)
    return [f"{' and '.join(names)}: answered in one cell" for names in by_cell.values() if len(names) > 1]


def _extras(
    pristine: Pristine, cells: Sequence[LearnerCell], places: Sequence[int | None], choices: dict[str, Choice]
) -> dict[int, list[int]]:
    """Positions of the learner's other cells, by the index of the pristine cell that each runs before."""
    chosen: dict[int, int] = {}
    for index, cell in enumerate(pristine.cells):
        if cell.role == "answer" and cell.name in choices:
            chosen.setdefault(choices[cell.name].position, index)
    before: dict[int, list[int]] = {}
    here = 0
    for position, (cell, place) in enumerate(zip(cells, places, strict=True)):
        if position in chosen:
            here = chosen[position] + 1
            continue
        if place is None:
            before.setdefault(here, []).append(position)
            continue
        here = place + 1
        if not _is_as_given(pristine.cells[place], cell):
            # before the pristine cell: its imports stay, what it broke is mended
            before.setdefault(place, []).append(position)
    return before


def _is_as_given(pristine: PristineCell, cell: LearnerCell) -> bool:
    if pristine.role == "check":
        return only_checks(cell.source)
    # of an answer cell, the stub; a copy of it that was not chosen has nothing to say
    return squeezed(cell.source) == squeezed(pristine.stub if pristine.role == "answer" else pristine.source)
