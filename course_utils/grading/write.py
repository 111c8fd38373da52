"""All reports of a class, written into one folder: each file in one step, and for its owner alone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from course_utils.grading.class_page import class_page
from course_utils.grading.exports import canvas_csv, gradescope_json, junit_xml, moodle_csv
from course_utils.grading.report import Row, gradebook
from course_utils.grading.student_page import student_page

NAME = "gradebook.csv"
PREVIOUS = "gradebook.previous.csv"
CLASS = "class.html"
STUDENTS = "students"


def write_reports(rows: Sequence[Row], folder: Path, seed: int) -> Path | None:
    """Write every report. Another gradebook that stood there is kept: returns where, None if there was none."""
    previous = write_gradebook(rows, folder)
    write(folder / "canvas.csv", canvas_csv(rows).encode("utf-8"))
    write(folder / "moodle.csv", moodle_csv(rows).encode("utf-8"))
    write(folder / "junit.xml", junit_xml(rows))
    write(folder / CLASS, class_page(rows).encode("utf-8"))
    pages = {f"{file_name(row)}.html": student_page(row, seed) for row in rows}
    _replace(folder / STUDENTS, pages, ".html")
    _replace(folder / "gradescope", {f"{file_name(row)}.json": gradescope_json(row) for row in rows}, ".json")
    return previous


def write_gradebook(rows: Sequence[Row], folder: Path) -> Path | None:
    """Write gradebook.csv in one step. Another that stood there is kept: returns where, None if there was none."""
    path = folder / NAME
    # with a byte order mark, or Excel shows names with other letters as nonsense
    content = gradebook(rows).encode("utf-8-sig")
    previous = None
    if path.exists() and path.read_bytes() != content:
        previous = folder / PREVIOUS
        shutil.copy(path, previous)
    write(path, content)
    return previous


def write(path: Path, content: bytes) -> None:
    """Write a file in one step: whoever reads it sees the old content or the new, never a part."""
    # mkstemp makes a file that only its owner can read, as it should be with grades
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def file_name(row: Row) -> str:
    """A file's name for a row, whatever the student is called; no two students share one."""
    readable = re.sub(r"[^\w.-]+", "_", row.student)[:60].strip("._")
    exact = hashlib.sha256(f"{row.student}\0{row.unit}\0{row.file}".encode("utf-8", "replace")).hexdigest()[:8]
    return "_".join(filter(None, (readable, row.unit, exact)))


def _replace(folder: Path, files: dict[str, str], suffix: str) -> None:
    """Write these files; what an earlier run wrote for someone who is no longer there goes."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        write(folder / name, content.encode("utf-8", "replace"))
    for path in folder.glob(f"*{suffix}"):
        if path.name not in files:
            path.unlink()
