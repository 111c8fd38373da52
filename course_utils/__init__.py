"""The names that lessons type; each is loaded when it is first used, so that importing stays light."""

from __future__ import annotations

import importlib

_HOMES = {
    "check": "course_utils.checks",
    "progress": "course_utils.checks",
    "record": "course_utils.graph",
    "replay": "course_utils.graph",
    "trace": "course_utils.graph",
    "explore": "course_utils.widgets",
    "explore_batch": "course_utils.widgets",
    "explore_curvature": "course_utils.widgets",
    "explore_jacobian": "course_utils.widgets",
    "explore_kink": "course_utils.widgets",
    "explore_moons": "course_utils.widgets",
    "predict": "course_utils.widgets",
    "step": "course_utils.widgets",
    "switches": "course_utils.widgets",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value  # the next look-up does not come here
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
