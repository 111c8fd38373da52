"""Where a lesson says which cells to run after a pause, the rest of it needs no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from course_utils.build.outline import read_course
from course_utils.build.source import read_source

ROOT = Path(__file__).resolve().parents[1]
NUMBERS = {"": 1, "two ": 2, "three ": 3}
PAUSE = re.compile(r"\*\*A good place for a pause\.\*\*.*?run\s+the\s+first\s+(two |three |)code\s+cells?", re.DOTALL)


def lesson(unit):
    return read_source(ROOT, unit, "lesson")[0].cells


def pauses():
    """Each unit whose lesson names a pause, the place of that cell, and how many cells it says to run."""
    for unit in read_course(ROOT)[0].units:
        for place, cell in enumerate(lesson(unit)):
            if found := PAUSE.search(cell.source):
                yield pytest.param(unit, place, NUMBERS[found[1]], id=unit.name)


@pytest.mark.parametrize(("unit", "place", "count"), [*pauses()])
def test_after_a_pause_the_cells_that_are_named_are_enough(unit, place, count):
    cells = lesson(unit)
    first = [cell for cell in cells if cell.kind == "code"][:count]
    rest = [cell for cell in cells[place:] if cell.kind == "code"]
    assert rest
    names: dict[str, object] = {"__name__": "__main__"}
    dtype, state = torch.get_default_dtype(), torch.get_rng_state()
    try:
        for cell in (*first, *rest):
            exec(compile(cell.source, f"<{cell.name}>", "exec"), names)
    finally:
        torch.set_default_dtype(dtype)
        torch.set_rng_state(state)


def test_some_lessons_name_a_pause():
    assert {param.id for param in pauses()} >= {"03_requires_grad", "04_grad_fn"}
