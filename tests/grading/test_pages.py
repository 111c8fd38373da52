"""The pages for students and for the instructor: what they say, what they never say, and that nothing in them runs."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from course_utils.checks.catalogue import all_exercises, find
from course_utils.checks.evidence import as_text, gather
from course_utils.grading.class_page import class_page
from course_utils.grading.explain import explain
from course_utils.grading.report import Row
from course_utils.grading.student_page import student_page
from course_utils.grading.verdict import Graded, judge_text
from course_utils.grading.write import file_name, write_reports

UNIT = "01_one_operation"
SEED = 5
HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\u202e"


def seen(name, answer):
    """The outcome of an answer with its evidence, as the store would give it back."""
    exercise = find(name)
    text = as_text(gather(exercise, answer, SEED))
    one = judge_text(exercise, text, SEED)
    return Graded(one.exercise, one.status, one.points, one.label, one.note, text)


def witness(name, label):
    return next(one.witness for one in find(name).misconceptions if one.label == label)


class Reader(HTMLParser):
    """The page's tags, its headings' levels, and the text that a person reads."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.said, self.open = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.said).split())

    @property
    def levels(self):
        return [int(tag[1]) for tag in self.tags if re.fullmatch("h[1-6]", tag)]


@pytest.fixture(scope="module")
def rows():
    right = [Graded(one.name, "right", one.points) for one in all_exercises().values() if one.unit == UNIT]
    wrong = {
        "square_times_cube": seen("square_times_cube", witness("square_times_cube", "swapped_partials")),
        "predict_messages": seen("predict_messages", (8.0, -4.0)),
        "mean_backward": seen("mean_backward", lambda incoming, x: HOSTILE),
        "matmul_backward": Graded("matmul_backward", "crashed", 0, note=f"ValueError: {HOSTILE}"),
        "sum_to_shape": Graded("sum_to_shape", "not run", None, note="an earlier cell had ended the kernel"),
        "bias_backward": Graded("bias_backward", "wrong", 1.5, overridden=f"talked {HOSTILE}"),
    }
    ben = tuple(wrong.get(one.exercise, one) for one in right)
    return [
        Row("Anna", "anna.ipynb", UNIT, tuple(right)),
        Row(f"Ben {HOSTILE}", "ben.ipynb", UNIT, ben, notes=(f"renamed {HOSTILE}",), days_late=2, deduction=1.0),
        Row("Eve", "eve.ipynb", "", fault=f"no notebook {HOSTILE}"),
        Row("Nobody", "", UNIT, tuple(Graded(one.exercise, "missing", 0) for one in right)),
    ]


@pytest.fixture(scope="module", params=["student", "unreadable", "class"])
def page(request, rows):
    if request.param == "class":
        return class_page(rows)
    return student_page(rows[1 if request.param == "student" else 2], SEED)


def test_nothing_runs_and_nothing_comes_from_elsewhere(page):
    reader = Reader(page)
    assert reader.open == []  # every tag is closed, so no text of a learner's has opened or closed one
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name.startswith("on") or name in ("src", "href")]
    assert "url(" not in page
    assert "@import" not in page
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in reader.attributes
    assert "\u202e" not in page  # would turn around what is read after it


def test_a_page_has_a_language_a_title_one_first_heading_and_no_level_left_out(page):
    reader = Reader(page)
    assert ("lang", "en") in reader.attributes
    assert reader.tags.count("title") == reader.tags.count("main") == 1
    assert reader.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(reader.levels, reader.levels[1:], strict=False))
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_a_table_that_is_too_wide_is_scrolled_by_itself_and_by_keyboard(rows):
    reader = Reader(class_page(rows))
    for wanted in (("class", "wide"), ("tabindex", "0"), ("aria-label", "Exercises, the hardest first")):
        assert wanted in reader.attributes
    assert reader.attributes.count(("class", "wide")) == reader.tags.count("table")


def test_a_student_reads_points_inputs_theirs_expected_and_the_idea(rows):
    said = Reader(student_page(rows[1], SEED)).text
    result = explain(rows[1].graded[0], SEED)
    assert f"{rows[1].points:g} of 22 points" in said
    for part in ("with incoming", "with x", "gradient of x, yours", "expected", result.diagnosis.says.replace("`", "")):
        assert part in said
    assert "late by 2 days: -1 points" in said
    assert f"renamed {HOSTILE[:-1]}" in said
    assert "Points given by hand: talked" in said
    assert "Nobody can say yet how many points are due" in said


def test_what_was_to_be_predicted_is_not_given_away(rows):
    predicted = rows[1].graded[1]
    assert predicted.exercise == "predict_messages"
    said = Reader(student_page(Row("Ben", "b.ipynb", UNIT, (predicted,)), SEED)).text
    assert "gradient of x, yours" in said
    assert "expected" not in said
    assert "-24" not in said


@pytest.mark.parametrize(
    "evidence", ["", "{}", '{"saw": "gradients", "value": null}', "x" * 1000, '{"saw": "gradients", "value": {"a": 1}}']
)
def test_evidence_of_any_form_makes_a_page(evidence):
    graded = Graded("square_times_cube", "wrong", 0, evidence=evidence)
    assert "Not right" in Reader(student_page(Row("x", "x.ipynb", UNIT, (graded,)), SEED)).text


def test_the_class_page_names_what_is_open_what_was_hard_and_whom_to_talk_to(rows):
    said = Reader(class_page(rows)).text
    assert "eve.ipynb unreadable: no notebook" in said
    assert "2 submissions; half of them have 22 points or more, of 22. Nothing was handed in by 1: Nobody." in said
    assert f"swapped_partials 1 Ben {HOSTILE[:-1]} Both formulas are right" in said
    hardest = said.split("the hardest first")[1]
    assert hardest.index(find("square_times_cube").title) < hardest.index(find("mend_quotient").title)


def test_every_row_has_a_page_and_who_is_gone_has_none(rows, tmp_path):
    write_reports(rows, tmp_path, SEED)
    assert len(list((tmp_path / "students").glob("*.html"))) == len(list((tmp_path / "gradescope").iterdir())) == 4
    write_reports(rows[:1], tmp_path, SEED)
    (page,) = (tmp_path / "students").iterdir()
    assert page.read_text("utf-8") == student_page(rows[0], SEED)
    assert {path.name for path in tmp_path.iterdir()} >= {"canvas.csv", "moodle.csv", "junit.xml", "class.html"}


@pytest.mark.parametrize("student", ["../../etc/passwd", "CON", "a/b\\c", "", ".", "x" * 500, "李雷", 'a"<>|?*\n'])
def test_a_students_name_is_never_a_path(student):
    name = file_name(Row(student, "x.ipynb", UNIT))
    assert re.fullmatch(r"[\w.-]{1,120}", name)
    assert not name.startswith(".")
    assert name != file_name(Row(f"{student}?", "x.ipynb", UNIT))
