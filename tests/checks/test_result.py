"""A result is one line of text, and sound HTML in which nothing of the learner's is taken for markup."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
import torch

from course_utils.checks import check
from course_utils.checks.catalogue import all_exercises, find
from course_utils.checks.checking import examine
from course_utils.checks.evidence import call, numbers_of
from course_utils.checks.plain import RELATIVE_TOLERANCE
from course_utils.checks.result import hints_html, paragraphs

VOID = {"br", "img", "hr"}


class Tree(HTMLParser):
    """Refuses elements that are not closed in order; keeps their path, and the text by path."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.paths: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
            self.paths.append("/".join(self.open))

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        self.text += data


def shouts(*inputs):
    print("<script>alert(1)</script> & \ud800 more")
    raise ValueError("<b>bold</b>\nsecond line")


ANSWERS = {
    "stub": ...,
    "raises": shouts,
    "none": lambda *inputs: None,
    "zeros": lambda *inputs: tuple(torch.zeros_like(value) for value in inputs[1:] if isinstance(value, torch.Tensor)),
    "text": "<i>text</i>\nin two lines",
    "witness": None,
}


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("name", all_exercises())
def test_every_result_is_one_line_of_text_and_sound_html(name, kind):
    exercise = find(name)
    answer = exercise.misconceptions[0].witness if kind == "witness" else ANSWERS[kind]
    bundle = check(name, answer)._repr_mimebundle_()
    assert len(bundle["text/plain"].splitlines()) == 1
    assert name in bundle["text/plain"]
    assert exercise.title in Tree(bundle["text/html"]).text


@pytest.mark.parametrize("name", all_exercises())
def test_a_right_result_says_the_points_and_no_more(name, root):
    from course_utils.checks.proof import find_solution

    result = check(name, find_solution(find(name), root).answer())
    points = "1 point" if find(name).points == 1 else f"{find(name).points} points"
    assert repr(result) == f"✔ {name}: right, {points}"
    assert result.points == find(name).points
    assert "details" not in result.html()


def test_text_of_the_learners_is_no_markup():
    html = check("bias_backward", shouts).html()
    assert "<script" not in html
    assert "<b>" not in html
    assert "<script>alert(1)</script> & \\ud800 more" in Tree(html).text
    assert "second line" in Tree(html).text
    assert "<i>" not in check("choose_addition", "<i>b</i>").html()


def test_the_learners_own_exception_is_shown_with_its_line():
    text = Tree(check("bias_backward", shouts).html()).text
    assert 'raise ValueError("<b>bold</b>' in text
    assert "ValueError: <b>bold</b>" in text


def test_much_that_was_printed_is_cut_to_its_end():
    def talk(*inputs):
        print("x" * 10**6, "last words")

    html = check("bias_backward", talk).html()
    assert len(html) < 20_000
    assert "last words" in html


def test_hints_are_closed_and_open_one_inside_the_other():
    tree = Tree(hints_html(("one", "two `code`", "three")))
    assert [path for path in tree.paths if path.endswith("details")] == [
        "details",
        "details/div/details",
        "details/div/details/div/details",
    ]
    assert "open" not in dict(tree.attributes)
    assert [tree.text.index(text) for text in ("Hint 1 of 3", "one", "Hint 2 of 3", "two code", "three")] == sorted(
        tree.text.index(text) for text in ("Hint 1 of 3", "one", "Hint 2 of 3", "two code", "three")
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("the *other* factor", "the <em>other</em> factor"),
        ("*No*.", "<em>No</em>."),
        ("2*x*y**2 and 2*x**2*y", "2*x*y**2 and 2*x**2*y"),
        ("x**2 * y**3", "x**2 * y**3"),
        ("`a *b* c` < *d*", "<code>a *b* c</code> &lt; <em>d</em>"),
    ],
)
def test_stress_is_no_star_and_a_product_is_no_stress(text, html):
    assert paragraphs(text) == html


def test_no_hints_leave_no_trace():
    assert hints_html(()) == ""


@pytest.mark.parametrize("tells", [True, False])
def test_an_expected_value_shows_only_where_it_may(make_exercise, tells):
    def probe(answer, draw):
        yield numbers_of("prediction", answer, parts=("gradient of x", "gradient of y"))

    exercise = make_exercise(probe=probe, truth=(271.5, 83.25), misconceptions=(), tells_expected=tells)
    for answer in ((1, 2), (271.5, 2), (1, 83.25), 7, "7", (1, 2, 3), (543, 166.5), (83.25, 271.5)):
        result = examine(exercise, answer, 1)
        given = repr(answer)
        hidden = [number for number in ("271.5", "83.25") if number not in given]
        shown = repr(result) + result.html()
        if not tells:
            assert not any(number in shown for number in hidden)
            assert "expected" not in repr(result)
        elif answer == (1, 2):
            assert "271.5" in repr(result)
            assert "271.5" in result.html()


@pytest.mark.parametrize("name", [name for name, exercise in all_exercises().items() if not exercise.tells_expected])
def test_no_misconception_tells_a_prediction(name):
    exercise = find(name)
    for misconception in exercise.misconceptions:
        result = check(name, misconception.witness)
        assert "expected" not in repr(result)
        assert ">expected<" not in result.html()


def test_given_code_that_is_unchanged_shows_its_evidence_and_counts_as_not_attempted():
    result = check("mend_quotient", lambda incoming, x, y: (incoming / y, -x / y**2))
    assert (
        repr(result) == "○ mend_quotient: not attempted yet (it still does what the given code did), 2 points to earn"
    )
    assert "it still does what the given code did" in result.html()
    assert "gradient of y" in result.html()


def large(make_exercise, truth):
    def probe(answer, draw):
        yield call("gradient", answer, x=draw.tensor(6, 7))

    return make_exercise(probe=probe, truth=truth, misconceptions=())


def test_of_a_large_array_the_first_entry_that_differs_is_shown(make_exercise):
    def wrong(x):
        x = x.clone()
        x[2, 3] = 77.0
        return x

    result = examine(large(make_exercise, lambda x: x), wrong, 1)
    assert "yours 77 at [2, 3], expected" in repr(result)
    assert "77 at [2, 3]" in result.html()


def test_numbers_that_look_alike_are_said_to_differ(make_exercise):
    result = examine(large(make_exercise, lambda x: 1.0), lambda x: 1 + 2 * RELATIVE_TOLERANCE, 1)
    assert "(not the same in the later digits)" in repr(result)


def test_shape_and_dtype_are_told_where_they_are_the_difference(make_exercise):
    exercise = large(make_exercise, lambda x: x[0, :2])
    assert "of shape (1, 2), expected" in repr(examine(exercise, lambda x: x[:1, :2], 1))
    assert "of dtype float32, expected" in repr(examine(exercise, lambda x: x[0, :2].float(), 1))
