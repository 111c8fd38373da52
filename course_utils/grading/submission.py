"""A submission as it is handed in: found on the disk, read whatever its state, its student and unit told."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from course_utils.grading.names import check_calls
from course_utils.grading.pristine import Pristine
from course_utils.refusal import Refusal

LARGEST = 50 * 2**20  # bytes; the exercises with all their outputs are a hundredth of it
_SKIPPED = {".ipynb_checkpoints", "__MACOSX"}
_COPY = re.compile(r"(?:[\s_-]*(?:\(\d+\)|copy\s?\d*))+$", re.IGNORECASE)
_AROUND = " _-.,()[]"


class Unreadable(Exception):  # noqa: N818 (a property of the submission, no error of the program)
    """Why a submission cannot be graded, in words for its row of the gradebook."""


@dataclass(frozen=True)
class LearnerCell:
    """One code cell of a submission; `name` and `id` are empty where it has lost them."""

    source: str
    name: str = ""
    id: str = ""


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one unit. With a `fault` it has no cells, and perhaps no unit."""

    path: Path
    student: str
    unit: str = ""
    cells: tuple[LearnerCell, ...] = ()
    fault: str = ""
    digest: str = ""


def find_notebooks(paths: Iterable[Path]) -> list[Path]:
    """The files named, and the notebooks in the folders named, each once. Refuses what is not there."""
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            inside = [one for one in sorted(path.rglob("*.ipynb")) if _is_meant(one.relative_to(path))]
            if not inside:
                raise Refusal(f"{path} holds no notebooks: name the folder that the submissions are in.")
        elif path.exists():
            inside = [path]
        else:
            raise Refusal(f"there is no file or folder {path}: check its spelling.")
        for one in inside:
            found.setdefault(one.resolve(), one)
    return list(found.values())


def _is_meant(path: Path) -> bool:
    return not _SKIPPED & set(path.parts) and not path.name.startswith("._") and not path.is_dir()


def read(path: Path, course: Mapping[str, Pristine]) -> Submission:
    """The submission in a file; one that cannot be graded says why in its `fault`."""
    named = _unit_in(path.stem, course)
    student = student_of(path, course)
    try:
        content = _content(path)
        notebook = _notebook(content)
        cells = tuple(_code_cells(notebook))
        unit = _unit_of(notebook, cells, named, course)
    except Unreadable as reason:
        return Submission(path, student, named, fault=str(reason))
    except OSError as error:
        return Submission(path, student, named, fault=f"cannot be read: {error.strerror or error}")
    return Submission(path, student, unit, cells, digest=hashlib.sha256(content).hexdigest())


# who ------------------------------------------------------------------------------------------------------------


def student_of(path: Path, units: Iterable[str]) -> str:
    """Whose file it is: its name without the unit's, else the name of its folder."""
    stem = unicodedata.normalize("NFC", path.stem)  # macOS writes ü as two characters
    for unit in units:
        stem = re.sub(re.escape(unit), " ", stem, flags=re.IGNORECASE)
    student = _COPY.sub("", stem).strip(_AROUND)
    if not student or student.isdigit():
        student = unicodedata.normalize("NFC", path.absolute().parent.name)
    return re.sub(r"[\s\x00-\x1f\x7f]+", " ", student.encode("utf-8", "replace").decode()).strip()


# what -----------------------------------------------------------------------------------------------------------


def _content(path: Path) -> bytes:
    if path.stat().st_size > LARGEST:
        raise Unreadable(f"larger than {LARGEST // 2**20} MB")
    return path.read_bytes()


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
