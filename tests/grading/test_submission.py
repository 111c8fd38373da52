"""Files in every state that they come in: which unit, which cells, or why not."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

import pytest

from course_utils.grading.handed_in import File, find_files
from course_utils.grading.submission import read
from course_utils.grading.who import Who

UNIT = "01_one_operation"


def sources(submission):
    return [cell.source for cell in submission.cells]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b'{"cells": [}', "invalid JSON at line 1"),
        (b"[" * 100_000, "invalid JSON"),
        (b"[1, 2]", "no notebook: it is JSON, but has no cells"),
        (b'{"cells": 3, "nbformat": 4}', "no notebook: its cells are not a list"),
        (b'{"worksheets": 3, "nbformat": 3}', "an old notebook format that cannot be converted"),
        ("{}".encode("utf-16"), "no notebook: the file is not text in UTF-8"),
        (b"\x89PNG\r\n", "no notebook: the file is not text in UTF-8"),
        (
            json.dumps({"cells": [{"cell_type": "code", "source": "x\n" * 200_000}]}).encode(),
            "more than 200 kB of code",
        ),
        (b'{"cells": [], "nbformat": 4}', "a notebook of no known unit; known: 01_one_operation"),
    ],
)
def test_what_cannot_be_graded_says_why(read_path, tmp_path, content, fault):
    path = tmp_path / "anna.ipynb"
    path.write_bytes(content)
    submission = read_path(path)
    assert submission.fault.startswith(fault)
    assert submission.author.student == "anna"
    assert submission.cells == ()


def test_a_file_that_has_gone_says_why(course, tmp_path):
    gone = File(PurePosixPath("anna.ipynb"), tmp_path / "anna.ipynb")
    assert read(gone, course, Who(course)).fault == "cannot be read: No such file or directory"


def test_a_huge_notebook_is_refused_without_being_read(read_path, tmp_path):
    path = tmp_path / "anna.ipynb"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    assert read_path(path).fault == "larger than 50 MB"


def test_a_name_that_speaks_of_another_unit_is_noted(course, handed_in, tmp_path):
    path = handed_in.write(tmp_path / "anna_02_graphs.ipynb")
    (file,) = find_files([path])
    submission = read(file, course | {"02_graphs": course[UNIT]}, Who(course))
    assert submission.notes[0] == f"called 02_graphs, but it is {UNIT}"


def test_an_exercise_of_another_release_is_noted(read_path, handed_in, tmp_path):
    handed_in.insert('check("cube_backward", cube)', after="mean_backward")
    (note,) = read_path(handed_in.write(tmp_path / "anna.ipynb")).notes
    assert note == "checks what this release does not ask, perhaps another release: cube_backward"


def test_a_lesson_is_not_taken_for_exercises(read_path, handed_in, tmp_path):
    handed_in.notebook["metadata"]["generated_from"] = f"sources/lessons/{UNIT}.py"
    fault = read_path(handed_in.write(tmp_path / "anna.ipynb")).fault
    assert fault == "this is the lesson 01_one_operation, not the exercises"


@pytest.mark.parametrize("clue", ["generated_from", "names", "ids", "file name", "checks"])
def test_one_clue_is_enough_to_know_the_unit(read_path, handed_in, tmp_path, clue):
    if clue != "checks":
        for cell in handed_in.cells:
            if cell["metadata"].get("name", "").endswith(".check"):
                cell["source"] = ""
    if clue != "generated_from":
        del handed_in.notebook["metadata"]["generated_from"]
    for cell in handed_in.cells:
        if clue != "names":
            cell["metadata"] = {}
        if clue != "ids":
            del cell["id"]
    path = handed_in.write(tmp_path / ("01_one_operation.ipynb" if clue == "file name" else "anna.ipynb"))
    submission = read_path(path)
    assert (submission.fault, submission.unit) == ("", UNIT)


def test_byte_order_mark_and_carriage_returns_change_nothing(read_path, handed_in, tmp_path):
    plain = read_path(handed_in.write(tmp_path / "anna.ipynb"))
    for cell in handed_in.cells:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    text = json.dumps(handed_in.notebook, indent=1).replace("\n", "\r\n")
    (tmp_path / "windows.ipynb").write_bytes(text.encode("utf-8-sig"))
    assert read_path(tmp_path / "windows.ipynb").cells == plain.cells


def test_format_3_is_converted(read_path, handed_in, tmp_path):
    plain = read_path(handed_in.write(tmp_path / "anna.ipynb"))
    cells = [
        {"cell_type": "code", "language": "python", "input": cell["source"], "outputs": [], "collapsed": False}
        if cell["cell_type"] == "code"
        else {"cell_type": "markdown", "source": cell["source"]}
        for cell in handed_in.cells
    ]
    old = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(old), encoding="utf-8")
    submission = read_path(path)
    assert submission.fault == ""
    assert sources(submission) == sources(plain)


def test_odd_cells_are_read_as_far_as_they_go(read_path, tmp_path):
    cells = [
        None,
        {"cell_type": "code"},
        {"cell_type": "code", "source": ["a = 1\n", 7, "b = 2"], "metadata": [], "id": 5},
        {"cell_type": "code", "source": "text = '\ud800'"},
    ]
    path = Path(tmp_path / f"{UNIT}_anna.ipynb")
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": None}), encoding="utf-8")
    assert sources(read_path(path)) == ["", "a = 1\nb = 2", "text = '?'"]
