"""The graders that are measured: how each is started, and the points that it found."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from handed_in import ROOT, TASKS, UNIT, Student, course, for_nbgrader, for_nbval, for_the_course

Points = dict[str, dict[str, float]]


class Grader(ABC):
    """One grader at work in a folder of its own."""

    name: str

    def __init__(self, folder: Path, crowd: Sequence[Student], jobs: int = 2) -> None:
        self.folder, self.crowd, self.jobs = folder, list(crowd), jobs
        folder.mkdir(parents=True)

    @abstractmethod
    def prepare(self) -> None:
        """Write what is handed in, and do all else that is not measured."""

    @abstractmethod
    def command(self) -> list[str]:
        """What is measured."""

    @abstractmethod
    def points(self) -> Points:
        """The points found, by student and exercise."""


_GRADE = """
from pathlib import Path
from course_utils.grading.loading import loading
with loading():
    from course_utils.checks.catalogue import all_exercises
    from course_utils.grading.command import grade
    all_exercises()
raise SystemExit(grade([Path("submissions")], Path("out"), {jobs}, root=Path("course")))
"""


class Ours(Grader):
    """`course grade`, with walls."""

    name = "course grade"

    def prepare(self) -> None:
        for_the_course(self.folder / "submissions", course(self.folder / "course"), self.crowd)

    def command(self) -> list[str]:
        # the command itself knows one course only, that of its clone; this one has six exercises
        return [sys.executable, "-c", _GRADE.format(jobs=self.jobs)]

    def points(self) -> Points:
        with (self.folder / "out" / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
            return {row["student"]: {name: float(row[name] or "nan") for name in TASKS} for row in csv.DictReader(file)}


class Nbval(Grader):
    """pytest with nbval and xdist, and nothing else."""

    name = "pytest --nbval -n 2"

    def prepare(self) -> None:
        for_nbval(self.folder, self.crowd)

    def command(self) -> list[str]:
        options = ("--nbval", "--nbval-current-env", "-q", "--tb=no", "-n", str(self.jobs), "--dist=loadfile")
        return [sys.executable, "-m", "pytest", *options, "-c", os.devnull, "--rootdir=.", "--junitxml=points.xml", "."]

    def points(self) -> Points:
        found: Points = {student.name: {} for student in self.crowd}
        for case in ET.parse(self.folder / "points.xml").iter("testcase"):
            number = int(case.get("name").rpartition(" ")[2])
            if number and number % 2 == 0:  # cell 0 is the setup; then an answer and its test, again and again
                name = list(TASKS)[number // 2 - 1]
                student = next(
                    one.name for one in self.crowd if one.name in case.get("classname") + case.get("file", "")
                )
                found[student][name] = TASKS[name].points if case.find("failure") is None else 0
        return found


class Nbgrader(Grader):
    """`nbgrader autograde`, which has one process at a time."""

    name = "nbgrader autograde"

    def prepare(self) -> None:
        for_nbgrader(self.folder, self.crowd)
        command, its = self._nbgrader("generate_assignment"), environment(self.folder)
        done = subprocess.run(command, cwd=self.folder, env=its, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"nbgrader generate_assignment failed: {done.stderr.strip()[-500:]}")

    def command(self) -> list[str]:
        return self._nbgrader("autograde")

    def points(self) -> Points:
        from nbgrader.api import Gradebook

        found: Points = {}
        with Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}") as book:
            for student in self.crowd:
                (notebook,) = book.find_submission("work", student.name).notebooks
                found[student.name] = {one.name.removesuffix("-test"): one.score for one in notebook.grades}
        return found

    def _nbgrader(self, what: str) -> list[str]:
        return [
            sys.executable,
            "-m",
            "nbgrader",
            what,
            "work",
            f"--CourseDirectory.root={self.folder}",
            "--log-level=ERROR",
        ]


def installed(kind: type[Grader]) -> bool:
    """Whether the grader is there."""
    return kind is not Nbgrader or find_spec("nbgrader") is not None


def environment(folder: Path) -> dict[str, str]:
    """One environment for all: a thread for each process, and no settings of this user."""
    return {
        **os.environ,
        "COURSE_PROGRESS": "memory",
        "HOME": str(folder),
        "JUPYTER_PLATFORM_DIRS": "1",
        "OMP_NUM_THREADS": "1",
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),  # nbgrader calls `alembic`
        "PYTHONPATH": str(ROOT),
    }


def differences(found: Points, crowd: Sequence[Student]) -> list[str]:
    """Where a grader found other points than are right."""
    return [
        f"{student.name}, {name}: {found.get(student.name, {}).get(name)} in place of {points}"
        for student in crowd
        for name, points in student.points.items()
        if found.get(student.name, {}).get(name) != points
    ]


__all__ = ["UNIT", "Grader", "Nbgrader", "Nbval", "Ours", "differences", "environment", "installed"]
