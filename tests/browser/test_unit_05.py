"""Unit 05 in a real JupyterLab: the Jacobian explorer and the batch explorer, by keyboard, and links to sections."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
import torch
from playwright.sync_api import expect

from course_utils.checks.catalogue import find

from .every_unit import EveryUnit
from .explorer_cell import fresh
from .stored import StoredUnit, last_output, named

UNIT = StoredUnit("05_asking_for_gradients")
NUMBERS = r"((?:-?[\d.]+(?:, )?)+)"


class TestUnit05(EveryUnit):
    """What holds for every unit."""


@pytest.fixture
def jacobian(lesson):
    """The Jacobian explorer as it stands when its cell has just run."""
    return fresh(lesson, "jacobian_explorer")


@pytest.fixture
def batch(lesson):
    """The batch explorer as it stands when its cell has just run."""
    return fresh(lesson, "batch_explorer")


def assert_weighted_sum(said):
    """The last line is the sum of the rows, each times its weight, as far as three digits tell."""
    rows = torch.tensor([numbers(row) for row in re.findall(rf"y\[\d\]: {NUMBERS}", said)])
    weights, gradient = said.partition("Weights g: ")[2].split(" The weighted sum")
    weights = torch.tensor([float(found) for found in re.findall(r"(-?[\d.]+) for y", weights)])
    gradient = torch.tensor([float(found) for found in re.findall(r"(-?[\d.]+) for x", gradient)])
    assert rows.shape == (len(weights), len(gradient))
    torch.testing.assert_close(gradient, weights @ rows, rtol=0.01, atol=0.01)


def numbers(text):
    return [float(found) for found in text.strip(", ").split(", ")]


@pytest.mark.parametrize("name", ["jacobian_explorer", "batch_explorer"])
def test_before_anything_runs_the_picture_says_what_the_text_says(as_cloned, name):
    stored = last_output(named(UNIT.lesson)[name])
    expect(as_cloned.cell(name).locator("img")).to_have_attribute("alt", stored)


def test_every_row_has_a_slider_with_its_name_that_the_keyboard_moves(jacobian):
    assert_weighted_sum(jacobian.says("Weights g: 1 for y[0], -2 for y[1], 0.5 for y[2]"))
    for place, before in enumerate((1.0, -2.0, 0.5)):
        drawn = jacobian.drawn
        slider = jacobian.slider(f"weight of y[{place}]")
        slider.focus()
        expect(slider).to_be_focused()
        for _ in range(3):
            slider.page.keyboard.press("ArrowRight")
        said = jacobian.says(f"{before + 0.5:g} for y[{place}]")  # a step is a sixth
        assert_weighted_sum(said)
        assert jacobian.drawn != drawn


def test_weights_that_have_a_name_are_chosen_by_keyboard(jacobian):
    presets = jacobian.chosen("weights")
    presets.focus()
    for key in ("Space", "ArrowDown", "Enter"):
        presets.page.keyboard.press(key)
    said = jacobian.says("Weights g: 1 for y[0], 0 for y[1], 0 for y[2]")
    assert "backward(g): 3 for x[0], 2 for x[1], 0 for x[2]" in said
    presets.select_option("all 1/3: the mean")
    assert_weighted_sum(jacobian.says("Weights g: 0.333 for y[0], 0.333 for y[1], 0.333 for y[2]"))
    expect(presets).to_have_value("all 1/3: the mean")  # the sliders can stand there, and send nothing back
    jacobian.slider("weight of y[0]").focus()
    presets.page.keyboard.press("ArrowLeft")
    jacobian.says("0.167 for y[0]")
    expect(presets).to_have_value("by the sliders")


def test_another_function_has_a_slider_for_each_of_its_outputs(jacobian):
    jacobian.chosen("function").select_option("(x.sum(), x.prod())")
    assert_weighted_sum(jacobian.says("(x.sum(), x.prod()) at x[0] = 2"))
    expect(jacobian.cell.get_by_role("slider")).to_have_count(2)
    jacobian.slider("weight of y[1]").focus()
    jacobian.cell.page.keyboard.press("ArrowRight")
    assert_weighted_sum(jacobian.says("0.25 for y[1]"))
    jacobian.chosen("function").select_option("softmax")
    jacobian.says("softmax at x[0] = 2")
    named_weights = jacobian.chosen("weights")
    expect(named_weights.locator("option", has_text="only y[2]")).to_have_count(1)  # those of three outputs
    named_weights.select_option("all 1: the sum")
    said = jacobian.says("Weights g: 1 for y[0], 1 for y[1], 1 for y[2].")
    assert said.endswith("backward(g): 0 for x[0], 0 for x[1], 0 for x[2].")


def test_the_normalisations_are_switched_by_keyboard(batch):
    titles = {
        "batch norm, training": "The samples mix.",
        "batch norm, eval": "In the backward pass no output meets another sample.",
        "batch norm, mean detached": "The samples mix.",
        "batch norm, mean and variance detached": "In the backward pass no output meets another sample.",
        "layer norm": "In the backward pass no output meets another sample.",
    }
    switches = batch.cell.get_by_role("radio").all()
    assert len(switches) == len(titles)
    switches[0].focus()
    for place, (title, verdict) in enumerate(titles.items()):
        if place:
            batch.cell.page.keyboard.press("Tab")
            batch.cell.page.keyboard.press("Space")
        expect(switches[place]).to_be_checked()
        said = batch.says(f"{title}: derivatives")
        assert verdict in said
        assert ("DISAGREE" in said) == (verdict == "The samples mix.")
        assert verdict.lower().removesuffix(".") in batch.drawn


def test_another_column_is_chosen(batch):
    before = batch.says("in column 0")
    batch.chosen("column").select_option("2")
    assert batch.says("in column 2") != before
    assert "x[1, 2]" in batch.drawn


def test_the_table_of_messages_leads_to_the_sections_that_explain_them(lesson):
    links = lesson.page.locator('.jp-MarkdownCell td a[href*="#"]')
    assert links.count() >= 8
    for link in links.all():
        target = unquote(link.get_attribute("href").partition("#")[2])
        heading = lesson.page.locator(f'.jp-MarkdownCell h2[data-jupyter-id="{target}"]')  # as JupyterLab keeps ids
        expect(heading).to_have_count(1)
        assert heading.inner_text().startswith(link.inner_text().removeprefix("section "))
        link.click()
        expect(heading).to_be_in_viewport()


def test_a_wrong_answer_is_diagnosed_and_a_right_one_is_right(exercises):
    name = "standardise"
    solution = named(UNIT.solutions)[name].source
    fixed = "mean = x.mean(0).detach()"
    assert fixed in solution
    exercises.write(name, solution.replace(fixed, "mean = x.mean(0)"))
    exercises.run_check(name)
    result = exercises.cell(f"{name}.check").locator(".jp-OutputArea-output")
    expect(result).to_contain_text("Not right yet")
    (left,) = (mistake for mistake in find(name).misconceptions if mistake.label == "mean_left")
    expect(result).to_contain_text(left.says.replace("`", ""))
    exercises.write(name, solution)
    exercises.run_check(name)
    expect(result).to_contain_text("✔ Right")
    assert exercises.errors() == []
