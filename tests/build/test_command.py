"""`course build` and `course build --check` on a small course: what is written, run, kept and reported."""

from __future__ import annotations

import json

import nbformat
import pytest

from course_utils.build import command
from course_utils.build.command import build


class NoKernelError(AssertionError):
    """Raised by a test's build that would run a notebook."""


@pytest.fixture
def no_kernel(monkeypatch):
    """A build that has nothing to run, or the test fails."""

    def execute_all(targets, *rest):
        if targets:
            raise NoKernelError([target.file for target in targets])

    monkeypatch.setattr(command, "execute_all", execute_all)


def lines(capsys):
    return capsys.readouterr().out.splitlines()


def change(path, edit):
    """Edit a notebook on disk, as JupyterLab would save it."""
    notebook = nbformat.read(path, as_version=4)
    edit(notebook)
    nbformat.write(notebook, path)


def modified(course):
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in course.root.rglob("*.ipynb")}


def test_lessons_and_solutions_have_outputs_and_exercises_have_none(built):
    notebooks = {folder: json.loads(content) for folder, content in built.notebooks().items()}
    assert set(notebooks) == {"notebooks", "exercises", "solutions"}
    lesson = [cell for cell in notebooks["notebooks"]["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in lesson] == [1, 2, 3]
    assert lesson[0]["outputs"][0]["text"] == ["['a', 'b', 'c']\n"]
    assert lesson[1]["outputs"][0]["data"] == {"text/plain": ["9"]}
    assert lesson[2]["outputs"][0]["traceback"] == ["ZeroDivisionError: division by zero"]
    assert notebooks["solutions"]["cells"][3]["outputs"][0]["text"] == ["square True\n"]
    for cell in notebooks["exercises"]["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None


def test_nothing_is_touched_without_an_edit(built, no_kernel, capsys):
    before = modified(built)
    assert build(built.root) == 0
    assert modified(built) == before
    printed = lines(capsys)
    assert printed[-1] == "0 written, 3 already right."
    assert "If course_utils changed, run: course build --execute" in printed[-2]


def test_one_sentence_edited_changes_that_cell_only_and_starts_no_kernel(built, no_kernel, capsys):
    before = {folder: json.loads(content) for folder, content in built.notebooks().items()}
    built.edit(built.lesson, "A number times itself", "A number and the same number")
    assert build(built.root, check=True) == 1
    stale = lines(capsys)
    assert stale[0].startswith("notebooks/01_squares.ipynb: is not what sources/lessons/01_squares.py gives: cell 1 (")
    assert "A number and the same number" in stale[0]
    assert stale[0].endswith("differs. Run: course build 01_squares")
    assert len(stale) == 2
    assert build(built.root) == 0
    after = {folder: json.loads(content) for folder, content in built.notebooks().items()}
    changed = [
        (folder, number)
        for folder in after
        for number, (old, new) in enumerate(zip(before[folder]["cells"], after[folder]["cells"], strict=True))
        if old != new
    ]
    assert changed == [("notebooks", 0)]
    assert build(built.root, check=True) == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [("x * x", "x + x"), ('tags=["raises-exception"]', ""), ('# %% name="shown"', '# %%\n1\n\n# %% name="shown"')],
)
def test_changed_code_is_run_again_and_only_that_notebook(built, no_kernel, old, new):
    built.edit(built.lesson, old, new)
    with pytest.raises(NoKernelError, match=r"\['notebooks/01_squares.ipynb'\]"):
        build(built.root)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda nb: [cell.update(outputs=[], execution_count=None) for cell in nb.cells[1:]], "outputs are missing"),
        (lambda nb: nb.cells[2].update(execution_count=9), "not run from top to bottom"),
        (lambda nb: nb.cells[1].outputs[0].update(name="stderr"), "not fit to be stored"),
        (lambda nb: nb.cells[2].update(source="x"), "its code has changed"),
    ],
)
def test_outputs_that_cannot_be_carried_over_are_made_again(built, no_kernel, capsys, edit, said):
    change(built.notebook("notebooks"), edit)
    with pytest.raises(NoKernelError):
        build(built.root)
    assert said in capsys.readouterr().out
    assert build(built.root, check=True) == 1
    (fault, _) = lines(capsys)
    assert "must be run again" in fault
    assert said in fault


def test_execute_runs_every_notebook_again_and_gives_the_same_bytes_under_another_hash_seed(built, monkeypatch, capsys):
    before = built.notebooks(), modified(built)
    monkeypatch.setenv("PYTHONHASHSEED", "4242")
    assert build(built.root, execute=True) == 0
    assert capsys.readouterr().out.count("running ") == 2
    assert (built.notebooks(), modified(built)) == before


