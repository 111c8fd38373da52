"""course.toml as values: which units the course has, in which order, and which files belong to them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from course_utils.build.faults import Fault, listed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OUTLINE = "sources/course.toml"
FOLDERS = {"lesson": "sources/lessons", "exercise": "sources/exercises"}
UNIT_NAME = re.compile(r"\d\d_[a-z][a-z0-9]*(_[a-z0-9]+)*")
_KINDS = {
    "name": (str, "a text"),
    "title": (str, "a text"),
    "lesson_minutes": (int, "a whole number"),
    "exercise_minutes": (int, "a whole number"),
    "needs": (list, "a list of unit names"),
}


@dataclass(frozen=True)
class Unit:
    """One lesson and one exercise notebook of the same name."""

    name: str
    title: str
    lesson_minutes: int
    exercise_minutes: int
    needs: tuple[str, ...]

    @property
    def stem(self) -> str:
        """The name without its number: what the unit's Python modules are called."""
        return self.name.partition("_")[2]

    def source(self, kind: str) -> str:
        """The path of the unit's `lesson` or `exercise` source, below the course's root."""
        return f"{FOLDERS[kind]}/{self.name}.py"


@dataclass(frozen=True)
class Course:
    """The title and the units, in the order they are taught."""

    title: str
    units: tuple[Unit, ...]

    def select(self, names: Sequence[str]) -> tuple[tuple[Unit, ...], list[str]]:
        """The units of these names (or stems), in the course's order, and the names that no unit has."""
        known = {name for unit in self.units for name in (unit.name, unit.stem)}
        chosen = tuple(u for u in self.units if not names or {u.name, u.stem} & set(names))
        return chosen, [name for name in names if name not in known]


def read_course(root: Path) -> tuple[Course, list[Fault]]:
    """The course that course.toml describes (as far as it can be read), and what is wrong with it."""
    try:
        table = tomllib.loads((root / OUTLINE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Course("", ()), [Fault(OUTLINE, "the file is missing; it names the course's units")]
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        return Course("", ()), [Fault(OUTLINE, f"cannot be read: {error}")]
    return _course(table)


def _course(table: Mapping[str, object]) -> tuple[Course, list[Fault]]:
    faults = [
        Fault(OUTLINE, f"unknown key `{key}`; known: title, unit") for key in table if key not in ("title", "unit")
    ]
    title = table.get("title")
    if not isinstance(title, str) or not title.strip():
        faults.append(Fault(OUTLINE, '`title` is missing; write title = "..." at the top'))
    entries = table.get("unit", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return Course(str(title), ()), [*faults, Fault(OUTLINE, "units are written as [[unit]]")]
    units = []
    for number, entry in enumerate(entries, start=1):
        entry_faults = list(_entry_faults(number, entry))
        faults += entry_faults
        if not entry_faults:
            units.append(Unit(**{**entry, "needs": tuple(entry["needs"])}))
    unit_names = [str(entry.get("name")) for entry in entries]
    faults += [*_repeated(units), *_unknown_needs(units, unit_names)]
    return Course(str(title), tuple(units)), faults


def _entry_faults(number: int, entry: Mapping[str, object]) -> Iterable[Fault]:
    place = f"unit {entry.get('name', f'number {number}')}"
    for key, (kind, words) in _KINDS.items():
        if key not in entry:
            yield Fault(OUTLINE, f"{place}: `{key}` is missing")
        elif not isinstance(entry[key], kind) or isinstance(entry[key], bool):
            yield Fault(OUTLINE, f"{place}: `{key}` must be {words}")
        elif kind is int and entry[key] <= 0:  # type: ignore[operator]
            yield Fault(OUTLINE, f"{place}: `{key}` must be greater than 0")
    for key in entry:
        if key not in _KINDS:
            yield Fault(OUTLINE, f"{place}: unknown key `{key}`; known: {listed(_KINDS)}")
    name = entry.get("name")
    if isinstance(name, str) and not UNIT_NAME.fullmatch(name):
        yield Fault(OUTLINE, f"{place}: {name_rule(name)}")
    if isinstance(entry.get("title"), str) and not str(entry["title"]).strip():
        yield Fault(OUTLINE, f"{place}: `title` is empty")


def name_rule(name: str) -> str:
    """What a unit's name has to look like, said to the author of `name`."""
    return f"`{name}` is not a unit name; write two digits, an underscore and lower-case words, as in 12_some_topic"


def _repeated(units: Sequence[Unit]) -> Iterable[Fault]:
    for what, of in (
        ("name", lambda unit: unit.name),
        ("number", lambda unit: unit.name[:2]),
        ("stem", lambda unit: unit.stem),
    ):
        seen: dict[str, Unit] = {}
        for unit in units:
            first = seen.setdefault(of(unit), unit)
            if first is not unit and (what == "name" or first.name != unit.name):
                yield Fault(OUTLINE, f"unit {unit.name}: the {what} {of(unit)} is taken by {first.name}")


def _unknown_needs(units: Sequence[Unit], names: Sequence[str]) -> Iterable[Fault]:
    for unit in units:
        for need in unit.needs:
            if need not in names:
                yield Fault(OUTLINE, f"unit {unit.name}: needs `{need}`, which no unit is called")
            elif names.index(need) >= names.index(unit.name):
                yield Fault(OUTLINE, f"unit {unit.name}: needs `{need}`, which comes later")


def missing_sources(root: Path, units: Iterable[Unit]) -> list[Fault]:
    """A fault for each lesson or exercise source that a unit should have and has not."""
    return [
        Fault(unit.source(kind), f"the file is missing; unit {unit.name} in {OUTLINE} names it")
        for unit in units
        for kind in FOLDERS
        if not (root / unit.source(kind)).is_file()
    ]


def unnamed_sources(root: Path, course: Course) -> list[Fault]:
    """A fault for each file among the sources that belongs to no unit."""
    faults = []
    for kind, folder in FOLDERS.items():
        named = {unit.source(kind) for unit in course.units}
        for path in sorted((root / folder).glob("*")):
            file = f"{folder}/{path.name}"
            if path.is_file() and not path.name.startswith(".") and file not in named:
                names = listed(unit.name for unit in course.units)
                message = f"no unit in {OUTLINE} is called {path.stem}; known: {names}"
                faults.append(Fault(file, message))
    return faults
