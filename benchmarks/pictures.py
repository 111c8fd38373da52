"""How long pictures take: a whole one, one frame, and from a click in the stepper to the changed picture.

Run `python benchmarks/pictures.py` for the table, `python benchmarks/pictures.py --browser` for the
clicks too: that starts a JupyterLab of its own and needs Chromium. Each number but those of the
clicks is the best of several runs; the first picture of a process is slower by the time that
Graphviz takes to load.
"""

from __future__ import annotations

import importlib
import os
import platform
import secrets
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from types import ModuleType

import torch
from torch import Tensor, nn

from course_utils.graph import draw, record, trace
from course_utils.graph.fold import MOST_BOXES
from course_utils.widgets.frames import Frames

ROOT = Path(__file__).resolve().parents[1]
CLICKS = 100
PAUSES = (300, 0)


def perceptron() -> Tensor:
    """The loss of two layers: ten nodes."""
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    return nn.functional.mse_loss(net(torch.randn(5, 3)), torch.randn(5, 2))


def tree(leaves: int = 20) -> Tensor:
    """Pairs of pairs: 59 nodes, none of them folded."""
    level = [torch.tensor(0.2 + 0.1 * i, requires_grad=True).sin() for i in range(leaves)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        rest = level[len(level) - len(level) % 2 :]
        level = [one * other if i % 2 else one + other for i, (one, other) in enumerate(pairs)] + rest
    return level[0]


def tangle(operations: int = 50) -> Tensor:
    """Each operation uses the one before it and an earlier one: 56 nodes, none of them folded."""
    found = [torch.tensor(0.2 + 0.1 * i, requires_grad=True) for i in range(6)]
    for number in range(operations):
        one, other = found[-1], found[-2 - number % 5]
        found.append(one * other if number % 2 else one + other)
    return found[-1]


def chain(length: int) -> Tensor:
    """A result of `length` operations in a row, most of which are folded."""
    y = torch.tensor(0.5, requires_grad=True)
    for _ in range(length):
        y = y.sin()
    return y


def seconds(run: Callable[[], object], runs: int = 5) -> float:
    """The best time of `run`."""
    times = []
    for _ in range(runs):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)


def walk(frames: Frames, start: int, steps: int = 10) -> float:
    """The seconds that a step takes, on the way from one step to the next; the first is not counted."""
    frames[start]
    begin = perf_counter()
    for step in range(start + 1, start + 1 + steps):
        frames[step]
    return (perf_counter() - begin) / steps


def row(name: str, build: Callable[[], Tensor]) -> str:
    """One line of the table."""
    torch.manual_seed(0)
    graph, recording = trace(build()), record(build())
    frames = Frames(recording)
    middle = len(frames) // 2
    times = [
        seconds(lambda: draw(graph, most=MOST_BOXES)),
        seconds(lambda: draw(recording, most=MOST_BOXES)),
        seconds(lambda: Frames(recording)[0], 3),
        min(walk(Frames(recording), middle) for _ in range(3)),
    ]
    size = len(frames[middle].picture.svg)
    cells = " | ".join(f"{1000 * time:.1f}" for time in times)
    return f"| {name} | {len(graph):,} | {len(frames) - 1:,} | {cells} | {size / 1000:.0f} |"


NOTEBOOK = f"""import sys
sys.path.insert(0, {str(ROOT)!r})
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
from pictures import tree
from course_utils import record, step
step(record(tree()))
"""
# the time from the click to the frame on which the browser has the new picture to show
CLICK = """stepper => new Promise(done => {
    const start = performance.now();
    const shown = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
    new MutationObserver((_, watcher) => {
        watcher.disconnect();
        stepper.querySelector('img').decode().then(shown);
    }).observe(stepper.querySelector('.picture'), {childList: true});
    stepper.querySelector('button.next').click();
})"""


def clicks(pauses: tuple[int, ...]) -> list[list[float]]:
    """Milliseconds from each of many clicks on "next" to the changed picture, in JupyterLab.

    One list for each pause between a change and the next click, in milliseconds.
    """
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook
    from playwright.sync_api import expect, sync_playwright

    browser = browser_tests()

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, running_lab(browser, Path(folder)) as lab:
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = new_notebook(cells=[new_code_cell(NOTEBOOK)], metadata={"kernelspec": kernel})
        nbformat.write(notebook, lab.folder / "clicks.ipynb")
        options = [*browser.CHROMIUM_OPTIONS, *(["--no-sandbox"] if browser.is_root() else [])]
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser.get_browser(), args=options)
            page = browser.LabPage(chromium.new_page(viewport={"width": 1280, "height": 900}), lab)
            page.open("clicks.ipynb")
            stepper = page.page.locator(".autograd-stepper")
            found = []
            for pause in pauses:
                page.run_all()  # a new stepper, which has no frames yet
                expect(stepper).to_have_attribute("data-step", "0")
                found.append([(page.page.wait_for_timeout(pause), stepper.evaluate(CLICK))[1] for _ in range(CLICKS)])
            return found


def browser_tests() -> ModuleType:
    """The module with the JupyterLab that the browser tests drive."""
    sys.path.insert(0, str(ROOT))
    return importlib.import_module("tests.browser.conftest")


@contextmanager
def running_lab(browser: ModuleType, folder: Path) -> Iterator[object]:
    """A JupyterLab in `folder`."""
    lab = browser.Lab(f"http://127.0.0.1:{browser.free_port()}", secrets.token_hex(), folder)
    log = folder / "jupyterlab.log"
    settings = {"JUPYTER_CONFIG_PATH": str(browser.SETTINGS), "JUPYTER_TOKEN": lab.token}
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *browser.arguments(lab)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **settings},
        )
        try:
            browser.wait_until_up(lab, server, log)
            yield lab
        finally:
            browser.stop(server)


def main() -> None:
    draw(record(perceptron()))  # the first of everything is slower
    print(f"torch {torch.__version__}, Python {platform.python_version()}; milliseconds, kilobytes\n")
    print(
        "| graph | nodes | steps | picture of the graph | picture of the pass | first frame | next frame | its size |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    print(row("perceptron", perceptron))
    print(row("tree", tree))
    print(row("tangle", tangle))
    print(row("chain", lambda: chain(100)))
    print(row("chain", lambda: chain(2000)))
    if "--browser" in sys.argv[1:]:
        print(f"\nFrom a click to the changed picture, {CLICKS} steps of `tree` in Chromium, milliseconds\n")
        print("| pause before each click | median | 95 of 100 within | slowest |")
        print("|---:|---:|---:|---:|")
        for pause, times in zip(PAUSES, map(sorted, clicks(PAUSES)), strict=True):
            print(f"| {pause} | {statistics.median(times):.0f} | {times[94]:.0f} | {times[-1]:.0f} |")


if __name__ == "__main__":
    main()
