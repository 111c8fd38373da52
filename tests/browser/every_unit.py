"""What holds for the lesson and the exercises of every unit, in a real JupyterLab."""

from __future__ import annotations

import html
import math
import re

import pytest
from playwright.sync_api import expect

from course_utils.checks.catalogue import catalogue

from .stored import last_output, named

PICTURE_TEXT = re.compile(r'<img [^>]*?alt="([^"]*)"')
BROKEN_WIDGET = re.compile(
    "Loading widget|Error displaying widget|Error creating widget|model not found", re.IGNORECASE
)
BROKEN_PICTURE = """images => images
    .filter(image => image.checkVisibility() && !(image.complete && image.naturalWidth > 100))
    .map(image => image.alt)
"""
# text whose contrast with what lies behind it is below the 4.5 to 1 of WCAG AA
FAINT_TEXT = """outputs => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const known = new Map();
    const drawn = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const rgba = (colour) => {
        if (!known.has(colour)) known.set(colour, drawn(colour));
        return known.get(colour);
    };
    const light = ([r, g, b]) => {
        const [R, G, B] = [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
        return .2126 * R + .7152 * G + .0722 * B;
    };
    const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
            const colour = rgba(getComputedStyle(e).backgroundColor);
            if (colour[3] === 255) return colour;
        }
        return [255, 255, 255];
    };
    const faint = [];
    for (const element of outputs.flatMap(output => [...output.querySelectorAll('*')])) {
        const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join(' ').trim();
        if (!text || !element.checkVisibility() || element.closest('style, :disabled')) continue;
        const [a, b] = [light(rgba(getComputedStyle(element).color)), light(behind(element))];
        const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (contrast < 4.5) faint.push(`${contrast.toFixed(1)}: ${text.slice(0, 60)}`);
    }
    return faint;
}"""


class EveryUnit:
    """Tests that a unit's own test file inherits; they ask its `UNIT`.

    So each unit has one JupyterLab and one page for each notebook, and the units can be tested side by side.
    """

    def test_before_anything_runs_the_stored_pictures_are_there_with_their_texts(self, as_cloned, unit):
        stored = {name: texts for name, cell in named(unit.lesson).items() if (texts := picture_texts(cell))}
        assert stored
        for name, texts in stored.items():
            pictures = as_cloned.cell(name).locator(".jp-OutputArea-output img")
            expect(pictures).to_have_count(len(texts))
            for picture, text in zip(pictures.all(), texts, strict=True):
                picture.scroll_into_view_if_needed()
                expect(picture).to_be_visible()
                expect(picture).to_have_attribute("alt", text)
                assert is_drawn(picture), name
        assert not BROKEN_WIDGET.search(as_cloned.page.locator("body").inner_text())
        assert as_cloned.errors() == []

    def test_before_anything_runs_no_fold_gives_its_answer_away(self, as_cloned, unit):
        revealing = named(unit.lesson, tag="reveal")
        assert revealing
        telling = {}
        for name, stored in revealing.items():
            cell = as_cloned.cell(name)
            expect(cell.locator(".jp-OutputArea-output")).to_have_count(0)
            expect(cell.locator(".jp-OutputPlaceholder")).to_be_visible()
            # JupyterLab writes the first line of the output on the fold
            first_line = cell.locator(".jp-OutputPlaceholder").inner_text().strip()
            if ".reveal(" in stored.source and gives_away(first_line, last_output(stored)):
                telling[name] = first_line
        assert telling == {}

    def test_every_cell_runs_without_an_error(self, lesson, unit):
        assert lesson.errors() == []
        prompts = lesson.page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts()
        assert len(prompts) == sum(cell.cell_type == "code" for cell in unit.lesson.cells)
        assert all(re.fullmatch(r"\[\d+\]:", prompt) for prompt in prompts)
        assert not BROKEN_WIDGET.search(lesson.page.locator("body").inner_text())

    def test_in_both_themes_no_text_of_the_lesson_is_faint_and_every_picture_is_drawn(self, lesson):
        assert_readable_in_both_themes(lesson)

    def test_unsolved_exercises_run_and_every_check_says_not_attempted_yet(self, exercises, unit):
        assert exercises.errors() == []
        assert exercises.page.locator('[data-mime-type="application/vnd.jupyter.stdout"]').count() == 0
        checks = named(unit.exercises, tag="check")
        assert [name.removesuffix(".check") for name in checks] == list(catalogue()[unit.name.partition("_")[2]])
        for name in checks:
            expect(exercises.cell(name).locator(".jp-OutputArea-output")).to_contain_text("Not attempted yet")
        assert not BROKEN_WIDGET.search(exercises.page.locator("body").inner_text())


