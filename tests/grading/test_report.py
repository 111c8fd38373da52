"""The gradebook as spreadsheets and people read it."""

from __future__ import annotations

import csv
import io

import pytest
from rich.console import Console

from course_utils.grading.report import Row, defused, gradebook, show_summary
from course_utils.grading.verdict import Graded
from course_utils.grading.write import write_gradebook

UNIT = "01_one_operation"
RIGHT = Graded("square_times_cube", "right", 3)
WRONG = Graded("mean_backward", "wrong", 0, label="sum_not_mean")
UNKNOWN = Graded("mean_backward", "grader error", None, note="no kernel")


def read_back(rows):
    return list(csv.DictReader(io.StringIO(gradebook(rows))))


def test_a_row_per_submission_and_a_column_per_exercise():
    (row,) = read_back([Row("anna", "anna.ipynb", UNIT, (RIGHT, WRONG))])
    assert row == {
        "student": "anna",
        "file": "anna.ipynb",
        "unit": UNIT,
        "square_times_cube": "3",
        "mean_backward": "0",
        "points": "3",
        "total": "5",
        "note": "wrong [sum_not_mean]: mean_backward",
        "suspicious": "",
    }


def test_what_nobody_can_tell_is_empty_and_not_zero():
    (row,) = read_back([Row("anna", "anna.ipynb", UNIT, (RIGHT, UNKNOWN))])
    assert (row["mean_backward"], row["points"]) == ("", "3")
    assert row["note"] == "grader error (no kernel): mean_backward"


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@x", "\t=1", " =1"])
def test_no_cell_is_a_formula(name):
    (row,) = read_back([Row(name, name, UNIT, (RIGHT,))])
    for cell in (row["student"], row["file"]):
        assert cell.startswith("'")


def test_names_with_quotes_commas_and_line_ends_stay_in_their_cell():
    (row,) = read_back([Row('O"Hara, \nJane', "x.ipynb", UNIT, (RIGHT,))])
    assert row["student"] == 'O"Hara,  Jane'


def test_letters_of_any_language_stay():
    assert defused("Łukasiewicz 李雷") == "Łukasiewicz 李雷"


def test_a_gradebook_that_stood_there_is_kept(tmp_path):
    assert write_gradebook([Row("anna", "a.ipynb", UNIT, (WRONG,))], tmp_path) is None
    first = (tmp_path / "gradebook.csv").read_bytes()
    kept = write_gradebook([Row("anna", "a.ipynb", UNIT, (RIGHT,))], tmp_path)
    assert kept == tmp_path / "gradebook.previous.csv"
    assert kept.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gradebook.csv", "gradebook.previous.csv"]
    assert (tmp_path / "gradebook.csv").read_bytes().startswith(b"\xef\xbb\xbf")  # for Excel


def test_the_summary_counts_mistakes_and_names_what_was_not_read():
    text = io.StringIO()
    rows = [
        Row("anna [bold]", "a.ipynb", UNIT, (RIGHT, WRONG)),
        Row("ben", "b.ipynb", UNIT, (RIGHT, WRONG)),
        Row("eve", "e.ipynb", "", fault="the file is empty"),
    ]
    show_summary(rows, Console(file=text, width=80, color_system=None))
    said = text.getvalue()
    assert "anna [bold]" in said
    assert "sum_not_mean: 2" in said
    assert "eve (e.ipynb): unreadable: the file is empty" in said
