"""Files in every state that they come in: who, which unit, which cells, or why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course_utils.grading.submission import find_notebooks, read, student_of
from course_utils.refusal import Refusal

UNIT = "01_one_operation"


def sources(submission):
    return [cell.source for cell in submission.cells]


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("anna_01_one_operation.ipynb", "anna"),
        ("01_one_operation-anna.ipynb", "anna"),
        ("01_one_operation (Anna Müller).ipynb", "Anna Müller"),
        ("anna.ipynb", "anna"),
        ("anna/01_one_operation.ipynb", "anna"),
        ("anna/01_one_operation (1).ipynb", "anna"),
        ("anna/01_one_operation-Copy1.ipynb", "anna"),
        ("anna_01_one_operation-Copy1.ipynb", "anna"),
        ("李雷/01_One_Operation.ipynb", "李雷"),
        ("Zoe\u0308_01_one_operation.ipynb", "Zo\u00eb"),
        ("a\nb_01_one_operation.ipynb", "a b"),
    ],
)
def test_the_student_is_what_the_files_name_adds_to_the_units(tmp_path, path, student):
    assert student_of(tmp_path / path, [UNIT]) == student


def test_folders_are_searched_and_each_file_is_taken_once(tmp_path):
    wanted = [tmp_path / "a" / "x.ipynb", tmp_path / "b" / "deep" / "x.ipynb"]
    unwanted = [tmp_path / "a" / ".ipynb_checkpoints" / "x.ipynb", tmp_path / "a" / "._x.ipynb", tmp_path / "x.txt"]
    for path in wanted + unwanted:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert find_notebooks([tmp_path, wanted[0]]) == wanted


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(Refusal, match="holds no notebooks"):
        find_notebooks([tmp_path])


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
        (b'{"cells": [], "nbformat": 4}', "a notebook of no known unit; known: 01_one_operation"),
    ],
)
def test_what_cannot_be_graded_says_why(course, tmp_path, content, fault):
    path = tmp_path / "anna.ipynb"
    path.write_bytes(content)
    submission = read(path, course)
    assert submission.fault.startswith(fault)
    assert submission.student == "anna"
    assert submission.cells == ()


def test_a_file_that_has_gone_says_why(course, tmp_path):
    assert read(tmp_path / "anna.ipynb", course).fault == "cannot be read: No such file or directory"


def test_a_lesson_is_not_taken_for_exercises(course, handed_in, tmp_path):
    handed_in.notebook["metadata"]["generated_from"] = f"sources/lessons/{UNIT}.py"
    fault = read(handed_in.write(tmp_path / "anna.ipynb"), course).fault
    assert fault == "this is the lesson 01_one_operation, not the exercises"


@pytest.mark.parametrize("clue", ["generated_from", "names", "ids", "file name", "checks"])
def test_one_clue_is_enough_to_know_the_unit(course, handed_in, tmp_path, clue):
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
    submission = read(path, course)
    assert (submission.fault, submission.unit) == ("", UNIT)


def test_byte_order_mark_and_carriage_returns_change_nothing(course, handed_in, tmp_path):
    plain = read(handed_in.write(tmp_path / "anna.ipynb"), course)
    for cell in handed_in.cells:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    text = json.dumps(handed_in.notebook, indent=1).replace("\n", "\r\n")
    (tmp_path / "windows.ipynb").write_bytes(text.encode("utf-8-sig"))
    assert read(tmp_path / "windows.ipynb", course).cells == plain.cells


def test_format_3_is_converted(course, handed_in, tmp_path):
    plain = read(handed_in.write(tmp_path / "anna.ipynb"), course)
    cells = [
        {"cell_type": "code", "language": "python", "input": cell["source"], "outputs": [], "collapsed": False}
        if cell["cell_type"] == "code"
        else {"cell_type": "markdown", "source": cell["source"]}
        for cell in handed_in.cells
    ]
    old = {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": cells}]}
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(old), encoding="utf-8")
    submission = read(path, course)
    assert submission.fault == ""
    assert sources(submission) == sources(plain)


def test_odd_cells_are_read_as_far_as_they_go(course, tmp_path):
    cells = [
        None,
        {"cell_type": "code"},
        {"cell_type": "code", "source": ["a = 1\n", 7, "b = 2"], "metadata": [], "id": 5},
        {"cell_type": "code", "source": "text = '\ud800'"},
    ]
    path = Path(tmp_path / f"{UNIT}_anna.ipynb")
    path.write_text(json.dumps({"cells": cells, "nbformat": 4, "metadata": None}), encoding="utf-8")
    assert sources(read(path, course)) == ["", "a = 1\nb = 2", "text = '?'"]
