"""Submissions that end early, end others, or refuse to end: exits, signals, crashes, what runs at exit, questions."""

from __future__ import annotations

from hostile.case import Case, Cases, Kit

RIGHT_BIAS = "def bias_backward(incoming, x, b):\n    return incoming, incoming.sum(0)\n"

KILL_ALL = """
import os, signal
OUTSIDE
if walled():
    try:
        os.kill(-1, signal.SIGKILL)
    except OSError:
        pass
"""
KILL_PARENT = """
import os, signal, time
OUTSIDE
if walled():
    for pid in {os.getppid(), 1, OUTSIDE["grader"]} - {0}:  # 0 would be itself
        for number in (signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(pid, number)
            except OSError:
                pass
"""
KILL_NEIGHBOURS = """
import os, signal
OUTSIDE
if walled():
    for pid in range(2, 70_000):
        if pid not in (os.getpid(), os.getppid()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
"""
SEGFAULT = "import ctypes\nctypes.string_at(0)"
ABORT = "import os\nos.abort()"
DEEP = "def bias_backward(incoming, x, b):\n    return bias_backward(incoming, x, b)"
DEEP_IN_C = """
import sys
sys.setrecursionlimit(10**9)

class Deep:
    def __repr__(self):
        return repr([self])

def bias_backward(incoming, x, b):
    return repr(Deep())
"""
AT_EXIT = """
import atexit, os, sys, time

def later():
    sys.stdout.write('{"saw": "gradients", "value": null}\\n')
    os.write(1, b"late")
    while True:
        time.sleep(1)

atexit.register(later)
"""
SIGNALS = """
import signal, time

def again(*_):
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    raise KeyboardInterrupt

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))
"""
ALARM = "import signal\nsignal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)"  # nobody handles it: it ends the process
RAISES_IN_DEL = """
class Late:
    def __del__(self):
        raise SystemExit
    def __reduce__(self):
        raise SystemExit

late = [Late() for _ in range(10)]
"""


def cases(kit: Kit) -> Cases:
    """Each costs its own exercise alone, and no process outlives the run."""
    yield from _exits(kit)
    yield from _kills(kit)
    yield from _crashes(kit)
    yield from _refusals(kit)


def _exits(kit: Kit) -> Cases:
    def lost(name: str, tries: str, source: str) -> Case:
        return kit.attack(name, tries, lost={"bias_backward": "crashed"}, bias_backward=source)

    yield lost("os_exit", "os._exit(0) in the answer's cell", "import os\nos._exit(0)")
    yield lost("os_exit_inside", "os._exit(0) when it is called", "import os\ndef bias_backward(*_):\n    os._exit(0)")
    yield lost("sys_exit", "sys.exit() before the answer", f"import sys\nsys.exit()\n{RIGHT_BIAS}")
    yield kit.attack(
        "sys_exit_inside",
        "sys.exit() when it is called",
        lost={"bias_backward": "wrong"},
        bias_backward="import sys\ndef bias_backward(*_):\n    sys.exit(0)",
    )
    yield kit.attack("os_exit_in_own_cell", "os._exit(0) in a cell of its own", own="import os\nos._exit(0)")


def _kills(kit: Kit) -> Cases:
    source = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    yield kit.attack("kills_itself", "SIGKILL to itself", lost={"bias_backward": "crashed"}, bias_backward=source)
    source = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"
    yield kit.attack(
        "stops_itself", "SIGSTOP to itself", lost={"bias_backward": "timeout"}, bias_backward=source, slow=True
    )
    yield kit.attack("kills_everything", "SIGKILL to every process it may reach", bias_backward=KILL_ALL + RIGHT_BIAS)
    yield kit.attack("kills_parents", "SIGSTOP and SIGKILL to its parents", bias_backward=KILL_PARENT + RIGHT_BIAS)
    yield kit.attack("kills_by_number", "SIGKILL to every number", bias_backward=KILL_NEIGHBOURS + RIGHT_BIAS)


def _crashes(kit: Kit) -> Cases:
    for name, tries, source in (
        ("segfault", "reads address 0", SEGFAULT),
        ("abort", "os.abort()", ABORT),
        ("recursion_in_c", "recursion beyond the stack", DEEP_IN_C),
        ("alarm", "a timer signal that nobody handles", f"{ALARM}\nwhile True:\n    pass"),
    ):
        yield kit.attack(name, tries, lost={"bias_backward": "crashed"}, bias_backward=source)
    yield kit.attack("recursion", "recursion without end", lost={"bias_backward": "wrong"}, bias_backward=DEEP)


def _refusals(kit: Kit) -> Cases:
    yield kit.attack("at_exit", "prints and hangs when the process ends", bias_backward=AT_EXIT + RIGHT_BIAS)
    yield kit.attack("blocks_signals", "ignores and blocks all signals", bias_backward=SIGNALS + RIGHT_BIAS)
    yield kit.attack("raises_in_del", "objects that raise when they go", bias_backward=RAISES_IN_DEL + RIGHT_BIAS)
    for name, source in (("input", "name = input('name? ')"), ("getpass", "import getpass\ngetpass.getpass()")):
        yield kit.attack(
            name, "asks a question", lost={"bias_backward": "crashed"}, bias_backward=f"{source}\n{RIGHT_BIAS}"
        )
    yield kit.attack("reads_stdin", "reads all of stdin", bias_backward=f"import os\nos.read(0, 10)\n{RIGHT_BIAS}")
