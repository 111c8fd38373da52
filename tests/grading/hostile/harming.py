"""Submissions that write, delete and call where they have no business to; their answers are right all the same."""

from __future__ import annotations

from hostile.case import Cases, Kit

RIGHT_QUOTIENT = """
def quotient_backward(incoming, x, y):
    return incoming / y, -incoming * x / y**2
"""
WRITES = """
import os
OUTSIDE
for place in OUTSIDE["places"]:
    try:
        with open(os.path.join(place, OUTSIDE["marker"] + "-" + OUTSIDE["case"]), "w") as file:
            file.write("written")
    except OSError:
        pass
"""
DELETES = """
import os, shutil
OUTSIDE
for path in OUTSIDE["victims"]:  # which stand for everything that somebody holds dear
    for destroy in (os.unlink, lambda path: open(path, "w").close(), lambda path: os.rename(path, path + ".gone")):
        try:
            destroy(path)
        except OSError:
            pass
for place in OUTSIDE["places"][:4]:
    if walled():
        shutil.rmtree(place, ignore_errors=True)
"""
LINKS = """
import os
OUTSIDE
for number, path in enumerate(OUTSIDE["victims"] + OUTSIDE["places"][:4]):
    for link in (os.symlink, os.link):  # for a clean-up that follows links
        try:
            link(path, f"link_{number}_{link.__name__}")
        except OSError:
            pass
"""
REMOUNTS = """
import ctypes, os
OUTSIDE
libc = ctypes.CDLL(None, use_errno=True)
if walled():
    for flags in (0x10000000, 0x10020000):
        libc.unshare(flags)
    for place in ["/", *OUTSIDE["places"][:4]]:
        libc.mount(None, place.encode(), None, 4096 | 32, None)  # bind, remount: writable again?
        try:
            open(os.path.join(place, OUTSIDE["marker"] + "-remounted"), "w").close()
        except OSError:
            pass
"""
CALLS = """
import socket
OUTSIDE
said = OUTSIDE["case"].encode()
for kind, family, address in (
    (socket.SOCK_STREAM, socket.AF_INET, ("127.0.0.1", OUTSIDE["ports"]["tcp"])),
    (socket.SOCK_DGRAM, socket.AF_INET, ("127.0.0.1", OUTSIDE["ports"]["udp"])),
    (socket.SOCK_STREAM, socket.AF_UNIX, OUTSIDE["socket"]),
    (socket.SOCK_STREAM, socket.AF_UNIX, "\\0" + OUTSIDE["abstract"]),
):
    try:
        with socket.socket(family, kind) as one:
            one.settimeout(0.5)
            one.connect(address)
            one.send(said)
    except OSError:
        pass
try:
    socket.create_connection(("192.0.2.1", 80), timeout=0.3)  # an address that is kept free for examples
    confess()
except OSError:
    pass
"""
LISTENS = """
import socket, threading
server = socket.socket()
try:
    server.bind(("0.0.0.0", 0))
    server.listen()
    threading.Thread(target=server.accept, daemon=True).start()
except OSError:
    pass
"""
SPOILS_THE_COURSE = """
import os
OUTSIDE
import course_utils, IPython, torch as _torch
for module in (course_utils, IPython, _torch):
    path = os.path.join(os.path.dirname(module.__file__), OUTSIDE["marker"] + ".py")
    try:
        open(path, "w").close()
        confess()
        os.unlink(path)
    except OSError:
        pass
"""
SPOILS_NEIGHBOURS = """
import os, glob
OUTSIDE
for folder in (os.getcwd(), os.path.dirname(os.getcwd()), "/tmp", os.environ.get("TMPDIR", "/tmp")):
    for path in glob.glob(os.path.join(folder, "*")) + glob.glob(os.path.join(folder, "*", "*")):
        try:
            if walled() and os.path.isfile(path):
                open(path, "w").close()
        except OSError:
            pass
"""


def cases(kit: Kit) -> Cases:
    """All get their points, and nothing outside has changed or heard of them."""
    for name, tries, source in (
        ("writes", "writes into every folder there is", WRITES),
        ("deletes", "deletes, empties and renames", DELETES),
        ("links", "links into the outside, for who cleans up", LINKS),
        ("remounts", "mounts the disk writable", REMOUNTS),
        ("calls", "sockets: loopback, outside, unix", CALLS),
        ("listens", "waits for calls on a port", LISTENS),
        ("spoils_the_course", "writes into installed packages", SPOILS_THE_COURSE),
        ("spoils_scratch", "empties every file near its own", SPOILS_NEIGHBOURS),
    ):
        yield kit.attack(name, tries, mend_quotient=source + RIGHT_QUOTIENT)
