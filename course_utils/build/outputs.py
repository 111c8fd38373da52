"""Stored outputs made the same on every machine, and what in them is refused because it never would be."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from nbformat import NotebookNode, from_dict

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# Nine digits and more: addresses are that long on every system, shown bit patterns of a float32 are not.
_ADDRESS = re.compile(r"\b0x[0-9a-f]{9,16}\b", re.IGNORECASE)
_DATA_URI = re.compile(r"data:[\w/+.;=-]+,[^\"'\s)]*")


def normalised(outputs: Iterable[NotebookNode], count: int | None) -> list[NotebookNode]:
    """The outputs without what changes from run to run; results carry the cell's `count`."""
    kept: list[dict] = []
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream":
            _append_stream(kept, output)
        elif kind == "error":
            kept.append(_error(output))
        else:
            data = {key: value for key, value in output["data"].items() if key != WIDGET_VIEW}
            if data:
                shown = {"output_type": kind, "data": data, "metadata": {}}
                kept.append(shown | ({"execution_count": count} if kind == "execute_result" else {}))
    for output in kept:
        if output["output_type"] == "stream":
            output["text"] = _carriage_returns(output["text"])
    return [from_dict(output) for output in kept]


def _append_stream(kept: list[dict], output: NotebookNode) -> None:
    last = kept[-1] if kept else {}
    if last.get("output_type") == "stream" and last["name"] == output["name"]:
        last["text"] += output["text"]
    elif output["text"]:
        kept.append({"output_type": "stream", "name": output["name"], "text": output["text"]})


def _carriage_returns(text: str) -> str:
    """The text as a terminal leaves it: a line after `\\r` is written over what stood there."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_overwritten(line) for line in lines)


def _overwritten(line: str) -> str:
    shown = ""
    for part in line.split("\r"):
        shown = part + shown[len(part) :]
    return shown


def _error(output: NotebookNode) -> dict:
    name, value = output["ename"], _ANSI.sub("", output["evalue"])
    traceback = [f"{name}: {value}" if value else name]
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": traceback}


def output_faults(outputs: Sequence[NotebookNode], may_raise: bool, root: Path) -> list[str]:
    """What in a cell's normalised outputs would differ elsewhere, or was not meant to be shown."""
    found = []
    for output in outputs:
        if output["output_type"] == "error" and not may_raise:
            found.append(f"raises {one_line(output)}; mend it, or tag the cell raises-exception")
        if output.get("name") == "stderr" and not may_raise:
            found.append(f"writes to stderr: {_first_line(output['text'])}")
        for text in map(_without_data_uris, _texts(output)):
            address = _ADDRESS.search(text)
            if address:
                found.append(f"its output holds a memory address, {address[0]}")
            found += [f"its output holds a path of this machine, {p}" for p in _paths(text, root)]
    if may_raise and not any(output["output_type"] == "error" for output in outputs):
        found.append("is tagged raises-exception, but does not raise; take the tag away")
    return list(dict.fromkeys(found))


def one_line(error: NotebookNode) -> str:
    """An error output's name and the first line of its message."""
    message = _first_line(_ANSI.sub("", error["evalue"]))
    return f"{error['ename']}: {message}" if message else error["ename"]


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _texts(output: NotebookNode) -> Iterator[str]:
    yield output.get("text", "")
    yield output.get("evalue", "")
    for mime, value in output.get("data", {}).items():
        if isinstance(value, str):
            # base64 can hold any letters
            yield "" if mime.startswith("image/") and "svg" not in mime else value
        else:
            yield json.dumps(value)


def _without_data_uris(text: str) -> str:
    return _DATA_URI.sub("", text)


def _paths(text: str, root: Path) -> list[str]:
    temporary = Path(tempfile.gettempdir())
    folders = dict.fromkeys([root.resolve(), Path.home(), temporary / "ipykernel_"])
    spelt = [s for f in folders if f != f.parent for s in (str(f), f.as_posix(), repr(str(f))[1:-1])]
    return [path for path in dict.fromkeys(spelt) if re.search(_path_pattern(path), text)][:1]


def _path_pattern(path: str) -> str:
    # not within a longer path: home may be /root, and `sqrt/root` is no path
    end = "" if path.endswith("_") else r"(?![\w.-])"
    return r"(?<![\w.\\/-])" + re.escape(path) + end
