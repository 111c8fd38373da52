"""Folders and archives, friendly and hostile."""

from __future__ import annotations

import datetime
import os
import sys
import zipfile

import pytest

from course_utils.grading import handed_in
from course_utils.grading.handed_in import Unreadable, find_files
from course_utils.refusal import Refusal


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in members.items():
            opened.writestr(name, content)
    return path


def names(files):
    return [file.name.name for file in files]


def test_folders_are_searched_and_each_file_is_taken_once(tmp_path):
    wanted = [tmp_path / "a" / "x.ipynb", tmp_path / "b" / "deep" / "x.ipynb"]
    unwanted = [tmp_path / "a" / ".ipynb_checkpoints" / "x.ipynb", tmp_path / "a" / "._x.ipynb", tmp_path / "x.txt"]
    for path in wanted + unwanted:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [file.source for file in find_files([tmp_path, wanted[0]])] == wanted


def test_a_folder_without_notebooks_is_refused(tmp_path):
    with pytest.raises(Refusal, match="holds no notebooks"):
        find_files([tmp_path])


def test_archives_are_read_with_archives_in_them(tmp_path):
    inner = archive(tmp_path / "inner", {"mine.ipynb": b"2", "notes.pdf": b""}).read_bytes()
    path = archive(tmp_path / "all.zip", {"a/x.ipynb": b"1", "__MACOSX/a/x.ipynb": b"", "b/work.zip": inner})
    files = find_files([path])
    assert [file.content() for file in files] == [b"1", b"2"]
    assert str(files[1].name).endswith("all.zip/b/work.zip/mine.ipynb")
    assert len({file.place for file in files}) == 2


def test_a_member_is_as_old_as_its_archive_says(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as opened:
        opened.writestr(zipfile.ZipInfo("x.ipynb", (2024, 5, 6, 7, 8, 10)), b"")
    (file,) = find_files([tmp_path / "a.zip"])
    assert datetime.datetime.fromtimestamp(file.modified) == datetime.datetime(2024, 5, 6, 7, 8, 10)


@pytest.mark.parametrize("name", ["../x.ipynb", "a/../../x.ipynb", "/etc/x.ipynb", "..\\x.ipynb", "C:\\x.ipynb"])
def test_a_name_that_leads_out_of_its_archive_is_refused(tmp_path, name):
    (file,) = find_files([archive(tmp_path / "a.zip", {name: b"{}"})])
    with pytest.raises(Unreadable, match="leads out of the archive"):
        file.content()
    assert ".." not in file.name.parts


@pytest.mark.skipif(sys.platform == "win32", reason="making a link needs rights there")
def test_a_link_is_refused_in_an_archive_and_in_a_folder(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.ipynb").write_text("secret")
    (tmp_path / "in" / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (tmp_path / "in" / "folder").symlink_to(tmp_path)
    link = zipfile.ZipInfo("zipped.ipynb")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "in" / "a.zip", "w") as opened:
        opened.writestr(link, "/etc/passwd")
    files = find_files([tmp_path / "in"])
    assert sorted(names(files)) == ["folder", "link.ipynb", "zipped.ipynb"]
    for file in files:
        with pytest.raises(Unreadable, match="symbolic link"):
            file.content()


@pytest.mark.skipif(sys.platform == "win32", reason="making a link needs rights there")
def test_a_link_takes_no_other_files_place(tmp_path):
    (tmp_path / "b.ipynb").write_text("the work of b")
    (tmp_path / "a.ipynb").symlink_to(tmp_path / "b.ipynb")
    (tmp_path / "c.ipynb").symlink_to(tmp_path / "c.ipynb")
    a, b, c = find_files([tmp_path])
    assert b.content() == b"the work of b"
    assert len({a.place, b.place, c.place}) == 3
    assert a.fault == c.fault == "a symbolic link: the file itself has to be handed in"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="only POSIX has named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.ipynb")
    (file,) = find_files([tmp_path])
    with pytest.raises(Unreadable, match="no ordinary file"):
        file.content()


def test_a_notebook_that_unpacks_to_too_much_is_refused(tmp_path):
    bomb = archive(tmp_path / "a.zip", {"x.ipynb": bytes(handed_in.LARGEST + 1)})
    assert bomb.stat().st_size < 100_000
    (file,) = find_files([bomb])
    with pytest.raises(Unreadable, match="larger than 50 MB"):
        file.content()


@pytest.mark.parametrize(
    ("limit", "value", "says"),
    [
        ("MOST_UNPACKED", 10, "whose notebooks unpack to more than"),
        ("MOST_MEMBERS", 1, "more than 1 files"),
        ("LARGEST_INNER", 10, "cannot be unpacked: larger than"),
    ],
)
def test_a_bomb_of_many_files_is_refused(tmp_path, monkeypatch, limit, value, says):
    monkeypatch.setattr(handed_in, limit, value)
    inner = archive(tmp_path / "inner", {"x.ipynb": b"x" * 20}).read_bytes()
    (file, *_) = find_files([archive(tmp_path / "a.zip", {"1.zip": inner, "2.ipynb": b"x" * 20})])
    with pytest.raises(Unreadable, match=says):
        file.content()


def test_archives_in_archives_end_somewhere(tmp_path):
    content = b"{}"
    name = "x.ipynb"
    for _ in range(4):
        content = archive(tmp_path / "a.zip", {name: content}).read_bytes()
        name = "a.zip"
    (file,) = find_files([tmp_path / "a.zip"])
    with pytest.raises(Unreadable, match="unpack it by hand"):
        file.content()


@pytest.mark.parametrize("spoil", [lambda zipped: b"not a zip", lambda zipped: zipped[:-30], lambda zipped: b""])
def test_a_damaged_archive_is_one_unreadable_submission(tmp_path, spoil):
    path = archive(tmp_path / "anna.zip", {"x.ipynb": b"{}"})
    path.write_bytes(spoil(path.read_bytes()))
    (file,) = find_files([tmp_path])
    with pytest.raises(Unreadable, match="no zip archive, or a damaged one"):
        file.content()


def test_damaged_and_encrypted_members_say_so(tmp_path):
    path = archive(tmp_path / "a.zip", {"x.ipynb": b"{}" * 100, "y.ipynb": b"{}"})
    content = bytearray(path.read_bytes())
    content[40] ^= 0xFF  # in the packed bytes of x
    entry = content.rfind(b"PK\x01\x02")
    content[entry + 8] |= 1  # y's flag: encrypted
    path.write_bytes(content)
    x, y = find_files([path])
    with pytest.raises(Unreadable, match="cannot be unpacked"):
        x.content()
    with pytest.raises(Unreadable, match="without a password"):
        y.content()


def test_a_name_that_is_no_text_can_be_shown(tmp_path):
    path = tmp_path / "anna\udcff.ipynb"
    try:
        path.write_text("{}")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system has text names only")
    (file,) = find_files([tmp_path])
    assert file.name.name == "anna\\xff.ipynb"
    assert file.content() == b"{}"
