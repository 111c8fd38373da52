"""Unit 07 in a real JupyterLab: the stepper through the layer, and trainings played back, begun and stopped."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from urllib.parse import unquote

import pytest
from playwright.sync_api import Locator, expect

from course_utils.checks.catalogue import find

from .every_unit import EveryUnit
from .stored import StoredUnit, last_output, named

UNIT = StoredUnit("07_gradient_reversal")


class TestUnit07(EveryUnit):
    """What holds for every unit."""


@dataclass(frozen=True)
class Explorer:
    """The explorer of a training on the page: its controls, and what it says."""

    cell: Locator

    def says(self, words: str) -> str:
        """What is written below the picture, once it holds these words; the picture says the same."""
        status = self.cell.get_by_role("status")
        expect(status).to_contain_text(words)
        text = status.inner_text()
        assert text.endswith(self.picture.get_attribute("alt"))
        return text

    @property
    def picture(self) -> Locator:
        return self.cell.locator("img")

    @property
    def drawn(self) -> str:
        """The SVG of the picture, as text."""
        return base64.b64decode(self.picture.get_attribute("src").partition("base64,")[2]).decode()

    def slider(self, name: str) -> Locator:
        return self.cell.get_by_role("slider", name=name, exact=True)

    def press(self, name: str) -> None:
        """Press the button by keyboard."""
        self.cell.get_by_role("button", name=name, exact=True).press("Enter")

    def choose(self, seed: int, strength: float) -> None:
        """Set both controls by keyboard."""
        self.cell.get_by_label("seed", exact=True).select_option(str(seed))
        slider = self.slider("lambda")
        slider.focus()
        slider.press("Home")
        for _ in range(round(strength * 10)):
            slider.press("ArrowRight")
        expect(self.cell.get_by_role("textbox", name="lambda, as a number")).to_have_text(f"{strength:.1f}")


@pytest.fixture
def explorer(lesson):
    """The explorer as it stands when its cell has just run."""
    lesson.run("explorer")
    found = Explorer(lesson.cell("explorer"))
    expect(found.picture).to_be_visible()
    expect(found.cell.get_by_role("status")).not_to_be_empty()
    return found


def test_the_sign_changes_where_the_layer_is(lesson):
    lesson.run("stepper")
    stepper = lesson.cell("stepper").locator(".autograd-stepper")
    last = int(stepper.get_by_label("Step number").get_attribute("max"))
    stepper.focus()
    told = []
    for step in range(1, last + 1):
        stepper.page.keyboard.press("ArrowRight")
        expect(stepper).to_have_attribute("data-step", str(step))
        told.append(stepper.get_by_role("status").inner_text())
    (turned,) = (one for one in told if re.search(r"Reverse.* sends -3", one))
    assert "to h" in turned
    assert any("d.grad was empty. It is now 2" in one for one in told)
    assert any("w.grad was empty. It is now -3" in one for one in told)


@pytest.mark.parametrize("name", ["explorer", "failed", "source_only"])
def test_before_anything_runs_the_picture_says_what_the_text_says(as_cloned, name):
    stored = last_output(named(UNIT.lesson)[name])
    expect(as_cloned.cell(name).locator("img")).to_have_attribute("alt", stored)


def test_a_training_is_played_back_by_keyboard(explorer):
    explorer.says("After step 1000")
    end = explorer.drawn
    moment = explorer.slider("moment")
    moment.focus()
    moment.press("Home")
    explorer.says("After step 0: lambda 0.00.")
    moment.press("ArrowRight")
    explorer.says("After step 25:")
    assert explorer.drawn != end
    moment.press("End")
    explorer.says("After step 1000")
    assert explorer.drawn == end


def test_play_goes_through_the_moments(explorer):
    moment = explorer.slider("moment")
    moment.focus()
    moment.press("Home")
    explorer.says("After step 0:")
    explorer.cell.locator(".jupyter-widget-Play-playButton, .widget-play button").first.click()
    expect(explorer.cell.get_by_role("status")).to_contain_text(re.compile(r"After step [1-9]\d\d+:"))


def test_a_run_that_is_there_is_shown_at_once(explorer):
    explorer.choose(1, 0.0)
    explorer.press("Train")
    said = explorer.says("Seed 1, lambda stays 0: source only. After step 1000")
    assert "0.74 of the target points" in said
    explorer.choose(0, 1.0)
    explorer.press("Train")
    assert "0.81 of the target points" in explorer.says("Seed 0, lambda rises to 1. After step 1000")


def test_a_training_is_begun_and_stopped_by_keyboard(explorer):
    explorer.choose(7, 0.3)
    explorer.press("Train")
    expect(explorer.cell.get_by_role("status")).to_contain_text("Training with seed 7 and lambda 0.3")
    explorer.press("Stop")
    said = explorer.says("Stopped. Seed 7, lambda rises to 0.3.")
    stopped = int(re.search(r"After step (\d+):", said)[1])
    assert stopped < 1000
    moment = explorer.slider("moment")
    moment.focus()
    moment.press("Home")
    explorer.says("After step 0:")


def test_a_whole_training_may_take_place_and_cells_run_meanwhile(lesson, explorer):
    explorer.choose(5, 0.3)
    explorer.press("Train")
    lesson.run("two_weights")
    explorer.cell.scroll_into_view_if_needed()
    expect(explorer.cell.get_by_role("status")).to_contain_text("After step 1000", timeout=60_000)
    explorer.says("Seed 5, lambda rises to 0.3.")
    expect(explorer.cell.get_by_role("button", name="Train", exact=True)).to_be_visible()


def test_the_table_of_symptoms_leads_to_the_sections_that_explain_them(lesson):
    links = lesson.page.locator('.jp-MarkdownCell td a[href*="#"]')
    assert links.count() >= 8
    for link in links.all():
        target = unquote(link.get_attribute("href").partition("#")[2])
        heading = lesson.page.locator(f'.jp-MarkdownCell h2[data-jupyter-id="{target}"]')  # as JupyterLab keeps ids
        expect(heading).to_have_count(1)
        assert heading.inner_text().startswith(link.inner_text().removeprefix("section "))


def test_a_wrong_loss_is_diagnosed_and_the_solution_trains(exercises):
    name = "moons_loss"
    solution = named(UNIT.solutions)[name].source
    turned = "reverse(torch.cat([source, target]), factor)"
    assert turned in solution
    result = exercises.cell(f"{name}.check").locator(".jp-OutputArea-output")
    exercises.write(name, solution.replace(turned, "torch.cat([source, target])"))
    exercises.run_check(name)
    (mistake,) = (one for one in find(name).misconceptions if one.label == "not_turned")
    expect(result).to_contain_text(mistake.says.replace("`", ""))
    exercises.write(name, solution)
    exercises.run_check(name)
    expect(result).to_contain_text("✔ Right")
    exercises.run("look_at_it")
    expect(exercises.cell("look_at_it").locator("img")).to_be_visible()
    assert exercises.errors() == []
