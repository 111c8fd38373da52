"""Which cell of a submission answers which exercise: by its name or id, else by what it defines, else by its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course_utils.grading.names import check_calls, definitions, only_checks, squeezed
from course_utils.grading.pristine import Pristine, Question
from course_utils.grading.submission import LearnerCell


@dataclass(frozen=True)
class Choice:
    """The position of the answering cell; `alias` is (the name asked for, the name it has) if they differ."""

    position: int
    alias: tuple[str, str] | None = None


def identify(pristine: Pristine, cells: Sequence[LearnerCell]) -> list[int | None]:
    """For each learner's cell the index of the pristine cell that it is or was; None for one of their own."""
    by_name = {cell.name: index for index, cell in enumerate(pristine.cells) if cell.name}
    by_id = {cell.id: index for index, cell in enumerate(pristine.cells)}
    by_source = {squeezed(cell.source): index for index, cell in enumerate(pristine.cells) if cell.role == "given"}
    by_check = {question.exercise: question.check for question in pristine.questions}

    def place(cell: LearnerCell) -> int | None:
        if cell.name in by_name:
            return by_name[cell.name]
        if cell.id in by_id:
            return by_id[cell.id]
        if only_checks(cell.source):
            return by_check.get(check_calls(cell.source)[0].exercise)
        return by_source.get(squeezed(cell.source))

    return [place(cell) for cell in cells]


def choose_answers(
    pristine: Pristine, cells: Sequence[LearnerCell], places: Sequence[int | None]
) -> tuple[dict[str, Choice], list[str]]:
    """The answering cell of each exercise that has one, and notes on those that were not where they belong."""
    search = _Search(pristine, cells, places)
    choices = {}
    for question in pristine.questions:
        choice = search.find(question)
        if choice is not None:
            choices[question.exercise] = choice
    return choices, search.notes


class _Search:
    """The submission, as the search for each answer looks at it."""

    def __init__(self, pristine: Pristine, cells: Sequence[LearnerCell], places: Sequence[int | None]) -> None:
        self.pristine = pristine
        self.cells = cells
        self.places = places
        self.defined = [definitions(cell.source) for cell in cells]
        self.claimed = {call.exercise: call.expression for cell in cells for call in check_calls(cell.source)}
        self.notes: list[str] = []

    def find(self, question: Question) -> Choice | None:
        """The best candidate: attempted before untouched, then labelled, then by names, then renamed."""
        stub = squeezed(self.pristine.cells[question.answer].stub)
        everywhere = range(len(self.cells))
        labelled = [i for i in everywhere if self.places[i] == question.answer]
        defining = [i for i in everywhere if question.needed <= set(self.defined[i]) and self._is_free(i)]
        attempted = {i for i in everywhere if squeezed(self.cells[i].source) != stub}
        if sum(i in attempted for i in labelled) > 1:
            self._note(question, "stands there more than once; the last counts")
        for candidates in (set(labelled) & set(defining), set(defining)):
            if candidates & attempted:
                return Choice(max(candidates & attempted))
        for position in reversed([i for i in labelled if i in attempted] or self._between(question)):
            new = self._new_name(question, position)
            if new is not None:
                (old,) = question.needed
                self._note(question, f"`{old}` was renamed `{new}`")
                return Choice(position, (old, new))
        untouched_or_broken = labelled or defining
        if untouched_or_broken:
            return Choice(max(set(untouched_or_broken) & attempted or untouched_or_broken))
        self._note(question, "the answer is missing")
        return None

    def _is_free(self, position: int) -> bool:
        """Whether the cell may answer an exercise that it is not labelled for."""
        place = self.places[position]
        return place is None or self.pristine.cells[place].role != "given"

    def _between(self, question: Question) -> list[int]:
        """The learner's own cells between the neighbours of where the answer stood."""
        known = [(place, i) for i, place in enumerate(self.places) if place is not None]
        first = max((i for place, i in known if place < question.answer), default=-1)
        last = min((i for place, i in known if place > question.answer and i > first), default=len(self.cells))
        return [i for i in range(first + 1, last) if self.places[i] is None]

    def _new_name(self, question: Question, position: int) -> str | None:
        """The one name of the same kind that the cell defines in place of the one asked for."""
        absent = question.needed - set(self.defined[position])
        if len(question.needed) != 1 or not absent:
            return None
        kind = question.defined[next(iter(absent))]
        elsewhere = {name for other in self.pristine.questions for name in other.defined}
        new = [name for name, its in self.defined[position].items() if its == kind and name not in elsewhere]
        claimed = self.claimed.get(question.exercise)
        return claimed if claimed in new else new[0] if len(new) == 1 else None

    def _note(self, question: Question, text: str) -> None:
        self.notes.append(f"{question.exercise}: {text}")
