"""What a submission can see, do and leave behind from inside its walls: next to nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from queue import Empty

import psutil
import pytest

from course_utils.grading import sandbox
from course_utils.grading.cut import probe_of
from course_utils.grading.kernel import ForkedKernel
from course_utils.grading.limits import MB, Limits
from course_utils.grading.run import Way, open_runner
from course_utils.grading.sandbox import scratch
from course_utils.grading.warm import Branch, GoneError, Warm, WarmError
from course_utils.refusal import Refusal

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the walls are Linux's"),
    pytest.mark.skipif(os.environ.get("COURSE_WALLS") == "none", reason="COURSE_WALLS=none does without them"),
]
SYSTEM_PYTHON = "/usr/bin/python3"
ROOT = sys.platform == "linux" and os.geteuid() == 0 and Path(SYSTEM_PYTHON).exists()
PROBE = probe_of("mean_backward")
SETUP = "import torch\nfrom course_utils import check, progress"
RIGHT = "def mean_backward(incoming, x):\n    return (incoming / x.numel()).expand(x.shape)"
EVIDENCE = "from course_utils.checks import show_evidence\nshow_evidence('mean_backward', mean_backward, seed=3)"
LIMITS = Limits(exercise=20, memory=128 * MB, memory_in_all=400 * MB, file_size=2 * MB, scratch=4 * MB, processes=16)


@pytest.fixture(scope="module")
def oven(root, tmp_path_factory):
    """The warm process, and a file with what it says."""
    folder = tmp_path_factory.mktemp("warm")
    process = Warm(sandbox.make_home(folder / "home"), folder / "log", secret=[root])
    yield process, folder / "log"
    process.close()


@pytest.fixture(scope="module")
def warm(oven):
    branch = Branch(oven[0].door, oven[1], LIMITS)
    yield branch
    branch.close()


class Ran:
    """What became of cells that ran one after the other in one child."""

    def __init__(self, warm: Branch, *cells: str, seconds: float = 20) -> None:
        self.kernel = ForkedKernel(warm, PROBE)
        self.text, self.errors = "", []
        try:
            for cell in cells:
                self._run(cell, seconds)
        except Empty:
            self.kernel.interrupt()
        finally:
            self.kernel.stop()

    def _run(self, cell: str, seconds: float) -> None:
        self.kernel.await_reply(self.kernel.execute_cell_input(cell), seconds)
        while True:
            message = self.kernel.get_message("iopub")
            if message["msg_type"] == "stream":
                self.text += message["content"]["text"]
            elif message["msg_type"] == "error":
                self.errors.append(f"{message['content']['ename']}: {message['content']['evalue']}")
            elif message["msg_type"] == "status":
                return

    @property
    def ended_by(self) -> str:
        return self.kernel.ended_by


@pytest.fixture(scope="module")
def evidence(warm):
    return Ran(warm, SETUP, RIGHT, EVIDENCE).text


def test_a_right_answer_shows_what_it_shows_outside(evidence, capsys):
    from course_utils.checks import show_evidence

    show_evidence("mean_backward", lambda incoming, x: (incoming / x.numel()).expand(x.shape), 3)
    assert evidence == capsys.readouterr().out


def test_nothing_of_the_course_is_to_be_seen_but_its_tools(warm, root):
    looked = Ran(
        warm,
        "import os",
        # the environment often lies in the clone, and packages have such files of their own
        f"files = [name for path, _, names in os.walk({str(root)!r}) for name in names if '.venv' not in path]",
        "print([name for name in files if name.endswith(('.ipynb', '.toml', '.sqlite'))])",
        "from importlib.util import find_spec",
        "print([find_spec(f'course_utils.{name}') for name in ('build', 'cli', 'grading.verdict')])",
        "import course_utils.checks as c; print(sorted(os.listdir(c.__path__[0])))",
        "print({**os.environ})",
    )
    files, modules, checks, variables = looked.text.splitlines()
    assert files == "[]"
    assert modules == "[None, None, None]"
    assert "mutate.py" not in checks
    assert "one_operation.py" not in checks
    assert str(root) not in variables


def test_the_probe_is_there_and_neither_truth_nor_mistakes(warm):
    looked = Ran(
        warm,
        "import sys, gc",
        "from course_utils.checks.exercise import Exercise, Misconception",
        "found = [one for one in gc.get_objects() if isinstance(one, (Exercise, Misconception))]",
        "print([(one.name, one.truth, one.misconceptions, one.hints) for one in found])",
        "print([name for name in vars(sys.modules['course_utils.checks.one_operation_shapes']) if name.isupper()])",
    )
    assert looked.text.splitlines() == ["[('mean_backward', None, (), ())]", "[]"]


def test_there_is_no_network(warm):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        tried = Ran(warm, "import socket", f"socket.create_connection(('127.0.0.1', {port}), timeout=2)")
    assert tried.errors[0].startswith("ConnectionRefusedError")


def test_it_can_write_to_its_scratch_folder_alone_which_is_small_and_gone_afterwards(warm):
    tried = Ran(
        warm,
        "import os\ndef can(path):\n    try:\n        open(path, 'w').write('x'); return True\n"
        "    except OSError:\n        return False",
        "tops = ('', '/course', '/dev', '/dev/shm', '/usr', '/etc', '/proc')",
        "print([can(f'{top}/file') for top in tops])",
        f"print(can('{scratch()}/file'), os.getcwd())",
        f"for n in range(9):\n    open('{scratch()}/' + str(n), 'wb').write(bytes(10**6))",
    )
    assert tried.text.splitlines() == [str([False] * 7), f"True {scratch()}"]
    assert tried.errors[0].startswith("OSError: [Errno 28]")
    assert Ran(warm, f"import os; print(os.listdir('{scratch()}'))").text == "[]\n"


def test_it_has_no_rights_and_no_way_to_any(warm):
    tried = Ran(
        warm,
        "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True)",
        "print([libc.unshare(kind) for kind in (0x10000000, 0x20000, 0x20000000)])",
        "print(libc.mount(b'x', b'/tmp', b'tmpfs', 0, 0))",
        "print(libc.memfd_create(b'x', 0), libc.shmget(5, 4096, 0o1600), libc.ptrace(16, 1, 0, 0))",
        "print([line for line in open('/proc/self/status') if line.startswith(('CapEff', 'NoNewPrivs'))])",
        "print(sorted(int(name) for name in os.listdir('/proc') if name.isdigit()), os.getppid())",
        "os.kill(1, 9)",
        "print('and goes on')",
    )
    assert tried.text.splitlines() == [
        "[-1, -1, -1]",
        "-1",
        "-1 -1 -1",
        "['CapEff:\\t0000000000000000\\n', 'NoNewPrivs:\\t1\\n']",
        "[1, 2] 0",
        "and goes on",
    ]


def test_memory_is_limited(warm):
    assert Ran(warm, "x = bytes(10**9)").errors == ["MemoryError: "]


def test_memory_of_many_is_limited_in_all(warm):
    child = "        x = b'x' * (100 << 20)\n        time.sleep(60)"
    many = f"import os, time\nfor _ in range(8):\n    if os.fork() == 0:\n{child}\ntime.sleep(60)"
    assert Ran(warm, many).ended_by == "memory"


def test_processes_are_limited_and_all_gone_at_the_end(warm):
    before = _below(warm)
    tried = Ran(
        warm,
        "import os, time\ndef one():\n    if os.fork() == 0:\n        os.setsid(); time.sleep(600)",
        "n = 0\ntry:\n    for n in range(99):\n        one()\n"
        "except OSError as error:\n    print(n < 16, type(error).__name__)",
    )
    assert tried.text == "True BlockingIOError\n"
    assert _below(warm) == before


def _below(warm: Branch) -> int:
    return len(warm._process.children(recursive=True))


ANYWHERE = "import os\n{}for n in range(3, 30):\n{}    try: os.write(n, {!r})\n{}    except OSError: pass"


@pytest.mark.parametrize(
    ("cell", "ended_by"),
    [
        ("import os; os._exit(0)", "died"),
        ("import os; os.kill(os.getpid(), 9)", "died"),
        ("import os; os.kill(os.getppid(), 9)", "died"),
        ("import ctypes; ctypes.string_at(0)", "died"),
        (ANYWHERE.format("", "", b"[[[" * 30_000, ""), "died"),
        ("while True:\n    try:\n        while True: pass\n    except BaseException: pass", "timeout"),
        (ANYWHERE.format("while True:\n  ", "  ", b"x" * 60_000, "  "), "died"),
    ],
)
def test_however_it_ends_the_next_one_is_untouched(warm, evidence, cell, ended_by):
    assert Ran(warm, SETUP, cell, "print(1)", seconds=2).ended_by == ended_by
    assert Ran(warm, SETUP, RIGHT, EVIDENCE).text == evidence


def test_what_is_sent_in_the_kernels_place_is_noticed_and_gains_nothing(warm):
    lines = b'["done"]\n{"a": 1}\n' + b"[" * 50000 + b'\n["out", 1]\n["out", "forged"]\n'
    send = ANYWHERE.format("", "", lines, "")
    assert Ran(warm, send, "print('mine')").kernel.garbled


def test_output_is_cut_and_the_evidence_is_not(warm, evidence):
    loud = "import sys\nfor _ in range(60):\n    sys.stdout.write('x' * 10**6)"
    noise = "import os\nfor _ in range(200):\n    os.write(1, b'x' * 10**4); os.write(2, b'x' * 10**4)"
    ran = Ran(warm, SETUP, loud, noise, RIGHT, EVIDENCE)
    assert ran.text.endswith(evidence)
    assert len(ran.text) < 2 * 10**6


def test_nothing_lives_on_when_the_process_that_keeps_the_walls_is_killed(root, tmp_path):
    script = (
        "import sys; from pathlib import Path; from course_utils.grading import kernel, sandbox, limits, cut, warm\n"
        f"folder = Path({str(tmp_path)!r}); log = folder / 'log'\n"
        "process = warm.Warm(sandbox.make_home(folder / 'home'), log, [])\n"
        "branch = warm.Branch(process.door, log, limits.Limits())\n"
        "one = kernel.ForkedKernel(branch, cut.probe_of('mean_backward'))\n"
        "one.execute_cell_input('while True: pass')\nprint('ready', flush=True); one.await_reply('1', 600)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            family = psutil.Process(process.pid).children(recursive=True)
            assert len(family) > 3
        finally:
            process.kill()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive


NEIGHBOUR = """
import os, socket
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen()
local = socket.socket(socket.AF_UNIX)
local.bind("\\0neighbour")
local.listen()
os.system("sleep 300 &")
print(server.getsockname()[1])
"""


def test_what_runs_beside_it_is_out_of_reach(oven, warm):
    beside = Branch(oven[0].door, oven[1], LIMITS)
    kernel = ForkedKernel(beside, PROBE)
    try:
        kernel.await_reply(kernel.execute_cell_input(NEIGHBOUR), 20)
        port = int(kernel.get_message("iopub")["content"]["text"])
        tried = Ran(
            warm,
            "import os, socket\nerrors = []",
            f"for kind, place in ((socket.AF_INET, ('127.0.0.1', {port})), (socket.AF_UNIX, '\\0neighbour')):\n"
            "    try: socket.socket(kind).connect(place)\n    except OSError as error: errors.append(error.errno)",
            "print(errors, sorted(int(name) for name in os.listdir('/proc') if name.isdigit()))",
        )
        assert tried.text == "[111, 111] [1, 2]\n"
        assert warm._process != beside._process
        assert kernel.is_alive()
    finally:
        kernel.stop()
        beside.close()


def test_a_branch_that_is_lost_is_made_anew_and_one_that_hung_up_is_gone_with_all_of_its_child(oven, evidence):
    branch = Branch(oven[0].door, oven[1], LIMITS)
    assert Ran(branch, "print(1)").text == "1\n"
    branch._process.kill()
    with pytest.raises(WarmError, match="the process that forks the kernels: "):
        ForkedKernel(branch, PROBE)
    assert Ran(branch, SETUP, RIGHT, EVIDENCE).text == evidence
    kernel = ForkedKernel(branch, PROBE)
    kernel.execute_cell_input("import os\nos.fork()\nwhile True: pass")
    family = [branch._process, *branch._process.children(recursive=True)]
    assert len(family) >= 3
    branch.close()
    _, alive = psutil.wait_procs(family, timeout=10)
    assert not alive
    kernel.stop()


def test_without_a_warm_process_it_says_why(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    process = Warm(home, tmp_path / "log")  # which finds nothing to run in there
    branch = Branch(process.door, tmp_path / "log", LIMITS)
    try:
        with pytest.raises(WarmError, match="No module named"):
            branch.fork()
        with pytest.raises(GoneError, match="No module named"):
            branch.fork()
    finally:
        process.close()


@pytest.mark.skipif(not ROOT, reason="only root can become somebody else; else all of this file runs as a user")
@pytest.mark.parametrize(
    ("user", "less"),
    [
        (1000, ["--reuid=1000", "--regid=1000", "--clear-groups"]),
        (0, ["--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]),
    ],
)
def test_the_walls_stand_for_a_user_and_for_root_in_a_container(user, less, monkeypatch):
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)  # tmp_path is root's alone
    try:
        home = sandbox.make_home(folder / "home")
        monkeypatch.setattr(sandbox.os, "geteuid", lambda: user)
        monkeypatch.setattr(sandbox, "_may_mount", lambda: False)
        monkeypatch.setattr(sandbox, "_pythons", list)
        command = sandbox.walled([SYSTEM_PYTHON, "-m", f"{sandbox.INSIDE}.warm", "prove"], home, [])
        subprocess.run(["setpriv", *less, *command], env=sandbox.environment(sandbox.HOME), cwd="/", check=True)
    finally:
        shutil.rmtree(folder)


def test_without_bubblewrap_it_refuses_and_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Refusal, match="apt install bubblewrap"), open_runner(Way()):
        pass


def test_where_walls_cannot_stand_it_refuses_and_says_what_to_do(monkeypatch, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with (
        pytest.raises(Refusal, match=r"No permissions to create new namespace.*--trust-submissions"),
        open_runner(Way()),
    ):
        pass


def test_jupyters_kernel_has_no_walls_and_so_wants_trust():
    with pytest.raises(Refusal, match="--trust-submissions"), open_runner(Way("jupyter")):
        pass
