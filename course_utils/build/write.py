"""Notebooks onto the disk: whole or not at all, untouched if nothing changed, and nobody's work lost."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_utils.build.reuse import code_cells, read_notebook


def notebook_bytes(notebook: NotebookNode) -> bytes:
    """The notebook in nbformat's own layout, LF line ends on every system, a newline at the end."""
    nbformat.validate(notebook)
    return (nbformat.v4.writes(notebook).rstrip("\n") + "\n").encode("utf-8")


def write_if_changed(path: Path, content: bytes) -> bool:
    """Whether `path` had to be written; a file that already has this content is not touched."""
    try:
        if path.read_bytes() == content:
            return False
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    return True


def write_atomically(path: Path, content: bytes) -> None:
    """Write `path` in one step: whoever reads it, or breaks this off, sees the old file or the new."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp gives a file for its owner only
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def has_been_run(path: Path) -> bool:
    """Whether the notebook at `path` is someone's work: it has an output or a count, or is unreadable."""
    if not path.exists():
        return False
    notebook = read_notebook(path)
    if notebook is None:
        return bool(path.read_bytes().strip())
    return any(cell.outputs or cell.execution_count for cell in code_cells(notebook))


def keep_work(path: Path) -> Path:
    """Copy the notebook to NAME.edited.ipynb, or the first numbered name that is free."""
    content = path.read_bytes()
    number = 1
    while True:
        suffix = ".edited.ipynb" if number == 1 else f".{number}.edited.ipynb"
        copy = path.with_name(path.stem + suffix)
        if not copy.exists():
            write_atomically(copy, content)
            return copy
        if copy.read_bytes() == content:
            return copy
        number += 1
