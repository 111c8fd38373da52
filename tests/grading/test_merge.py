"""Answers put in their places, however the notebook around them was treated."""

from __future__ import annotations

import pytest

from course_utils.grading.merge import harmless, merge, solved
from course_utils.grading.submission import LearnerCell

UNIT = "01_one_operation"
SEED = 7


@pytest.fixture
def merged(course, tmp_path, read_path):
    def from_notebook(handed_in):
        submission = read_path(handed_in.write(tmp_path / "anna_01_one_operation.ipynb"))
        return merge(course[UNIT], submission.cells, SEED)

    return from_notebook


@pytest.fixture
def right(course):
    return solved(course[UNIT], SEED)


def sources(merged, role):
    return [cell.source for cell in merged.cells if cell.role == role]


def position(merged, source):
    return next(i for i, cell in enumerate(merged.cells) if cell.source == source)


def evidence_of(merged, exercise):
    return next(i for i, cell in enumerate(merged.cells) if (cell.role, cell.exercise) == ("evidence", exercise))


def test_checks_become_evidence_of_what_the_pristine_check_asks_for(right):
    cell = right.cells[evidence_of(right, "mend_quotient")]
    assert cell.source == (
        "from course_utils.checks import show_evidence\nshow_evidence('mend_quotient', quotient_backward, seed=7)"
    )
    assert len(sources(right, "evidence")) == 9


def test_a_solved_notebook_is_the_solution(handed_in, merged, right):
    assert merged(handed_in.solve()) == right


def test_names_and_ids_are_not_needed(handed_in, merged, right):
    assert merged(handed_in.solve().strip()) == right


def test_ids_alone_are_enough(handed_in, merged, right):
    handed_in.solve()
    for cell in handed_in.cells:
        cell["metadata"] = {}
    assert merged(handed_in) == right


def test_reordered_cells_go_back_to_their_places(handed_in, merged, right):
    handed_in.solve().cells.reverse()
    assert merged(handed_in) == right


def test_deleted_checks_and_given_cells_come_back(handed_in, merged, right):
    handed_in.solve()
    handed_in.notebook["cells"] = [one for one in handed_in.cells if "answer" in one["metadata"].get("tags", [])]
    assert merged(handed_in) == right


def test_an_edited_check_does_not_decide_what_is_asked(handed_in, merged, right):
    handed_in.solve().answer(**{"mend_quotient.check": 'check("mend_quotient", lambda g, x, y: (g / y, 0))'})
    assert merged(handed_in) == right


@pytest.mark.parametrize("which", ["first", "second"])
def test_of_two_copies_the_one_that_was_worked_on_counts(handed_in, merged, right, which):
    cell = handed_in.solve().cell("mean_backward")
    handed_in.insert("", after="mean_backward")
    copy = handed_in.cells[handed_in.cells.index(cell) + 1]
    copy |= {"metadata": dict(cell["metadata"]), "source": cell["source"]}
    untouched = copy if which == "first" else cell
    untouched["source"] = 'def mean_backward(incoming, x):\n    raise NotImplementedError("write your answer here")'
    assert merged(handed_in) == right


def test_of_two_attempts_the_last_counts_and_the_first_runs_before_it(handed_in, merged):
    cell = handed_in.solve().cell("mean_backward")
    handed_in.insert("", after="mean_backward")
    last = "def mean_backward(incoming, x):\n    return incoming"
    handed_in.cells[handed_in.cells.index(cell) + 1] |= {"metadata": dict(cell["metadata"]), "source": last}
    result = merged(handed_in)
    assert last in sources(result, "answer")
    assert position(result, "".join(cell["source"])) < position(result, last)
    assert result.notes == ("mean_backward: stands there more than once; the last counts",)


def test_cells_and_imports_of_the_learners_own_keep_their_order(handed_in, merged):
    handed_in.solve().insert("import numpy as np", before="mean_backward").insert("print(1)", after="mean_backward")
    handed_in.insert("goodbye = 1", after="progress")
    result = merged(handed_in)
    answer = position(result, handed_in.right["mean_backward"])
    assert position(result, "import numpy as np") < answer < position(result, "print(1)")
    assert position(result, "print(1)") < evidence_of(result, "mean_backward")
    assert result.cells[-1].source == "goodbye = 1"


