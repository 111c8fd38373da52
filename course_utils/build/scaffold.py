"""A new unit that builds and passes from the start, to be filled: `course new 12_some_topic`."""

from __future__ import annotations

import contextlib
import keyword
import re
from importlib import resources
from pathlib import Path

from course_utils.build.outline import OUTLINE, UNIT_NAME, Course, name_rule, read_course
from course_utils.build.write import write_atomically

# template -> where what it gives belongs
_FILES = {
    "lesson.py.txt": "sources/lessons/{name}.py",
    "exercises.py.txt": "sources/exercises/{name}.py",
    "checks.py.txt": "course_utils/checks/{stem}.py",
    "variants.py.txt": "tests/checks/{stem}.py",
}
_ENTRY = """
[[unit]]
name = "{name}"
title = "{title}"
lesson_minutes = 30
exercise_minutes = 30
needs = []
"""
_README = "README.md"
_ROW = re.compile(r"^\| \d\d .*\|\n", flags=re.M)  # a unit in the README's table


def new(root: Path, name: str) -> int:
    """Add the unit `name`, with a small lesson and one exercise to replace; 0, or 1 if that cannot be."""
    course, faults = read_course(root)
    if faults:
        print(f"course new: first mend {OUTLINE}. {faults[0].message}")
        return 1
    words = _words(name)
    files = {root / path.format(**words): template for template, path in _FILES.items()}
    reason = _objection(course, name, root, list(files))
    if reason is not None:
        print(f"course new: {reason} Nothing was written.")
        return 1
    try:
        _write(root, files, words)
    except KeyboardInterrupt:
        print("Interrupted. Nothing was written.")
        return 1
    except OSError as error:
        print(f"course new: {error.filename}: {error.strerror}. Nothing was written.")
        return 1
    for path in (root / OUTLINE, root / _README, *files):
        print(f"wrote {path.relative_to(root).as_posix()}")
    print(f"Now fill them. `course build {name}` makes the notebooks, `course prove` tries the checks.")
    return 0


def _words(name: str) -> dict[str, str]:
    number, _, stem = name.partition("_")
    return {"name": name, "number": number, "stem": stem, "title": stem.replace("_", " ").capitalize()}


def _objection(course: Course, name: str, root: Path, files: list[Path]) -> str | None:
    """Why there can be no new unit of this name."""
    if not UNIT_NAME.fullmatch(name):
        return f"{name_rule(name)}."
    words = _words(name)
    for unit in course.units:
        if unit.name == name:
            return f"there is a unit {name} already."
        if unit.name[:2] == words["number"]:
            return f"the number {words['number']} is taken by {unit.name}; choose another."
        if unit.stem == words["stem"]:
            return f"{unit.name} is called {words['stem']} already; choose another name."
    if keyword.iskeyword(words["stem"]):
        return f"`{words['stem']}` is a word of Python, and no module can be called that; choose another name."
    for path in files:
        if path.exists():
            return f"{path.relative_to(root).as_posix()} exists already; choose another name, or move the file."
    return None


def _write(root: Path, files: dict[Path, str], words: dict[str, str]) -> None:
    """Write the files, then the entries in the README and the outline; if anything fails, nothing of it stays."""
    made: list[Path] = []
    readme, outline = root / _README, root / OUTLINE
    before = {path: path.read_bytes() for path in (readme, outline)}
    try:
        for path, template in files.items():
            made += _make_folders(path.parent)
            made.append(path)
            write_atomically(path, _filled(template, words).encode("utf-8"))
        write_atomically(readme, _with_row(before[readme].decode("utf-8"), words).encode("utf-8"))
        entry = _ENTRY.format(**words).encode("utf-8")
        write_atomically(outline, before[outline].rstrip(b"\r\n") + b"\n" + entry)
    except BaseException:
        for path, content in before.items():
            with contextlib.suppress(OSError):
                write_atomically(path, content)
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
        raise


def _with_row(readme: str, words: dict[str, str]) -> str:
    """The README with one more row behind the last unit in its table."""
    rows = list(_ROW.finditer(readme))
    place = rows[-1].end() if rows else len(readme)
    return f"{readme[:place]}| {words['number']} {words['title']} | (say what a learner can do now) |\n{readme[place:]}"


def _make_folders(folder: Path) -> list[Path]:
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for path in reversed(missing):
        path.mkdir()
    return missing[::-1]


def _filled(template: str, words: dict[str, str]) -> str:
    text = (resources.files("course_utils.build") / "templates" / template).read_text(encoding="utf-8")
    for key, value in words.items():
        text = text.replace("{{" + key + "}}", value)
    return text
