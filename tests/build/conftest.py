"""A small course, made anew for each test: one unit whose notebooks need nothing but Python."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from course_utils.build.command import build

OUTLINE = """\
# kept as it is
title = "Small"

[[unit]]
name = "01_squares"
title = "Squares"
lesson_minutes = 5
exercise_minutes = 5
needs = []
"""

LESSON = '''\
# %% [markdown]
r"""
# Squares
A number times itself: $x^2$.
"""

# %%
x = 3
print(sorted({"a", "b", "c"}))

# %% name="shown"
x * x

# %% tags=["raises-exception"]
x / 0
'''

EXERCISES = '''\
# %% [markdown]
r"""
# Exercises
"""

# %%
def check(name, answer):
    try:
        print(name, answer(3) == 9)
    except NotImplementedError:
        print("not attempted yet")


# %% name="square" tags=["answer"]
def square(x):
    """x times x."""
    ### BEGIN SOLUTION
    return x * x
    ### END SOLUTION


# %% name="square.check" tags=["check"]
check("square", square)
'''


@dataclass(frozen=True)
class SmallCourse:
    """The course's root, and short ways to its files."""

    root: Path

    @property
    def outline(self) -> Path:
        return self.root / "sources" / "course.toml"

    @property
    def lesson(self) -> Path:
        return self.root / "sources" / "lessons" / "01_squares.py"

    @property
    def exercises(self) -> Path:
        return self.root / "sources" / "exercises" / "01_squares.py"

    def notebook(self, folder: str) -> Path:
        return self.root / folder / "01_squares.ipynb"

    def notebooks(self) -> dict[str, bytes]:
        return {path.parent.name: path.read_bytes() for path in self.root.glob("*/01_squares.ipynb")}

    def edit(self, path: Path, old: str, new: str) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")


README = """\
# A course

| unit | at its end you can |
|---|---|
| 01 Squares | square |

The end.
"""


def write_course(root: Path) -> SmallCourse:
    small = SmallCourse(root)
    for path, text in ((small.outline, OUTLINE), (small.lesson, LESSON), (small.exercises, EXERCISES)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (root / "README.md").write_text(README, encoding="utf-8")
    return small


@pytest.fixture
def course(tmp_path: Path) -> SmallCourse:
    return write_course(tmp_path / "a course")


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> SmallCourse:
    small = write_course(tmp_path_factory.mktemp("built") / "a course")
    assert build(small.root) == 0
    return small


@pytest.fixture
def built(built_once: SmallCourse, tmp_path: Path) -> SmallCourse:
    """The small course with its notebooks, made once and copied."""
    shutil.copytree(built_once.root, tmp_path / "a course")
    return SmallCourse(tmp_path / "a course")
