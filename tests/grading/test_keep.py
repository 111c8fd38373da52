"""A grader that is ended at any instant, and what the next run makes of it."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import in_process
import pytest

from course_utils.grading import command, fingerprint
from course_utils.grading.command import grade, override
from course_utils.grading.store import open_store
from course_utils.refusal import Refusal

KILLS = "COURSE_KILLS"  # how many real graders to kill; each takes about half a minute
WRONG = "def mean_backward(incoming, x):\n    return incoming"


@pytest.fixture
def submissions(blank, tmp_path):
    folder = tmp_path / "in"
    blank.copy().solve().write(folder / "anna_01_one_operation.ipynb")
    blank.copy().solve().answer(mean_backward=WRONG).write(folder / "ben_01_one_operation.ipynb")
    blank.copy().write(folder / "chris_01_one_operation.ipynb")
    blank.copy().solve("sum_to_shape").write(folder / "dora_01_one_operation.ipynb")
    (folder / "eve_01_one_operation.ipynb").write_text("no notebook", encoding="utf-8")
    return folder


@pytest.fixture
def ran(monkeypatch):
    """Grades in this process; the list of how many notebooks each run had to run."""
    runs = []

    class Counting(in_process.Runner):
        def run(self, jobs, *arguments, **options):
            if arguments:  # and not for the solutions
                runs.append(len(jobs))
            return super().run(jobs, *arguments, **options)

    monkeypatch.setattr(command, "open_runner", lambda way: contextlib.nullcontext(Counting()))
    return runs


def gradebook(out):
    return (out / "gradebook.csv").read_bytes()


def row(out, student):
    with (out / "gradebook.csv").open(encoding="utf-8-sig", newline="") as file:
        return next(one for one in csv.DictReader(file) if one["student"] == student)


def killed(submissions, folder, times, kind):
    arguments = [str(submissions), str(folder), str(times), kind]
    script = str(Path(__file__).with_name("kill.py"))
    done = subprocess.run([sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes fork is a kill this cheap")
def test_killed_graders_go_on_where_they_stopped_and_two_at_once_end_in_the_same_gradebook(submissions, tmp_path):
    *kills, two = killed(submissions, tmp_path, 6, "forked")
    assert [one["same"] for one in kills] == [True] * 6
    assert any(0 < one["had"] < one["of"] for one in kills)  # some in the middle, or nothing was shown
    assert two == {"two at once": True, "same": True}


@pytest.mark.skipif(KILLS not in os.environ, reason=f"takes minutes: {KILLS}=20 kills twenty real graders")
def test_real_graders_killed_at_random_instants(submissions, tmp_path):
    kills = killed(submissions, tmp_path, int(os.environ[KILLS]), "real")
    print(*kills, sep="\n")
    assert all(one["same"] for one in kills)


def test_what_is_known_is_not_run_again(submissions, tmp_path, ran):
    assert grade([submissions], tmp_path / "out") == 0
    first = gradebook(tmp_path / "out")
    assert grade([submissions], tmp_path / "out") == 0
    assert gradebook(tmp_path / "out") == first
    assert ran == [4]


def test_a_file_that_changed_is_run_again_and_one_that_has_gone_is_no_row(submissions, tmp_path, ran, blank):
    grade([submissions], tmp_path / "out")
    blank.copy().solve().write(submissions / "ben_01_one_operation.ipynb")
    (submissions / "chris_01_one_operation.ipynb").unlink()
    (submissions / "dora_01_one_operation.ipynb").rename(submissions / "dora.ipynb")
    grade([submissions], tmp_path / "out")
    assert ran == [4]  # ben's is now what anna's was
    assert row(tmp_path / "out", "ben")["points"] == "22"
    assert b"chris" not in gradebook(tmp_path / "out")


def test_a_changed_check_makes_its_exercise_run_again_and_no_other(submissions, tmp_path, ran, monkeypatch):
    out = tmp_path / "out"
    grade([submissions], out)
    usual = fingerprint.check_code
    monkeypatch.setattr(fingerprint, "check_code", lambda one: "changed" if one.name == "mean_backward" else usual(one))
    grade([submissions], out)
    assert ran == [4, 4]
    assert standing(out, "mean_backward", history=True) == 8
    assert standing(out, "bias_backward", history=True) == 4


def standing(out, exercise, *, history=False):
    with sqlite3.connect(out / "grading.sqlite") as connection:
        where = "" if history else " AND stands"
        (count,) = connection.execute(f"SELECT count(*) FROM result WHERE exercise = ?{where}", (exercise,)).fetchone()
    connection.close()
    return count


@pytest.mark.parametrize(("what", "runs"), [("ben", 1), ("mean_backward", 4), ("all", 4)])
def test_regrade(submissions, tmp_path, ran, what, runs):
    out = tmp_path / "out"
    grade([submissions], out)
    first = gradebook(out)
    grade([submissions], out, regrade=[what])
    assert ran == [4, runs]
    assert gradebook(out) == first
    assert standing(out, "mean_backward") == 4
    assert standing(out, "mean_backward", history=True) == 4 + runs


def test_regrade_of_nobody_is_refused(submissions, tmp_path, ran):
    with pytest.raises(Refusal, match="Did you mean 'anna'"):
        grade([submissions], tmp_path / "out", regrade=["ana"])


def test_what_a_person_gives_is_kept_over_regrades_and_can_be_taken_back(submissions, tmp_path, ran):
    out = tmp_path / "out"
    grade([submissions], out)
    override("ben", "mean_backward", 1.5, "right idea, said so in class", out)
    grade([submissions], out, regrade=["all"])
    assert (row(out, "ben")["mean_backward"], row(out, "ben")["points"]) == ("1.5", "21.5")
    said = "mean_backward: 1.5 of 2 points given by hand (right idea, said so in class)"
    assert row(out, "ben")["note"].endswith(said)
    override("ben", "mean_backward", None, "", out)
    assert (row(out, "ben")["mean_backward"], row(out, "ben")["points"]) == ("0", "20")


def test_an_override_that_fits_nobody_any_more_is_told(submissions, tmp_path, ran, capsys):
    out = tmp_path / "out"
    grade([submissions], out)
    override("ben", "mean_backward", 1, "x", out)
    capsys.readouterr()
    (submissions / "ben_01_one_operation.ipynb").rename(submissions / "benjamin_01_one_operation.ipynb")
    grade([submissions], out)
    assert (
        "Points given by hand to ben for mean_backward: no submission has that name any more."
        in capsys.readouterr().out
    )


def test_a_link_that_leads_nowhere_has_a_row(submissions, tmp_path, ran):
    (submissions / "fay_01_one_operation.ipynb").symlink_to(tmp_path / "nowhere.ipynb")
    grade([submissions], tmp_path / "out")
    assert row(tmp_path / "out", "fay")["note"].startswith("unreadable: a symbolic link")


def test_a_file_whose_name_is_no_text_is_graded_and_remembered(submissions, tmp_path, ran):
    odd = submissions / "zoe\udcff_01_one_operation.ipynb"
    try:
        (submissions / "anna_01_one_operation.ipynb").rename(odd)
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system has text names only")
    for _ in range(2):
        grade([submissions], tmp_path / "out")
        assert row(tmp_path / "out", "zoe\\xff")["points"] == "22"
    assert ran == [4]


def test_two_people_of_one_name_are_told_apart_by_their_number(blank, tmp_path, ran):
    folder = tmp_path / "in"
    blank.copy().solve().write(folder / "smithben_1_10_x.ipynb")
    blank.copy().solve("sum_to_shape").write(folder / "smithben_2_11_x.ipynb")
    grade([folder], tmp_path / "out")
    assert row(tmp_path / "out", "smithben (1)")["points"] == "22"
    assert row(tmp_path / "out", "smithben (2)")["points"] == "18"
    grade([folder], tmp_path / "out", regrade=["smithben (2)"])
    assert ran == [2, 1]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("bne", "mean_backward", 1, "x"), "did you mean 'ben'"),
        (("ben", "mean_backwards", 1, "x"), "did you mean 'mean_backward'"),
        (("ben", "mean_backward", 3, "x"), "gives 0 to 2 points"),
        (("ben", "mean_backward", float("nan"), "x"), "gives 0 to 2 points"),
        (("ben", "mean_backward", 1, " "), "say why"),
        (("ben", "mean_backward", None, ""), "nothing to take back"),
    ],
)
def test_an_override_that_makes_no_sense_is_refused(submissions, tmp_path, ran, arguments, says):
    grade([submissions], tmp_path / "out")
    with pytest.raises(Refusal, match=says):
        override(*arguments, tmp_path / "out")


def test_an_override_needs_a_store(tmp_path):
    with pytest.raises(Refusal, match=r"holds no grading\.sqlite"):
        override("ben", "mean_backward", 1, "x", tmp_path)


def test_a_full_disk_loses_nothing_and_says_so_in_one_line(submissions, tmp_path, ran, monkeypatch):
    out = tmp_path / "out"
    usual = command.open_store

    @contextlib.contextmanager
    def on_a_small_disk(folder):
        with usual(folder) as store:
            store._connection.execute("PRAGMA max_page_count = 15")  # SQLite's own error for a full disk comes of it
            yield store

    monkeypatch.setattr(command, "open_store", on_a_small_disk)
    with pytest.raises(Refusal, match="disk is full") as refused:
        grade([submissions], out)
    assert "\n" not in str(refused.value)
    kept = standing(out, "mean_backward")
    assert 0 < kept < 4
    monkeypatch.setattr(command, "open_store", usual)
    grade([submissions], out)
    assert ran == [4, 4 - kept]
    assert row(out, "anna")["points"] == "22"


def test_a_file_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "grading.sqlite").write_text("something else, and long enough to be looked at " * 50)
    with pytest.raises(Refusal, match="cannot be read"), open_store(tmp_path):
        pass


def test_a_store_of_a_newer_release_is_refused(tmp_path):
    with open_store(tmp_path) as store:
        store._connection.execute("PRAGMA user_version = 99")
    with pytest.raises(Refusal, match="newer release"), open_store(tmp_path):
        pass


def test_a_store_is_for_its_owner_alone_and_keeps_its_seed(tmp_path):
    with open_store(tmp_path) as store:
        seed = store.seed
    with open_store(tmp_path) as store:
        assert store.seed == seed
    if os.name == "posix":
        assert (tmp_path / "grading.sqlite").stat().st_mode & 0o077 == 0
