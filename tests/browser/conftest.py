"""A real JupyterLab with a real Chromium in front of it, started as `course lab` starts it.

The same server shows notebooks in Notebook 7 too.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from course_utils.browser import get_browser
from course_utils.lab import SETTINGS, is_root, lab_arguments

from .stored import StoredUnit

pytest.register_assert_rewrite(f"{__package__}.every_unit")

START_SECONDS = 60
RUN_MILLISECONDS = 120_000
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
# asked of JupyterLab itself: its indicator on the page says idle before there is a kernel
KERNEL_IS_IDLE = """() => {
    const session = jupyterapp.shell.currentWidget?.sessionContext;
    return session?.isReady && session.session?.kernel?.status === 'idle'
        && session.session.kernel.connectionStatus === 'connected';
}"""
# after a second run, or after a restart, the counts of the first one may stand there again
FORGET_COUNTS = """prompts => prompts.forEach(prompt => { prompt.textContent = '' })"""
# neither forgotten nor waiting; after an error JupyterLab gives the rest back as `[ ]`
NO_CELL_WAITS = """() =>
    [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')]
        .filter(cell => cell.querySelector('.cm-content').innerText.trim())
        .every(cell => /\\[[\\d ]+\\]/.test(cell.querySelector('.jp-InputPrompt').textContent))
"""
# the cells from one place to before another, as by selecting them and running the selection
RUN_CELLS = """([first, end]) => {
    const notebook = jupyterapp.shell.currentWidget.content;
    notebook.deselectAll();
    notebook.activeCellIndex = first;
    notebook.extendContiguousSelectionTo(end - 1);
    return jupyterapp.commands.execute('notebook:run-cell');
}"""
PLACE_OF_CELL = """name => jupyterapp.shell.currentWidget.content.widgets
    .findIndex(cell => cell.model.getMetadata('name') === name)"""
END_KERNEL = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.shutdown()"
# a cell's name is in the notebook's metadata only, the page does not know it
NAME_CELLS = """() => {
    for (const cell of jupyterapp.shell.currentWidget.content.widgets) {
        cell.node.dataset.name = cell.model.getMetadata('name') ?? '';
    }
}"""


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab; what is opened in it is a copy, the clone stays as it is."""

    url: str
    token: str
    folder: Path

    def fresh_copy(self, path: str, name: str) -> str:
        """A notebook of the course beside itself under another name: with a kernel and a state of its own."""
        copy = Path(path).with_stem(f"{Path(path).stem}_{name}").as_posix()
        shutil.copyfile(self.folder / path, self.folder / copy)
        return copy


class LabPage:
    """One browser page on a JupyterLab, with what a learner does there as methods."""

    route = "lab/tree"

    def __init__(self, page: Page, lab: Lab) -> None:
        self.page = page
        self.lab = lab
        self._walked = 0  # so many cells from the top have run in order, and none since

    def open(self, path: str) -> None:
        """Shows one notebook, and waits until its kernel is ready."""
        self.page.goto(f"{self.lab.url}/{self.route}/{path}?reset&token={self.lab.token}")
        expect(self.page.locator(".jp-Notebook .jp-Cell").first).to_be_visible(timeout=60_000)
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)
        self.page.evaluate(NAME_CELLS)

    def cell(self, name: str) -> Locator:
        """The cell of this name, found when it is used: it stays true when cells are added elsewhere."""
        return self.page.locator(f'.jp-Notebook .jp-Cell[data-name="{name}"]')

    def run_all(self) -> None:
        """Runs every cell from the menu, and waits until the kernel has done them all."""
        self._walked = 0
        self.page.locator(".jp-CodeCell .jp-InputPrompt").evaluate_all(FORGET_COUNTS)
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name=re.compile("^Run All Cells")).click()
        self.page.wait_for_function(NO_CELL_WAITS, timeout=RUN_MILLISECONDS)
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=RUN_MILLISECONDS)
        prompts = self.page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts()
        assert "[ ]:" not in prompts, f"not every cell has run: {prompts} {self.errors()}"

    def write(self, name: str, source: str) -> None:
        """Puts other code into the named cell, as by selecting all of it and pasting."""
        self._walked = 0
        editor = self.cell(name).locator(".cm-content")
        editor.click()
        editor.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)

    def run(self, name: str) -> None:
        """Runs the named cell by keyboard, and waits until the kernel has done it."""
        self._walked = self._walked + 1 if self._place(name) == self._walked else 0
        prompt = self.cell(name).locator(".jp-InputPrompt")
        prompt.evaluate_all(FORGET_COUNTS)
        self.cell(name).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=RUN_MILLISECONDS)
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=RUN_MILLISECONDS)

    def run_check(self, name: str) -> None:
        """Runs an answer's cell, and then the one that checks it."""
        self.run(name)
        self.run(f"{name}.check")

    def run_above(self, name: str) -> None:
        """Runs every cell above the named one: its names then mean what they mean when one comes there.

        Who has walked before, and run nothing else since, goes on from where that ended.
        """
        place = self._place(name)
        first = self._walked if self._walked <= place else 0
        if first < place:
            assert self.page.evaluate(RUN_CELLS, [first, place])
            self.page.wait_for_function(KERNEL_IS_IDLE, timeout=RUN_MILLISECONDS)
        self._walked = place

    def _place(self, name: str) -> int:
        return self.page.evaluate(PLACE_OF_CELL, name)

    def restart_kernel(self) -> None:
        """Restarts the kernel, and waits until the new one is ready; what is on the page stays."""
        self._walked = 0
        self.page.evaluate("() => { window.restart = jupyterapp.commands.execute('notebook:restart-kernel') }")
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.page.evaluate("() => window.restart")
        self.page.wait_for_function(KERNEL_IS_IDLE, timeout=60_000)

    def errors(self) -> list[str]:
        """The text of every traceback on the page."""
        selector = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"], '
        selector += '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
        return self.page.locator(selector).all_inner_texts()

    def set_theme(self, theme: str) -> None:
        """Changes to JupyterLab's `dark` or `light` theme."""
        self.page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', {theme})",
            f"JupyterLab {theme.capitalize()}",
        )
        light = "true" if theme == "light" else "false"
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-light", light)

    def screenshot(self, path: Path) -> Path:
        """A PNG of what the window shows."""
        self.page.screenshot(path=path)
        return path


