"""Finds bubblewrap, which shuts submissions in, or gets it: the tests of the grader need it on Linux."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from course_utils.refusal import Refusal

WITHOUT = "COURSE_WALLS"  # set to `none`, it says that this system shall do without
_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
HOW_TO_INSTALL = (
    "the tests of the grader need bubblewrap: install it (on Debian and Ubuntu `sudo apt install bubblewrap`), or set "
    f"{WITHOUT}=none to leave out the tests of its walls."
)


def get_bubblewrap() -> None:
    """Make sure that `bwrap` is there, on Linux; installed if this machine has none and lets us."""
    if sys.platform != "linux" or os.environ.get(WITHOUT) == "none":
        return
    if not shutil.which("bwrap") and shutil.which("apt-get"):
        print("No bubblewrap here: installing Debian's ...", flush=True)
        _as_root("apt-get", "update")
        _as_root("apt-get", "install", "--yes", "bubblewrap")
    if not shutil.which("bwrap"):
        raise Refusal(HOW_TO_INSTALL)
    if os.environ.get("CI") and _RESTRICTED.exists():  # a machine of one run's life; on another, its owner decides
        _as_root("sysctl", "--quiet", "--write", "kernel.apparmor_restrict_unprivileged_userns=0")


def _as_root(*command: str) -> None:
    """Run it as root, if we are root or may become it without a password; what then is missing is said elsewhere."""
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            return
        command = ("sudo", "--non-interactive", *command)
    try:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(command, stdin=subprocess.DEVNULL, env=environment, timeout=600, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return