class FirstUnit(EveryUnit):
    """And what is made by the same code in all units, so that it is enough to operate it in the first."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "question" in metafunc.fixturenames:
            questions = named(metafunc.module.UNIT.lesson, start="predict_")
            metafunc.parametrize("question", one_of_each_kind(questions))

    def test_a_prediction_kept_by_keyboard_is_taken_up_by_the_reveal(self, lesson, unit, question):
        cells = named(unit.lesson)
        variable = cells[question].source.partition(" = predict(")[0]
        revealing = named(unit.lesson, tag="reveal").items()
        (reveal,) = (name for name, cell in revealing if f"{variable}.reveal(" in cell.source)
        lesson.run_above(reveal)
        asked = lesson.cell(question)
        button = asked.get_by_role("button", name="Keep my prediction")
        expect(button).to_be_enabled()
        operate = choose if asked.get_by_role("radio").count() else type_numbers
        kept, says = operate(asked, last_output(cells[reveal]))
        expect(asked.get_by_role("status")).to_have_text(f"{kept} Now run the next cell.")
        expect(button).to_be_disabled()
        lesson.run(reveal)
        expect(lesson.cell(reveal).locator(".jp-OutputPlaceholder")).to_have_count(0)  # JupyterLab unfolds what runs
        expect(lesson.cell(reveal).locator(".jp-OutputArea-output").last.locator("p")).to_have_text(says)

    def test_in_both_themes_no_text_of_the_exercises_is_faint(self, exercises):
        assert_readable_in_both_themes(exercises)


def assert_readable_in_both_themes(page):
    outputs = page.page.locator(".jp-OutputArea-output")
    assert outputs.count()
    try:
        for theme in ("light", "dark"):
            page.set_theme(theme)
            assert outputs.evaluate_all(FAINT_TEXT) == []
            assert outputs.locator("img").evaluate_all(BROKEN_PICTURE) == []
    finally:
        page.set_theme("light")


def one_of_each_kind(questions):
    """The names of the first question with choices and of the first with numbers, in the order of the lesson.

    tests/hash_seed.py answers all of them.
    """
    names = list(questions)
    kinds = {"choices=" in questions[name].source: name for name in reversed(names)}
    return sorted(kinds.values(), key=names.index)


def picture_texts(cell):
    """The text alternatives of the pictures that a cell has stored and does not fold away."""
    if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
        return []
    stored = "".join(output.get("data", {}).get("text/html", "") for output in cell.get("outputs", ()))
    return [html.unescape(text) for text in PICTURE_TEXT.findall(stored)]


def is_drawn(picture):
    """Whether the browser could decode the image, which it cannot if the SVG is broken."""
    return picture.evaluate("image => image.complete && image.naturalWidth > 100")


def gives_away(line, answer):
    """Whether a line holds all numbers of the answer, or the answer's own words."""
    told = answer.partition(" (no prediction kept")[0].removeprefix("It is: ")
    shown = numbers_in(line)
    right = numbers_in(told)
    if right:
        return all(any(math.isclose(one, other, rel_tol=0.01) for other in shown) for one in right)
    return told in line


def numbers_in(text):
    return [float(found) for found in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)]


def choose(asked, answer):
    """Keeps the second choice; the sentences that should follow, at once and in the reveal."""
    right = re.match(r"It is: (.+) \(no prediction kept", answer)[1]
    keyboard = asked.page.keyboard
    first, second = asked.get_by_role("radio").all()[:2]
    first.focus()
    keyboard.press("Space")
    expect(first).to_be_checked()
    keyboard.press("Tab")
    keyboard.press("Space")
    expect(second).to_be_checked()
    expect(first).not_to_be_checked()
    tab_to(asked.get_by_role("button", name="Keep my prediction"))
    keyboard.press("Space")
    choice = second.locator("xpath=..").inner_text().strip()
    kept = f"You predicted: {choice}."
    return kept, [f"{kept} That is right." if choice == right else f"{kept} It is: {right}."]


def type_numbers(asked, answer):
    """Keeps right numbers and a wrong last one, after one that is none; the sentences that should follow."""
    numbers = re.findall(r"is (\S+?)(?:,| \()", answer)
    fields = asked.locator(".widget-text input").all()
    names = [label.removesuffix(" =") for label in asked.locator(".widget-text .widget-label").all_inner_texts()]
    button = asked.get_by_role("button", name="Keep my prediction")
    said = asked.get_by_role("status")
    keyboard = asked.page.keyboard
    predicted = [*numbers[:-1], "1/3"]
    fields[0].focus()
    for typed in ("five", *predicted[1:]):
        keyboard.type(typed)
        keyboard.press("Tab")
    expect(button).to_be_focused()
    keyboard.press("Space")
    expect(said).to_have_text(f'{names[0]}: "five" is not a number. Write it as 36, -1.5 or 1/3.')
    fields[0].fill(predicted[0])
    tab_to(button)
    keyboard.press("Space")
    right = [f"You predicted {n} = {v}, and that is right." for n, v in zip(names[:-1], numbers[:-1], strict=True)]
    wrong = f"You predicted {names[-1]} = 1/3. It is {numbers[-1]}."
    pairs = zip(names, predicted, strict=True)
    return f"You predicted {', '.join(f'{n} = {v}' for n, v in pairs)}.", [*right, wrong]


def tab_to(control):
    """Moves the focus with the Tab key to a control not far away."""
    for _ in range(5):
        if control.evaluate("element => element === document.activeElement"):
            return
        control.page.keyboard.press("Tab")
    expect(control).to_be_focused()
