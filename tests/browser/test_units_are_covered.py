"""Every unit of the course has a test file here that inherits what holds for every unit."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from course_utils.build.outline import read_course

from .every_unit import EveryUnit
from .stored import ROOT

UNITS = [unit.name for unit in read_course(ROOT)[0].units]


def test_there_are_units():
    assert UNITS


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_has_its_file(name: str):
    file = Path(__file__).with_name(f"test_unit_{name[:2]}.py")
    assert file.is_file(), f"unit {name} is not tested in a browser; write {file.name} on the model of test_unit_01.py"
    module = importlib.import_module(f".{file.stem}", __package__)
    assert module.UNIT.name == name
    inherited = [value for key, value in vars(module).items() if key.startswith("Test") and isinstance(value, type)]
    assert any(issubclass(value, EveryUnit) for value in inherited)
