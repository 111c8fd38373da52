"""Unit 04 in a real JupyterLab: the stepper through both passes, and the links from messages to what explains them."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .every_unit import EveryUnit
from .stored import StoredUnit, named

UNIT = StoredUnit("04_grad_fn")
LINKS = re.compile(r"\]\(#([^)]+)\)")
# whether the top of the element has come into what the notebook shows
IN_VIEW = """heading => {
    const shown = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
    const {top} = heading.getBoundingClientRect();
    return top >= shown.top - 5 && top < shown.bottom;
}"""


class TestUnit04(EveryUnit):
    """What holds for every unit."""


def fresh(page, name):
    page.run(name)
    found = page.cell(name).locator(".autograd-stepper")
    expect(found).to_have_attribute("data-step", "0")
    return found


def last_step(stepper):
    return int(stepper.get_by_label("Step number").get_attribute("max"))


def said_at(stepper, number):
    expect(stepper).to_have_attribute("data-step", str(number))
    return stepper.get_by_role("status").inner_text()


def test_each_node_that_saved_something_frees_it_when_it_has_passed_on(lesson):
    stepper = fresh(lesson, "stepper")
    stepper.focus()
    said = [said_at(stepper, 0)]
    for number in range(1, last_step(stepper) + 1):
        stepper.page.keyboard.press("ArrowRight")
        said.append(said_at(stepper, number))
    freeing = [number for number, sentence in enumerate(said) if "frees what it saved" in sentence]
    assert [said[number].partition(" is done")[0] for number in freeing] == ["Mul 1", "Pow 2", "Mul 3"]
    for number in freeing:
        assert said[number - 1].startswith(said[number].partition(" is done")[0] + " sends")


def test_the_second_pass_ends_at_the_first_node_that_misses_something(lesson):
    # the cell goes on from the graph that the stepper's cell has used up
    lesson.run("stepper")
    stepper = fresh(lesson, "second_pass")
    stepper.get_by_role("button", name="Last step").click()
    said = said_at(stepper, last_step(stepper))
    assert said.startswith("Mul 1 starts.")
    assert "The pass ends here with an error: Trying to backward through the graph a second time" in said


def test_the_picture_of_a_changed_tensor_says_both_versions(lesson):
    stored = named(UNIT.lesson)["trace_changed"].outputs[0].data
    assert "version 0 then and 2 now" in stored["text/plain"]
    expect(lesson.cell("trace_changed").locator(".jp-OutputArea-output img")).to_be_visible()


def targets():
    text = "\n".join(cell.source for cell in UNIT.lesson.cells if cell.cell_type == "markdown")
    return sorted(set(LINKS.findall(text)))


@pytest.mark.parametrize("target", targets())
def test_a_link_leads_to_its_heading(lesson, target):
    lesson.page.locator(f'.jp-MarkdownOutput a[href="#{target}"]:not(.jp-InternalAnchorLink)').last.click()
    heading = lesson.page.locator(".jp-MarkdownOutput :is(h2, h3)", has_text=target.replace("-", " ")).first
    expect(heading).to_be_visible()
    lesson.page.wait_for_function(IN_VIEW, arg=heading.element_handle())
