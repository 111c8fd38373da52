"""Makes Jupyter start its Python kernels as forks of a warm process."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from course_utils.kernels.launcher import FOLDER

LAUNCHER = Path(__file__).with_name("launcher.py")


def warm_kernels(folder: Path) -> dict[str, str]:
    """The environment variables under which they do; none where processes cannot be forked so.

    `folder` is for them alone. When it is removed, the warm process ends, and with it every kernel.
    """
    if not hasattr(os, "pidfd_open"):
        return {}
    spec = folder / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-S", "-E", str(LAUNCHER), "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"}), "utf-8")
    paths = [str(folder), *filter(None, [os.environ.get("JUPYTER_PATH")])]
    return {FOLDER: str(folder), "JUPYTER_PATH": os.pathsep.join(paths)}
