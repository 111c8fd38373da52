"""Files and archives that are too large, lead elsewhere, or have names that break what shows them."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

from handed import UNIT
from hostile.case import FILE, Case, Cases, Kit, everything

MB = 2**20
UNREADABLE = everything("unreadable")


def cases(kit: Kit) -> Cases:
    """What is no honest file is refused with its reason; what only has an odd name is graded."""
    yield from _archives(kit)
    yield from _on_disk(kit)
    yield from _names(kit)


# archives -------------------------------------------------------------------------------------------------------


def _archives(kit: Kit) -> Cases:
    right = kit.solved().content()
    # archives are called like the unit, so that their folder is whose they are
    yield Case(
        "zip_honest", "nothing; a zip archive in another", {f"{FILE}.zip": _zip({"in.zip": _zip({FILE: right})})}
    )
    for name, tries, archive, note in (
        ("zip_climbs", "a name that leads out of the archive", _zip({f"../../{FILE}": right}), _LEADS_OUT),
        ("zip_absolute", "a name that starts at the root", _zip({f"/etc/{FILE}": right}), _LEADS_OUT),
        ("zip_windows_drive", "a name on another drive", _zip({f"C:\\{FILE}": right}), _LEADS_OUT),
        ("zip_link", "a symbolic link in an archive", _zip_with_link(), "symbolic link"),
        ("zip_deep", "an archive three levels deep", _deep(right), "unpack it by hand"),
        ("zip_damaged", "half an archive", _zip({FILE: right})[:2000], "damaged"),
        ("zip_encrypted", "an archive with a password", _patched(_zip({FILE: right}), 8, 1), "encrypted"),
        ("zip_lies", "an archive that declares a false size", _patched(_zip({FILE: right}), 24, 10), "unpacked"),
        ("zip_bomb", "60 MB of blanks in 60 kB", _zip({FILE: b" " * (60 * MB)}), "larger than 50 MB"),
        ("zip_many_bombs", "2 GB of notebooks in one archive", _many_bombs(), "more than 2 GB"),
        ("zip_crowd", "50 001 files in an archive", _zip(dict.fromkeys(map(str, range(50_001)), b"")), "50000 files"),
    ):
        yield Case(name, tries, {f"{name}_{UNIT}.zip": archive}, UNREADABLE, note)


_LEADS_OUT = "leads out of the archive"


def _deep(content: bytes) -> bytes:
    return _zip({"a.zip": _zip({"b.zip": _zip({FILE: content})})})


def _many_bombs() -> bytes:
    """Of one honest size each, as its directory has it; together too much."""
    archive = _zip({f"{number}/{FILE}": b"" for number in range(50)})
    place = archive.find(b"PK\x01\x02")
    while place >= 0:
        archive = archive[: place + 24] + (45 * MB).to_bytes(4, "little") + archive[place + 28 :]
        place = archive.find(b"PK\x01\x02", place + 1)
    return archive


def _patched(archive: bytes, offset: int, value: int) -> bytes:
    """The archive with another number in the directory entry of its one file."""
    place = archive.rindex(b"PK\x01\x02") + offset
    width = 4 if offset == 24 else 2
    return archive[:place] + value.to_bytes(width, "little") + archive[place + width :]


def _zip(members: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def _zip_with_link() -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        link = zipfile.ZipInfo(FILE, (2026, 1, 1, 0, 0, 0))
        link.external_attr = 0o120777 << 16
        opened.writestr(link, "/etc/passwd")
    return archive.getvalue()


# the disk -------------------------------------------------------------------------------------------------------


def _on_disk(kit: Kit) -> Cases:
    right = kit.solved().content()
    yield Case("file_100_mb", "a notebook of 100 MB", {FILE: _sparse(100 * MB)}, UNREADABLE, "larger than 50 MB")
    outputs = kit.solved()
    text = "0123456789" * 100_000
    outputs.cells[1] |= {"outputs": [{"output_type": "stream", "name": "stdout", "text": text}] * 30}
    yield Case("file_30_mb_of_outputs", "nothing; 30 MB of outputs", {FILE: outputs.content()})
    link = _link(kit.outside.home / ".netrc")
    yield Case("link_to_a_secret", "a symbolic link to somebody's file", {FILE: link}, UNREADABLE, "a symbolic link")
    yield Case(
        "link_to_zeros", "a symbolic link to /dev/zero", {FILE: _link("/dev/zero")}, UNREADABLE, "a symbolic link"
    )
    # sorted before the neighbour, whose place it would take
    neighbour = _link(f"../good_as_taught/{FILE}")
    yield Case("a_link", "a symbolic link to a neighbour's work", {FILE: neighbour}, UNREADABLE, "a symbolic link")
    yield Case("link_to_itself", "a symbolic link in a circle", {FILE: _link(FILE)}, UNREADABLE, "a symbolic link")
    yield Case("link_to_a_folder", "a folder in a circle", {FILE: right, FILE.replace(".", " (1)."): _link(".")})
    yield Case("pipe", "a named pipe, where a reader waits for ever", {FILE: os.mkfifo}, UNREADABLE, "no ordinary file")
    yield Case("folder", "a folder that is called like a notebook", {f"{FILE}/{FILE}": right})


def _sparse(size: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            file.write(b'{"cells": [')
            file.truncate(size)

    return write


def _link(target: object) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


# names ----------------------------------------------------------------------------------------------------------

NAMES = {
    "chinese": "王小明",
    "arabic": "ليلى",
    "quotes": 'O\'Neil "Bob" `x`',
    "backslash": "a\\b\\..\\c",
    "percent": "%s %d %(x)s {0} {student}",
    "shell": "$(touch owned); `id` & | > x",
    "formula": "=cmd|' -C calc'!A0",
    "formula_plus": "+1+1",
    "formula_spaces": "   =2+3",
    "formula_at": "@SUM(1+1)*1",
    "html": "<img src=x onerror=alert(1)>",
    "script": "<script>alert(1)<!script>",
    "markup": "x[bold red]y[-red]z",
    "sql": "Robert'); DROP TABLE result; --x",
    "emoji": "👩‍🎓🏽",
    "long": "x" * 200,
}


def _names(kit: Kit) -> Cases:
    right = kit.solved().content()
    for name, student in NAMES.items():
        yield Case(f"name_{name}", f"is called {student[:30]}", {f"{student}_{FILE}": right}, student=student.strip())
    yield Case("name_newline", "a line end in its name", {f"first\nsecond_{FILE}": right}, student="first second")
    yield Case("name_control", "a bell and colours in its name", {f"\x07\x1b[31mred_{FILE}": right}, student="[31mred")
    yield Case("name_turned", "a name that turns the line around", {f"a\u202eb_{FILE}": right})
    yield Case("name_no_text", "a name that is no text", {os.fsdecode(b"zo\xeb_") + FILE: right}, student="zo\\xeb")
    yield Case(
        "name_slashes", "slashes in a name in an archive", {"w.zip": _zip({f"a/b//c/./d_{FILE}": right})}, student="d"
    )
