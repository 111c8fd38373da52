"""Unit 01 in a real JupyterLab, operated as a learner does it: by keyboard, with right and wrong answers."""

from __future__ import annotations

import base64
import io
import math
import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import matplotlib.image
import nbformat
import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect

from course_utils.checks.catalogue import find
from course_utils.widgets.status import CUT_OFF

UNIT = "01_one_operation"
ROOT = Path(__file__).resolve().parents[2]
LESSON = nbformat.read(ROOT / "notebooks" / f"{UNIT}.ipynb", as_version=4)
EXERCISES = nbformat.read(ROOT / "exercises" / f"{UNIT}.ipynb", as_version=4)
SOLUTIONS = nbformat.read(ROOT / "solutions" / f"{UNIT}.ipynb", as_version=4)
# what the explorer's operations do to the right gradients; nothing, if no words follow the formula
CHANGES = {
    "": lambda incoming, x, y: (incoming * x, incoming * y),
    "gradients swapped": lambda incoming, x, y: (incoming * y, incoming * x),
    "incoming forgotten": lambda incoming, x, y: (x, y),
}
SENTENCES = re.compile(
    r"(?P<title>.+) at x = (?P<x>\S+), y = (?P<y>\S+) gives z = (?P<z>\S+)\. "
    r"An incoming gradient of (?P<incoming>\S+) goes back as (?P<grad_x>\S+) for x and (?P<grad_y>\S+) for y\. "
)
BROKEN_WIDGET = re.compile(
    "Loading widget|Error displaying widget|Error creating widget|model not found", re.IGNORECASE
)
# text whose contrast with what lies behind it is below the 4.5 to 1 of WCAG AA
FAINT_TEXT = """output => {
    const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    const rgba = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
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
    for (const element of output.querySelectorAll('*')) {
        const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data.trim()).join(' ').trim();
        if (!text || !element.checkVisibility() || element.closest('style, :disabled')) continue;
        const [a, b] = [light(rgba(getComputedStyle(element).color)), light(behind(element))];
        const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (contrast < 4.5) faint.push(`${contrast.toFixed(1)}: ${text.slice(0, 60)}`);
    }
    return faint;
}"""


def named(notebook, *, tag=None, start=""):
    """The code cells whose name begins so and which have the tag, by name."""
    cells = {cell.metadata["name"]: cell for cell in notebook.cells if "name" in cell.metadata}
    return {
        name: cell
        for name, cell in cells.items()
        if name.startswith(start) and (tag is None or tag in cell.metadata.get("tags", []))
    }


def last_output(cell):
    return cell.outputs[-1].data["text/plain"]


@pytest.fixture(scope="module")
def as_cloned(new_lab_page, lab):
    """The lesson as a fresh clone shows it: nothing has run, and JupyterLab does not trust it."""
    with new_lab_page() as page:
        page.open(lab.fresh_copy(f"notebooks/{UNIT}.ipynb", "as_cloned"))
        yield page


@pytest.fixture(scope="module")
def lesson(new_lab_page, lab):
    """The lesson with all its cells run; each test takes its own part of it."""
    with new_lab_page() as page:
        page.open(lab.fresh_copy(f"notebooks/{UNIT}.ipynb", "lesson"))
        page.run_all()
        yield page


@pytest.fixture(scope="module")
def exercises(new_lab_page, lab):
    """The unsolved exercises with all their cells run."""
    with new_lab_page() as page:
        page.open(lab.fresh_copy(f"exercises/{UNIT}.ipynb", "exercises"))
        page.run_all()
        yield page


@dataclass(frozen=True)
class Explorer:
    """The explorer on the page: its controls, and what it says."""

    cell: Locator

    @property
    def operation(self) -> Locator:
        return self.cell.get_by_role("combobox")

    @property
    def picture(self) -> Locator:
        return self.cell.locator("img")

    @property
    def status(self) -> Locator:
        return self.cell.get_by_role("status")

    def slider(self, label: str) -> Locator:
        return self._row(label).get_by_role("slider")

    def value(self, label: str) -> float:
        """The number beside a slider; its `aria-valuenow` is rounded."""
        return float(self._row(label).locator(".widget-readout").inner_text())

    def _row(self, label: str) -> Locator:
        return self.cell.locator(".widget-slider").filter(has=self.cell.page.get_by_text(label, exact=True))

    def says(self, **values: float) -> dict[str, str]:
        """What is written below the picture, once that gives these values; the picture says the same."""
        for name, value in values.items():
            words = f"incoming gradient of {value:g} " if name == "incoming" else f"{name} = {value:g}"
            expect(self.status).to_contain_text(words)
        text = self.status.inner_text()
        expect(self.picture).to_have_attribute("alt", text)
        found = SENTENCES.match(text)
        assert found, text
        said = found.groupdict()
        drawn = self.drawn()
        for label in ("z = {z}", "gradient of x: {grad_x}", "gradient of y: {grad_y}"):
            assert label.format(**said) in drawn
        return said

    def drawn(self) -> str:
        """The SVG of the picture, as text."""
        return base64.b64decode(self.picture.get_attribute("src").partition("base64,")[2]).decode()


