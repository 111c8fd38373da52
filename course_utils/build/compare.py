"""Committed notebooks held against their sources; nothing is written and nothing runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from pathlib import Path

from nbformat import NotebookNode

from course_utils.build.assemble import Target
from course_utils.build.faults import Fault, listed
from course_utils.build.outline import Course
from course_utils.build.reuse import carried_over, read_notebook
from course_utils.build.write import has_been_run, notebook_bytes

NOTEBOOK_FOLDERS = ("notebooks", "exercises", "solutions")
_SHOWN = 3


def stale(target: Target, root: Path) -> Fault | None:
    """Why the notebook on disk is not what its source gives, and the command that mends it."""
    reason = _difference(target, root)
    if reason is None:
        return None
    return Fault(target.file, f"{reason}. Run: course build {target.source.unit.name}")


def _difference(target: Target, root: Path) -> str | None:
    path = root / target.file
    if not path.exists():
        return "is missing"
    old = read_notebook(path)
    if old is None:
        return "cannot be read as a notebook"
    cells = differing_cells(old, target.notebook)
    if target.is_executed:
        expected = carried_over(target, old, root)
        if isinstance(expected, str):
            return _joined(f"must be run again: {expected}", cells, target)
    elif has_been_run(path):
        return _joined("has been run; exercises are stored without outputs", cells, target)
    else:
        expected = target.notebook
    if path.read_bytes() == notebook_bytes(expected):
        return None
    if cells:
        return _joined("", cells, target)
    return "its cells are right, but not its outputs, metadata or layout"


def _joined(reason: str, cells: Sequence[str], target: Target) -> str:
    if not cells:
        return reason
    shown = listed(cells[:_SHOWN]) + (f" and {len(cells) - _SHOWN} more" if cells[_SHOWN:] else "")
    differs = f"not what {target.source.file} gives: {shown}"
    return f"{reason}; {differs}" if reason else f"is {differs}"


def differing_cells(old: NotebookNode, new: NotebookNode) -> list[str]:
    """The cells, outputs aside, that are changed, missing, moved or too many in the `old` notebook."""
    before, after = _ids(old), _ids(new)
    found = []
    # autojunk off: every cell counts
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    for _, first, last, new_first, new_last in steps:
        pairs = zip_longest(old.cells[first:last], new.cells[new_first:new_last])
        for number, (was, cell) in enumerate(pairs, start=new_first + 1):
            if cell is None:
                if before[first + number - new_first - 1] not in after:
                    found.append(f"{_label(was, number)} is extra")
            elif was is None:
                moved = after[number - 1] in before
                found.append(f"{_label(cell, number)} {'stands elsewhere' if moved else 'is missing'}")
            elif _content(was) != _content(cell):
                found.append(f"{_label(cell, number, was)} differs")
    return found


def _ids(notebook: NotebookNode) -> list[str]:
    return [str(cell.get("id", f"number {n}")) for n, cell in enumerate(notebook.cells)]


def _label(cell: NotebookNode, number: int, was: NotebookNode | None = None) -> str:
    """The cell's name, or its number and its first line (that is not what it `was`)."""
    if cell.metadata.get("name"):
        return f'cell "{cell.metadata["name"]}"'
    known = was.source.splitlines() if was is not None else []
    lines = [line for line in cell.source.splitlines() if line.strip() and line not in known]
    words = (lines or [cell.source.strip()])[0][:40]
    return f"cell {number} ({cell.cell_type}: {words})"


def _content(cell: NotebookNode) -> tuple[object, ...]:
    return cell.cell_type, cell.source, dict(cell.metadata)


def strays(root: Path, course: Course) -> Iterator[Fault]:
    """A fault for each notebook in the generated folders that no unit names."""
    named = {unit.name for unit in course.units}
    for path in _notebooks(root):
        if path.stem not in named:
            file = path.relative_to(root).as_posix()
            message = f"no unit is called {path.stem}; delete the notebook, or move it elsewhere"
            yield Fault(file, message)


def _notebooks(root: Path) -> Iterable[Path]:
    for folder in NOTEBOOK_FOLDERS:
        for path in sorted((root / folder).glob("*.ipynb")):
            # a learner's kept work and half-written files are not the course's
            if not path.name.endswith(".edited.ipynb") and not path.name.startswith("."):
                yield path
