"""The stepper in real JupyterLab and Notebook 7: before its cell runs, by mouse, by keyboard, after a restart."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import expect

from course_utils import record, step
from course_utils.widgets.status import CUT_OFF

SOURCE = """import torch
from course_utils import record, step

x = torch.tensor(3.0, requires_grad=True)
y = torch.tensor(2.0, requires_grad=True)
p = x * y
z = p**2
step(record(z))
"""
LAST = 11


def stored_output():
    import torch

    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(2.0, requires_grad=True)
    p = x * y
    z = p**2
    shown = step(record(z))
    return shown.picture()._repr_mimebundle_()


SECOND_ORDER = SOURCE.replace("record(z)", "record(z, create_graph=True, with_respect_to=[x, y])")
ENGINE = """
from course_utils.graph import Diary

class Value:
    def __init__(self, value, parents=(), op="", name=None):
        self.value, self.parents, self.op, self.name, self.grad = value, parents, op, name, 0.0

a, b = Value(3.0, name="x"), Value(2.0, name="y")
c = Value(6.0, (a, b), "*", "p")
d = Value(36.0, (c,), "**2", "z")
d.grad = 1.0
diary = Diary(d)
c.grad = 12.0
diary.note(d)
a.grad, b.grad = 24.0, 36.0
diary.note(c)
step(record(z), beside=diary)
"""


@pytest.fixture(scope="module")
def path(lab):
    """As in a fresh clone: with the stored picture, and not trusted by anybody."""
    output = new_output("execute_result", data=stored_output(), execution_count=1)
    cells = [
        new_code_cell(SOURCE, outputs=[output], execution_count=1, metadata={"name": "stepper"}),
        new_code_cell(SECOND_ORDER, metadata={"name": "second_order"}),
        new_code_cell(SOURCE.rpartition("step(")[0] + ENGINE, metadata={"name": "beside"}),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), lab.folder / "stepper.ipynb")
    return "stepper.ipynb"


@pytest.fixture(scope="module")
def notebook(new_page, path):
    """The open notebook; each test runs the cell it needs."""
    with new_page() as page:
        page.open(path)
        yield page


def run(notebook, name):
    """The live stepper that this cell shows when it has just run, at step 0."""
    notebook.run(name)
    assert notebook.errors() == []
    found = notebook.cell(name).locator(".autograd-stepper")
    expect(found).to_have_attribute("data-step", "0", timeout=20_000)
    return found


@pytest.fixture
def stepper(notebook):
    return run(notebook, "stepper")


def test_before_its_cell_runs_the_whole_pass_is_there_as_a_picture(new_page, path):
    with new_page() as notebook:
        notebook.open(path)
        assert notebook.page.evaluate("jupyterapp.shell.currentWidget.content.widgets[0].model.trusted") is False
        image = notebook.cell("stepper").locator("img")
        expect(image).to_be_visible()
        assert image.evaluate("image => image.complete && image.naturalWidth") > 300
        alt = image.get_attribute("alt")
        assert alt.startswith("Backward pass from z with 1: 11 events")
        assert "Mul 1 sends 24 to x" in alt
        expect(notebook.page.get_by_text("Loading widget")).to_have_count(0)


def test_the_buttons_move_and_the_sentence_follows(stepper):
    stepper.get_by_role("button", name="Next step").click()
    expect(stepper).to_have_attribute("data-step", "1")
    stepper.get_by_role("button", name="Next step").click()
    expect(stepper.get_by_role("status")).to_contain_text("1 × 2 × 6^(2 − 1) = 12")
    assert stepper.locator("img").get_attribute("alt").startswith("Step 2 of 11.")
    stepper.get_by_role("button", name="Last step").click()
    expect(stepper).to_have_attribute("data-step", str(LAST))
    expect(stepper.get_by_role("status")).to_contain_text("The pass is complete")
    stepper.get_by_role("button", name="One step back").click()
    expect(stepper).to_have_attribute("data-step", str(LAST - 1))
    stepper.get_by_role("button", name="First step").click()
    expect(stepper).to_have_attribute("data-step", "0")


def test_the_picture_stays_where_it_is(stepper):
    image = stepper.locator("img")
    before = image.bounding_box()
    for number in range(1, LAST + 1):
        stepper.get_by_role("button", name="Next step").click()
        expect(stepper).to_have_attribute("data-step", str(number))
        assert image.bounding_box() == before


def test_the_arrow_keys_move_it_and_not_the_notebook(notebook, stepper):
    keyboard = notebook.page.keyboard
    stepper.get_by_role("button", name="Next step").click()
    expect(stepper).to_have_attribute("data-step", "1")
    for key, number in [("ArrowRight", 2), ("ArrowRight", 3), ("ArrowLeft", 2), ("End", LAST), ("Home", 0)]:
        keyboard.press(key)
        expect(stepper).to_have_attribute("data-step", str(number))
    stepper.focus()
    keyboard.press("ArrowRight")
    expect(stepper).to_have_attribute("data-step", "1")
    for key in ("ArrowDown", "ArrowUp", "ArrowDown"):  # these two would go to another cell
        keyboard.press(key)
    expect(notebook.cell("stepper")).to_have_class(re.compile("jp-mod-active"))
    assert stepper.evaluate("root => root.contains(document.activeElement)")


def test_play_goes_on_until_it_is_paused(notebook, stepper):
    stepper.get_by_role("button", name="Play").click()
    expect(stepper).to_have_attribute("data-step", "2", timeout=10_000)
    stepper.get_by_role("button", name="Pause").click()
    there = int(stepper.get_attribute("data-step"))
    notebook.page.wait_for_timeout(2500)
    assert int(stepper.get_attribute("data-step")) == there
    expect(stepper.get_by_role("button", name="Play")).to_be_visible()


def test_a_step_number_can_be_typed(notebook, stepper):
    field = stepper.get_by_label("Step number")
    field.fill("9")
    field.press("Enter")
    expect(stepper).to_have_attribute("data-step", "9")
    expect(stepper.get_by_role("status")).to_contain_text("x.grad was empty. It is now 24.")
    field.fill("400")
    field.press("Enter")
    expect(stepper).to_have_attribute("data-step", str(LAST))
    expect(field).to_have_value(str(LAST))


def test_after_a_restart_it_says_that_its_kernel_is_gone(notebook, stepper):
    notebook.restart_kernel()
    expect(stepper.get_by_role("alert")).to_have_text(CUT_OFF)
    expect(stepper.get_by_role("button", name="Next step")).to_be_disabled()
    notebook.run_all()
    stepper.get_by_role("button", name="Next step").click()
    expect(stepper).to_have_attribute("data-step", "1")


def test_the_switch_shows_the_second_order_graph_at_the_same_step(notebook, stepper):
    second_order = run(notebook, "second_order")
    second_order.get_by_role("button", name="Next step").click()
    second_order.get_by_role("button", name="Next step").click()
    expect(second_order).to_have_attribute("data-step", "2")
    first = second_order.locator("img").get_attribute("src")
    second_order.get_by_label("show the second-order graph").check()
    expect(second_order).to_have_attribute("data-variant", "1")
    expect(second_order).to_have_attribute("data-step", "2")
    expect(second_order.get_by_role("status")).to_contain_text("This builds new nodes")
    assert second_order.locator("img").get_attribute("src") != first
    second_order.get_by_label("show the second-order graph").uncheck()
    expect(second_order.locator("img")).to_have_attribute("src", first)


def test_an_engine_of_ones_own_is_stepped_beside_torch(notebook, stepper):
    beside = run(notebook, "beside")
    expect(beside.locator("figcaption")).to_have_text(["PyTorch", "your engine"])
    beside.get_by_role("button", name="Last step").click()
    expect(beside.get_by_role("status")).to_contain_text("Your Mul 1: x.grad goes from 0 to 24")
    expect(beside.locator("img")).to_have_count(2)
