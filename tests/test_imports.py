"""Which part of the course may use which: the arrows of the design, and a light `import course_utils`."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

# each part, and the parts it may import; the entry points at the end are glue and may use all
MAY_IMPORT = {
    "drawing": set(),
    "graph": {"drawing"},
    "adversarial": set(),
    "widgets": {"graph", "drawing", "adversarial"},
    "checks": {"graph", "drawing", "adversarial"},
    "grading": {"checks", "graph", "drawing"},
    "build": set(),
    "environment": set(),
    "refusal": set(),
    "browser": set(),
    "bubblewrap": set(),
    "kernels": {"checks"},  # to have them loaded before a kernel asks
    "testing": {"browser", "bubblewrap", "kernels"},
    "lab": {"kernels"},
}
GLUE = {"__init__", "cli"}
FOR_ALL = {"refusal"}
HEAVY = ["IPython", "ipywidgets", "jupyterlab", "matplotlib", "nbformat", "numpy", "torch", "typer"]


def part_of(path: Path) -> str:
    return path.parts[0].removesuffix(".py")


def imported_names(source: str, package: str) -> set[str]:
    """Full names of all that a module imports, in functions too; relative ones made absolute."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: -node.level + 1 or None] if node.level else []
            home = ".".join([*above, *filter(None, [node.module])])
            names |= {f"{home}.{alias.name}" for alias in node.names}
    return names


def imported_parts(path: Path, root: Path) -> set[str]:
    package = ".".join(("course_utils", *path.relative_to(root).parent.parts))
    names = imported_names(path.read_text("utf-8"), package)
    return {name.split(".")[1] for name in names if name.startswith("course_utils.")}


@pytest.fixture(scope="module")
def modules(root: Path) -> dict[Path, set[str]]:
    """Each module of course_utils, with the parts of course_utils that it imports."""
    folder = root / "course_utils"
    return {path.relative_to(folder): imported_parts(path, folder) for path in folder.rglob("*.py")}


def test_imports_point_one_way(modules):
    wrong = []
    for path, used in modules.items():
        part = part_of(path)
        if part not in GLUE:
            allowed = MAY_IMPORT.get(part, set()) | FOR_ALL | {part}
            wrong += [f"{path} imports {name}" for name in sorted(used - allowed)]
    assert not wrong


def test_every_part_has_its_place_in_the_table(modules):
    assert {part_of(path) for path in modules} - GLUE <= set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import course_utils.graph", {"course_utils.graph"}),
        ("def f():\n    from course_utils import graph", {"course_utils.graph"}),
        ("from . import probe", {"course_utils.checks.probe"}),
        ("from ..graph import trace", {"course_utils.graph.trace"}),
    ],
)
def test_an_import_is_seen_however_it_is_written(source, found):
    assert imported_names(source, "course_utils.checks") == found


def loaded_by(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_importing_the_course_loads_nothing_heavy():
    assert loaded_by("import course_utils").isdisjoint(HEAVY)


def test_course_py_needs_only_the_standard_library():
    script = "before = set(sys.modules); import course_utils.environment"
    loaded = {name.split(".")[0] for name in loaded_by(script) - loaded_by("pass")}
    assert loaded - {"course_utils"} <= set(sys.stdlib_module_names)


def test_the_exercises_load_little_of_pytorch_that_it_would_not_load_by_itself():
    script = "import torch; from course_utils.checks.catalogue import all_exercises; assert all_exercises()"
    assert loaded_by(script).isdisjoint({"sympy", "torch._dynamo", "matplotlib", "ipywidgets"})
