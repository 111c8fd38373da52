"""What is read from the text of a cell, whatever stands in it."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from course_utils.grading.names import check_calls, definitions, parsed

FUNCTION = "def answer(x):\n    return x\n"


@pytest.mark.parametrize(
    "source",
    [
        FUNCTION,
        f"%matplotlib inline\nfiles = !ls\n{FUNCTION}",
        f"%%time\n{FUNCTION}",
        "    def answer(x):\n        return x\n",
        ">>> def answer(x):\n...     return x\n",
        "In [3]: def answer(x):\n   ...:     return x\n",
    ],
)
def test_what_ipython_takes_is_python(source):
    assert definitions(source)["answer"] == "function"
    assert parsed(source) is not None


@pytest.mark.parametrize("line", ["!ls", "a=!ls", "%time 1", "x?", ",f a b", "/f a", ";f a"])
def test_a_cell_full_of_magics_is_read_roughly(line, monkeypatch):
    def slow(self, source):
        raise AssertionError("for this IPython takes minutes")

    monkeypatch.setattr(TransformerManager, "transform_cell", slow)
    source = f"{line}\n" * 5000 + FUNCTION
    assert definitions(source)["answer"] == "function"
    assert check_calls(source) == []


@pytest.mark.parametrize("source", ["(" * 50_000, "-" * 100_000 + "1", "x = 1\0", "s = '\udcff'"])
def test_what_no_parser_takes_is_no_end(source):
    assert parsed(source) is None
