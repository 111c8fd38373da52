"""A process that has loaded everything once, and forks a child for each exercise: `... DESCRIPTOR [confined]`.

The grader speaks to it over a socket: `fork`, with a socket for the child, gives `forked`; `end` gives `ended` when the
child is gone with all that it started. It never runs a line of a submission itself.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from course_utils.grading.inside import namespaces

SCRATCH = os.environ.get("HOME", "/tmp")
_INIT = ("/bin/sleep", "infinity")


def main(descriptor: int, confined: bool) -> None:
    """Answer the grader until it hangs up."""
    grader = socket.socket(fileno=descriptor)
    grader.set_inheritable(False)
    try:
        if confined:
            _raise_walls()
        shell = _load()
    except Exception as error:  # whatever it is, the grader has to say it
        grader.send(f"failed {type(error).__name__}: {error}".encode())
        return
    grader.send(b"ready")
    child = None
    while True:
        message, descriptors, _, _ = socket.recv_fds(grader, 4096, 1)
        if not message:
            break
        word, _, rest = message.decode().partition(" ")
        if word == "fork":
            os.set_inheritable(descriptors[0], False)  # that the child has ended is known by its socket's end
            child = _fork(shell, grader, descriptors[0], json.loads(rest), confined)
            os.close(descriptors[0])
            grader.send(b"forked %d" % child.pid)
        elif child is not None:
            grader.send(b"ended %d" % child.end())
            child = None


def prove() -> None:
    """Raise all the walls once around nothing. OSError where one of them cannot stand."""
    _raise_walls()
    namespaces.unshare(namespaces.NEW_PIDS)
    init = os.posix_spawn(_INIT[0], _INIT, {})
    child = os.fork()
    if child == 0:
        try:
            _wall_in({"scratch": 2**20})
        except OSError as error:
            print(error, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.kill(init, signal.SIGKILL)
    sys.exit(code)


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


def _load() -> object:
    """Import what submissions import, and use it once, for much is loaded at first use only."""
    import torch

    import course_utils

    for name in course_utils.__all__:  # each is loaded when it is asked for
        getattr(course_utils, name)
    from course_utils.grading.inside.probe import warm_up
    from course_utils.grading.inside.shell import new_shell

    warm_up()
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    torch.autograd.grad((x @ x) * x, x, torch.ones(2, dtype=torch.float64))
    course_utils.trace((x * x).sum())
    shell = new_shell()
    shell.run_cell("import torch\nimport numpy as np\n_ = 1", store_history=False)
    shell.reset(new_session=False)
    gc.collect()
    gc.freeze()  # a collection in a child would write to every page, and so copy it
    return shell


# a child --------------------------------------------------------------------------------------------------------


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


def _fork(shell: object, grader: socket.socket, descriptor: int, limits: Mapping[str, int], confined: bool) -> _Child:
    ours = os.open("/proc/self/ns/pid", os.O_RDONLY) if confined else -1
    init = None
    try:
        if confined:
            namespaces.unshare(namespaces.NEW_PIDS)  # for the processes that are started from here on
            init = os.posix_spawn(_INIT[0], _INIT, {})
        pid = os.fork()
        if pid == 0:
            _be_child(shell, grader, descriptor, limits, confined)
    finally:
        if confined:
            namespaces.enter(ours, namespaces.NEW_PIDS)
            os.close(ours)
    return _Child(pid, init)


def _be_child(shell: object, grader: socket.socket, descriptor: int, limits: Mapping[str, int], confined: bool) -> None:
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
    prove() if sys.argv[1] == "prove" else main(int(sys.argv[1]), "confined" in sys.argv[2:])
