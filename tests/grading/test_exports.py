"""Points for Canvas, Moodle, Gradescope and JUnit, read back as these read them."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET

import pytest

from course_utils.grading.exports import canvas_csv, gradescope_json, junit_xml, moodle_csv
from course_utils.grading.report import Row
from course_utils.grading.roster import Person
from course_utils.grading.verdict import Graded

UNIT = "01_one_operation"
RIGHT = Graded("square_times_cube", "right", 3)
WRONG = Graded("mean_backward", "wrong", 0, label="sum_not_mean")
OPEN = Graded("mean_backward", "grader error", None, note="no kernel")
ANNA = Person("Müller, Anna", "12345", "s1", "anna.m", "anna@school.example", "A, B")
ROWS = [
    Row("Müller, Anna", "a.ipynb", UNIT, (RIGHT, WRONG), person=ANNA, days_late=1, deduction=0.5),
    Row("ben", "b.ipynb", UNIT, (RIGHT, OPEN)),
    Row("=cmd|' /C calc'!A0", "c.ipynb", UNIT, (WRONG,)),
    Row("Nobody", "", UNIT, (Graded("mean_backward", "missing", 0),)),
    Row("eve", "e.ipynb", "", fault="the file is empty"),
]


def lines(text):
    return list(csv.reader(io.StringIO(text)))


def test_canvas_has_its_columns_and_a_line_of_possible_points():
    header, possible, anna, *_ = lines(canvas_csv(ROWS))
    assert header == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", UNIT]
    assert possible == ["    Points Possible", "", "", "", "", "5"]
    assert anna == ["Müller, Anna", "12345", "s1", "anna.m", "A, B", "2.5"]


def test_moodle_maps_by_email_or_id_number():
    header, anna, *_ = lines(moodle_csv(ROWS))
    assert header == ["Full name", "Username", "ID number", "Email address", UNIT, f"{UNIT} (feedback)"]
    assert anna[:5] == ["Müller, Anna", "anna.m", "s1", "anna@school.example", "2.5"]
    assert anna[5] == "late by 1 day: -0.5 points; square_times_cube: 3 of 3; mean_backward: 0 of 2"


@pytest.mark.parametrize("export", [canvas_csv, moodle_csv])
def test_no_zero_is_imported_where_a_person_has_to_decide_and_no_name_is_a_formula(export):
    place = lines(export(ROWS))[0].index(UNIT)
    points = {line[0]: line[place] for line in lines(export(ROWS))}
    assert points["ben"] == points["Nobody"] == ""
    assert points["'=cmd|' /C calc'!A0"] == "0"
    assert "eve" not in points  # of whose file nobody knows for which unit it is


def test_two_units_of_one_person_are_one_line():
    second = Row("Müller, Anna", "x.ipynb", "02_other", (RIGHT,), person=ANNA)
    found = [line for line in lines(canvas_csv([ROWS[0], second])) if line[0] == "Müller, Anna"]
    assert [line[5:] for line in found] == [["2.5", "3"]]


def test_gradescope_gets_a_score_and_a_test_for_each_exercise():
    result = json.loads(gradescope_json(ROWS[0]))
    assert result["score"] == 2.5
    assert result["tests"][1] == {
        "name": "mean_backward",
        "score": 0,
        "max_score": 2,
        "status": "failed",
        "output": "wrong [sum_not_mean]",
    }


def test_junit_tells_failures_from_errors():
    suites = ET.fromstring(junit_xml(ROWS))
    anna, ben, *_ = suites
    assert (anna.get("tests"), anna.get("failures"), anna.get("errors")) == ("2", "1", "0")
    assert (ben.get("failures"), ben.get("errors")) == ("0", "1")
    assert ben[1][0].get("message") == "grader error (no kernel)"


def test_what_xml_cannot_hold_is_left_out():
    odd = Graded("mean_backward", "crashed", 0, note="\x00\x1b[31m<&>\ud800")
    (case,) = ET.fromstring(junit_xml([Row("a\x01b", "a.ipynb", UNIT, (odd,))]))[0]
    assert case[0].get("message") == "crashed (  [31m<&> )"
