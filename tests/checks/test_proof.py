"""Every check of the course is proved, and the proof itself can fail: planted faults are found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course_utils.checks import proof
from course_utils.checks.catalogue import all_exercises
from course_utils.checks.evidence import call
from course_utils.checks.proof import find_solution, prove, prove_exercise

PARTS = ("gradient of x", "gradient of y")
SOLUTION = """def product_backward(incoming, x, y):
    ### BEGIN SOLUTION
    return incoming * y, incoming * x
    ### END SOLUTION"""
VARIANTS = """
def first(incoming, x, y):
    return [y * incoming, x * incoming]

def second(incoming, x, y):
    return y.mul(incoming), x.mul(incoming)

def third(incoming, x, y):
    z = x * y
    return incoming * z / x, incoming * z / y

def wrong(incoming, x, y):
    return incoming * y, incoming * y

RIGHT = {"product": (first, second, third)}
EQUIVALENT = {}
"""


@pytest.mark.parametrize("name", all_exercises())
def test_the_check_of_every_exercise_is_proved(name: str, root: Path):
    proved = prove_exercise(all_exercises()[name], root)
    print(f"{len(proved.exercise.misconceptions)} misconceptions, {proved.variants} variants, {proved.mutants} mutants")
    assert proved.faults == ()
    assert proved.mutants > 0