class Notebook7Page(LabPage):
    """The same in Notebook 7, which is built of JupyterLab's parts: menus and selectors are the same."""

    route = "notebooks"


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
def new_lab_page(chromium: Browser, lab: Lab) -> NewPage:
    return lambda: new_page_of(LabPage, chromium, lab)


@pytest.fixture(scope="session")
def new_notebook_7_page(chromium: Browser, lab: Lab) -> NewPage:
    return lambda: new_page_of(Notebook7Page, chromium, lab)


@pytest.fixture(scope="module", params=["new_lab_page", "new_notebook_7_page"], ids=["lab", "notebook_7"])
def new_page(request: pytest.FixtureRequest) -> NewPage:
    """A test that asks for this one runs in JupyterLab and in Notebook 7."""
    return request.getfixturevalue(request.param)


@contextmanager
def new_page_of(kind: type[LabPage], chromium: Browser, lab: Lab) -> Iterator[LabPage]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    try:
        yield kind(page, lab)
        page.evaluate(END_KERNEL)  # a unit's kernels would else stay in memory until all units are done
    finally:
        context.close()


@pytest.fixture(scope="module")
def unit(request: pytest.FixtureRequest) -> StoredUnit:
    """The unit that a test file is about: its `UNIT`."""
    return request.module.UNIT


@pytest.fixture(scope="module")
def as_cloned(new_lab_page: Callable, lab: Lab, unit: StoredUnit) -> Iterator[LabPage]:
    """The lesson as a fresh clone shows it: nothing has run, and JupyterLab does not trust it."""
    with new_lab_page() as page:
        page.open(lab.fresh_copy(f"notebooks/{unit.name}.ipynb", "as_cloned"))
        yield page


@pytest.fixture(scope="module")
def lesson(new_lab_page: Callable, lab: Lab, unit: StoredUnit) -> Iterator[LabPage]:
    """The lesson with all its cells run; each test takes its own part of it."""
    with new_lab_page() as page:
        page.open(lab.fresh_copy(f"notebooks/{unit.name}.ipynb", "lesson"))
        page.run_all()
        yield page


@pytest.fixture(scope="module")
def exercises(new_lab_page: Callable, lab: Lab, unit: StoredUnit) -> Iterator[LabPage]:
    """The unsolved exercises with all their cells run."""
    with new_lab_page() as page:
        page.open(lab.fresh_copy(f"exercises/{unit.name}.ipynb", "exercises"))
        page.run_all()
        yield page


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
