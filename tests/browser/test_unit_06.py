"""Unit 06 in a real JupyterLab: the stepper through a custom node, and the one that shows a write in place."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .every_unit import EveryUnit
from .stored import StoredUnit, named

UNIT = StoredUnit("06_custom_function")


class TestUnit06(EveryUnit):
    """What holds for every unit."""


def fresh(page, name):
    """The stepper of a cell that has just run."""
    page.run(name)
    found = page.cell(name).locator(".autograd-stepper")
    expect(found).to_have_attribute("data-step", "0")
    return found


def says(stepper):
    return stepper.get_by_role("status").inner_text()


def sentences(stepper):
    """What is said at each step, found by the arrow key."""
    last = int(stepper.get_by_label("Step number").get_attribute("max"))
    stepper.focus()
    told = [says(stepper)]
    for number in range(1, last + 1):
        stepper.page.keyboard.press("ArrowRight")
        expect(stepper).to_have_attribute("data-step", str(number))
        told.append(says(stepper))
    return told


def picture(stepper):
    return stepper.locator("img").first.get_attribute("alt")


def test_every_message_leads_to_a_section(lesson):
    links = lesson.page.locator('.jp-MarkdownOutput a[href^="#"]:not(.jp-InternalAnchorLink)')
    assert links.count() > 10
    targets = links.evaluate_all("all => all.map(link => decodeURIComponent(link.getAttribute('href').slice(1)))")
    headings = lesson.page.locator(".jp-MarkdownOutput [data-jupyter-id]")
    ids = headings.evaluate_all("all => all.map(heading => heading.dataset.jupyterId)")
    assert set(targets) <= set(ids)


def test_the_context_is_told_and_freed(lesson):
    stepper = fresh(lesson, "stepper")
    told = sentences(stepper)
    (sent,) = (one for one in told if "to u" in one)
    assert "its own backward made this from what came in" in sent
    assert any("ProductPower 1 is done and frees what it saved." in one for one in told)
    assert told[-1].endswith("The pass is complete.")


def test_the_context_is_on_the_card(lesson):
    card = drawn(fresh(lesson, "stepper"))
    assert "custom Function" in card
    assert "ctx.n 3" in card
    assert "u = 2" in card


def drawn(stepper):
    """The texts in the stepper's picture."""
    picture = stepper.locator("img").first
    svg = picture.evaluate("async image => await (await fetch(image.src)).text()")
    return re.sub(r"<[^>]*>", " ", svg)


@pytest.mark.parametrize("button", [True, False], ids=["by button", "by keyboard"])
def test_the_write_in_place_is_shown_where_it_happens(lesson, button):
    stepper = fresh(lesson, "sister_stepper")
    seen = []
    while "same tensor" not in "".join(seen):
        if button:
            stepper.get_by_role("button", name="Next step").click()
        else:
            stepper.focus()
            stepper.page.keyboard.press("ArrowRight")
        expect(stepper).to_have_attribute("data-step", str(len(seen) + 1))
        seen.append(says(stepper))
    assert "writes in place into the gradient it was given, which goes from [10, 20, 30] to [10, 0, 30]." in seen[-2]
    assert "waits at x is the same tensor" in seen[-1]
    assert picture(stepper).startswith(f"Step {len(seen)} of ")


def test_with_the_clone_nothing_is_hit(lesson):
    source = named(UNIT.lesson)["sister_stepper"].source
    assert "WithoutClone" in source
    lesson.write("sister_stepper", source.replace("WithoutClone", "WithClone"))
    try:
        told = sentences(fresh(lesson, "sister_stepper"))
        assert not any("in place" in one for one in told)
        assert "x.grad was empty. It is now [20, 20, 60]." in told[-1]
    finally:
        lesson.write("sister_stepper", source)


def test_solutions_pass_and_a_known_mistake_is_answered(exercises):
    solved = named(UNIT.solutions)
    for name in ("wave", "mend_legacy"):
        exercises.write(name, solved[name].source)
        exercises.run_check(name)
        expect(exercises.cell(f"{name}.check").locator(".jp-OutputArea-output")).to_contain_text("✔ Right")
    exercises.write("mend_legacy", solved["mend_legacy"].source.replace("grad_output), None", "grad_output)"))
    exercises.run_check("mend_legacy")
    shown = exercises.cell("mend_legacy.check").locator(".jp-OutputArea-output")
    expect(shown).to_contain_text("incorrect number of gradients (expected 2, got 1)")
    expect(shown).to_contain_text("so the backward owes a value for it as well")
    assert exercises.errors() == []