@pytest.fixture
def explorer(lesson):
    """The explorer as it stands when its cell has just run."""
    lesson.run("explorer")
    shown = Explorer(lesson.cell("explorer"))
    expect(shown.status).to_be_visible()
    return shown


@pytest.fixture(scope="module")
def in_notebook_7(new_notebook_7_page, lab):
    """The lesson in Notebook 7, as a fresh clone shows it."""
    with new_notebook_7_page() as page:
        page.open(lab.fresh_copy(f"notebooks/{UNIT}.ipynb", "in_notebook_7"))
        yield page


def assert_true(said):
    """The numbers are those which autograd gives for the formula in the operation's title."""
    formula, _, change = said["title"].partition(", ")
    x, y = (torch.tensor(float(said[name]), dtype=torch.float64, requires_grad=True) for name in ("x", "y"))
    z = eval(formula, {"x": x, "y": y})
    right = torch.autograd.grad(z, (x, y))
    expected = [z.item(), *CHANGES[change](float(said["incoming"]), *map(float, right))]
    assert [float(said[name]) for name in ("z", "grad_x", "grad_y")] == pytest.approx(expected, rel=1e-4)


def test_before_anything_runs_the_stored_picture_is_there_with_its_text(as_cloned):
    assert_stored_picture_is_shown(as_cloned)


def assert_stored_picture_is_shown(page):
    picture = page.cell("explorer").locator("img")
    picture.scroll_into_view_if_needed()
    expect(picture).to_be_visible()
    stored = named(LESSON)["explorer"].outputs[0].data["text/plain"]
    expect(picture).to_have_attribute("alt", stored)
    assert is_drawn(picture)
    assert not BROKEN_WIDGET.search(page.page.locator("body").inner_text())
    assert page.errors() == []


def is_drawn(picture):
    """Whether the browser could decode the image, which it cannot if the SVG is broken."""
    return picture.evaluate("image => image.complete && image.naturalWidth > 100")


def test_before_anything_runs_no_fold_gives_its_answer_away(as_cloned):
    revealing = named(LESSON, tag="reveal")
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


def test_every_cell_runs_without_an_error(lesson):
    assert lesson.errors() == []
    prompts = lesson.page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts()
    assert len(prompts) == sum(cell.cell_type == "code" for cell in LESSON.cells)
    assert all(re.fullmatch(r"\[\d+\]:", prompt) for prompt in prompts)
    assert not BROKEN_WIDGET.search(lesson.page.locator("body").inner_text())


@pytest.mark.parametrize(("label", "name"), [("x", "x"), ("y", "y"), ("incoming gradient", "incoming")])
def test_a_slider_moved_by_keyboard_changes_the_picture(explorer, label, name):
    assert_slider_moves_by_keyboard(explorer, label, name)


def assert_slider_moves_by_keyboard(explorer, label, name):
    before = explorer.says()
    assert_true(before)
    drawn = explorer.drawn()
    slider = explorer.slider(label)
    slider.focus()
    expect(slider).to_be_focused()
    for _ in range(3):
        slider.page.keyboard.press("ArrowLeft")
    value = explorer.value(label)
    assert value < float(before[name])
    after = explorer.says(**{name: value})
    assert_true(after)
    moved = {key for key in before if before[key] != after[key]}
    assert moved == ({"incoming", "grad_x", "grad_y"} if name == "incoming" else {name, "z", "grad_x", "grad_y"})
    assert explorer.drawn() != drawn
    slider.page.keyboard.press("ArrowRight")
    back = explorer.says(**{name: explorer.value(label)})
    assert float(back[name]) > value


