"""Unit 09 in a real JupyterLab: the second graph as it grows, and the curvature explorer, by keyboard."""

from __future__ import annotations

import re
from urllib.parse import unquote

import pytest
from playwright.sync_api import expect

from course_utils.checks.catalogue import find

from .every_unit import EveryUnit
from .explorer_cell import fresh
from .stored import StoredUnit, last_output, named

UNIT = StoredUnit("09_second_derivatives")


class TestUnit09(EveryUnit):
    """What holds for every unit."""


@pytest.fixture
def explorer(lesson):
    """The curvature explorer as it stands when its cell has just run."""
    return fresh(lesson, "curvature_explorer")


@pytest.fixture
def stepper(lesson):
    """The stepper of the second graph, at its beginning."""
    lesson.run("growth_stepper")
    found = lesson.cell("growth_stepper").locator(".autograd-stepper")
    expect(found).to_have_attribute("data-step", "0")
    return found


def drawn(stepper):
    """The texts in the stepper's picture."""
    svg = stepper.locator("img").first.evaluate("async image => await (await fetch(image.src)).text()")
    return re.sub(r"<[^>]*>", " ", svg)


def test_the_second_graph_grows_out_of_the_first_step_by_step(stepper):
    stepper.get_by_label("show the second-order graph").check()
    expect(stepper).to_have_attribute("data-variant", "1")
    assert "′" not in drawn(stepper)
    last = int(stepper.get_by_label("Step number").get_attribute("max"))
    stepper.focus()
    born = []
    for number in range(1, last + 1):
        stepper.page.keyboard.press("ArrowRight")
        expect(stepper).to_have_attribute("data-step", str(number))
        told = stepper.get_by_role("status").inner_text()
        born += re.findall(r"\w+ \d+′", told)
        assert set(born) == set(re.findall(r"\w+ \d+′", drawn(stepper)))
    assert sorted(born) == ["Add 0′", "Mul 1′", "Mul 2′", "Mul 3′", "Mul 4′", "Mul 5′", "Pow 6′"]
    assert "gradient of x = 288" in drawn(stepper)


def test_without_the_switch_only_the_first_graph_is_there(stepper):
    stepper.get_by_role("button", name="Last step").click()
    expect(stepper.get_by_role("status")).to_contain_text("The gradient of x, 288, is returned.")
    assert "′" not in drawn(stepper)


def test_before_anything_runs_the_picture_says_what_the_text_says(as_cloned):
    stored = last_output(named(UNIT.lesson)["curvature_explorer"])
    expect(as_cloned.cell("curvature_explorer").locator("img")).to_have_attribute("alt", stored)


def test_the_point_is_moved_by_keyboard(explorer):
    explorer.says("a curved valley at x = (-1, 0.5): value 5.25, gradient (-14, -5)")
    for name, where in (("x[0]", "x = (-0.9, 0.5)"), ("x[1]", "x = (-0.9, 0.6)")):
        before = explorer.drawn
        slider = explorer.slider(name)
        slider.focus()
        expect(slider).to_be_focused()
        for _ in range(2):  # a step is a twentieth
            slider.page.keyboard.press("ArrowRight")
        explorer.says(where)
        assert explorer.drawn != before


def test_the_direction_is_turned_by_keyboard(explorer):
    directions = explorer.chosen("direction")
    directions.select_option("along x[0]")
    explorer.says("Direction along x[0]: 0 degrees, v = (1, 0). Along v: slope -14, curvature 52.")
    explorer.slider("angle").focus()
    for _ in range(3):
        explorer.cell.page.keyboard.press("ArrowRight")
    explorer.says("Direction by the angle: 3 degrees")
    expect(directions).to_have_value("by the angle")


def test_a_direction_with_a_name_follows_the_point_and_stays_exact(explorer):
    directions = explorer.chosen("direction")
    directions.select_option("where the curvature is smallest")
    curvatures = [curvature_in(explorer.says("where the curvature is smallest"))]
    explorer.slider("x[0]").focus()
    explorer.cell.page.keyboard.press("ArrowRight")
    curvatures.append(curvature_in(explorer.says("x = (-0.95, 0.5)")))
    assert curvatures[0] != curvatures[1]
    expect(directions).to_have_value("where the curvature is smallest")  # the angle's slider has sent nothing back
    directions.select_option("to where Newton's step lands")
    said = explorer.says("Direction to where Newton's step lands")
    assert "the lowest point of the model" in said


def curvature_in(said):
    return float(re.search(r"curvature (-?[\d.]+)\.", said)[1])


def test_every_function_says_what_the_lesson_says_of_it(explorer):
    function = explorer.chosen("function")
    function.focus()
    for key in ("Space", "ArrowDown", "Enter"):
        function.page.keyboard.press(key)
    explorer.says("Newton's step lands at x = (0, 0), the saddle point of the model.")
    function.select_option("a relu network")
    said = explorer.says("a relu network at")
    assert curvature_in(said) == 0
    assert said.endswith("The Hessian has no inverse, so there is no Newton step.")
    function.select_option("stripes")
    explorer.says("stripes at")
    explorer.chosen("direction").select_option("along x[1]")
    slider = explorer.slider("angle")
    slider.focus()
    for _ in range(45):
        slider.page.keyboard.press("ArrowRight")
    assert curvature_in(explorer.says("135 degrees")) == 0


def test_what_is_seen_leads_to_the_sections_that_explain_it(lesson):
    links = lesson.page.locator('.jp-MarkdownCell td a[href*="#"]')
    assert links.count() >= 8
    for link in links.all():
        target = unquote(link.get_attribute("href").partition("#")[2])
        heading = lesson.page.locator(f'.jp-MarkdownCell h2[data-jupyter-id="{target}"]')
        expect(heading).to_have_count(1)
        assert heading.inner_text().startswith(link.inner_text().removeprefix("section "))


def test_a_wrong_answer_is_diagnosed_and_a_right_one_is_right(exercises):
    name = "after_training"
    solution = named(UNIT.solutions)[name].source
    recorded = ", create_graph=True"
    assert recorded in solution
    exercises.write(name, solution.replace(recorded, ""))
    exercises.run_check(name)
    result = exercises.cell(f"{name}.check").locator(".jp-OutputArea-output")
    expect(result).to_contain_text("Not right yet")
    (first_order,) = (one for one in find(name).misconceptions if one.label == "inner_update_is_first_order")
    expect(result).to_contain_text(first_order.says.replace("`", ""))
    exercises.write(name, solution)
    exercises.run_check(name)
    expect(result).to_contain_text("✔ Right")
    assert exercises.errors() == []