def test_a_lesson_saved_by_jupyterlab_is_brought_back_without_a_kernel(built, no_kernel):
    before = built.notebooks()

    def save(notebook):
        notebook.metadata.widgets = {"state": {}}
        notebook.metadata.language_info.version = "3.99"
        notebook.cells[1].metadata.execution = {"iopub.execute_input": "now"}
        notebook.cells[1].outputs[0].text = "['a', 'b']\r['a', 'b', 'c']\n"

    change(built.notebook("notebooks"), save)
    assert build(built.root, check=True) == 1
    assert build(built.root) == 0
    assert built.notebooks() == before


def test_an_exercise_that_has_been_run_is_kept_before_it_is_overwritten(built, no_kernel, capsys):
    before = built.notebooks()

    def work(notebook):
        notebook.cells[2].update(source="def square(x):\n    return x ** 2", execution_count=1)

    change(built.notebook("exercises"), work)
    worked = built.notebook("exercises").read_bytes()
    assert build(built.root, check=True) == 1
    assert "has been run; exercises are stored without outputs" in capsys.readouterr().out
    assert built.notebook("exercises").read_bytes() == worked
    assert build(built.root) == 0
    assert "it is kept as exercises/01_squares.edited.ipynb" in capsys.readouterr().out
    assert (built.root / "exercises" / "01_squares.edited.ipynb").read_bytes() == worked
    assert built.notebooks() == before
    assert build(built.root, check=True) == 0


def test_check_names_every_stale_missing_and_stray_notebook_and_writes_nothing(built, no_kernel, capsys):
    built.edit(built.exercises, "# Exercises", "# More exercises")
    built.notebook("notebooks").unlink()
    (built.root / "solutions" / "02_old.ipynb").write_text("{}")
    before = modified(built)
    assert build(built.root, check=True) == 1
    printed = lines(capsys)
    assert [line.partition(":")[0] for line in printed] == [
        "notebooks/01_squares.ipynb",
        "exercises/01_squares.ipynb",
        "solutions/01_squares.ipynb",
        "solutions/02_old.ipynb",
        "4 faults. Nothing was written.",
    ]
    assert printed[0] == "notebooks/01_squares.ipynb: is missing. Run: course build 01_squares"
    assert modified(built) == before


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda nb: nb.cells.pop(1), "cell 2 (code: def check(name, answer):) is missing"),
        (lambda nb: nb.cells.insert(1, nbformat.v4.new_markdown_cell("mine")), "(markdown: mine) is extra"),
        (lambda nb: nb.cells.append(nb.cells.pop(0)), "cell 1 (markdown: # Exercises) stands elsewhere"),
        (lambda nb: nb.cells[3].metadata.update(editable=True), 'cell "square.check" differs'),
        (lambda nb: nb.metadata.update(mine=1), "its cells are right, but not its outputs, metadata or layout"),
    ],
)
def test_check_names_the_cell(built, no_kernel, capsys, edit, said):
    change(built.notebook("exercises"), edit)
    assert build(built.root, check=True) == 1
    assert said in capsys.readouterr().out


def test_a_notebook_that_cannot_be_read_is_named(built, no_kernel, capsys):
    built.notebook("exercises").write_text("<<<<<<< HEAD")
    assert build(built.root, check=True) == 1
    assert "exercises/01_squares.ipynb: cannot be read as a notebook" in capsys.readouterr().out


def test_all_faults_are_reported_and_nothing_is_built(course, no_kernel, capsys):
    course.edit(course.lesson, "x * x", "x *")
    course.edit(course.exercises, "    ### END SOLUTION\n", "")
    (course.lesson.parent / "07_lost.py").write_text("")
    assert build(course.root, known_exercises={}) == 1
    printed = lines(capsys)
    assert len(printed) == 5
    assert printed[-1] == "4 faults. Nothing was built."
    assert course.notebooks() == {}


def test_names_narrow_and_unknown_names_are_one_line(built, no_kernel, capsys):
    assert build(built.root, names=["squares", "nope"]) == 1
    assert lines(capsys) == ["course build: no unit is called nope; the units are: 01_squares"]
    (built.lesson.parent / "07_lost.py").write_text("")
    assert build(built.root, names=["01_squares"], check=True) == 0


def test_a_long_line_is_not_broken_and_brackets_stay(course, capsys):
    course.edit(course.lesson, "x * x", "x[markup] *" + " " * 200)
    assert build(course.root) == 1
    assert len(lines(capsys)) == 2


def test_ctrl_c_is_one_line(course, monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "execute_all", interrupted)
    assert build(course.root) == 1
    assert lines(capsys)[-1] == "Interrupted. No file is half-written; run `course build` again to go on."


def test_a_disk_that_is_full_is_one_line(course, monkeypatch, capsys):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(command, "write_if_changed", full)
    assert build(course.root) == 1
    assert lines(capsys)[-1] == f"course build: {course.notebook('exercises')}: No space left on device"