def test_in_notebook_7_too_the_explorer_is_there_before_and_after_it_runs(in_notebook_7):
    assert_stored_picture_is_shown(in_notebook_7)
    in_notebook_7.run_all()
    in_notebook_7.run("explorer")
    explorer = Explorer(in_notebook_7.cell("explorer"))
    expect(explorer.status).to_be_visible()
    assert_slider_moves_by_keyboard(explorer, "x", "x")
    expect(in_notebook_7.cell("explorer")).to_have_class(re.compile("jp-mod-active"))  # the keys moved no cell
    assert in_notebook_7.errors() == []


def test_the_operation_is_chosen_by_keyboard(explorer):
    titles = explorer.operation.locator("option").evaluate_all("options => options.map(option => option.value)")
    assert len(titles) > 1
    assert_true(explorer.says())
    explorer.operation.focus()
    for before, title in pairwise(titles):
        expect(explorer.operation).to_have_value(before)
        for key in ("Space", "ArrowDown", "Enter"):  # on macOS a closed list does not take the arrow keys
            explorer.operation.page.keyboard.press(key)
        expect(explorer.status).to_contain_text(f"{title} at ")
        assert_true(explorer.says())


def test_a_wrong_backward_is_seen_to_disagree(explorer):
    assert "DISAGREE" not in explorer.status.inner_text()
    explorer.operation.select_option("(x * y)**2, gradients swapped")
    expect(explorer.status).to_contain_text("DISAGREE")
    assert "disagree" in explorer.drawn().lower()


@pytest.fixture(params=named(LESSON, start="predict_"))
def question(request, lesson):
    """The names of a question's cell and of the cell that answers it, with the question newly asked."""
    variable = named(LESSON)[request.param].source.partition(" = predict(")[0]
    (reveal,) = (name for name, cell in named(LESSON, tag="reveal").items() if f"{variable}.reveal(" in cell.source)
    lesson.run(request.param)
    return request.param, reveal


def test_a_prediction_kept_by_keyboard_is_taken_up_by_the_reveal(lesson, question):
    asked, reveal = lesson.cell(question[0]), question[1]
    button = asked.get_by_role("button", name="Keep my prediction")
    expect(button).to_be_enabled()
    if asked.get_by_role("radio").count():
        kept, says = choose(lesson, asked, reveal)
    else:
        kept, says = type_numbers(lesson, asked, reveal)
    expect(asked.get_by_role("status")).to_have_text(f"{kept} Now run the next cell.")
    expect(button).to_be_disabled()
    lesson.run(reveal)
    expect(lesson.cell(reveal).locator(".jp-OutputPlaceholder")).to_have_count(0)  # JupyterLab unfolds what runs
    expect(lesson.cell(reveal).locator(".jp-OutputArea-output").last.locator("p")).to_have_text(says)


def choose(lesson, asked, reveal):
    """Keeps the second choice; the sentences that should follow, at once and in the reveal."""
    right = re.match(r"It is: (.+) \(no prediction kept", last_output(named(LESSON)[reveal]))[1]
    keyboard = lesson.page.keyboard
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


def tab_to(control):
    """Moves the focus with the Tab key to a control not far away."""
    for _ in range(5):
        if control.evaluate("element => element === document.activeElement"):
            return
        control.page.keyboard.press("Tab")
    expect(control).to_be_focused()


def type_numbers(lesson, asked, reveal):
    """Keeps right numbers and a wrong last one, after one that is none; the sentences that should follow."""
    numbers = re.findall(r"is (\S+?)(?:,| \()", last_output(named(LESSON)[reveal]))
    fields = asked.locator(".widget-text input").all()
    names = [label.removesuffix(" =") for label in asked.locator(".widget-text .widget-label").all_inner_texts()]
    button = asked.get_by_role("button", name="Keep my prediction")
    said = asked.get_by_role("status")
    keyboard = lesson.page.keyboard
    fields[0].focus()
    for typed in ("five", *numbers[1:-1], "1/3"):
        keyboard.type(typed)
        keyboard.press("Tab")
    expect(button).to_be_focused()
    keyboard.press("Space")
    expect(said).to_have_text(f'{names[0]}: "five" is not a number. Write it as 36, -1.5 or 1/3.')
    fields[0].fill(numbers[0])
    tab_to(button)
    keyboard.press("Space")
    right = [f"You predicted {n} = {v}, and that is right." for n, v in zip(names[:-1], numbers[:-1], strict=True)]
    wrong = f"You predicted {names[-1]} = 1/3. It is {numbers[-1]}."
    pairs = zip(names, [*numbers[:-1], "1/3"], strict=True)
    return f"You predicted {', '.join(f'{n} = {v}' for n, v in pairs)}.", [*right, wrong]


