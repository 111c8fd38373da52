"""Files are whole or not there, untouched if nothing changed, and a learner's work is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from course_utils.build.write import has_been_run, keep_work, notebook_bytes, write_atomically, write_if_changed


def notebook(**cell):
    return new_notebook(cells=[new_code_cell("x = 'ü'\n1", id="one", **cell)])


def test_a_notebook_is_utf8_with_lf_and_a_newline_at_the_end():
    content = notebook_bytes(notebook())
    assert b"\r" not in content
    assert content.endswith(b"}\n") and not content.endswith(b"\n\n")
    assert "ü".encode() in content


def test_the_same_content_is_not_written_again(tmp_path):
    path = tmp_path / "new folder" / "a.ipynb"
    assert write_if_changed(path, b"one\n")
    written = path.stat().st_mtime_ns, path.stat().st_ino
    assert not write_if_changed(path, b"one\n")
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == written
    assert write_if_changed(path, b"two\n")
    assert path.read_bytes() == b"two\n"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a.ipynb"
    path.write_bytes(b"old")

    def broken_off(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", broken_off)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "run"),
    [
        (None, False),
        (b"", False),
        (notebook_bytes(notebook()), False),
        (notebook_bytes(notebook(execution_count=3)), True),
        (notebook_bytes(notebook(outputs=[new_output("stream", text="1")])), True),
        (b"<<<<<<< {", True),
    ],
)
def test_what_counts_as_work(tmp_path, content, run):
    path = tmp_path / "a.ipynb"
    if content is not None:
        path.write_bytes(content)
    assert has_been_run(path) is run


def test_work_is_kept_under_a_free_name(tmp_path):
    path = tmp_path / "01_a.ipynb"
    names = []
    for work in (b"one", b"two", b"two"):
        path.write_bytes(work)
        kept = keep_work(path)
        assert kept.read_bytes() == work
        names.append(kept.name)
    assert names == ["01_a.edited.ipynb", "01_a.2.edited.ipynb", "01_a.2.edited.ipynb"]
