"""A process that has loaded everything once, with a branch for each job, which forks a child for each exercise.

`... DESCRIPTOR confined|open NAME...`: over that socket come the sockets of those who want a branch; the names are of
`ahead.py`. A branch says `ready`; `fork`, with a socket for the child, gives `forked`; `end` gives `ended` when the
child is gone with all that it started. Neither the process nor a branch ever runs a line of a submission.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from course_utils.grading.inside import namespaces

SCRATCH = os.environ.get("HOME", "/tmp")
_INIT = ("/bin/sleep", "infinity")


def main(descriptor: int, confined: bool, ahead: Sequence[str]) -> None:
    """Make branches, until all who could want one have hung up."""
    door = socket.socket(fileno=descriptor)
    door.set_inheritable(False)
    shell, fault = None, ""
    try:
        if confined:
            _raise_walls()
        shell = _load(ahead)
    except Exception as error:  # whatever it is, the grader has to say it
        fault = f"{type(error).__name__}: {error}"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a branch ended
    while True:
        with _received(door, 64) as (message, grader):
            if not message:
                return
            if fault:
                grader.send(f"failed {fault}".encode())
                continue
            with _processes_of_its_own(confined):
                if os.fork() == 0:
                    door.close()
                    _be_branch(shell, grader, confined)


def prove() -> None:
    """Raise all the walls once around nothing, and say why where one of them cannot stand."""
    _raise_walls()
    with _processes_of_its_own(True):
        branch = os.fork()
        if branch == 0:
            _end_after(_prove_branch)
    sys.exit(_code(os.waitpid(branch, 0)))


def _prove_branch() -> None:
    namespaces.no_neighbours()
    with _processes_of_its_own(True):
        os.posix_spawn(_INIT[0], _INIT, {})
        child = os.fork()
        if child == 0:
            _end_after(lambda: _wall_in({"scratch": 2**20}))
    os._exit(_code(os.waitpid(child, 0)))


def _end_after(step: Callable[[], None]) -> NoReturn:
    code = 1
    try:
        step()
        code = 0
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def _raise_walls() -> None:
    """Leave the user for one without rights elsewhere, and gain in a namespace what making a child's walls takes."""
    if os.geteuid() == 0:
        namespaces.uncover("/proc")  # bubblewrap covers parts of it for root; then nobody could have one of their own
        namespaces.become_nobody()
    namespaces.new_user()
    namespaces.unshare(namespaces.NEW_MOUNTS | namespaces.NEW_PIDS)
    child = os.fork()  # only a process in a namespace of ours may make others for its children, one after the other
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)


@contextlib.contextmanager
def _processes_of_its_own(confined: bool) -> Iterator[None]:
    """What is started meanwhile is in a new process namespace, and must not leave this block."""
    if not confined:
        yield
        return
    ours = os.open("/proc/self/ns/pid", os.O_RDONLY)
    try:
        namespaces.unshare(namespaces.NEW_PIDS)
        yield
    finally:
        namespaces.enter(ours, namespaces.NEW_PIDS)
        os.close(ours)


@contextlib.contextmanager
def _received(channel: socket.socket, most: int) -> Iterator[tuple[str, socket.socket | None]]:
    """The next message, and the socket that came with it, for as long as it is looked at."""
    message, descriptors, _, _ = socket.recv_fds(channel, most, 1)
    with contextlib.ExitStack() as stack:
        sent = None
        if descriptors:
            os.set_inheritable(descriptors[0], False)  # that a child has ended is known by its socket's end
            sent = stack.enter_context(socket.socket(fileno=descriptors[0]))
        yield message.decode(), sent


def _load(ahead: Sequence[str]) -> object:
    """Import what submissions import, and use it once, for much is loaded at first use only."""
    gc.disable()  # nearly all that is loaded stays
    import torch

    import course_utils
    import course_utils.checks  # before the probe, which that package itself imports here

    for name in set(course_utils.__all__) & set(ahead):  # each is loaded when it is asked for
        getattr(course_utils, name)
    from course_utils.grading.inside.probe import warm_up
    from course_utils.grading.inside.shell import new_shell

    warm_up()
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    torch.autograd.grad((x @ x) * x.sum(), x, *([torch.tensor(1.0, dtype=x.dtype)] if "gradients" in ahead else []))
    if "trace" in ahead:
        course_utils.trace((x * x).sum())
    shell = new_shell()
    shell.run_cell("import torch\nimport numpy as np\n_ = 1", store_history=False)
    shell.reset(new_session=False)
    gc.freeze()  # a collection in a child would write to every page, and so copy it
    gc.enable()
    return shell