def test_the_picture_can_be_seen_in_both_themes(lesson, explorer):
    seen = {}
    for theme in ("dark", "light"):
        lesson.set_theme(theme)
        seen[theme] = pixels(explorer.picture)
    inside = seen["light"][20:-20, 20:-20]
    assert len(np.unique(inside.reshape(-1, inside.shape[-1]), axis=0)) > 20
    # opaque: nothing of the theme shines through
    assert np.array_equal(inside, seen["dark"][20:-20, 20:-20])


def pixels(picture):
    picture.scroll_into_view_if_needed()
    return matplotlib.image.imread(io.BytesIO(picture.screenshot()))[..., :3]


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("notebook", ["lesson", "exercises"])
def test_no_text_in_an_output_is_faint(request, notebook, theme):
    page = request.getfixturevalue(notebook)
    page.set_theme(theme)
    try:
        outputs = page.page.locator(".jp-OutputArea-output")
        assert outputs.count()
        assert [text for output in outputs.all() for text in output.evaluate(FAINT_TEXT)] == []
    finally:
        page.set_theme("light")


def test_after_a_restart_the_controls_are_marked_as_cut_off_until_the_cell_runs_again(lesson, explorer):
    mark = "element => getComputedStyle(element, '::before').content"
    slider = explorer.cell.locator(".widget-slider").first
    assert slider.evaluate(mark) == "none"
    lesson.restart_kernel()
    line = explorer.cell.locator(".course-status")
    expect(line).to_have_class(re.compile("jupyter-widgets-disconnected"))
    assert CUT_OFF in line.evaluate("element => getComputedStyle(element, '::after').content")
    for control in explorer.cell.locator(".widget-slider, .widget-dropdown").all():
        expect(control).to_have_class(re.compile("jupyter-widgets-disconnected"))
        assert control.evaluate(mark) != "none"  # ipywidgets' sign of a broken chain
    lesson.run_all()
    assert slider.evaluate(mark) == "none"
    explorer.slider("x").focus()
    lesson.page.keyboard.press("ArrowLeft")
    assert_true(explorer.says(x=explorer.value("x")))


def test_unsolved_exercises_run_and_every_check_says_not_attempted_yet(exercises):
    assert exercises.errors() == []
    checks = named(EXERCISES, tag="check")
    assert len(checks) >= 7
    for name in checks:
        expect(exercises.cell(name).locator(".jp-OutputArea-output")).to_contain_text("Not attempted yet")


def test_a_wrong_answer_is_diagnosed_its_hints_open_one_by_one_and_a_right_one_is_right(exercises):
    name, solution = next(iter(named(SOLUTIONS, tag="answer").items()))
    right = "return grad_x, grad_y"
    assert right in solution.source
    exercises.write(name, solution.source.replace(right, "return grad_y, grad_x"))
    run_with_check(exercises, name)
    result = exercises.cell(f"{name}.check").locator(".jp-OutputArea-output")
    expect(result).to_contain_text("Not right yet")
    (swapped,) = (m for m in find(name).misconceptions if m.label == "swapped_partials")
    expect(result).to_contain_text(swapped.says.replace("`", ""))

    hints = result.locator("details")
    summaries = result.locator("summary")
    later = [False] * (len(find(name).hints) - 1)
    assert hints.evaluate_all("all => all.map(hint => hint.open)") == [False, *later]
    assert [summary.is_visible() for summary in summaries.all()] == [True, *later]
    summaries.first.focus()
    exercises.page.keyboard.press("Space")
    expect(summaries.nth(1)).to_be_visible()
    assert hints.evaluate_all("all => all.map(hint => hint.open)") == [True, *later]

    exercises.write(name, solution.source)
    run_with_check(exercises, name)
    expect(result).to_contain_text("✔ Right")
    expect(result.locator("details")).to_have_count(0)
    assert exercises.errors() == []


def run_with_check(page, name):
    page.run(name)
    page.run(f"{name}.check")
