"""Unit 01 in a real JupyterLab, operated as a learner does it: by keyboard, with right and wrong answers."""

from __future__ import annotations

import base64
import io
import re
from dataclasses import dataclass
from itertools import pairwise

import matplotlib.image
import numpy as np
import pytest
import torch
from playwright.sync_api import Locator, expect

from course_utils.checks.catalogue import find
from course_utils.widgets.status import CUT_OFF

from .every_unit import FirstUnit
from .stored import StoredUnit, last_output, named

UNIT = StoredUnit("01_one_operation")
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


class TestUnit01(FirstUnit):
    """What holds for every unit."""


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
        page.open(lab.fresh_copy(f"notebooks/{UNIT.name}.ipynb", "in_notebook_7"))
        yield page


def assert_true(said):
    """The numbers are those which autograd gives for the formula in the operation's title."""
    formula, _, change = said["title"].partition(", ")
    x, y = (torch.tensor(float(said[name]), dtype=torch.float64, requires_grad=True) for name in ("x", "y"))
    z = eval(formula, {"x": x, "y": y})
    right = torch.autograd.grad(z, (x, y))
    expected = [z.item(), *CHANGES[change](float(said["incoming"]), *map(float, right))]
    assert [float(said[name]) for name in ("z", "grad_x", "grad_y")] == pytest.approx(expected, rel=1e-4)


def test_before_anything_runs_the_picture_says_what_the_text_says(as_cloned):
    assert_picture_says_what_the_text_says(as_cloned)


def assert_picture_says_what_the_text_says(page):
    stored = last_output(named(UNIT.lesson)["explorer"])
    expect(page.cell("explorer").locator("img")).to_have_attribute("alt", stored)


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
    assert_picture_says_what_the_text_says(in_notebook_7)
    picture = in_notebook_7.cell("explorer").locator("img")
    assert picture.evaluate("image => image.complete && image.naturalWidth") > 100
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


def test_the_picture_can_be_seen_in_both_themes(lesson, explorer):
    seen = {}
    for theme in ("dark", "light"):
        lesson.set_theme(theme)
        seen[theme] = pixels(explorer.picture)
    inside = seen["light"][20:-20, 20:-20]
    assert len(np.unique(inside.reshape(-1, inside.shape[-1]), axis=0)) > 20
    # opaque: nothing of the theme shines through; an edge may be drawn a part of a pixel elsewhere
    same = np.isclose(inside, seen["dark"][20:-20, 20:-20], atol=0.02).all(axis=-1)
    assert same.mean() > 0.95


def pixels(picture):
    picture.scroll_into_view_if_needed()
    return matplotlib.image.imread(io.BytesIO(picture.screenshot()))[..., :3]


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


def test_a_wrong_answer_is_diagnosed_its_hints_open_one_by_one_and_a_right_one_is_right(exercises):
    name, solution = next(iter(named(UNIT.solutions, tag="answer").items()))
    right = "return grad_x, grad_y"
    assert right in solution.source
    exercises.write(name, solution.source.replace(right, "return grad_y, grad_x"))
    exercises.run_check(name)
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
    exercises.run_check(name)
    expect(result).to_contain_text("✔ Right")
    expect(result.locator("details")).to_have_count(0)
    assert exercises.errors() == []
