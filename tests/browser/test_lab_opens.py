"""JupyterLab opens a notebook without asking anything, and runs it to the end."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def long_notebook(lab, new_lab_page):
    """A page with far more cells than a window shows; the last but one raises, and is tagged for it."""
    cells = [new_markdown_cell(f"Cell {number}\n\n" * 20) for number in range(20)]
    cells += [new_code_cell(f"print('result', {number} * {number})") for number in range(30)]
    cells.append(new_code_cell("1 / 0", metadata={"tags": ["raises-exception"]}))
    cells.append(new_code_cell("print('the end')"))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(notebook, lab.folder / "long.ipynb")
    with new_lab_page() as page:
        page.open("long.ipynb")
        yield page


def test_a_notebook_runs_to_its_end(long_notebook):
    assert long_notebook.errors() == []
    long_notebook.run_all()
    outputs = long_notebook.page.locator(".jp-OutputArea-output").all_inner_texts()
    assert outputs[0].strip() == "result 0"
    assert outputs[29].strip() == "result 841"
    assert outputs[-1].strip() == "the end"
    (error,) = long_notebook.errors()
    assert "ZeroDivisionError" in error


def test_no_question_and_no_news_stand_in_the_way(long_notebook):
    long_notebook.page.wait_for_timeout(3000)  # the news question comes some time after the notebook
    expect(long_notebook.page.locator(".jp-Dialog")).to_have_count(0)
    expect(long_notebook.page.locator(".Toastify__toast")).to_have_count(0)
    assert "news" not in long_notebook.page.locator("body").inner_text().lower()


def test_both_themes_can_be_set(long_notebook, tmp_path):
    pictures = []
    for theme in ("dark", "light"):
        long_notebook.set_theme(theme)
        pictures.append(long_notebook.screenshot(tmp_path / f"{theme}.png").read_bytes())
    assert pictures[0] != pictures[1]
