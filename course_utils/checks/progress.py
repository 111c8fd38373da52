"""Where a learner stands over the whole course, kept in a file of theirs that survives restarts and crashes."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

import filelock
import platformdirs

from course_utils.checks.exercise import Exercise

VARIABLE = "COURSE_PROGRESS"  # a path, or "memory" to keep nothing beyond this process
_VERSION = 1

Record = dict[str, dict[str, object]]
_in_memory: Record = {}


@dataclass(frozen=True)
class UnitProgress:
    """How far one unit is: the names of its exercises that are solved and that are open, and its points."""

    unit: str
    solved: tuple[str, ...]
    to_do: tuple[str, ...]
    points: int
    of_points: int


@dataclass(frozen=True)
class Progress:
    """How far a learner is in every unit, with anything they should know of the file that says so."""

    units: tuple[UnitProgress, ...]
    warning: str = ""

    def __repr__(self) -> str:
        lines = [_line(unit) for unit in self.units]
        return "\n".join([*lines, self.warning] if self.warning else lines)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        rows = "".join(map(_row, self.units))
        warning = f"<div>{escape(self.warning)}</div>" if self.warning else ""
        head = "".join(
            f'<th style="text-align:left;padding-right:1.5em">{title}</th>'
            for title in ("Unit", "Solved", "Points", "Still to do")
        )
        html = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{warning}"
        return {"text/plain": repr(self), "text/html": html}


def progress() -> Progress:
    """Where you stand: exercises solved and points earned, unit by unit."""
    from course_utils.checks.catalogue import all_exercises

    record, warning = _read()
    units: dict[str, list[Exercise]] = {}
    for exercise in all_exercises().values():
        units.setdefault(exercise.unit, []).append(exercise)
    return Progress(tuple(_stand(unit, members, record) for unit, members in units.items()), warning)


def _stand(unit: str, members: list[Exercise], record: Record) -> UnitProgress:
    solved = [one for one in members if record.get(one.name, {}).get("solved")]
    return UnitProgress(
        unit,
        tuple(one.name for one in solved),
        tuple(one.name for one in members if one not in solved),
        sum(one.points for one in solved),
        sum(one.points for one in members),
    )


def note(exercise: Exercise, status: str) -> None:
    """Remember the outcome of a check. What was solved once stays solved. Stubs leave no trace.

    A file that cannot be written costs the memory of it, never the check itself.
    """
    if status == "not attempted":
        return
    if _path() is None:
        _enter(_in_memory, exercise, status)
        return
    try:
        _update(exercise, status)
    except (OSError, NotImplementedError, filelock.Timeout) as error:  # some file systems know no locks
        print(f"This result is not remembered for progress(): {error}")


def _update(exercise: Exercise, status: str) -> None:
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    # two notebooks may check at the same moment
    with filelock.FileLock(f"{path}.lock", timeout=5):
        record, warning = _read()
        if warning:
            path.replace(path.with_name(f"{path.name}.unreadable"))
            print(warning)
        _enter(record, exercise, status)
        _write(path, {"version": _VERSION, "exercises": record})


def _enter(record: Record, exercise: Exercise, status: str) -> None:
    entry = record.setdefault(exercise.name, {"attempts": 0, "solved": False})
    entry["attempts"] += 1
    entry["solved"] = bool(entry["solved"]) or status == "right"


def _read() -> tuple[Record, str]:
    path = _path()
    if path is None:
        return _in_memory, ""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        record = content["exercises"]
        if not all(isinstance(entry["attempts"], int) and "solved" in entry for entry in record.values()):
            raise TypeError
    except FileNotFoundError:
        return {}, ""
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        return {}, (
            f"The progress file {path} could not be read. The next check sets it aside as {path.name}.unreadable "
            "and begins a new one."
        )
    return record, ""


def _write(path: Path, content: dict[str, object]) -> None:
    """Replace the file as a whole: whoever reads it sees the old content or the new, never a part."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(content, stream, indent=1, sort_keys=True)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _path() -> Path | None:
    """The learner's progress file, or None where progress is kept in memory only."""
    chosen = os.environ.get(VARIABLE)
    if chosen == "memory":
        return None
    if chosen:
        return Path(chosen)
    return Path(platformdirs.user_data_dir("autograd-step-by-step", False)) / "progress.json"


def _line(unit: UnitProgress) -> str:
    count = len(unit.solved) + len(unit.to_do)
    rest = f"; still to do: {', '.join(unit.to_do)}" if unit.to_do else ""
    return f"{unit.unit}: {len(unit.solved)} of {count} solved, {unit.points} of {unit.of_points} points{rest}"


def _row(unit: UnitProgress) -> str:
    count = len(unit.solved) + len(unit.to_do)
    cells = (
        unit.unit,
        f"{len(unit.solved)} of {count}",
        f"{unit.points} of {unit.of_points}",
        ", ".join(unit.to_do) or "nothing",
    )
    tds = "".join(f'<td style="text-align:left;padding-right:1.5em">{escape(cell)}</td>' for cell in cells)
    return f"<tr>{tds}</tr>"
