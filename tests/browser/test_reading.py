"""Reading on a small or zoomed window, and by screen reader, in real JupyterLab and Notebook 7."""

from __future__ import annotations

import re

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import expect

from course_utils.drawing.picture import SMALLEST
from course_utils.graph import draw, record

STEPPER = """import torch
from course_utils import record, step

x = torch.tensor(3.0, requires_grad=True)
y = torch.tensor(2.0, requires_grad=True)
step(record((x * x * y) ** 2, create_graph=True, with_respect_to=[x]))
"""
EXPLORER = """from course_utils import explore

explore((lambda x, y: x * y, lambda incoming, x, y: (incoming * y, incoming * x)), x=2.0, y=3.0)
"""
QUESTION = """from course_utils import predict

predict("Which is larger?", choices=["the first", "the second"])
"""
SIZES = {"100 %": (1400, 900, 1), "200 %": (700, 450, 2), "1024 px": (1024, 768, 1)}
"""Width and height in CSS pixels, and device pixels for each: zooming to 200 % halves the former."""


def wide_picture():
    """Side by side, and so wider than a notebook's column."""
    leaves = [torch.tensor(0.1 * number, requires_grad=True) for number in range(8)]
    y = leaves[0]
    for leaf in leaves[1:]:
        y = y * leaf
    return draw(record(y), direction="right")


@pytest.fixture(scope="module")
def path(lab):
    """With a stored picture, and not trusted by anybody."""
    picture = wide_picture()
    assert picture.size()[0] > 1200
    output = new_output("execute_result", data=picture._repr_mimebundle_(), execution_count=1)
    cells = [
        new_code_cell("# a picture", outputs=[output], execution_count=1, metadata={"name": "picture"}),
        new_code_cell(STEPPER, metadata={"name": "stepper"}),
        new_code_cell(EXPLORER, metadata={"name": "explorer"}),
        new_code_cell(QUESTION, metadata={"name": "question"}),
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": kernel}), lab.folder / "reading.ipynb")
    return "reading.ipynb"


@pytest.fixture(scope="module")
def notebook(new_page, path):
    """The open notebook, in which nothing has run."""
    with new_page() as page:
        page.open(path)
        yield page


@pytest.fixture(params=SIZES)
def sized(notebook, request):
    width, height, _ = SIZES[request.param]
    notebook.page.set_viewport_size({"width": width, "height": height})
    yield notebook
    notebook.page.set_viewport_size({"width": 1280, "height": 900})


def test_a_wide_picture_stays_readable_and_moves_in_its_own_frame(sized):
    assert sized.page.evaluate("jupyterapp.shell.currentWidget.content.widgets[0].model.trusted") is False
    image = sized.cell("picture").locator("img")
    expect(image).to_be_visible()
    shown, natural = image.evaluate("image => [image.clientWidth, image.naturalWidth]")
    assert shown >= SMALLEST * natural - 1
    frame = image.locator("xpath=..")
    hidden = frame.evaluate("frame => frame.scrollWidth - frame.clientWidth")
    assert hidden > 0
    frame.evaluate("frame => { frame.scrollLeft = frame.scrollWidth }")
    assert frame.evaluate("frame => frame.scrollLeft") == pytest.approx(hidden, abs=1)
    page_moves = "() => document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"
    assert not sized.page.evaluate(page_moves)


def test_controls_sentence_and_picture_of_the_stepper_fit_the_window(sized):
    sized.run("stepper")
    stepper = sized.cell("stepper").locator(".autograd-stepper")
    expect(stepper).to_have_attribute("data-step", "0", timeout=20_000)
    for number in range(1, 5):
        stepper.get_by_role("button", name="Next step").click()
        expect(stepper).to_have_attribute("data-step", str(number))
        box = stepper.bounding_box()
        notebook = sized.page.locator(".jp-WindowedPanel-outer").bounding_box()
        assert box["height"] <= notebook["height"]
        picture = stepper.locator(".picture").bounding_box()
        assert picture["height"] >= 0.4 * notebook["height"]
    buttons = [button.bounding_box()["y"] for button in stepper.get_by_role("button").all()]
    assert len(set(buttons)) == 1  # in one line


def test_the_stepper_says_what_each_part_is(notebook):
    notebook.run("stepper")
    stepper = notebook.cell("stepper").locator(".autograd-stepper")
    expect(stepper).to_have_attribute("data-step", "0", timeout=20_000)
    tree = stepper.aria_snapshot()
    for part in (
        'group "Backward pass, step by step. The left and right arrow keys move."',
        'button "First step" [disabled]',
        'button "One step back" [disabled]',
        'button "Next step"',
        'button "Last step"',
        'button "Play"',
        'slider "Step"',
        'spinbutton "Step number"',
        'checkbox "show the second-order graph"',
        "status",
        'img "Step 0 of',
    ):
        assert part in tree, tree
    stepper.get_by_role("button", name="Next step").click()
    expect(stepper.get_by_role("status")).to_contain_text("Pow 0 starts")
    assert re.search(r'img "Step 1 of \d+\. Pow 0 starts', stepper.aria_snapshot())


def test_sliders_have_the_names_that_stand_beside_them(notebook):
    notebook.run("explorer")
    cell = notebook.cell("explorer")
    for name, value in (("x", "2.00"), ("y", "3.00"), ("incoming gradient", "1.00")):
        slider = cell.get_by_role("slider", name=name, exact=True)
        expect(slider).to_have_attribute("aria-valuetext", value)
        expect(cell.get_by_role("textbox", name=f"{name}, as a number")).to_have_text(value)
    slider = cell.get_by_role("slider", name="x", exact=True)
    slider.focus()
    notebook.page.keyboard.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "2.25")  # in full, not rounded


def test_choices_are_a_group_named_by_their_question(notebook):
    notebook.run("question")
    group = notebook.cell("question").get_by_role("radiogroup", name="Predict. Which is larger?")
    expect(group.get_by_role("radio")).to_have_count(2)
    expect(group.get_by_role("radio", name="the second")).to_be_visible()
