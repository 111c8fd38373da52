"""What counts as an answer that takes a prediction up, in the second run of a lesson."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_output

from course_utils import predict

from .kept_predictions import as_stored, keeping

QUESTIONS = {
    "choices": ('guess = predict("?", choices=["three", "five.", "none"])', 'guess.reveal("five.")'),
    "another choice is right": ('guess = predict("?", choices=["three", "five"])', 'guess.reveal("three")'),
    "numbers": ('guess = predict("?", numbers=["x[0]", "y"])', "guess.reveal(-2.5, 7)"),
    "one number": ('guess = predict("?", numbers=["y"])', "guess.reveal(7)"),
}


def shown(said: object):
    return [new_output("execute_result", data={"text/plain": repr(said)})]


def run(question: str, reveal: str, stored: str):
    """The stored cell, and what its code gives with a prediction kept."""
    names: dict[str, object] = {"predict": predict}
    exec(question, names)
    cell = new_code_cell(reveal, outputs=shown(eval(stored, names)))
    *before, last = keeping(cell).splitlines()
    exec("\n".join(before), names)
    return cell, shown(eval(last, names))


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_that_takes_the_prediction_up_counts_as_the_stored_one(name: str):
    question, reveal = QUESTIONS[name]
    cell, outputs = run(question, reveal, reveal)
    assert outputs != cell.outputs
    assert as_stored(cell, outputs) == cell.outputs


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_to_another_question_does_not(name: str):
    question, stored = QUESTIONS[name]
    other = {"five.": "none", "three": "five", "7": "8"}
    reveal = next(stored.replace(right, wrong) for right, wrong in other.items() if right in stored)
    cell, outputs = run(question, reveal, stored)
    assert as_stored(cell, outputs) == outputs


@pytest.mark.parametrize("name", QUESTIONS)
def test_nor_does_one_that_has_not_noticed_the_prediction(name: str):
    question, reveal = QUESTIONS[name]
    cell, _ = run(question, reveal, reveal)
    unnoticed = shown("It is: seven (no prediction kept: go back and commit to one, it helps)")
    assert as_stored(cell, unnoticed) == unnoticed
