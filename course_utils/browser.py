"""Finds a Chromium for the browser tests, or gets one: they are never skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from course_utils.refusal import Refusal

COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
)
MAC_APPLICATIONS = ("Google Chrome", "Chromium", "Microsoft Edge")
WINDOWS_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
WINDOWS_PROGRAMS = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
)
HOW_TO_INSTALL = (
    "the browser tests need Chromium, Chrome or Edge: install one of them (on Debian and Ubuntu "
    "`sudo apt install chromium`), or set COURSE_BROWSER to its path."
)


def get_browser() -> Path:
    """A Chromium that starts; downloaded or installed if this machine has none."""
    for source in (find_browser, _from_playwright, _from_debian):
        browser = source()
        if browser:
            return browser
    raise Refusal(HOW_TO_INSTALL)


def find_browser() -> Path | None:
    """The first Chromium on this machine that starts: COURSE_BROWSER's, the system's, Playwright's."""
    chosen = os.environ.get("COURSE_BROWSER")
    if chosen:
        if not _starts(Path(chosen)):
            raise Refusal(f"COURSE_BROWSER is {chosen}, which is no browser that starts.")
        return Path(chosen)
    return next((place for place in _usual_places() if _starts(place)), None)


def _usual_places() -> Iterator[Path]:
    for command in COMMANDS:
        found = shutil.which(command)
        if found:
            yield Path(found)
    if sys.platform == "darwin":
        for name in MAC_APPLICATIONS:
            yield Path(f"/Applications/{name}.app/Contents/MacOS/{name}")
    if os.name == "nt":
        for variable in WINDOWS_FOLDERS:
            for program in WINDOWS_PROGRAMS:
                if variable in os.environ:
                    yield Path(os.environ[variable], program)
    yield _playwright_place()


def _playwright_place() -> Path:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path)


def _starts(browser: Path) -> bool:
    if not browser.is_file():
        return False
    if os.name == "nt":
        return True  # there --version would open a window
    return _run([str(browser), "--version"], seconds=60, quiet=True)


def _from_playwright() -> Path | None:
    print("No Chromium here: getting Playwright's (at most 5 minutes) ...", flush=True)
    _run([sys.executable, "-m", "playwright", "install", "chromium"], seconds=300)
    return find_browser()


def _from_debian() -> Path | None:
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return None
    print("Playwright's did not come or does not start: installing Debian's ...", flush=True)
    os.environ.setdefault("DEBIAN_FRONTEND", "noninteractive")
    _run(["apt-get", "update"], seconds=300)
    _run(["apt-get", "install", "--yes", "chromium"], seconds=900)
    return find_browser()


def _run(command: list[str], seconds: int, quiet: bool = False) -> bool:
    output = subprocess.DEVNULL if quiet else None
    try:
        code = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=seconds
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False
    return code == 0