@pytest.fixture
def plant(tmp_path: Path):
    """A clone with one solution notebook and its variants; `more` is code that comes after the variants."""

    def plant(more: str = "") -> Path:
        cells = [
            {"cell_type": "code", "metadata": {"name": "product", "tags": ["answer"]}, "source": SOLUTION},
            {
                "cell_type": "code",
                "metadata": {"name": "product.check", "tags": ["check"]},
                "source": 'check("product", product_backward)',
            },
        ]
        for path, text in (
            (tmp_path / "solutions" / "77_planted.ipynb", json.dumps({"cells": cells})),
            (tmp_path / "tests" / "checks" / "planted.py", VARIANTS + more),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return plant


def test_a_careful_probe_leaves_nothing_to_say(plant, make_exercise):
    proved = prove_exercise(make_exercise(), plant())
    assert proved.faults == ()
    assert (proved.variants, proved.equivalent) == (3, 0)


def symmetric(answer, draw):
    incoming, x = draw.scalars(2)
    yield call("gradients", answer, parts=PARTS, incoming=incoming, x=x, y=x.clone())


def incoming_of_one(answer, draw):
    x, y = draw.scalars(2)
    yield call("gradients", answer, parts=PARTS, incoming=x / x, x=x, y=y)


def incoming_of_zero(answer, draw):
    x, y = draw.scalars(2)
    yield call("gradients", answer, parts=PARTS, incoming=x * 0, x=x, y=y)


@pytest.mark.parametrize(
    ("careless", "witness", "mutant"),
    [
        (symmetric, "swapped", "`(incoming * y, incoming * x)`: order reversed"),
        (incoming_of_one, "incoming_ignored", "`incoming * y`: left operand dropped"),
        (incoming_of_zero, "swapped", "`(incoming * y, incoming * x)`: sign changed"),
    ],
)
def test_a_careless_probe_is_found_out(plant, make_exercise, careless, witness, mutant):
    faults = prove_exercise(make_exercise(probe=careless), plant()).faults
    assert f"a mutant of the solution passes: {mutant}" in faults
    assert any(fault.startswith(f"a witness of {witness!r} is answered by 'right'") for fault in faults)
    assert f"a witness of {witness!r} gives the evidence of a right answer" in faults


def test_two_witnesses_that_cannot_be_told_apart_are_found(plant, make_exercise):
    exercise = make_exercise()
    one, *rest = exercise.misconceptions
    twin = type(one)("twin", one.witness, "")
    faults = prove_exercise(make_exercise(misconceptions=(one, twin, *rest)), plant()).faults
    assert {fault.rsplit(" (seed", 1)[0] for fault in faults} == {"a witness of 'twin' is answered by 'swapped'"}


def test_two_misconceptions_may_not_share_a_label(make_exercise):
    one = make_exercise().misconceptions[0]
    with pytest.raises(ValueError, match="'product': two misconceptions have the same label"):
        make_exercise(misconceptions=(one, one))


def test_a_variant_that_is_wrong_is_named(plant, make_exercise):
    (fault,) = prove_exercise(make_exercise(), plant('RIGHT["product"] = (first, wrong, third)')).faults
    assert fault.startswith("right variant 2 is rejected: ✘ product: gradient of y for incoming = ")


def test_a_variant_that_knows_the_usual_inputs_by_heart_is_named(plant, make_exercise):
    learnt = """
def by_heart(incoming, x, y, known={}):
    known.setdefault("x", float(x))
    return (incoming * y, incoming * x) if float(x) == known["x"] else (x, y)

RIGHT["product"] = (first, second, by_heart)"""
    (fault,) = prove_exercise(make_exercise(), plant(learnt)).faults
    assert fault == "right variant 3 passes here and fails under another seed, as a grader would use"


def test_an_excuse_for_a_mutant_that_does_not_pass_is_stale(plant, make_exercise):
    stale = 'EQUIVALENT["product"] = {"`incoming * y`: Mult made Div": "it was once"}'
    (fault,) = prove_exercise(make_exercise(), plant(stale)).faults
    assert fault == "is listed as an equivalent mutant and is none: `incoming * y`: Mult made Div"


def test_an_excused_mutant_is_counted_and_no_fault(plant, make_exercise):
    root = plant()
    survivors = [
        fault.removeprefix("a mutant of the solution passes: ")
        for fault in prove_exercise(make_exercise(probe=symmetric), root).faults
        if fault.startswith("a mutant")
    ]
    excuse = f'EQUIVALENT["product"] = {dict.fromkeys(survivors, "x is y")!r}'
    proved = prove_exercise(make_exercise(probe=symmetric), plant(excuse))
    assert proved.equivalent == len(survivors) > 0
    assert not any("mutant" in fault for fault in proved.faults)


def test_too_few_misconceptions_and_variants_are_faults(plant, make_exercise):
    exercise = make_exercise(misconceptions=make_exercise().misconceptions[:2])
    assert prove_exercise(exercise, plant('RIGHT["product"] = (first,)')).faults == (
        "has 1 right variants, 3 are asked for",
        "has 2 misconceptions, 3 are asked for",
    )


def test_given_code_that_is_right_already_is_a_fault(plant, make_exercise):
    exercise = make_exercise(given=lambda incoming, x, y: (incoming * y, incoming * x))
    assert prove_exercise(exercise, plant()).faults == ("the code as given counts as 'right'",)


def test_an_exercise_without_a_solution_says_what_to_do(plant, make_exercise):
    with pytest.raises(LookupError, match=r"77_planted.ipynb has no answer cell 'other': run `course build`"):
        find_solution(make_exercise(name="other"), plant())


def test_prove_prints_the_count_and_every_fault(plant, make_exercise, monkeypatch, capsys):
    monkeypatch.setattr(proof, "all_exercises", lambda: {"product": make_exercise()})
    assert prove(plant()) == 0
    printed = capsys.readouterr().out
    assert "1 exercises" in printed
    assert "✘" not in printed

    monkeypatch.setattr(proof, "all_exercises", lambda: {"product": make_exercise(probe=symmetric)})
    assert prove(plant()) == 1
    assert "✘ product: a witness of 'swapped' is answered by 'right'" in capsys.readouterr().out


def test_nothing_to_prove_is_no_success(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(proof, "all_exercises", dict)
    assert prove(tmp_path) == 1
    assert "There are no exercises to prove." in capsys.readouterr().out
