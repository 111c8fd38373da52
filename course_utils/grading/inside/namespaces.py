"""Linux's namespaces and limits, by the system calls that Python has no words for."""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import socket
import struct
from pathlib import Path

NEW_MOUNTS, NEW_IPC, NEW_USER, NEW_PIDS, NEW_NETWORK = 0x00020000, 0x08000000, 0x10000000, 0x20000000, 0x40000000
NOBODY = 65534
_NO_SUID, _NO_DEVICES, _NO_PROGRAMS = 2, 4, 8
_DETACH = 2
_SET_FLAGS, _UP = 0x8914, 1  # of a network's interface
_SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 4, 38
_CAPABILITIES_VERSION = 0x20080522

_SET_SECCOMP = 22
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # the filter's language
# by machine: its number in the filter; then memfd_create, memfd_secret, shmget, msgget, semget, io_uring_setup,
# userfaultfd, add_key, request_key, keyctl, bpf, perf_event_open, ptrace
_FORBIDDEN = {
    "x86_64": (0xC000003E, (319, 447, 29, 68, 64, 425, 323, 248, 249, 250, 321, 298, 101)),
    "aarch64": (0xC00000B7, (279, 447, 194, 186, 190, 425, 282, 217, 218, 219, 280, 241, 117)),
}

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Leave the namespaces that `flags` name for new ones. OSError where this system forbids it."""
    _call("unshare", flags)


def enter(descriptor: int, kind: int) -> None:
    """Go into the namespace behind an open file of /proc/.../ns/."""
    _call("setns", descriptor, kind)


def no_neighbours() -> None:
    """Share neither network nor anything else by which one could talk to what runs beside; speak to oneself alone."""
    unshare(NEW_MOUNTS | NEW_IPC | NEW_NETWORK)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_one:
        fcntl.ioctl(any_one, _SET_FLAGS, struct.pack("16sh22x", b"lo", _UP))


def uncover(folder: str) -> None:
    """Take away what is mounted inside a folder."""
    places = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for place in reversed([one for one in places if one.startswith(f"{folder}/")]):
        _call("umount2", place.encode(), _DETACH)


def become_nobody() -> None:
    """Give up being root for a user whose processes the system counts and limits, where there is another user."""
    if not _all_users():
        return
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    _call("prctl", _SET_DUMPABLE, 1, 0, 0, 0)  # or the files of /proc/self would still be root's


def _all_users() -> bool:
    """Whether this is no user namespace with a single user in it."""
    return sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines()) > NOBODY


def new_user() -> None:
    """Enter a user namespace of its own, with every right inside it and none outside."""
    user, group = os.geteuid(), os.getegid()
    unshare(NEW_USER)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{NOBODY} {user} 1")
    _write("/proc/self/gid_map", f"{NOBODY} {group} 1")


def mount_private(kind: str, place: str, options: str = "") -> None:
    """Put a fresh file system (`proc`, `tmpfs`) over a folder, from which nothing runs with more rights."""
    flags = _NO_SUID | _NO_DEVICES | (_NO_PROGRAMS if kind == "proc" else 0)
    _call("mount", kind.encode(), place.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode())


def no_more_namespaces() -> None:
    """Let no process from here on make namespaces, in which it would have rights again."""
    for kind in ("user", "mnt", "pid", "net", "ipc", "uts"):
        _write(f"/proc/sys/user/max_{kind}_namespaces", "0")


def give_up_rights() -> None:
    """Drop every capability, the ways to get one, and the system calls behind which nobody counts memory."""
    _call("prctl", _SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    _forbid_calls()
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())


def _forbid_calls() -> None:
    """Answer certain system calls with EPERM, and all those of another processor's kind."""
    if os.uname().machine not in _FORBIDDEN:
        return
    architecture, numbers = _FORBIDDEN[os.uname().machine]
    refuse, allow = (_RETURN, 0, 0, 0x00050000 | 1), (_RETURN, 0, 0, 0x7FFF0000)
    program = [(_LOAD, 0, 0, 4), (_IF_EQUAL, 1, 0, architecture), refuse, (_LOAD, 0, 0, 0)]
    program += [(_IF_AT_LEAST, 0, 1, 0x40000000), refuse]  # the same calls once more, with short pointers
    for number in numbers:
        program += [(_IF_EQUAL, 0, 1, number), refuse]
    code = b"".join(struct.pack("HBBI", *one) for one in [*program, allow])
    filter_ = struct.pack("HL", len(code) // 8, ctypes.addressof(kept := ctypes.create_string_buffer(code)))
    _call("prctl", _SET_SECCOMP, 2, filter_, 0, 0)
    del kept


def limit(*, memory: int, seconds: int, file_size: int, processes: int | None) -> None:
    """Limit this process and its children; `memory` is what each may have beyond what it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _set(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)
    _set(resource.RLIMIT_CPU, seconds)
    _set(resource.RLIMIT_FSIZE, file_size)
    if processes is not None:
        _set(resource.RLIMIT_NPROC, processes)
    _set(resource.RLIMIT_NOFILE, 256)
    _set(resource.RLIMIT_CORE, 0)


def _set(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
