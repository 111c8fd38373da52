"""Unit 08 in a real JupyterLab: the kink explorer by mouse and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .every_unit import EveryUnit
from .stored import StoredUnit, named

UNIT = StoredUnit("08_kinks")


class TestUnit08(EveryUnit):
    """What holds for every unit."""


@pytest.fixture
def explorer(lesson):
    """The cell of the explorer, which has just run: its point stands at -0.5."""
    lesson.run("kink_explorer")
    cell = lesson.cell("kink_explorer")
    expect(cell.get_by_role("status")).to_contain_text("relu at x = -0.5")
    return cell


def test_the_point_is_moved_over_the_kink_by_keyboard(explorer):
    slider = explorer.get_by_role("slider", name="x")
    said = explorer.get_by_role("status")
    slider.focus()
    for place in range(-45, 1, 5):
        slider.page.keyboard.press("ArrowRight")
        expect(said).to_contain_text(f"relu at x = {place / 100:g}:")
    expect(said).to_contain_text("The slope is 0 on the left and 1 on the right: a kink.")
    expect(said).to_contain_text("torch gives 0.")
    slider.page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("The slope is 1 on both sides. torch gives 1, too.")


def test_another_function_is_chosen_and_the_picture_says_what_the_status_says(explorer):
    slider = explorer.get_by_role("slider", name="x")
    slider.focus()
    for _ in range(10):
        slider.page.keyboard.press("ArrowRight")
    choice = explorer.get_by_role("combobox", name="function")
    for title, words in (
        ("relu(x) - relu(-x)", "torch gives 0, which is not its slope."),
        ("abs", "The slope is -1 on the left and 1 on the right"),
        ("min(x, 0)", "stays above the curve"),
        ("sqrt", "torch gives inf."),
    ):
        choice.select_option(title)
        said = explorer.get_by_role("status")
        expect(said).to_contain_text(f"{title} at x = 0:")
        expect(said).to_contain_text(words)
        expect(explorer.locator("img")).to_have_attribute("alt", said.inner_text())


def test_a_wrong_answer_is_diagnosed_and_a_right_one_is_right(exercises):
    solved = named(UNIT.solutions)
    shown = exercises.cell("mend_entropy.check").locator(".jp-OutputArea-output")
    wrong = "def entropy(p):\n    return (-p * (p + 1e-8).log()).sum()"
    exercises.write("mend_entropy", wrong)
    exercises.run_check("mend_entropy")
    expect(shown).to_contain_text("at 0 the gradient is now minus the logarithm of your small number")
    exercises.write("mend_entropy", solved["mend_entropy"].source)
    exercises.run_check("mend_entropy")
    expect(shown).to_contain_text("✔ Right")
    assert exercises.errors() == []