# a branch -------------------------------------------------------------------------------------------------------


def _be_branch(shell: object, grader: socket.socket, confined: bool) -> None:
    """Fork children, one after the other, until the grader hangs up."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if confined:
            namespaces.no_neighbours()
        grader.send(b"ready")
        child = None
        while True:
            with _received(grader, 4096) as (message, channel):
                word, _, rest = message.partition(" ")
                if word == "fork":
                    child = _fork(shell, channel, json.loads(rest), confined)
                    grader.send(b"forked")
                elif child is not None:
                    grader.send(b"ended %d" % child.end())
                    child = None
                if not word:
                    return
    except Exception as error:
        grader.send(f"failed {type(error).__name__}: {error}".encode())
    finally:
        os._exit(0)


@dataclass(frozen=True)
class _Child:
    """A forked child; with walls, `init` is the first process of its namespace, whose end is everyone's."""

    pid: int
    init: int | None

    def end(self) -> int:
        """Kill all of it, and return the child's exit code, negative for a signal; our own kill is no cause."""
        code = _code(os.waitpid(self.pid, os.WNOHANG))
        for pid in filter(None, (self.init, self.pid)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if code is None:
            os.waitpid(self.pid, 0)
        if self.init:
            os.waitpid(self.init, 0)  # returns when the last process of the namespace is gone
        return code or 0


def _code(waited: tuple[int, int]) -> int | None:
    return os.waitstatus_to_exitcode(waited[1]) if waited[0] else None


def _fork(shell: object, channel: socket.socket, limits: Mapping[str, int], confined: bool) -> _Child:
    with _processes_of_its_own(confined):
        init = os.posix_spawn(_INIT[0], _INIT, {}) if confined else None
        pid = os.fork()
        if pid == 0:
            _be_child(shell, channel.fileno(), limits, confined)
    return _Child(pid, init)


def _be_child(shell: object, descriptor: int, limits: Mapping[str, int], confined: bool) -> None:
    code = 1
    channel = socket.socket(fileno=os.dup(descriptor))
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what all children share, one could fill up
        os.closerange(3, channel.fileno())
        os.closerange(channel.fileno() + 1, 256)
        if confined:
            _wall_in(limits)
        else:
            limits = {**limits, "processes": None}  # that would count everything of this user
        namespaces.limit(**{name: limits[name] for name in ("memory", "seconds", "file_size", "processes")})
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from course_utils.grading.inside.probe import load
        from course_utils.grading.inside.shell import serve

        requests = channel.makefile("rb")
        load(json.loads(requests.readline()))
        channel.sendall(b'["ready"]\n')
        serve(shell, channel, requests)
        code = 0
    except BaseException as error:  # of ours, for what a cell raises does not come here
        channel.sendall(json.dumps(["fault", f"{type(error).__name__}: {error}"]).encode() + b"\n")
    finally:
        os._exit(code)


def _wall_in(limits: Mapping[str, int]) -> None:
    """Shut this process in: a /proc and a scratch folder of its own, no rights, and no way to get any."""
    namespaces.unshare(namespaces.NEW_MOUNTS | namespaces.NEW_IPC)
    namespaces.mount_private("proc", "/proc")
    namespaces.mount_private("tmpfs", SCRATCH, f"mode=1777,size={limits['scratch']},nr_inodes=32768")
    os.chdir(SCRATCH)
    namespaces.new_user()
    namespaces.no_more_namespaces()
    namespaces.give_up_rights()


if __name__ == "__main__":
    prove() if sys.argv[1] == "prove" else main(int(sys.argv[1]), sys.argv[2] == "confined", sys.argv[3:])
