"""The notebooks that a source gives: ids that stay, metadata that is used, stubs in the place of solutions."""

from __future__ import annotations

import re

import nbformat
import pytest

from course_utils.build.assemble import targets
from course_utils.build.outline import read_course
from course_utils.build.source import read_source


@pytest.fixture
def notebooks(course):
    def notebooks():
        (unit,) = read_course(course.root)[0].units
        sources = [read_source(course.root, unit, kind)[0] for kind in ("lesson", "exercise")]
        return {t.file.partition("/")[0]: t.notebook for source in sources for t in targets(source)}

    return notebooks


def ids(notebook):
    return [cell.id for cell in notebook.cells]


def test_every_notebook_is_valid_and_says_where_it_comes_from(notebooks):
    made = notebooks()
    assert list(made) == ["notebooks", "exercises", "solutions"]
    for notebook in made.values():
        nbformat.validate(notebook)
        assert set(notebook.metadata) == {"kernelspec", "language_info", "generated_from"}
        assert "version" not in notebook.metadata.language_info
    assert made["notebooks"].metadata.generated_from == "sources/lessons/01_squares.py"
    assert made["solutions"].metadata.generated_from == "sources/exercises/01_squares.py"


def test_the_learner_gets_a_stub_and_the_solution_keeps_its_markers(notebooks):
    exercise, solution = (notebooks()[folder].cells[2].source for folder in ("exercises", "solutions"))
    assert exercise.endswith('    raise NotImplementedError("write your answer here")')
    assert "x * x" not in exercise
    assert solution.endswith("    ### BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION")


def test_check_cells_are_the_same_and_cannot_be_edited_by_accident(notebooks):
    made = notebooks()
    check = made["exercises"].cells[3]
    assert check == made["solutions"].cells[3]
    assert check.metadata == {"name": "square.check", "tags": ["check"], "editable": False, "deletable": False}
    assert made["exercises"].cells[2].metadata == {"name": "square", "tags": ["answer"], "deletable": False}
    assert made["exercises"].cells[0].metadata == {}


def test_ids_come_from_names_or_from_type_and_text(notebooks):
    made = notebooks()
    assert ids(made["exercises"]) == ids(made["solutions"])
    assert ids(made["exercises"])[2:] == ["square", "square-check"]
    assert ids(made["notebooks"])[2] == "shown"
    for notebook in made.values():
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell_id) for cell_id in ids(notebook))


def test_inserting_a_cell_leaves_every_other_cell_as_it_was(course, notebooks):
    before = notebooks()["notebooks"].cells
    course.edit(course.lesson, '# %% name="shown"', '# %%\ny = 4\n\n# %% name="shown"')
    after = notebooks()["notebooks"].cells
    assert after[:2] + after[3:] == before


def test_a_cell_that_is_repeated_gets_a_number(course, notebooks):
    course.edit(course.lesson, '# %% name="shown"', '# %%\ny = 4\n\n# %%\ny = 4\n\n# %% name="shown"')
    _, _, first, second, *_ = ids(notebooks()["notebooks"])
    assert second == f"{first}-2"
