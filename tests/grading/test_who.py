"""Whose file it is, by its name and by the roster."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from course_utils.grading.roster import Person, Roster, read_roster
from course_utils.grading.who import Author, Who, student_of
from course_utils.refusal import Refusal

UNIT = "01_one_operation"
CANVAS_GRADEBOOK = """Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (77)
    Points Possible,,,,,22
"Müller, Anna",12345,s1,anna.m,"A, B",
"Student, Test",9,,,A,
"""
MOODLE_PARTICIPANTS = "First name,Last name,Email address,ID number\nAnna,Müller,anna.m@school.example,s1\n"


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
        ("anna.zip/01_one_operation.ipynb", "anna"),
        ("anna_01_one_operation-Copy1.ipynb", "anna"),
        ("李雷/01_One_Operation.ipynb", "李雷"),
        ("a\nb_01_one_operation.ipynb", "a b"),
    ],
)
def test_the_student_is_what_the_files_name_adds_to_the_units(path, student):
    assert student_of(PurePosixPath(path), [UNIT]) == student


@pytest.mark.parametrize(
    ("path", "author"),
    [
        ("all.zip/muelleranna_12345_67890_01_one_operation.ipynb", Author("muelleranna", "12345")),
        ("all/muelleranna_LATE_12345_67890_work-1.ipynb", Author("muelleranna", "12345", True)),
        ("all.zip/Anna Müller_4711_assignsubmission_file_/01_one_operation.ipynb", Author("Anna Müller", "4711")),
        ("all/Anna_Müller_4711_assignsubmission_file_/deep/work.ipynb", Author("Anna_Müller", "4711")),
        ("Anna Müller_4711_assignsubmission_file_work.ipynb", Author("Anna Müller", "4711")),
        ("Zoe\u0308_01_one_operation.ipynb", Author("Zo\u00eb")),
    ],
)
def test_names_as_canvas_and_moodle_write_them(path, author):
    assert Who([UNIT]).author(PurePosixPath(path)) == author


def test_a_pattern_of_the_instructors_own():
    who = Who([UNIT], pattern=r"hw1/(?P<id>\d+)-(?P<student>\w+)/")
    assert who.author(PurePosixPath("hw1/7-anna/x.ipynb")) == Author("anna", "7")
    odd = who.author(PurePosixPath("hw1/anna.ipynb"))
    assert (odd.student, odd.notes) == ("anna", ("--student-from does not fit its name",))


@pytest.mark.parametrize(("pattern", "says"), [("(", "no regular expression"), ("abc", "has no group")])
def test_a_pattern_that_cannot_work_is_refused(pattern, says):
    with pytest.raises(Refusal, match=says):
        Who([UNIT], pattern=pattern)


@pytest.mark.parametrize("text", [CANVAS_GRADEBOOK, MOODLE_PARTICIPANTS])
def test_rosters_as_canvas_and_moodle_export_them(tmp_path, text):
    (tmp_path / "roster.csv").write_text(text, encoding="utf-8-sig")
    (person,) = read_roster(tmp_path / "roster.csv").people
    assert person.sis_id == "s1"
    assert {"mulleranna", "annamuller"} & {name.lower().replace("ü", "u") for name in person.names()}


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "name\n\n"])
def test_a_roster_without_names_is_refused(tmp_path, text):
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(Refusal, match="no line with a name"):
        read_roster(tmp_path / "roster.csv")


ANNA = Person("Müller, Anna", id="12345", sis_id="s1", login="anna.m", email="a.mueller@school.example")
BEN = Person("Ben Oto Smith", email="ben@school.example")


@pytest.mark.parametrize(
    ("name", "number", "person"),
    [
        ("someone else", "12345", ANNA),
        ("mülleranna", "", ANNA),
        ("Anna Mu\u0308ller", "", ANNA),
        ("a.mueller", "", ANNA),
        ("S1", "999", ANNA),
        ("smithbenoto", "", BEN),
        ("anna", "", None),
        ("", "", None),
    ],
)
def test_people_are_found_by_whatever_is_known_of_them(name, number, person):
    assert Roster([ANNA, BEN]).find(name, number) == person


def test_what_fits_two_people_tells_nothing():
    assert Roster([Person("Ben Smith", "1"), Person("Smith, Ben", "2")]).find("Ben Smith") is None


def test_who_is_in_no_roster_is_noted():
    author = Who([UNIT], Roster([ANNA])).author(PurePosixPath("eve_01_one_operation.ipynb"))
    assert author == Author("eve", notes=("not in the roster",))
