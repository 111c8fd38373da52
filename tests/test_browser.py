"""Where the tests' browser comes from, when the first place has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_utils import browser
from course_utils.refusal import Refusal


@pytest.fixture
def bare(monkeypatch):
    """A machine without a browser, on which every command that is run gets written down."""
    commands: list[list[str]] = []
    monkeypatch.delenv("COURSE_BROWSER", raising=False)
    monkeypatch.setattr(browser, "_usual_places", lambda: iter([Path("chromium")]))
    monkeypatch.setattr(browser, "_starts", lambda place: False)
    monkeypatch.setattr(browser, "_run", lambda command, **_: commands.append(command))
    monkeypatch.setattr(browser.shutil, "which", lambda name: f"/usr/bin/{name}")
    return commands


def test_a_browser_of_the_system_is_taken_and_nothing_is_installed(bare, monkeypatch):
    monkeypatch.setattr(browser, "_starts", lambda place: True)
    assert browser.get_browser() == Path("chromium")
    assert bare == []


def test_root_on_debian_tries_playwright_and_then_the_packages(bare, monkeypatch):
    monkeypatch.setattr(browser.os, "geteuid", lambda: 0, raising=False)
    with pytest.raises(Refusal, match="sudo apt install chromium"):
        browser.get_browser()
    assert [command[1:] for command in bare] == [
        ["-m", "playwright", "install", "chromium"],
        ["update"],
        ["install", "--yes", "chromium"],
    ]


def test_another_user_does_not_touch_the_packages(bare, monkeypatch):
    monkeypatch.setattr(browser.os, "geteuid", lambda: 1000, raising=False)
    with pytest.raises(Refusal, match="install one of them"):
        browser.get_browser()
    assert len(bare) == 1


def test_what_playwright_brought_is_used(bare, monkeypatch):
    monkeypatch.setattr(browser, "_starts", lambda place: bool(bare))
    assert browser.get_browser() == Path("chromium")


def test_a_chosen_browser_that_does_not_start_is_named(bare, monkeypatch):
    monkeypatch.setenv("COURSE_BROWSER", "/nowhere/chrome")
    with pytest.raises(Refusal, match="COURSE_BROWSER is /nowhere/chrome"):
        browser.get_browser()


def test_a_file_that_fails_is_no_browser(tmp_path):
    assert not browser._starts(tmp_path / "missing")
    assert not browser._run([str(tmp_path / "missing")], seconds=5)
