"""Starts the course: makes its environment when needed, then runs `course ...` in it.

Any Python can read this file, even 2.7, so that each can say which one is needed; the work is
done in course_utils/environment.py. Only the standard library is used.
"""

from __future__ import print_function

import os
import subprocess
import sys

OLDEST = (3, 10)
NEWEST = (3, 13)

HELP = """\
Autograd, step by step

  python3 course.py lab     open the first lesson in JupyterLab
  python3 course.py test    run every check there is

The first run makes the environment (the folder .venv here), later runs start at once.
More commands: build, new, grade, progress, prove.
`python3 course.py COMMAND --help` says what each of them does.
"""


def main(arguments):
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        return go_on_with_another_python(arguments)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(HELP, end="")
        return 0
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)  # not there by itself under `python -P` or `python -I`
    from course_utils import environment

    return environment.run_course(here, arguments)


def go_on_with_another_python(arguments):
    running = "%d.%d" % sys.version_info[:2]
    needed = "Python %d.%d to %d.%d is needed" % (OLDEST + NEWEST)
    command = suitable_python()
    if command is None:
        print(
            "%s, this is Python %s: install one of them, and start course.py with it "
            "(for example `python3.12 course.py lab`)." % (needed, running),
            file=sys.stderr,
        )
        return 2
    print("%s, this is Python %s: going on with %s." % (needed, running, " ".join(command)))
    sys.stdout.flush()
    command = command + [os.path.abspath(__file__)] + arguments
    if os.name == "nt":  # exec on Windows does not wait: the prompt would come back too early
        return subprocess.call(command)
    return os.execvp(command[0], command)


def suitable_python():
    """The command of the newest suitable Python on PATH, as a list; None if there is none."""
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        name = "3.%d" % minor
        command = ["py", "-" + name] if os.name == "nt" else ["python" + name]
        if runs(command + ["-c", "import venv, ensurepip"]):
            return command
    return None


def runs(command):
    with open(os.devnull, "r+b") as nothing:
        try:
            return subprocess.call(command, stdin=nothing, stdout=nothing, stderr=nothing) == 0
        except OSError:  # no such command
            return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
