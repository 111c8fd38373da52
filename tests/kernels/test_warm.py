"""Kernels that are forks of a warm process: to Jupyter, and to who works in them, they are kernels like any other."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import DEVNULL

import psutil
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from course_utils.kernels import launcher
from course_utils.kernels.spec import warm_kernels

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux can watch forks so")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("warm")
    yield folder
    shutil.rmtree(folder)


class Kernel:
    """A kernel as Jupyter starts one."""

    def __init__(self, folder: Path, cwd: Path | None, environment: dict[str, str]) -> None:
        specs = KernelSpecManager(kernel_dirs=[str(folder / "kernels")])
        self.manager = KernelManager(kernel_name="python3", kernel_spec_manager=specs)
        variables = {**os.environ, **warm_kernels(folder), **environment}
        self.manager.start_kernel(env=variables, cwd=str(cwd or folder), stdout=DEVNULL, stderr=DEVNULL)
        self.client = self.manager.client()
        self.client.start_channels()

    def run(self, code: str, *, interrupted: bool = False) -> str:
        """What the code prints; with the name of the error it ends with."""
        printed: list[str] = []

        def hear(message: dict) -> None:
            printed.append(message["content"].get("text") or message["content"].get("ename", ""))
            if interrupted and printed[-1] == "begun\n":
                self.manager.interrupt_kernel()

        self.client.wait_for_ready(timeout=60)
        self.client.execute_interactive(code, output_hook=hear, timeout=60)
        return "".join(printed).strip()

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@contextmanager
def kernel(folder: Path, cwd: Path | None = None, **environment: str) -> Iterator[Kernel]:
    started = Kernel(folder, cwd, environment)
    try:
        yield started
    finally:
        started.close()


def wait_until(true: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_torch_is_there_before_a_cell_imports_it_but_no_name_of_it(folder: Path):
    with kernel(folder) as one:
        told = one.run("import sys; print('torch' in sys.modules, 'torch' in globals(), __name__)")
        assert told == "True False __main__"


def test_a_plot_is_shown_in_the_notebook(folder: Path):
    with kernel(folder) as one:
        plot = "import matplotlib.pyplot as plt, matplotlib; plt.plot([1, 2]); print(matplotlib.get_backend())"
        assert one.run(plot).lower().endswith("inline")


def test_it_runs_in_its_folder_with_its_environment(folder: Path, tmp_path: Path):
    (tmp_path / "beside.py").write_text("here = True", "utf-8")
    with kernel(folder, tmp_path, COLOUR="blue") as one:
        assert one.run("import os; print(os.getcwd(), os.environ['COLOUR'])") == f"{tmp_path} blue"
        assert one.run("import beside; print(beside.here)") == "True"


def test_it_has_the_hash_seed_that_was_asked_for(folder: Path):
    seed = "3"
    assert os.environ["PYTHONHASHSEED"] != seed
    code = "print(hash('autograd'))"
    ordinary = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True
    )
    with kernel(folder, PYTHONHASHSEED=seed) as one:
        assert one.run(code) == ordinary.stdout.strip()


def test_two_kernels_share_nothing_but_the_start(folder: Path):
    with kernel(folder) as one, kernel(folder) as other:
        parents = {kernel.run("import os; print(os.getppid())") for kernel in (one, other)}
        assert len(parents) == 1
        one.run("import torch; torch.set_default_dtype(torch.float64)")
        assert other.run("import torch; print(torch.get_default_dtype())") == "torch.float32"
        draws = "import random, numpy; print(random.random(), numpy.random.rand())"
        assert not set(one.run(draws).split()) & set(other.run(draws).split())


def test_an_interrupt_arrives_and_the_kernel_goes_on(folder: Path):
    with kernel(folder) as one:
        endless = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.01)"
        assert one.run(endless, interrupted=True) == "begun\nKeyboardInterrupt"
        assert one.run("print(1 + 1)") == "2"


def test_when_it_dies_jupyter_knows(folder: Path):
    with kernel(folder) as one:
        os.kill(int(one.run("import os; print(os.getpid())")), signal.SIGKILL)
        wait_until(lambda: not one.manager.is_alive())


def test_whoever_kills_what_jupyter_has_started_kills_the_kernel_with_its_children(folder: Path):
    with kernel(folder) as one:
        begun = "import os, subprocess; print(os.getpid(), subprocess.Popen(['sleep', '1000']).pid)"
        pids = [int(pid) for pid in one.run(begun).split()]
        os.kill(one.manager.provisioner.pid, signal.SIGKILL)
        wait_until(lambda: not any(map(psutil.pid_exists, pids)))


def test_one_warm_process_is_started_if_two_ask_at_once_and_ends_when_its_folder_is_removed(tmp_path: Path):
    with kernel(tmp_path) as one, kernel(tmp_path) as other:  # neither has been waited for
        parents = [int(kernel.run("import os; print(os.getppid())")) for kernel in (one, other)]
        assert parents[0] == parents[1]
        shutil.rmtree(tmp_path)
        wait_until(lambda: not one.manager.is_alive() and not other.manager.is_alive())
        wait_until(lambda: not psutil.pid_exists(parents[0]))


def test_one_that_ends_just_when_somebody_has_connected_is_followed_by_another(tmp_path: Path):
    path = tmp_path / f"{launcher.fingerprint()}.socket"
    with socket.socket(socket.AF_UNIX) as ending:
        ending.bind(str(path))
        ending.listen()
        with kernel(tmp_path) as one:
            connected = ending.accept()[0]
            path.unlink()
            connected.close()
            assert one.run("import os, sys; print('torch' in sys.modules)") == "True"


def test_where_the_warm_process_cannot_start_the_kernel_is_an_ordinary_one(tmp_path: Path):
    with kernel(tmp_path, COURSE_WARM_KERNELS=str(tmp_path / "nowhere")) as one:
        assert one.run("import sys; print('torch' in sys.modules)") == "False"


def test_after_a_change_of_the_course_the_next_kernel_has_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    module = tmp_path / "module.py"
    module.touch()
    monkeypatch.setattr(launcher, "PACKAGE", tmp_path)
    before = launcher.fingerprint()
    assert launcher.fingerprint() == before
    os.utime(module, ns=(0, module.stat().st_mtime_ns + 1))
    assert launcher.fingerprint() != before
