"""JupyterLab as a browser shows it, with what a learner does there as methods."""

from __future__ import annotations

import contextlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as StillWaiting

RUN_MILLISECONDS = 120_000
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
        .filter(cell => cell.querySelector('.cm-content').textContent.trim())
        .every(cell => /\\[[\\d ]+\\]/.test(cell.querySelector('.jp-InputPrompt').textContent))
"""
EVERY_CELL_HAS_RUN = NO_CELL_WAITS.replace(r"[\d ]", r"\d")
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
# in place of what the page shows; nobody is asked whether that is to be saved
OPEN_NEXT = """async path => {
    for (const shown of [...jupyterapp.shell.widgets('main')]) {
        await shown.sessionContext?.shutdown();
        shown.dispose();
    }
    await jupyterapp.commands.execute('docmanager:open', {path});
}"""
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
        self._loaded = False
        self._walked = 0  # so many cells from the top have run in order, and none since

    def open(self, path: str) -> None:
        """Shows one notebook, in place of what was shown before, and waits until its kernel is ready."""
        self._walked = 0
        if self._loaded:
            self.page.evaluate(OPEN_NEXT, path)
        else:
            self.page.goto(f"{self.lab.url}/{self.route}/{path}?reset&token={self.lab.token}")
            self._loaded = True
        expect(self.page.locator(".jp-Notebook .jp-Cell").first).to_be_visible(timeout=60_000)
        self._wait_for(KERNEL_IS_IDLE, 60_000)
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
        self._wait_for(NO_CELL_WAITS, RUN_MILLISECONDS)
        self._wait_for(KERNEL_IS_IDLE, RUN_MILLISECONDS)
        # between two cells nothing waits and the kernel is idle, too
        with contextlib.suppress(StillWaiting):
            self._wait_for(EVERY_CELL_HAS_RUN, 10_000)
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
        self._wait_for(KERNEL_IS_IDLE, RUN_MILLISECONDS)

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
            self._wait_for(KERNEL_IS_IDLE, RUN_MILLISECONDS)
        self._walked = place

    def _wait_for(self, condition: str, milliseconds: int) -> None:
        """Asks ten times a second; asked for every frame, as is usual, the page would do little else."""
        self.page.wait_for_function(condition, timeout=milliseconds, polling=100)

    def _place(self, name: str) -> int:
        return self.page.evaluate(PLACE_OF_CELL, name)

    def restart_kernel(self) -> None:
        """Restarts the kernel, and waits until the new one is ready; what is on the page stays."""
        self._walked = 0
        self.page.evaluate("() => { window.restart = jupyterapp.commands.execute('notebook:restart-kernel') }")
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.page.evaluate("() => window.restart")
        self._wait_for(KERNEL_IS_IDLE, 60_000)

    def end_kernel(self) -> None:
        """Ends the kernel of what is shown: those of all units together would fill the memory."""
        self.page.evaluate(END_KERNEL)

    def errors(self) -> list[str]:
        """The text of every traceback on the page."""
        selector = '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.stderr"], '
        selector += '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
        return self.page.locator(selector).all_inner_texts()

    def set_theme(self, theme: str) -> None:
        """Changes to JupyterLab's `dark` or `light` theme, if it is not there already."""
        body, light = self.page.locator("body"), "true" if theme == "light" else "false"
        if body.get_attribute("data-jp-theme-light") == light:
            return
        self.page.evaluate(
            "theme => jupyterapp.commands.execute('apputils:change-theme', {theme})",
            f"JupyterLab {theme.capitalize()}",
        )
        expect(body).to_have_attribute("data-jp-theme-light", light, timeout=30_000)

    def screenshot(self, path: Path) -> Path:
        """A PNG of what the window shows."""
        self.page.screenshot(path=path)
        return path


class Notebook7Page(LabPage):
    """The same in Notebook 7, which is built of JupyterLab's parts: menus and selectors are the same."""

    route = "notebooks"
