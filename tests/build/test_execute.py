"""Notebooks run in kernels of their own: what comes back, what is a fault, and that no kernel stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from course_utils.build.command import build, plan
from course_utils.build.execute import execute_all
from course_utils.build.outline import read_course


@pytest.fixture
def run(course):
    """Run the small course's lesson; gives its code cells and the faults as lines."""

    def run(**options):
        (unit,) = read_course(course.root)[0].units
        planned, faults = plan(course.root, [unit])
        assert faults == []
        results = []
        execute_all(planned[:1], course.root, lambda *result: results.append(result), **options)
        ((_, notebook, found),) = results
        return [c for c in notebook.cells if c.cell_type == "code"], [str(fault) for fault in found]

    return run


def lesson(course, *cells):
    course.lesson.write_text("\n\n".join(f"# %%{cell}" for cell in cells) + "\n", encoding="utf-8")


def test_the_kernel_is_this_python_and_knows_nothing_of_the_user(course, run, monkeypatch, tmp_path):
    monkeypatch.setenv("MPLBACKEND", "agg")
    profile = tmp_path / "ipython" / "profile_default" / "startup"
    profile.mkdir(parents=True)
    (profile / "00.py").write_text("print('a person was here')")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    names = '"COURSE_PROGRESS", "OMP_NUM_THREADS"'
    lesson(
        course,
        f"\nimport os\n[os.environ[name] for name in ({names})]",
        f"\nimport sys\nsys.executable == {sys.executable!r}",
        "\nfrom pathlib import Path\nPath.cwd().name",
        '\nos.environ.get("MPLBACKEND") == "agg"',
    )
    cells, faults = run()
    assert faults == []
    assert [cell.outputs[0].data["text/plain"] for cell in cells] == ["['memory', '1']", "True", "'notebooks'", "False"]
    assert [cell.execution_count for cell in cells] == [1, 2, 3, 4]


def test_each_fault_of_a_run_names_the_cell(course, run):
    lesson(
        course,
        "\nobject()",
        '\nimport sys\nprint("careful", file=sys.stderr)',
        ' tags=["raises-exception"]\n1',
        ' name="last"\n{}["key"]',
        "\nnever_run",
    )
    _, faults = run()
    assert len(faults) == 4
    assert faults[0].startswith("sources/lessons/01_squares.py:1, cell 1 (code: object()): its output holds a memory")
    assert "cell 2 (code: import sys): writes to stderr: careful" in faults[1]
    assert "cell 3 (code: 1): is tagged raises-exception, but does not raise" in faults[2]
    assert "cell \"last\": raises KeyError: 'key'; mend it, or tag" in faults[3]
    assert faults[3].endswith("(in notebooks/01_squares.ipynb)")


def test_a_cell_that_takes_too_long_and_a_kernel_that_dies_are_named(course, run):
    lesson(course, "\n1", "\nimport time\ntime.sleep(60)")
    assert any("cell 2 (code: import time): runs longer than 1 seconds" in fault for fault in run(timeout=1)[1])
    lesson(course, "\n1", "\nimport os\nos._exit(1)")
    assert any("cell 2 (code: import os): the kernel died" in fault for fault in run()[1])


def test_a_notebook_with_a_fault_is_not_written_and_the_others_are(course, capsys):
    course.edit(course.lesson, ' tags=["raises-exception"]', "")
    assert build(course.root) == 1
    printed = capsys.readouterr().out
    assert "raises ZeroDivisionError: division by zero" in printed
    assert "1 fault. The notebooks named above were not written." in printed
    assert set(course.notebooks()) == {"exercises", "solutions"}


PROGRAM = """
import sys
from pathlib import Path
from course_utils.build.command import build
sys.exit(build(Path(sys.argv[1])))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to another process")
def test_ctrl_c_ends_the_kernels_and_leaves_no_half_written_file(course):
    started = course.root / "started"
    sleep = f"import os, time\nfrom pathlib import Path\nPath({str(started)!r}).write_text(str(os.getpid()))"
    lesson(course, f"\n{sleep}\ntime.sleep(300)")
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(course.root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: started.exists() and started.read_text())
    process.send_signal(signal.SIGINT)
    printed, complaints = process.communicate(timeout=60)
    assert process.returncode == 1
    assert complaints == ""
    assert printed.splitlines()[-1] == "Interrupted. No file is half-written; run `course build` again to go on."
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    assert not course.notebook("notebooks").exists()
    assert not list(course.root.rglob("*.tmp"))


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it did not happen within a minute")


def test_of_a_personal_cell_nothing_is_stored_but_its_faults_are_found(course, run):
    lesson(course, ' tags=["personal"]\nprint("solved: 3")', ' tags=["personal"]\n1 / 0')
    cells, faults = run()
    assert cells[0].outputs == []
    assert "nbval-ignore-output" in cells[0].metadata.tags
    assert ["raises ZeroDivisionError" in fault for fault in faults] == [True]
