"""Notebooks that editors, tools and people have spoilt, for good or ill: cells, metadata, formats, encodings."""

from __future__ import annotations

import json
from collections.abc import Callable

from handed import HandedIn
from hostile.case import FILE, Case, Cases, Kit, everything

WRONG_MEAN = "def mean_backward(incoming, x):\n    return incoming"


def cases(kit: Kit) -> Cases:
    """Answers count wherever they stand; what is no notebook earns nothing, with the reason."""
    yield from _cells(kit)
    yield from _checks(kit)
    yield from _formats(kit)
    yield from _no_notebooks()


def _case(
    name: str,
    tries: str,
    spoil: Callable[[HandedIn], None],
    notebook: HandedIn,
    lost: dict | None = None,
    note: str = "",
) -> Case:
    spoil(notebook)
    return Case(name, tries, {FILE: notebook.content()}, lost or {}, note)


# cells ----------------------------------------------------------------------------------------------------------


def _cells(kit: Kit) -> Cases:
    yield _case("cells_stripped", "all metadata and ids lost", HandedIn.strip, kit.solved())
    yield _case("cells_reversed", "all cells in reverse order", lambda one: one.cells.reverse(), kit.solved())
    yield _case("cells_doubled", "every cell twice", lambda one: one.cells.extend(one.copy().cells), kit.solved())
    yield _case("cells_renamed", "all cells renamed to one name", _renamed, kit.solved())
    yield _case("cells_merged", "everything in one cell", _merged, kit.solved())
    yield _case("cells_split", "each answer split line by line, where Python allows it", _split, kit.solved())
    yield _case(
        "cells_deleted",
        "an answer deleted",
        lambda one: one.cells.remove(one.cell("sum_to_shape")),
        kit.solved(),
        {"sum_to_shape": "missing"},
        "sum_to_shape: the answer is missing",
    )
    yield _case(
        "answer_hidden_twice",
        "a right answer in front of a wrong one of the same name",
        lambda one: one.insert(kit.right["mean_backward"], before="mean_backward"),
        kit.solved(mean_backward=WRONG_MEAN),
        {"mean_backward": "wrong"},
    )
    yield _case(
        "setup_spoilt", "the given setup cell emptied", lambda one: one.answer(setup="del torch, check"), kit.solved()
    )


def _renamed(notebook: HandedIn) -> None:
    for cell in notebook.cells:
        cell["metadata"]["name"], cell["id"] = "square_times_cube", "square_times_cube"


def _merged(notebook: HandedIn) -> None:
    source = "\n\n".join("".join(cell["source"]) for cell in notebook.cells if cell["cell_type"] == "code")
    notebook.notebook["cells"] = [{"cell_type": "code", "metadata": {}, "source": source, "outputs": []}]


def _split(notebook: HandedIn) -> None:
    cells = []
    for cell in notebook.cells:
        source = "".join(cell["source"])
        blocks = source.split("\n\n\n") if cell["cell_type"] == "code" else [source]
        cells += [{**cell, "source": block, "id": f"{cell.get('id')}-{i}"} for i, block in enumerate(blocks)]
    notebook.notebook["cells"] = cells


# checks ---------------------------------------------------------------------------------------------------------


def _checks(kit: Kit) -> Cases:
    wrong, lost = {"mean_backward": WRONG_MEAN}, {"mean_backward": "wrong"}
    yield _case("checks_deleted", "all check cells deleted", _without_checks, kit.solved(**wrong), lost)
    yield _case(
        "check_edited",
        "the check is given another's answer",
        lambda one: one.answer(
            **{"mean_backward.check": 'check("mean_backward", lambda g, x: g.expand(x.shape) / x.numel())'}
        ),
        kit.solved(**wrong),
        lost,
    )
    yield _case(
        "check_swallowed",
        "the check stands in try and except",
        lambda one: one.answer(
            **{"mean_backward.check": "try:\n    check('mean_backward', mean_backward)\nfinally:\n    pass"}
        ),
        kit.solved(),
    )
    yield _case(
        "check_renamed",
        "a check cell passes for an answer cell",
        lambda one: one.cell("mean_backward.check")["metadata"].update(name="mean_backward", tags=["answer"]),
        kit.solved(),
    )
    yield _case(
        "check_of_another",
        "the check asks for an easier exercise",
        lambda one: one.answer(**{"sum_to_shape.check": 'check("choose_addition", choice)'}),
        kit.solved(sum_to_shape="def sum_to_shape(incoming, shape):\n    return incoming"),
        {"sum_to_shape": "wrong"},
    )


