"""Unit 02 in a real JupyterLab: both steppers of the lesson, and the one that shows the learner's own engine."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .every_unit import EveryUnit
from .stored import StoredUnit, named

UNIT = StoredUnit("02_computation_graph")
SECOND_TURN = 5  # the step at which torch's second node has sent its message


class TestUnit02(EveryUnit):
    """What holds for every unit."""


@pytest.fixture(params=["stepper", "side_by_side"])
def stepper(request, lesson):
    """A stepper of the lesson as it stands when its cell has just run."""
    return fresh(lesson, request.param)


@pytest.fixture
def side_by_side(lesson):
    return fresh(lesson, "side_by_side")


def fresh(page, name):
    page.run(name)
    found = page.cell(name).locator(".autograd-stepper")
    expect(found).to_have_attribute("data-step", "0")
    return found


def last_step(stepper):
    return int(stepper.get_by_label("Step number").get_attribute("max"))


def stands_at(stepper, number):
    expect(stepper).to_have_attribute("data-step", str(number))
    return stepper.get_by_role("status").inner_text()


def type_step(stepper, number):
    field = stepper.get_by_label("Step number")
    field.fill(str(number))
    field.press("Enter")
    return stands_at(stepper, number)


def test_the_buttons_go_through_the_pass(stepper):
    last = last_step(stepper)
    seen = {stands_at(stepper, 0)}
    for button, number in [("Next step", 1), ("Next step", 2), ("Last step", last), ("One step back", last - 1)]:
        stepper.get_by_role("button", name=button).click()
        said = stands_at(stepper, number)
        assert said not in seen
        seen.add(said)
    stepper.get_by_role("button", name="First step").click()
    assert stands_at(stepper, 0) in seen


def test_the_arrow_keys_go_through_the_pass(stepper):
    stepper.focus()
    last = last_step(stepper)
    said = stands_at(stepper, 0)
    for key, number in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", last), ("Home", 0)]:
        stepper.page.keyboard.press(key)
        before, said = said, stands_at(stepper, number)
        assert said != before


def test_a_step_can_be_typed(stepper):
    said = type_step(stepper, 5)
    assert "Pow 1 sends to a" in said
    assert "the sum there is now 9" in said
    assert stepper.locator("img").first.get_attribute("alt").startswith(f"Step 5 of {last_step(stepper)}. Pow 1 sends")


def test_both_engines_go_along_and_the_sentence_tells_of_both(side_by_side):
    expect(side_by_side.locator("figcaption")).to_have_text(["PyTorch", "your engine"])
    assert stands_at(side_by_side, 0).endswith("Your engine, before its first node has its turn.")
    images = side_by_side.locator("img")
    expect(images).to_have_count(2)
    before = [image.get_attribute("src") for image in images.all()]
    side_by_side.get_by_role("button", name="Last step").click()
    said = stands_at(side_by_side, last_step(side_by_side))
    assert "x.grad was empty. It is now 36. The pass is complete." in said
    assert said.endswith("Your Pow 2: x.grad goes from 0 to 36.")
    after = [image.get_attribute("src") for image in images.all()]
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_with_the_wrong_order_the_engines_part_at_the_second_turn(lesson):
    assert type_step(fresh(lesson, "side_by_side"), SECOND_TURN).endswith("Your Pow 1: a.grad goes from 1 to 9.")
    source = named(UNIT.lesson)["side_by_side"].source
    assert "in (L, b, a):" in source
    lesson.write("side_by_side", source.replace("in (L, b, a):", "in (L, a, b):"))
    try:
        stepper = fresh(lesson, "side_by_side")
        said = type_step(stepper, SECOND_TURN)
        assert "Pow 1 sends to a" in said
        assert said.endswith("Your Pow 2: x.grad goes from 0 to 4.")
    finally:
        lesson.write("side_by_side", source)


def test_the_unsolved_exercises_show_torch_alone_and_the_solved_ones_both_engines(exercises):
    stepper = fresh(exercises, "stepped")
    expect(stepper.locator("img")).to_have_count(1)
    expect(stepper.locator("figcaption")).to_have_count(0)
    for name in ("operations", "engine_backward"):
        exercises.write(name, named(UNIT.solutions)[name].source)
        exercises.run_check(name)
        expect(exercises.cell(f"{name}.check").locator(".jp-OutputArea-output")).to_contain_text("✔ Right")
    stepper = fresh(exercises, "stepped")
    expect(stepper.locator("figcaption")).to_have_text(["PyTorch", "your engine"])
    stepper.get_by_role("button", name="Last step").click()
    assert "The pass is complete." in stands_at(stepper, last_step(stepper))
    expect(stepper.get_by_role("status")).to_contain_text("Your Mul 3: y.grad goes from nothing to")
    exercises.run("beside")
    compared = exercises.cell("beside").locator(".jp-OutputArea-output")
    assert compared.inner_text().count("agree: yours") == 5
    expect(compared).not_to_contain_text("DIFFER")
    assert exercises.errors() == []