def test_an_edited_given_cell_keeps_its_imports_and_breaks_nothing(handed_in, merged):
    edited = "import torch\nimport math\ncheck = print"
    result = merged(handed_in.solve().answer(setup=edited))
    assert position(result, edited) < position(result, handed_in.right["setup"])


def test_an_answer_in_a_new_cell_is_found_by_what_it_defines(handed_in, merged):
    handed_in.insert("def mean_backward(incoming, x):\n    return x", after="mean_backward.check")
    assert "def mean_backward(incoming, x):\n    return x" in sources(merged(handed_in), "answer")


@pytest.mark.parametrize("stripped", [False, True])
def test_a_renamed_answer_gets_the_name_that_is_asked_for(handed_in, merged, stripped):
    handed_in.solve().answer(
        square_times_cube="def half(x):\n    return x / 2\n\ndef my_backward(g, x, y):\n    return 0, 0",
        **{"square_times_cube.check": 'check("square_times_cube", my_backward)'},
        predict_messages="my_gradients = (1, 2)",
    )
    if stripped:
        handed_in.strip()
    result = merged(handed_in)
    assert {"backward = my_backward", "gradients = my_gradients"} <= set(sources(result, "answer"))
    assert result.notes == (
        "square_times_cube: `backward` was renamed `my_backward`",
        "predict_messages: `gradients` was renamed `my_gradients`",
    )


def test_an_answer_that_is_nowhere_is_missing(handed_in, merged):
    handed_in.solve().cells.remove(handed_in.cell("choose_addition"))
    result = merged(handed_in)
    assert result.missing == {"choose_addition"}
    assert result.notes == ("choose_addition: the answer is missing",)


def test_an_answer_with_a_syntax_error_is_not_missing(handed_in, merged):
    handed_in.solve().answer(mean_backward="def mean_backward(incoming, x:\n  return").strip()
    assert merged(handed_in).missing == set()


def test_a_cell_split_in_two_is_one_answer_again(handed_in, merged):
    handed_in.solve().answer(mean_backward="def share(g, n):\n    return g / n")
    own = "def mean_backward(incoming, x):\n    return share(incoming, x.numel()).expand(x.shape)"
    result = merged(handed_in.insert(own, after="mean_backward"))
    assert own in sources(result, "answer")
    assert position(result, "def share(g, n):\n    return g / n") < position(result, own)
    assert (result.missing, result.notes) == (set(), ())


def test_cells_merged_into_one_answer_both_exercises(handed_in, merged):
    handed_in.solve()
    both = handed_in.right["mean_backward"] + "\n\n" + handed_in.right["bias_backward"]
    handed_in.answer(mean_backward=both).cells.remove(handed_in.cell("bias_backward"))
    result = merged(handed_in)
    assert sources(result, "answer").count(both) == 1
    assert result.missing == set()
    assert result.notes == ("mean_backward and bias_backward: answered in one cell",)


def test_magics_stay_what_they_are(handed_in, merged):
    source = "%%time\ndef mean_backward(incoming, x):\n    !echo hello\n    return x"
    handed_in.answer(mean_backward=source).strip()
    assert source in sources(merged(handed_in), "answer")


def test_what_nbval_would_obey_is_disarmed_and_nothing_else():
    source = "# NBVAL_SKIP\n  #  NBVAL_IGNORE_OUTPUT\n# about NBVAL_SKIP\nx = 1  # NBVAL_SKIP"
    assert harmless(source) == "# (NBVAL_SKIP)\n  #  (NBVAL_IGNORE_OUTPUT)\n# about NBVAL_SKIP\nx = 1  # NBVAL_SKIP"


def test_tags_of_a_learner_are_not_taken_over(handed_in, merged):
    handed_in.solve().cell("mean_backward")["metadata"]["tags"] = ["nbval-skip", "raises-exception"]
    assert all(cell.tags == () for cell in merged(handed_in).cells if cell.role != "given")


def test_an_empty_notebook_misses_everything(course):
    result = merge(course[UNIT], [LearnerCell("")], SEED)
    assert result.missing == set(course[UNIT].exercises)
