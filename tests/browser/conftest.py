"""A real JupyterLab with a real Chromium in front of it, started as `course lab` starts it.

The same server shows notebooks in Notebook 7 too.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from course_utils.browser import get_browser
from course_utils.lab import SETTINGS, is_root, lab_arguments

from .lab_page import Lab, LabPage, Notebook7Page
from .stored import StoredUnit
from .unit_page import UnitPage, by_what_they_show

pytest.register_assert_rewrite(f"{__package__}.every_unit")

START_SECONDS = 60
COPIED = ("notebooks", "exercises", "solutions")
CHROMIUM_OPTIONS = [
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# every cell is in the page, also those far below the window
ALL_CELLS = {"@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"}}


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("course")
    for name in COPIED:
        shutil.copytree(root / name, folder / name)
    settings = tmp_path_factory.mktemp("settings")
    overrides = settings / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir()
    overrides.write_text(json.dumps(ALL_CELLS), "utf-8")

    lab = Lab(f"http://127.0.0.1:{free_port()}", secrets.token_hex(), folder)
    log = folder / "jupyterlab.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *arguments(lab)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "JUPYTER_CONFIG_PATH": os.pathsep.join([str(settings), str(SETTINGS)]),
                "JUPYTER_TOKEN": lab.token,
            },
        )
        try:
            wait_until_up(lab, server, log)
            yield lab
        finally:
            stop(server)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    options = [*CHROMIUM_OPTIONS, *(["--no-sandbox"] if is_root() else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=get_browser(), args=options)
        yield browser
        browser.close()


NewPage = Callable[[], AbstractContextManager[LabPage]]


@pytest.fixture(scope="session")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """What all pages share: JupyterLab's code, which is long, is loaded once."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    yield context
    context.close()


@pytest.fixture(scope="session")
def new_lab_page(context: BrowserContext, lab: Lab) -> NewPage:
    return lambda: new_page_of(LabPage, context, lab)


@pytest.fixture(scope="session")
def new_notebook_7_page(context: BrowserContext, lab: Lab) -> NewPage:
    return lambda: new_page_of(Notebook7Page, context, lab)


@pytest.fixture(scope="module", params=["new_lab_page", "new_notebook_7_page"], ids=["lab", "notebook_7"])
def new_page(request: pytest.FixtureRequest) -> NewPage:
    """A test that asks for this one runs in JupyterLab and in Notebook 7."""
    return request.getfixturevalue(request.param)


@contextmanager
def new_page_of(kind: type[LabPage], context: BrowserContext, lab: Lab) -> Iterator[LabPage]:
    page = kind(context.new_page(), lab)
    try:
        yield page
        page.end_kernel()
    finally:
        page.page.close()


@pytest.fixture(scope="module")
def unit(request: pytest.FixtureRequest) -> StoredUnit:
    """The unit that a test file is about: its `UNIT`."""
    return request.module.UNIT


@pytest.fixture(scope="session")
def unit_page(new_lab_page: NewPage, request: pytest.FixtureRequest) -> Iterator[UnitPage]:
    page = UnitPage(new_lab_page, request.session)
    yield page
    page.close()


@pytest.fixture
def as_cloned(unit_page: UnitPage, unit: StoredUnit) -> LabPage:
    """The lesson as a fresh clone shows it: nothing has run, and JupyterLab does not trust it."""
    return unit_page.show(f"notebooks/{unit.name}.ipynb", ran=False)


@pytest.fixture
def lesson(unit_page: UnitPage, unit: StoredUnit) -> LabPage:
    """The lesson with all its cells run; each test takes its own part of it."""
    return unit_page.show(f"notebooks/{unit.name}.ipynb", ran=True)


@pytest.fixture
def exercises(unit_page: UnitPage, unit: StoredUnit) -> LabPage:
    """The unsolved exercises with all their cells run."""
    return unit_page.show(f"exercises/{unit.name}.ipynb", ran=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of a unit into the order in which its notebooks are opened once."""
    items[:] = by_what_they_show(items)


def arguments(lab: Lab) -> list[str]:
    port = int(lab.url.rpartition(":")[2])
    given = lab_arguments(lab.folder, "", port, browser=False)
    return [
        *given,
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=0",
        "--LabApp.expose_app_in_browser=True",  # as `jupyterapp`
        "--JupyterNotebookApp.expose_app_in_browser=True",
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_up(lab: Lab, server: subprocess.Popen, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    request = urllib.request.Request(f"{lab.url}/api/status", headers={"Authorization": f"token {lab.token}"})
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(request, timeout=5):
                return
        except OSError:  # not listening yet
            time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text('utf-8', 'replace')}")


def stop(server: subprocess.Popen) -> None:
    """Ends JupyterLab the polite way, which takes its kernels along; by force if it does not go."""
    server.terminate()
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
