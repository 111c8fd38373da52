"""Outputs are stored in one form, and what differs from machine to machine is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_output

from course_utils.build.outputs import WIDGET_VIEW, normalised, output_faults

ROOT = Path("/somewhere/the course")


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


def shown(**data):
    return new_output("display_data", data={key.replace("_", "/"): value for key, value in data.items()})


def faults(*outputs, may_raise=False):
    return output_faults(normalised(outputs, 1), may_raise, ROOT)


def test_adjacent_streams_are_one():
    kept = normalised([stream("a"), stream("b\n"), stream("c", "stderr"), stream("d")], 1)
    assert [(output.name, output.text) for output in kept] == [("stdout", "ab\n"), ("stderr", "c"), ("stdout", "d")]


@pytest.mark.parametrize(
    ("text", "left"),
    [("10%\r20%\r30%\n", "30%\n"), ("long\rab\n", "abng\n"), ("a\r\nb\n", "a\nb\n"), ("\rx", "x"), ("ab\r", "ab")],
)
def test_a_carriage_return_writes_over_the_line(text, left):
    (kept,) = normalised([stream(text)], 1)
    assert kept.text == left


def test_a_carriage_return_reaches_across_streams_that_belong_together():
    (kept,) = normalised([stream("10%"), stream("\r20%")], 1)
    assert kept.text == "20%"


def test_a_widget_leaves_its_picture_and_nothing_where_it_has_none():
    picture = new_output("display_data", data={"text/plain": "a box", WIDGET_VIEW: {"model_id": "1f"}})
    bare = new_output("display_data", data={WIDGET_VIEW: {"model_id": "1f"}})
    (kept,) = normalised([picture, bare], 1)
    assert kept == {"output_type": "display_data", "data": {"text/plain": "a box"}, "metadata": {}}


def test_a_result_gets_the_count_and_loses_its_metadata():
    result = new_output("execute_result", data={"text/plain": "9"}, metadata={"needs": "nothing"}, execution_count=7)
    (kept,) = normalised([result], 2)
    assert (kept.execution_count, kept.metadata) == (2, {})


def test_an_error_is_its_name_and_message():
    error = new_output(
        "error", ename="ValueError", evalue="\x1b[31mno\x1b[0m", traceback=["\x1b[0;31m---", 'File "/home/me/a.py"']
    )
    (kept,) = normalised([error], 1)
    assert kept == {
        "output_type": "error",
        "ename": "ValueError",
        "evalue": "no",
        "traceback": ["ValueError: no"],
    }


def test_normalising_twice_changes_nothing():
    outputs = [stream("a\rb"), new_output("error", ename="E", evalue="", traceback=["x"]), shown(text_plain="x")]
    once = normalised(outputs, 1)
    assert normalised(once, 1) == once


@pytest.mark.parametrize(
    ("output", "said"),
    [
        (shown(text_plain="<object object at 0x7f3a5c1b2d90>"), "a memory address, 0x7f3a5c1b2d90"),
        (shown(text_html="<b>0x000001F3A5C1B2D0</b>"), "a memory address"),
        (stream(f"{ROOT}/notebooks"), f"a path of this machine, {ROOT}"),
        (stream(f"read {Path.home()}"), "a path of this machine"),
        (shown(text_plain=repr(str(Path.home() / "a"))), "a path of this machine"),
        (stream("careful\nsecond line", "stderr"), "writes to stderr: careful"),
        (new_output("error", ename="ValueError", evalue="no\nmore"), "raises ValueError: no; mend it, or tag"),
    ],
)
def test_what_is_refused(output, said):
    (fault,) = faults(output)
    assert said in fault


@pytest.mark.parametrize(
    "output",
    [
        stream("0x3f800000 are the bits of 1.0"),
        stream(f"sqrt{Path.home().as_posix()}s"),
        shown(text_html='<img src="data:image/svg+xml;base64,AA/0xabcdefabcdef">'),
        shown(image_png="AA/0xabcdefabcdef"),
    ],
)
def test_what_only_looks_like_it_is_kept(output):
    assert faults(output) == []


def test_a_cell_tagged_for_an_error_must_raise_one():
    assert faults(new_output("error", ename="E", evalue=""), may_raise=True) == []
    (fault,) = faults(stream("fine"), may_raise=True)
    assert "is tagged raises-exception, but does not raise" in fault