def _without_checks(notebook: HandedIn) -> None:
    notebook.notebook["cells"] = [
        one for one in notebook.cells if not one["metadata"].get("name", "").endswith(".check")
    ]


# formats --------------------------------------------------------------------------------------------------------


def _formats(kit: Kit) -> Cases:
    right = kit.solved().content()
    yield Case("format_3", "the old format of 2014", {FILE: json.dumps(_old(kit.solved().notebook)).encode()})
    yield Case(
        "format_bom_crlf",
        "byte order mark, Windows line ends",
        {FILE: b"\xef\xbb\xbf" + json.dumps(_windows(kit.solved().notebook), indent=1).replace("\n", "\r\n").encode()},
    )
    yield Case(
        "format_utf16", "UTF-16", {FILE: right.decode().encode("utf-16")}, everything("unreadable"), "not text in UTF-8"
    )
    odd = kit.solved().notebook
    odd |= {"metadata": [1, 2], "nbformat": "four", "nbformat_minor": None}
    for number, cell in enumerate(odd["cells"]):
        cell["execution_count"], cell["outputs"] = {"a": 1}, 7
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
        if number % 2:
            cell["attachments"] = cell.pop("metadata")
            cell["id"] = [cell.get("id")]
    yield Case("format_invalid", "fields of wrong types everywhere", {FILE: json.dumps(odd).encode()})
    yield Case(
        "format_doubled_keys",
        "JSON with every key twice",
        {FILE: right.replace(b'"cells"', b'"cells": [], "cells"', 1)},
    )
    yield Case(
        "format_numbers",
        "NaN and Infinity",
        {FILE: right.replace(b'"nbformat": 4', b'"nbformat": NaN, "x": -Infinity')},
    )
    language = kit.solved()
    language.notebook["metadata"] = {
        "kernelspec": {"name": "julia", "language": "julia"},
        "language_info": {"name": "R"},
    }
    yield Case("format_other_kernel", "asks for a kernel of another language", {FILE: language.content()})


def _old(notebook: dict) -> dict:
    """As nbformat 3 has it: worksheets, and `input` where the source stood."""
    cells = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            old = {"cell_type": "code", "input": source, "language": "python", "collapsed": False, "outputs": []}
        else:
            old = {"cell_type": cell["cell_type"], "source": source}
        cells.append({**old, "metadata": {}})
    return {
        "metadata": {"name": ""},
        "nbformat": 3,
        "nbformat_minor": 0,
        "worksheets": [{"cells": cells, "metadata": {}}],
    }


def _windows(notebook: dict) -> dict:
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return notebook


def _no_notebooks() -> Cases:
    for name, tries, content, note in (
        ("not_json", "no JSON", b'{"cells": [', "invalid JSON"),
        ("empty", "an empty file", b"", "the file is empty"),
        ("blank", "blanks only", b" \n\t\n", "the file is empty"),
        ("a_picture", "a picture, renamed", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not text in UTF-8"),
        ("html", "a web page, renamed", b"<!doctype html><script>alert(1)</script>", "invalid JSON"),
        ("a_list", "JSON that is a list", b"[1, 2]", "has no cells"),
        ("cells_no_list", "cells that are a number", b'{"cells": 7, "nbformat": 4}', "cells are not a list"),
        ("deep_json", "JSON 100 000 lists deep", b"[" * 100_000, "invalid JSON"),
        ("deep_object", "JSON 100 000 objects deep", b'{"cells":' * 100_000 + b"1" + b"}" * 100_000, "invalid JSON"),
        ("long_number", "a number of a million digits", b'{"cells": [' + b"9" * 10**6 + b"]}", "invalid JSON"),
        (
            "worksheets_wrong",
            "an old format that is none",
            b'{"worksheets": [7], "nbformat": 3}',
            "old notebook format",
        ),
    ):
        yield Case(f"none_{name}", tries, {FILE: content}, everything("unreadable"), note)
