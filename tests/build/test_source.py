"""A py:percent text is read into cells that know their line, name and tags."""

from __future__ import annotations

import pytest

from course_utils.build.outline import Unit
from course_utils.build.source import read_source

UNIT = Unit("01_a", "A", 1, 1, ())


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / UNIT.source("lesson")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return read_source(tmp_path, UNIT, "lesson")

    return read


def test_cells_have_text_names_tags_and_lines(read):
    source, faults = read(
        '# %% [markdown]\nr"""\nA $\\alpha$\n"""\n\n# %% name="n" tags=["answer"]\n# %s stays\nx = 1\n'
    )
    assert faults == []
    markdown, code = source.cells
    assert (markdown.kind, markdown.source, markdown.line, markdown.label) == (
        "markdown",
        "A $\\alpha$",
        1,
        "1 (markdown: A $\\alpha$)",
    )
    assert (code.source, code.name, code.tags, code.line, code.label) == (
        "# %s stays\nx = 1",
        "n",
        ("answer",),
        6,
        '"n"',
    )


def test_a_byte_order_mark_and_windows_line_ends_change_nothing(read):
    text = '# %% [markdown]\nr"""\nA\n"""\n\n# %%\nx = 1\ny = 2\n'
    plain, _ = read(text)
    windows, _ = read(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert windows == plain


def test_a_marker_inside_a_string_costs_the_line_numbers_only(read):
    source, faults = read('# %%\ns = """\n# %% not a cell\n"""\n')
    assert faults == []
    assert len(source.cells) == 1
    assert source.cells[0].line is None
    assert str(source.fault(source.cells[0], "bad", 2)) == ('sources/lessons/01_a.py, cell 1 (code: s = """): bad')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no cells"),
        (b"\xff\xfe", "cannot be read"),
        ("# %% name=3\nx = 1", "`# %% name=3`: a name is a text"),
        ('# %% tags="answer"\nx = 1', ':1: cell `# %% tags="answer"`: a name is a text, tags are a list'),
        ('# %% tags=["raise"]\nx = 1', "unknown tag `raise`; known: answer, check, raises-exception"),
        ("# %% tags=[raise\nx = 1", "cannot read `tags=[raise`"),
        ("# %% A title\nx = 1", "`title` = 'A title' is not used"),
    ],
)
def test_what_is_not_understood_is_said(read, text, said):
    _, (fault,) = read(text)
    assert str(fault).startswith("sources/lessons/01_a.py")
    assert said in str(fault)
