"""The class that graders are measured on: the same answers as each of them wants to have them handed in."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNIT = "01_one_operation"
SETUP = "import torch\n\nx = torch.linspace(-1.7, 2.3, 12, dtype=torch.float64).reshape(4, 3)"


@dataclass(frozen=True)
class Task:
    """One exercise: a right answer, a wrong one, and the test that an instructor writes below it, as code."""

    points: int
    right: str
    wrong: str
    test: str


TASKS = {
    "square_times_cube": Task(
        3,
        "def backward(incoming, x, y):\n    return incoming * 2 * x * y**3, incoming * 3 * x**2 * y**2",
        "def backward(incoming, x, y):\n    return 2 * x * y**3, 3 * x**2 * y**2",
        "a, b = x[:2].clone().requires_grad_(), (x[2:] + 5).requires_grad_()\n"
        "wanted = torch.autograd.grad(a**2 * b**3, (a, b), x[1:3])\n"
        "torch.testing.assert_close(tuple(backward(x[1:3], a.detach(), b.detach())), wanted)",
    ),
    "predict_messages": Task(
        2,
        "gradients = (-24.0, 12.0)",
        "gradients = (8.0, -4.0)",
        "a, b = (torch.tensor(one, requires_grad=True) for one in (1.0, -2.0))\n"
        "wanted = torch.autograd.grad((a * b) ** 2, (a, b), torch.tensor(-3.0))\n"
        "assert tuple(gradients) == tuple(one.item() for one in wanted)",
    ),
    "central_difference": Task(
        2,
        "def central_difference(function, x, h):\n    return (function(x + h) - function(x - h)) / (2 * h)",
        "def central_difference(function, x, h):\n    return (function(x + h) - function(x)) / h",
        "wanted = 3 * x**2 + 0.25**2\n"
        "torch.testing.assert_close(central_difference(lambda one: one**3, x, 0.25), wanted)",
    ),
    "mend_quotient": Task(
        2,
        "def quotient_backward(incoming, x, y):\n    return incoming / y, -incoming * x / y**2",
        "def quotient_backward(incoming, x, y):\n    return incoming / y, incoming * x / y**2",
        "a, b = x[:2].clone().requires_grad_(), (x[2:] + 5).requires_grad_()\n"
        "wanted = torch.autograd.grad(a / b, (a, b), x[1:3])\n"
        "torch.testing.assert_close(tuple(quotient_backward(x[1:3], a.detach(), b.detach())), wanted)",
    ),
    "mean_backward": Task(
        2,
        "def mean_backward(incoming, x):\n    return torch.full_like(x, incoming / x.numel())",
        "def mean_backward(incoming, x):\n    return torch.full_like(x, incoming)",
        "wanted = torch.full((4, 3), 1.5 / 12, dtype=torch.float64)\n"
        "torch.testing.assert_close(mean_backward(torch.tensor(1.5, dtype=torch.float64), x), wanted)",
    ),
    "bias_backward": Task(
        3,
        "def bias_backward(incoming, x, b):\n    return incoming, incoming.sum(0)",
        "def bias_backward(incoming, x, b):\n    return incoming, incoming",
        "a, b = (x + 1).requires_grad_(), x[0].clone().requires_grad_()\n"
        "wanted = torch.autograd.grad(a + b, (a, b), x)\n"
        "torch.testing.assert_close(tuple(bias_backward(x, a.detach(), b.detach())), wanted)",
    ),
}


@dataclass(frozen=True)
class Student:
    """Who handed in what; `solved` has the exercises whose answer is right."""

    number: int
    solved: frozenset[str]

    @property
    def name(self) -> str:
        return f"student{self.number:03}"

    @property
    def points(self) -> dict[str, int]:
        """What every grader has to find."""
        return {name: task.points if name in self.solved else 0 for name, task in TASKS.items()}

    def answer(self, name: str) -> str:
        # no two alike: nobody shall get by with grading one of them
        return f"# {self.name}\n{TASKS[name].right if name in self.solved else TASKS[name].wrong}"


def students(count: int) -> list[Student]:
    """So many of them, no two exercises solved by the same ones; two thirds of the answers are right."""
    return [
        Student(number, frozenset(name for place, name in enumerate(TASKS) if (number * 5 + place * 7) % (place + 3)))
        for number in range(count)
    ]


# for each grader ------------------------------------------------------------------------------------------------


def course(folder: Path) -> Path:
    """The course with six of the unit's exercises, as `course grade` reads it."""
    for kind in ("exercises", "solutions"):
        notebook = json.loads((ROOT / kind / f"{UNIT}.ipynb").read_text("utf-8"))
        notebook["cells"] = [cell for cell in notebook["cells"] if _is_kept(cell)]
        _write(folder / kind / f"{UNIT}.ipynb", notebook)
    return folder


def _is_kept(cell: dict) -> bool:
    name = cell["metadata"].get("name", "").removesuffix(".check")
    return cell["cell_type"] == "code" and (name in TASKS or cell["metadata"].get("deletable", True))


def for_the_course(folder: Path, course_folder: Path, crowd: list[Student]) -> None:
    """Exercise notebooks with the answers filled in."""
    blank = json.loads((course_folder / "exercises" / f"{UNIT}.ipynb").read_text("utf-8"))
    for student in crowd:
        notebook = copy.deepcopy(blank)
        for cell in notebook["cells"]:
            if "answer" in cell["metadata"].get("tags", ()):
                cell["source"] = student.answer(cell["metadata"]["name"])
        _write(folder / f"{student.name}_{UNIT}.ipynb", notebook)


def for_nbgrader(folder: Path, crowd: list[Student]) -> None:
    """nbgrader's folders: the source of an assignment `work`, and what each student made of its release."""
    solution = Student(0, frozenset(TASKS))
    _write(folder / "source" / "work" / "work.ipynb", _tested(solution, nbgrader=True))
    for student in crowd:
        _write(folder / "submitted" / student.name / "work" / "work.ipynb", _tested(student, nbgrader=True))


def for_nbval(folder: Path, crowd: list[Student]) -> None:
    """The same notebooks, for nbval: a test that raises is a cell that fails."""
    for student in crowd:
        _write(folder / f"{student.name}.ipynb", _tested(student, nbgrader=False))


def _tested(student: Student, *, nbgrader: bool) -> dict:
    cells = [_code("setup", SETUP)]
    for name, task in TASKS.items():
        answer, test = _code(name, student.answer(name)), _code(f"{name}-test", task.test)
        if nbgrader:
            usual = {"schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}
            answer["metadata"]["nbgrader"] = {**usual, "grade_id": name, "solution": True}
            graded = {"grade_id": f"{name}-test", "grade": True, "locked": True, "points": task.points}
            test["metadata"]["nbgrader"] = {**usual, **graded}
        cells += [answer, test]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}


def _code(name: str, source: str) -> dict:
    return {
        "cell_type": "code",
        "id": name.replace("_", "-"),
        "metadata": {},
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def _write(path: Path, notebook: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
