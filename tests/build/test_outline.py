"""course.toml is read into units, and what is wrong in it is said all at once."""

from __future__ import annotations

import pytest

from course_utils.build.outline import Unit, missing_sources, read_course, unnamed_sources


def faults(course, text):
    course.outline.write_text(text, encoding="utf-8")
    return [str(fault) for fault in read_course(course.root)[1]]


def unit(name, **changes):
    entry = {"name": name, "title": "T", "lesson_minutes": 1, "exercise_minutes": 1, "needs": []} | changes
    lines = (f"{key} = {value!r}" for key, value in entry.items() if value is not None)
    return "[[unit]]\n" + "\n".join(lines) + "\n"


def test_a_unit_has_its_name_stem_and_sources(course):
    read, found = read_course(course.root)
    assert found == []
    assert read.title == "Small"
    assert read.units == (Unit("01_squares", "Squares", 5, 5, ()),)
    assert read.units[0].stem == "squares"
    assert read.units[0].source("lesson") == "sources/lessons/01_squares.py"


def test_units_are_selected_by_name_or_stem_and_others_are_named(course):
    read, _ = read_course(course.root)
    assert read.select([])[0] == read.units
    assert read.select(["squares"]) == (read.units, [])
    assert read.select(["01_squares", "nope"]) == (read.units, ["nope"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title =", "cannot be read"),
        (unit("01_a"), "`title` is missing"),
        ('title = "T"\nunit = 3', "[[unit]]"),
        ('title = "T"\ncolour = 1\n' + unit("01_a"), "unknown key `colour`"),
        ('title = "T"\n' + unit("01_a", title=None), "unit 01_a: `title` is missing"),
        ('title = "T"\n' + unit("01_a", needs=None), "unit 01_a: `needs` is missing"),
        ('title = "T"\n' + unit("01_a", lesson_minutes="9"), "`lesson_minutes` must be a whole number"),
        ('title = "T"\n' + unit("01_a", lesson_minutes=0), "must be greater than 0"),
        ('title = "T"\n' + unit("01_a", minutes=3), "unknown key `minutes`"),
        ('title = "T"\n' + unit("1_a"), "`1_a` is not a unit name"),
        ('title = "T"\n' + unit("01_A"), "`01_A` is not a unit name"),
        ('title = "T"\n' + unit("01_a") + unit("01_a"), "the name 01_a is taken"),
        ('title = "T"\n' + unit("01_a") + unit("01_b"), "the number 01 is taken by 01_a"),
        ('title = "T"\n' + unit("01_a") + unit("02_a"), "the stem a is taken by 01_a"),
        ('title = "T"\n' + unit("01_a", needs=["02_b"]), "needs `02_b`, which no unit is called"),
        ('title = "T"\n' + unit("01_a", needs=["02_b"]) + unit("02_b"), "needs `02_b`, which comes later"),
    ],
)
def test_each_fault_of_the_outline_is_said(course, text, said):
    (found,) = faults(course, text)
    assert found.startswith("sources/course.toml: ")
    assert said in found


def test_all_faults_are_said_at_once(course):
    assert len(faults(course, unit("x", title=None) + unit("02_b", needs=["03_c"]))) == 4


def test_a_missing_outline_is_one_line(course):
    course.outline.unlink()
    assert [str(fault) for fault in read_course(course.root)[1]] == [
        "sources/course.toml: the file is missing; it names the course's units"
    ]


def test_units_without_files_and_files_without_units(course):
    course.lesson.rename(course.lesson.with_name("02_cubes.py"))
    read, _ = read_course(course.root)
    (missing,) = missing_sources(course.root, read.units)
    assert str(missing).startswith("sources/lessons/01_squares.py: the file is missing")
    (unnamed,) = unnamed_sources(course.root, read)
    assert str(unnamed).startswith("sources/lessons/02_cubes.py: no unit")
    assert "known: 01_squares" in str(unnamed)
