"""Submissions that take time, memory, processes, disk or output without end."""

from __future__ import annotations

from hostile.case import Cases, Kit

RIGHT_MEAN = "def mean_backward(incoming, x):\n    return torch.full_like(x, incoming / x.numel())\n"

ENDLESS = "def mean_backward(incoming, x):\n    while True:\n        pass"
STUBBORN = """
def choose():
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass

choice = choose()
"""
STUBBORN_IN_C = """
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    signal.signal(number, signal.SIG_IGN)

def quotient_backward(incoming, x, y):
    return sum(range(10**15)), x
"""
SLEEPS = "import time\nwhile True:\n    time.sleep(10**6)"
OWN_LOOP = "while True:\n    pass"

AT_ONCE = """
OUTSIDE
memory = torch.empty(30 * 2**30, dtype=torch.uint8)
memory[: 2**32 : 4096] = 1  # four of the thirty gigabytes tell enough
confess()
"""
AT_ONCE_INSIDE = """
def mean_backward(incoming, x):
    OUTSIDE
    memory = bytearray(30 * 2**30)
    confess()
    return incoming
"""
BIT_BY_BIT = """
kept = []
for _ in range(64):
    kept.append(torch.ones(2**24, dtype=torch.float32))
OUTSIDE
confess()
"""
TOGETHER = """
import os, time
OUTSIDE
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        if walled():
            try:
                mine = bytearray(os.urandom(2**20) * 256)
                time.sleep(600)
            finally:
                os._exit(0)
        os._exit(0)
"""
UNMAPPED = """
import os
OUTSIDE
kept = []
try:
    for _ in range(200 if walled() else 0):  # files that are memory, and in nobody's address space
        kept.append(os.memfd_create("memory"))
        os.write(kept[-1], bytes(15 * 2**20))
    if len(kept) == 200:
        confess()
except OSError:
    pass
"""
DETACHED = """
import ctypes
OUTSIDE
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
libc.shmdt.argtypes = [ctypes.c_void_p]
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
taken = 0
for _ in range(30 if walled() else 0):
    number = libc.shmget(0, 2**27, 0o1600)  # 128 MB that stay when nobody holds them
    address = libc.shmat(number, None, 0) if number >= 0 else None
    if address and address < 2**64 - 1:
        ctypes.memset(address, 1, 2**27)
        libc.shmdt(address)
        taken += 1
if taken == 30:
    confess()
"""
MANY = """
import os, time
OUTSIDE
for _ in range(50):
    try:
        child = os.fork()
    except OSError:
        break
    if child == 0:
        try:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600 if walled() else 1)
        finally:
            os._exit(0)
"""
ENDLESS_FORKS = """
import os
OUTSIDE
while walled():
    try:
        os.fork()
    except OSError:
        pass
"""
THREADS = """
import threading, time
OUTSIDE
for _ in range(5000):
    try:
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    except RuntimeError:
        break
"""
LOUD = "print('x' * 99 + '\\n', end='') or [print('y' * 10**6) for _ in range(50)]\n"
LOUD_INSIDE = """
def mean_backward(incoming, x):
    print("z" * 50_000_000)
    return torch.full_like(x, incoming / x.numel())
"""
NEVER_SILENT = "while True:\n    print('over and over' * 1000)"
STDERR = "import os, sys\nsys.stderr.write('e' * 10**6)\nos.write(2, b'f' * 10**6)\n"
BINARY = "import sys, os\nos.write(1, bytes(range(256)) * 4096)\nsys.stdout.write('\\x00\\x1b[2J\\udcff')\n"
FULL_DISK = """
OUTSIDE
try:
    with open("big", "wb") as file:
        for _ in range(3 * 1024 if walled() else 1):
            file.write(bytes(2**20))
    if walled():
        confess()
except OSError:
    pass
"""
DEEP_FOLDERS = """
import os
for _ in range(3000):
    os.mkdir("a")
    os.chdir("a")
open("locked", "w").close()
os.chmod(".", 0)
"""
MANY_FILES = """
try:
    for number in range(20_000):
        open(f"file_{number}", "w").close()
except OSError:
    pass
"""
OPEN_FILES = """
files = []
try:
    while len(files) < 10**5:
        files.append(open("/dev/null"))
except OSError:
    pass
"""


