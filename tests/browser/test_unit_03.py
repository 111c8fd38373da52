"""Unit 03 in a real JupyterLab: the switches, by mouse and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .every_unit import EveryUnit, tab_to
from .stored import StoredUnit, named

UNIT = StoredUnit("03_requires_grad")


class TestUnit03(EveryUnit):
    """What holds for every unit."""


@pytest.fixture
def switches(lesson):
    """The cell with the switches as it stands when it has just run."""
    lesson.run("switches")
    cell = lesson.cell("switches")
    expect(cell.get_by_role("status")).to_contain_text("x False, w True, b True. Grad mode: enabled.")
    return cell


def picture_says(switches, text):
    """The words below the picture and the picture's own text are the same, and say this."""
    expect(switches.get_by_role("status")).to_contain_text(text)
    expect(switches.locator(".jp-OutputArea img")).to_have_attribute(
        "alt", switches.get_by_role("status").inner_text().strip()
    )


def test_a_click_turns_a_switch_and_the_graph_is_run_anew(switches):
    before = switches.locator(".jp-OutputArea img").get_attribute("src")
    switches.get_by_role("checkbox", name="x.requires_grad").click()
    picture_says(switches, "Mul 3 has saved x = 3 and w = -2.")
    assert switches.locator(".jp-OutputArea img").get_attribute("src") != before
    switches.get_by_role("checkbox", name="w.requires_grad").click()
    picture_says(switches, "A gradient can come back to x and b, not to w.")


def test_what_the_lesson_says_can_be_seen(switches):
    switches.get_by_role("checkbox", name="w.requires_grad").click()
    picture_says(
        switches, "Recorded: 2 of 3 operations: Pow 0 has saved y = -4.5; Add 1 has saved nothing. Not recorded:"
    )
    switches.get_by_role("checkbox", name="b.requires_grad").click()
    picture_says(switches, "loss.requires_grad is False, loss.is_leaf is True.")


@pytest.mark.parametrize("mode", ["no_grad", "inference_mode"])
def test_a_mode_that_records_nothing(switches, mode):
    switches.get_by_role("radio", name=mode).click()
    picture_says(switches, f"w True, b True. Grad mode: {mode}. Nothing is recorded.")
    switches.get_by_role("radio", name="enabled").click()
    picture_says(switches, "Recorded: 3 of 3 operations")


def test_every_switch_can_be_turned_by_keyboard(switches):
    keyboard = switches.page.keyboard
    boxes = switches.get_by_role("checkbox").all()
    boxes[0].focus()
    keyboard.press("Space")
    picture_says(switches, "x True, w True, b True.")
    tab_to(boxes[1])
    keyboard.press("Space")
    picture_says(switches, "x True, w False, b True.")
    tab_to(switches.get_by_role("radio", name="enabled"))
    keyboard.press("ArrowRight")
    picture_says(switches, "Grad mode: no_grad.")
    keyboard.press("ArrowRight")
    picture_says(switches, "Grad mode: inference_mode. Nothing is recorded.")
    expect(switches.get_by_role("radio", name="inference_mode")).to_be_focused()


def test_a_message_in_the_last_table_leads_to_its_section(lesson):
    lesson.page.get_by_role("link", name="section 4").first.click()
    expect(lesson.page.get_by_role("heading", name="4. Five ways to switch something off")).to_be_in_viewport()


def test_a_solved_exercise_is_told_that_it_is_right(exercises):
    exercises.write("use_network", named(UNIT.solutions)["use_network"].source)
    exercises.run_check("use_network")
    expect(exercises.cell("use_network.check").locator(".jp-OutputArea-output")).to_contain_text("✔ Right")
