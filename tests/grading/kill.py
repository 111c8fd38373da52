"""Kills graders: `python kill.py SUBMISSIONS FOLDER TIMES KIND` grades once in peace, then again and again with a -9.

Each grader is killed at a random instant after the store has a random number of results, and the same command
run again. Prints a line of JSON for each: how many results it had, and whether the gradebook is the one of peace.
The last line is of two graders that work into one store at the same time.
KIND is `forked`, a child of this process with the runner of in_process.py, or `real`, the command itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import in_process
import psutil

from course_utils.grading import command


def main(submissions: Path, folder: Path, times: int, kind: str) -> None:
    grade = {"forked": forked, "real": real}[kind]
    if kind == "forked":
        grade_here(submissions, folder / "here")  # what that imports, no child has to import again
    finish(grade(submissions, folder / "peace"))
    wanted = (folder / "peace" / "gradebook.csv").read_bytes()
    all_results = results(folder / "peace")
    for number in range(times):
        out = folder / f"killed_{number}"
        process = grade(submissions, out)
        had = kill(process, out, random.randrange(all_results))
        finish(grade(submissions, out))
        same = (out / "gradebook.csv").read_bytes() == wanted and results(out) == all_results
        print(json.dumps({"had": had, "of": all_results, "same": same}), flush=True)
    for one in [grade(submissions, folder / "two") for _ in range(2)]:
        finish(one)
    same = (folder / "two" / "gradebook.csv").read_bytes() == wanted and results(folder / "two") == all_results
    print(json.dumps({"two at once": True, "same": same}))


def kill(process: psutil.Process, out: Path, after: int) -> int:
    """End the grader, as soon as it has `after` results and a moment more; how many it had."""
    while results(out) < after and process.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.001)
    time.sleep(random.random() * (0.02 if after else 0.2))
    family = process.children(recursive=True)
    process.kill()
    for member in family:  # nobody is left to end the kernels, and they would slow down what comes
        with contextlib.suppress(psutil.NoSuchProcess):
            member.kill()
    os.waitpid(process.pid, 0)
    return results(out)


def results(out: Path) -> int:
    path = out / "grading.sqlite"
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(path, timeout=10)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM result WHERE stands").fetchone()[0]
        except sqlite3.OperationalError:  # the tables are still to be made
            return 0


def forked(submissions: Path, out: Path) -> psutil.Process:
    child = os.fork()
    if child:
        return psutil.Process(child)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = 99
    try:
        code = grade_here(submissions, out)
    finally:
        os._exit(code)


def grade_here(submissions: Path, out: Path) -> int:
    command.open_runner = in_process.open_runner
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        return command.grade([submissions], out)


def real(submissions: Path, out: Path) -> psutil.Process:
    line = [sys.executable, "-m", "course_utils.cli", "grade", str(submissions), "--out", str(out)]
    # not waited for by its object: `finish` and `kill` do that for both kinds
    return psutil.Process(os.posix_spawn(sys.executable, line, os.environ, file_actions=QUIET))


QUIET = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]


def finish(process: psutil.Process) -> None:
    code = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
    if code:
        raise subprocess.CalledProcessError(code, "course grade")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
