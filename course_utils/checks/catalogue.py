"""Every exercise of the course, found in the modules beside this one that define `EXERCISES`."""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil

from course_utils import checks
from course_utils.checks.exercise import Exercise


@functools.cache
def all_exercises() -> dict[str, Exercise]:
    """The exercises by name, in the order of the units and, within one, of its module."""
    found: dict[str, Exercise] = {}
    for exercise in sorted(_declared(), key=lambda exercise: exercise.unit):
        if exercise.name in found:
            raise ValueError(f"two exercises have the name {exercise.name!r}")
        found[exercise.name] = exercise
    return found


def _declared() -> list[Exercise]:
    names = sorted(module.name for module in pkgutil.iter_modules(checks.__path__))
    modules = (importlib.import_module(f"{checks.__name__}.{name}") for name in names)
    return [exercise for module in modules for exercise in getattr(module, "EXERCISES", ())]


def find(name: str) -> Exercise:
    """The exercise of that name; KeyError, naming the nearest one, if there is none."""
    exercises = all_exercises()
    name = str(name)  # `check(answer, name)` may bring anything
    if name in exercises:
        return exercises[name]
    near = difflib.get_close_matches(name, exercises, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(exercises)}."
    raise KeyError(f"`check`: there is no exercise {name!r}.{meant}")


def catalogue() -> dict[str, dict[str, int]]:
    """The number of hints of each exercise, by the unit's stem (`one_operation`) and the exercise's name."""
    units: dict[str, dict[str, int]] = {}
    for exercise in all_exercises().values():
        stem = exercise.unit.split("_", 1)[1]
        units.setdefault(stem, {})[exercise.name] = len(exercise.hints)
    return units