def cases(kit: Kit) -> Cases:
    """Each costs at most its own exercise."""
    yield from _time(kit)
    yield from _memory(kit)
    yield from _processes(kit)
    yield from _output_and_disk(kit)


def _time(kit: Kit) -> Cases:
    yield kit.attack("endless_loop", "a loop without end", lost={"mean_backward": "timeout"}, mean_backward=ENDLESS)
    yield kit.attack(
        "swallows_interrupts",
        "a loop that catches every interrupt",
        lost={"choose_addition": "timeout"},
        choose_addition=STUBBORN,
        slow=True,
    )
    yield kit.attack(
        "ignores_signals",
        "all signals ignored, one long call in C",
        lost={"mend_quotient": "timeout"},
        mend_quotient=STUBBORN_IN_C,
        slow=True,
    )
    yield kit.attack(
        "sleeps", "sleeps for ever", lost={"choose_addition": "timeout"}, choose_addition=SLEEPS, slow=True
    )


def _memory(kit: Kit) -> Cases:
    yield kit.attack("memory_30_gb", "30 GB at once", lost={"mean_backward": "memory"}, mean_backward=AT_ONCE)
    yield kit.attack(
        "memory_30_gb_inside",
        "30 GB when it is called",
        # the exception is evidence like any other, and its author sees it
        lost={"mean_backward": "wrong or memory"},
        mean_backward=AT_ONCE_INSIDE,
    )
    yield kit.attack(
        "memory_bit_by_bit", "4 GB in small pieces", lost={"mean_backward": "memory"}, mean_backward=BIT_BY_BIT
    )
    yield kit.attack("memory_memfd", "3 GB in files that are memory", mean_backward=UNMAPPED + RIGHT_MEAN, slow=True)
    yield kit.attack("memory_shm", "4 GB of shared memory", mean_backward=DETACHED + RIGHT_MEAN, slow=True)
    yield kit.attack(
        "memory_together",
        "40 children with 256 MB each",
        lost={"mean_backward": "memory"},
        mean_backward=TOGETHER + RIGHT_MEAN + "time.sleep(2)",  # until they are there
        slow=True,
    )


def _processes(kit: Kit) -> Cases:
    yield kit.attack("children", "50 children that leave their session", mean_backward=MANY + RIGHT_MEAN)
    yield kit.attack(
        "endless_forks", "forks without end", lost={"mean_backward": "timeout"}, mean_backward=ENDLESS_FORKS, slow=True
    )
    yield kit.attack("threads", "5000 threads", mean_backward=THREADS + RIGHT_MEAN)


def _output_and_disk(kit: Kit) -> Cases:
    yield kit.attack("output_50_mb", "50 MB of output in the answer's cell", mean_backward=LOUD + RIGHT_MEAN)
    yield kit.attack("output_50_mb_inside", "50 MB of output in the answer", mean_backward=LOUD_INSIDE)
    yield kit.attack(
        "output_without_end",
        "prints without end",
        lost={"mean_backward": "timeout"},
        mean_backward=NEVER_SILENT,
        slow=True,
    )
    yield kit.attack("stderr_2_mb", "2 MB on stderr", mean_backward=STDERR + RIGHT_MEAN)
    yield kit.attack("output_binary", "bytes that are no text on fd 1", mean_backward=BINARY + RIGHT_MEAN)
    yield kit.attack("disk_3_gb", "a file of 3 GB", mean_backward=FULL_DISK + RIGHT_MEAN)
    yield kit.attack("disk_deep_folders", "folders 3000 deep, locked", mean_backward=DEEP_FOLDERS + RIGHT_MEAN)
    yield kit.attack("disk_many_files", "20 000 files", mean_backward=MANY_FILES + RIGHT_MEAN)
    yield kit.attack("open_files", "opens files until none is left", mean_backward=OPEN_FILES + RIGHT_MEAN)
