"""Who handed a file in: told from its name, as Canvas, Moodle or a person wrote it, and from the class's roster."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from course_utils.grading.roster import Roster
from course_utils.refusal import Refusal

# Moodle: a folder `Anna Müller_12345_assignsubmission_file_`, or the same in front of the file's name
MOODLE = re.compile(r"(?P<student>.+?)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)(?:_.*)?")
# Canvas: `muelleranna_LATE_12345_67890_name.ipynb`: the user's number, then the upload's
CANVAS = re.compile(r"(?P<student>[^_]+)_(?:(?P<late>LATE)_)?(?P<id>\d+)_\d+_.+")
_COPY = re.compile(r"(?:[\s_-]*(?:\(\d+\)|copy\s?\d*))+$", re.IGNORECASE)
_AROUND = " _-.,()[]"


@dataclass(frozen=True)
class Author:
    """Whose file it is: a name, the LMS's number for them if the file's name has it, and what is odd about it."""

    student: str
    id: str = ""
    marked_late: bool = False
    notes: tuple[str, ...] = ()


class Who:
    """Tells the author of each file."""

    def __init__(self, units: Iterable[str], roster: Roster | None = None, pattern: str = "") -> None:
        self._units = tuple(units)
        self._roster = roster
        self._pattern = _compiled(pattern) if pattern else None

    def author(self, name: PurePosixPath) -> Author:
        """The author by the pattern that was given, else by the LMS's, else by the name as such; then by the roster."""
        found = self._by_name(PurePosixPath(unicodedata.normalize("NFC", str(name))))  # macOS writes ü as two signs
        if self._roster is None or not self._roster.people:
            return found
        person = self._roster.find(found.student, found.id)
        if person is None:
            return Author(found.student, found.id, found.marked_late, (*found.notes, "not in the roster"))
        return Author(person.name, person.id or found.id, found.marked_late, found.notes)

    def _by_name(self, name: PurePosixPath) -> Author:
        if self._pattern:
            match = self._pattern.search(str(name))
            if match and _given(match):
                return _author(_given(match), match)
            author = self._by_usual_name(name)
            return Author(author.student, author.id, author.marked_late, ("--student-from does not fit its name",))
        return self._by_usual_name(name)

    def _by_usual_name(self, name: PurePosixPath) -> Author:
        for part in reversed((*name.parts[:-1], name.stem)):
            match = MOODLE.fullmatch(part)
            if match:
                return _author(match["student"], match)
        match = CANVAS.fullmatch(name.stem)
        return _author(match["student"], match) if match else Author(student_of(name, self._units))


def student_of(name: PurePosixPath, units: Iterable[str]) -> str:
    """The file's name without the unit's, else the name of its folder."""
    stem = name.stem
    for unit in units:
        stem = re.sub(re.escape(unit), " ", stem, flags=re.IGNORECASE)
    student = _COPY.sub("", stem).strip(_AROUND)
    if not student or student.isdigit():
        student = name.parent.name.removesuffix(".zip")
    return _clean(student)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise Refusal(f"--student-from {pattern!r} is no regular expression: {error}.") from None
    if not compiled.groups:
        raise Refusal(
            f"--student-from {pattern!r} has no group: put what is the student's name in brackets, as in "
            "'hw1/([^/]+)/'."
        )
    return compiled


def _given(match: re.Match[str]) -> str:
    return match.groupdict().get("student") or match[1] or ""


def _author(student: str, match: re.Match[str]) -> Author:
    named = match.groupdict()
    return Author(_clean(student), named.get("id") or "", bool(named.get("late")))


def _clean(name: str) -> str:
    return re.sub(r"[\s\x00-\x1f\x7f]+", " ", name.encode("utf-8", "replace").decode()).strip()
