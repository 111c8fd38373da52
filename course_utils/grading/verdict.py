"""From what a cell printed to points: evidence read as text, held against the truth outside its process."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from course_utils.checks.catalogue import find
from course_utils.checks.diagnose import diagnose
from course_utils.checks.evidence import Evidence, Observation, gather, same_evidence, same_to_the_words
from course_utils.checks.exercise import Exercise
from course_utils.checks.plain import Raised, from_json
from course_utils.grading.merge import Merged
from course_utils.grading.parts import parts
from course_utils.grading.run import CellRecord, Outcome
from course_utils.grading.suspicious import suspicions

Status = Literal[
    "right",
    "wrong",
    "not attempted",
    "crashed",
    "timeout",
    "memory",
    "missing",
    "not run",
    "unreadable",
    "grader error",
]
_MOST_NOTE = 160
_OUT_OF_MEMORY = '{"out of memory": true}'
_BEGINS = '{"saw": '
_MOST_EVIDENCE = 100_000  # characters; a right answer's has a few thousand


@dataclass(frozen=True)
class Graded:
    """The outcome of one exercise in one submission. `points` is None where nobody can say: never a silent zero.

    `evidence` is what the answer was seen to do. `suspicious` is for the instructor, and costs nothing. `overridden`
    says why a person gave other points than the grader.
    """

    exercise: str
    status: Status
    points: float | None
    label: str = ""
    note: str = ""
    evidence: str = field(default="", compare=False, repr=False)
    overridden: str = ""
    suspicious: str = ""

    @property
    def most(self) -> int:
        """The points that the exercise has to give."""
        return find(self.exercise).points


def grade_exercises(merged: Merged, outcome: Outcome, seed: int) -> list[Graded]:
    """The outcome of each exercise that has evidence cells, in their order."""
    graded = []
    for part in parts(merged):
        *before, evidence = outcome[part.exercise]
        cells = [merged.cells[place] for place in part.positions]
        answers = [record for cell, record in zip(cells, before, strict=False) if cell.role == "answer"]
        one = _grade(find(part.exercise), evidence, answers, part.exercise in merged.missing, seed)
        odd = suspicions(cells, outcome[part.exercise])
        graded.append(replace(one, evidence=_evidence_lines(evidence.stdout), suspicious=odd))
    return graded


def unreadable(exercises: Iterable[str]) -> list[Graded]:
    """The outcome of all exercises in a submission that could not be read."""
    return [Graded(exercise, "unreadable", 0) for exercise in exercises]


def _grade(exercise: Exercise, record: CellRecord, answers: list[CellRecord], missing: bool, seed: int) -> Graded:
    if record.outcome == "passed":
        return Graded(exercise.name, "right", exercise.points)
    if record.outcome == "differs":
        return judge_text(exercise, record.stdout, seed)
    blamed = next((one for one in answers if one.outcome != "passed"), record)
    status, points = _WITHOUT_EVIDENCE["memory" if _ran_out(blamed) else blamed.outcome]
    if missing and blamed.outcome == "raised":
        return Graded(exercise.name, "missing", 0)
    note = _NOTES.get(blamed.outcome) or blamed.error
    return Graded(exercise.name, status, points, note=_short(note))


def _ran_out(record: CellRecord) -> bool:
    """Whether an exception says that there was no more memory, in Python's words or torch's."""
    return record.outcome == "raised" and record.error.startswith(_NO_MEMORY)


_NO_MEMORY = ("MemoryError", "RuntimeError: [enforce fail at alloc_cpu", "OutOfMemoryError", "_ArrayMemoryError")
_WITHOUT_EVIDENCE: Mapping[str, tuple[Status, int | None]] = {
    "raised": ("crashed", 0),
    "died": ("crashed", 0),
    "timeout": ("timeout", 0),
    "memory": ("memory", 0),
    "not run": ("not run", None),
    "fault": ("grader error", None),
    "differs": ("grader error", None),  # of an answer cell nothing is compared
}
_NOTES: Mapping[str, str] = {
    "timeout": "stopped at the time limit",
    "died": "the kernel ended while it ran",
    "memory": "stopped at the memory limit",
}


def judge_text(exercise: Exercise, text: str, seed: int) -> Graded:
    """The outcome that the printed evidence has under `seed`, with the mistake that explains it where one does."""
    truth = _shown_by(exercise, "truth", seed)
    sent = read_evidence(text, truth)
    if sent is None:
        stub = '{"not attempted": true}' in text.splitlines()
        if stub:
            return Graded(exercise.name, "not attempted", 0)
        return Graded(exercise.name, "wrong", 0, note="what it printed is no evidence")
    sent = exercise.settle(sent, truth)
    if same_evidence(sent, truth):  # two right answers may round differently, where the next digit is exactly 5
        return Graded(exercise.name, "right", exercise.points)
    if exercise.given is not None and same_to_the_words(sent, _shown_by(exercise, "given", seed)):
        return Graded(exercise.name, "not attempted", 0)
    if _OUT_OF_MEMORY in text.splitlines():
        return Graded(exercise.name, "memory", 0, note=_NOTES["memory"])
    raised = next((one.value.exception for one in sent if isinstance(one.value, Raised)), "")
    return Graded(exercise.name, "wrong", 0, label=_label(exercise, sent, truth, seed), note=_short(raised))


@functools.lru_cache(maxsize=512)
def _shown_by(exercise: Exercise, which: str, seed: int) -> Evidence:
    """The evidence of the exercise's own `truth`, or of the code that was `given`."""
    return gather(exercise, getattr(exercise, which), seed)


def read_evidence(text: str, truth: Evidence) -> Evidence | None:
    """The evidence in a cell's output, other lines passed over; None if it does not see what the truth sees."""
    try:
        found = [line for line in map(_line, text.splitlines()) if line is not None]
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return None
    if [one.label for one in found] != [one.label for one in truth]:
        return None
    return tuple(replace(one, given=other.given, parts=other.parts) for one, other in zip(found, truth, strict=True))


def _evidence_lines(text: str) -> str:
    """Those lines of what a cell printed that have the form of evidence."""
    return "\n".join(line[line.find(_BEGINS) :] for line in text.splitlines() if _BEGINS in line)[:_MOST_EVIDENCE]


def _line(text: str) -> Observation | None:
    begin = max(0, text.find(_BEGINS))  # a thread may print in front of it, and end no line
    if len(text) - begin > _MOST_EVIDENCE:
        return None
    try:
        record = json.loads(text[begin:])
    except ValueError:
        return None
    if not isinstance(record, dict) or not {"saw", "value"} <= set(record):
        return None
    changed, words = tuple(record.get("changed", ())), str(record.get("words", ""))
    return Observation(record["saw"], from_json(record["value"]), changed=changed, story=words)


def _label(exercise: Exercise, sent: Evidence, truth: Evidence, seed: int) -> str:
    try:
        found = diagnose(exercise, sent, truth, seed)
    except Exception:  # a submission may print evidence of any form, and gets no label for it
        return ""
    return found.label if found else ""


def _short(note: str) -> str:
    line = " ".join(note.split())
    return line if len(line) <= _MOST_NOTE else f"{line[:_MOST_NOTE]}..."
