"""A submission as it is handed in: read whatever its state, its author and unit told, or why it cannot be graded."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from course_utils.grading.handed_in import File, Unreadable
from course_utils.grading.names import check_calls
from course_utils.grading.pristine import Pristine
from course_utils.grading.who import Author, Who

MOST_CODE = 200_000  # characters of code, which is read here, outside all walls; the exercises have ten thousand


@dataclass(frozen=True)
class LearnerCell:
    """One code cell of a submission; `name` and `id` are empty where it has lost them."""

    source: str
    name: str = ""
    id: str = ""


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one unit. With a `fault` it has no cells, and perhaps no unit."""

    file: File
    author: Author
    unit: str = ""
    cells: tuple[LearnerCell, ...] = ()
    fault: str = ""
    digest: str = ""
    notes: tuple[str, ...] = ()


def read(file: File, course: Mapping[str, Pristine], who: Who) -> Submission:
    """The submission in a file; one that cannot be graded says why in its `fault`."""
    named = _unit_in(file.name.stem, course)
    # a bare name may be that of the unit, and then its folder says whose it is
    bare = len(file.name.parts) == 1
    author = who.author(PurePosixPath(file.source.absolute().as_posix()) if bare else file.name)
    try:
        content = file.content()
        notebook = _notebook(content)
        cells = tuple(_code_cells(notebook))
        if sum(len(cell.source) for cell in cells) > MOST_CODE:
            raise Unreadable(f"more than {MOST_CODE // 1000} kB of code")
        unit = _unit_of(notebook, cells, named, course)
    except Unreadable as reason:
        return Submission(file, author, named, fault=str(reason))
    notes = (*author.notes, *_odd(cells, unit, named, course))
    return Submission(file, author, unit, cells, digest=hashlib.sha256(content).hexdigest(), notes=notes)


def _odd(cells: Sequence[LearnerCell], unit: str, named: str, course: Mapping[str, Pristine]) -> Iterable[str]:
    """What an instructor should know of a notebook that does not look as it was handed out."""
    if named and named != unit:
        yield f"called {named}, but it is {unit}"
    asked = dict.fromkeys(call.exercise for cell in cells for call in check_calls(cell.source))
    known = {name for pristine in course.values() for name in pristine.exercises}
    unknown = [name for name in asked if name not in known]
    if unknown:
        yield f"checks what this release does not ask, perhaps another release: {', '.join(unknown)}"


# what -----------------------------------------------------------------------------------------------------------


def _notebook(content: bytes) -> dict:
    """The file as a notebook of format 4; Unreadable if it is none."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable("no notebook: the file is not text in UTF-8") from None
    if not text.strip():
        raise Unreadable("the file is empty")
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(f"invalid JSON{place}") from None
    if not isinstance(notebook, dict) or not {"cells", "worksheets"} & set(notebook):
        raise Unreadable("no notebook: it is JSON, but has no cells")
    return notebook if "cells" in notebook else _upgraded(notebook)


def _upgraded(notebook: dict) -> dict:
    import nbformat

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return nbformat.convert(nbformat.from_dict({"nbformat": 3, **notebook}), 4)
    except Exception as error:  # nbformat raises what it stumbles over
        raise Unreadable(f"an old notebook format that cannot be converted ({error})") from None


def _code_cells(notebook: dict) -> Iterable[LearnerCell]:
    cells = notebook["cells"]
    if not isinstance(cells, list):
        raise Unreadable("no notebook: its cells are not a list")
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        metadata = cell.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else ""
        yield LearnerCell(
            _text(cell.get("source")), *(one if isinstance(one, str) else "" for one in (name, cell.get("id")))
        )


def _text(source: object) -> str:
    """A cell's source with line feeds only, and no half characters that could not be sent on."""
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()


# which unit -----------------------------------------------------------------------------------------------------


def _unit_in(stem: str, units: Iterable[str]) -> str:
    return next((unit for unit in units if unit in stem.lower()), "")


def _unit_of(notebook: dict, cells: Sequence[LearnerCell], named: str, course: Mapping[str, Pristine]) -> str:
    """The unit by its metadata, else by the cells' names and ids, the file's name, or the checks it calls."""
    metadata = notebook.get("metadata")
    origin = PurePosixPath(str(metadata.get("generated_from", "")) if isinstance(metadata, dict) else "")
    if origin.parent.name == "lessons":
        raise Unreadable(f"this is the lesson {origin.stem}, not the exercises")
    if origin.stem in course:
        return origin.stem
    unit = _most_frequent(_by_labels(cells, course)) or named or _most_frequent(_by_checks(cells, course))
    if not unit:
        raise Unreadable(f"a notebook of no known unit; known: {', '.join(course)}")
    return unit


def _by_labels(cells: Sequence[LearnerCell], course: Mapping[str, Pristine]) -> Iterable[str]:
    for unit, pristine in course.items():
        own = {label for cell in pristine.cells if cell.role != "given" for label in (cell.name, cell.id)}
        yield from (unit for cell in cells if own & {cell.name, cell.id})


def _by_checks(cells: Sequence[LearnerCell], course: Mapping[str, Pristine]) -> Iterable[str]:
    for cell in cells:
        for call in check_calls(cell.source):
            yield from (unit for unit, pristine in course.items() if call.exercise in pristine.exercises)


def _most_frequent(units: Iterable[str]) -> str:
    counted = Counter(units).most_common(1)
    return counted[0][0] if counted else ""
