"""The files that were handed in: found in folders and zip archives, and read without being unpacked or believed."""

from __future__ import annotations

import datetime
import io
import os
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from course_utils.refusal import Refusal

LARGEST = 50 * 2**20  # bytes of a notebook; the exercises with all their outputs are a hundredth of it
LARGEST_INNER = 200 * 2**20  # bytes of an archive inside another
MOST_UNPACKED = 2 * 2**30  # bytes of all notebooks in one archive
MOST_MEMBERS = 50_000  # files in one archive
DEEPEST = 2  # an archive in an archive, and no further: learners zip what the LMS zips again
_SKIPPED = {".ipynb_checkpoints", "__MACOSX"}
_ENCRYPTED = 0x1


class Unreadable(Exception):  # noqa: N818 (a property of the submission, no error of the program)
    """Why a submission cannot be graded, in words for its row of the gradebook."""


@dataclass(frozen=True)
class File:
    """A notebook that was handed in, still to be read.

    `name` is what it is called in reports, `source` the file on the disk, `inside` the way to it through archives.
    `modified` is when it was last changed, in seconds since 1970. With a `fault` it cannot be read.
    """

    name: PurePosixPath
    source: Path
    inside: tuple[str, ...] = ()
    modified: float = 0.0
    fault: str = ""

    @property
    def place(self) -> str:
        """Where it stands, told apart from every other file."""
        # the file's own link is not followed: what it points to may be another's submission, or the link itself
        return _text("/".join((str(self.source.parent.resolve() / self.source.name), *self.inside)))

    def content(self) -> bytes:
        """Its bytes; Unreadable if there are none to be had, or too many."""
        if self.fault:
            raise Unreadable(self.fault)
        try:
            if not self.inside:
                with self.source.open("rb") as file:
                    return _at_most(file, LARGEST)
            return _member(self.source, self.inside)
        except OSError as error:
            raise Unreadable(f"cannot be read: {error.strerror or error}") from None
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, KeyError) as error:
            raise Unreadable(f"cannot be unpacked: {error}") from None


def _at_most(file: io.BufferedIOBase | zipfile.ZipExtFile, most: int) -> bytes:
    """The content, never more than `most` of it in memory, whatever size the archive declares."""
    content = file.read(most + 1)
    if len(content) > most:
        raise Unreadable(f"larger than {most // 2**20} MB")
    return content


def _member(source: Path, inside: tuple[str, ...]) -> bytes:
    archive: Path | io.BytesIO = source
    for depth, name in enumerate(inside, start=1):
        with zipfile.ZipFile(archive) as opened, opened.open(name) as member:
            content = _at_most(member, LARGEST if depth == len(inside) else LARGEST_INNER)
        archive = io.BytesIO(content)
    return content


# finding --------------------------------------------------------------------------------------------------------


def find_files(paths: Iterable[Path]) -> list[File]:
    """The notebooks named, and those in the folders and archives named, each once. Refuses what is not there."""
    found: dict[str, File] = {}
    for path in paths:
        if path.is_dir():
            inside = list(_in_folder(path))
        elif path.exists():
            inside = list(_on_disk(path, _shown(path)))
        else:
            raise Refusal(f"there is no file or folder {path}: check its spelling.")
        if not inside:
            raise Refusal(f"{path} holds no notebooks: name the folder that the submissions are in.")
        for one in inside:
            found.setdefault(one.place, one)
    return list(found.values())


def _in_folder(folder: Path) -> Iterator[File]:
    paths = []
    for where, folders, files in os.walk(folder):  # which does not follow links
        links = [name for name in folders if (Path(where) / name).is_symlink()]
        paths += [Path(where) / name for name in (*files, *links)]
    for path in sorted(paths):
        if not _is_meant(PurePosixPath(path.relative_to(folder).as_posix())):
            continue
        if path.is_symlink():
            yield File(_shown(path), path.absolute(), fault="a symbolic link: the file itself has to be handed in")
        elif path.suffix.lower() in (".ipynb", ".zip"):
            if path.is_file():
                yield from _on_disk(path, _shown(path))
            else:  # a named pipe, say, at whose end nobody writes
                yield File(_shown(path), path, fault="no ordinary file")


def _shown(path: Path) -> PurePosixPath:
    return PurePosixPath(_text(path.as_posix()))


def _text(path: str) -> str:
    """A path that can be stored and shown: Linux allows names that are no text in any encoding."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _is_meant(path: PurePosixPath) -> bool:
    return not _SKIPPED & set(path.parts) and not path.name.startswith("._")


def _on_disk(path: Path, name: PurePosixPath) -> Iterator[File]:
    if path.suffix.lower() == ".zip":
        yield from _in_archive(path, path, name, ())
    else:
        yield File(name, path, modified=path.stat().st_mtime)


def _in_archive(
    archive: Path | io.BytesIO, source: Path, name: PurePosixPath, inside: tuple[str, ...]
) -> Iterator[File]:
    """The notebooks in an archive. One that is not to be trusted is a single file with a fault."""
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [one for one in opened.infolist() if not one.is_dir() and _is_meant(PurePosixPath(one.filename))]
            fault = _too_much(members)
            if fault:
                yield File(name, source, inside, fault=fault)
                return
            for member in sorted(members, key=lambda one: one.filename):
                yield from _in_member(opened, member, source, name, inside)
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        yield File(name, source, inside, fault=f"no zip archive, or a damaged one ({error})")


def _too_much(members: list[zipfile.ZipInfo]) -> str:
    if len(members) > MOST_MEMBERS:
        return f"an archive of more than {MOST_MEMBERS} files"
    notebooks = [one for one in members if one.filename.lower().endswith(".ipynb")]
    if sum(one.file_size for one in notebooks) > MOST_UNPACKED:
        return f"an archive whose notebooks unpack to more than {MOST_UNPACKED // 2**30} GB"
    return ""


def _in_member(
    opened: zipfile.ZipFile, member: zipfile.ZipInfo, source: Path, name: PurePosixPath, inside: tuple[str, ...]
) -> Iterator[File]:
    suffix = PurePosixPath(member.filename).suffix.lower()
    if suffix not in (".ipynb", ".zip"):
        return
    way = (*inside, member.filename)
    safe = PurePosixPath(*(part for part in _parts(member.filename) if part not in ("..", "/")))
    modified, fault = _modified(member), _refused(member)
    if suffix == ".zip" and not fault and len(way) >= DEEPEST:
        fault = "an archive in an archive in an archive: unpack it by hand"
    if fault or suffix == ".ipynb":
        yield File(name / safe, source, way, modified, fault)
        return
    try:
        with opened.open(member) as inner:
            content = io.BytesIO(_at_most(inner, LARGEST_INNER))
    except (Unreadable, zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        yield File(name / safe, source, way, modified, f"cannot be unpacked: {error}")
        return
    yield from _in_archive(content, source, name / safe, way)


def _parts(name: str) -> tuple[str, ...]:
    return PurePosixPath(name.replace("\\", "/")).parts


def _refused(member: zipfile.ZipInfo) -> str:
    """Why a member of an archive is not read, whatever it holds; empty if it is."""
    if stat.S_ISLNK(member.external_attr >> 16):
        return "a symbolic link: the file itself has to be handed in"
    parts = _parts(member.filename)
    if ".." in parts or parts[0] == "/" or parts[0].endswith(":"):
        return "its name leads out of the archive"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted: hand it in without a password"
    return ""


def _modified(member: zipfile.ZipInfo) -> float:
    """When the member was last changed; archives know the local time only."""
    try:
        return datetime.datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
