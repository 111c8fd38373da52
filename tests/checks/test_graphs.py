"""The graphs that answers are tried on, the order that exercises hand out, and the random expressions."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.checks.catalogue import find
from course_utils.checks.draw import Draw
from course_utils.checks.expressions import random_program
from course_utils.checks.given import beside_torch, diary_of, in_order
from course_utils.checks.graphs import Number, Value, by_autograd, run
from course_utils.checks.proof import find_solution

SHAPES = {"a": (2, 3), "b": (3,), "c": (2, 1), "d": (3, 2)}


@pytest.fixture(scope="module")
def engine() -> tuple[type, object]:
    """The class of values and the backward that the solution notebook of unit 02 writes."""
    root = Path(__file__).resolve().parents[2]
    return tuple(find_solution(find(name), root).answer() for name in ("operations", "engine_backward"))


def leaves_and_program(seed: int, steps: int) -> tuple[dict[str, torch.Tensor], str]:
    draw = Draw(seed)
    leaves = {name: draw.tensor(*shape) for name, shape in SHAPES.items()}
    return leaves, "; ".join(random_program(draw, leaves, steps))


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), steps=st.integers(1, 12))
def test_the_engine_of_the_solutions_agrees_with_torch_on_random_expressions(engine, seed: int, steps: int):
    value, backward = engine
    leaves, program = leaves_and_program(seed, steps)
    incoming = torch.tensor(-1.7, dtype=torch.float64)
    mine = {name: value(data) for name, data in leaves.items()}
    theirs = {name: data.clone().requires_grad_() for name, data in leaves.items()}
    backward(run(program, **mine)["L"], incoming)
    run(program, **theirs)["L"].backward(incoming)
    for name in leaves:
        assert torch.allclose(mine[name].grad, theirs[name].grad), program


def test_the_engine_of_the_solutions_goes_ten_thousand_operations_deep(engine):
    value, backward = engine
    x = value(torch.tensor(0.5))
    result = x
    for _ in range(10_000):
        result = result + x
    backward(result, torch.tensor(2.0))
    assert x.grad.item() == 20_002.0


def test_two_engines_are_shown_beside_each_other(engine):
    start = {"x": torch.tensor([1.0, -2.0]), "y": torch.tensor([0.5, 3.0])}
    shown = repr(beside_torch(lambda x, y: (x * y + x).sum(), *engine, start))
    assert shown.count("agree") == 2
    wrong = repr(beside_torch(lambda x, y: (x * y + x).sum(), engine[0], lambda result, incoming: None, start))
    assert wrong.count("received nothing") == 2


def test_the_turns_of_an_engine_are_noted_with_what_it_was_given(engine):
    start = {"x": torch.tensor(2.0), "y": torch.tensor(-3.0)}
    diary = diary_of(lambda x, y: (x * y + x) ** 2, *engine, **start)
    assert str(diary).splitlines()[1:] == [
        "Your Pow 0: L.grad goes from nothing to 1, Add 1.grad goes from nothing to -8.",
        "Your Add 1: Mul 2.grad goes from nothing to -8, x.grad goes from nothing to -8.",
        "Your Mul 2: y.grad goes from nothing to -16, x.grad goes from -8 to 16.",
    ]


def test_an_engine_that_is_not_written_yet_is_no_error(engine):
    def stub(result: object, incoming: object) -> None:
        raise NotImplementedError("write your answer here")

    shown = repr(beside_torch(lambda x: x.sum(), engine[0], stub, {"x": torch.ones(2)}))
    assert shown == "Exercises 8 and 9 are still open."
    assert diary_of(lambda x: x.sum(), engine[0], stub, x=torch.tensor(2.0)) is None


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_use_every_leaf_and_stay_within_bounds(seed: int):
    leaves, program = leaves_and_program(seed, 8)
    values = run(program, **leaves)
    assert values["L"].shape == ()
    assert all(value.isfinite().all() for value in values.values())
    gradients = dict(by_autograd(run(program, **{n: Value(v) for n, v in leaves.items()})["L"]))
    assert len([node for node in gradients if not node.parents]) == len(leaves)


def test_every_operation_turns_up_in_random_programs():
    text = " ".join(leaves_and_program(seed, 8)[1] for seed in range(30))
    assert all(part in text for part in (" + ", " * ", " @ ", " ** 2", " ** 3", ".exp()", ".relu()", ".sum()"))


@pytest.mark.parametrize("seed", range(20))
def test_in_order_has_each_node_once_and_after_its_parents(seed: int):
    leaves, program = leaves_and_program(seed, 8)
    order = in_order(run(program, **{name: Value(data) for name, data in leaves.items()})["L"])
    places = {id(node): place for place, node in enumerate(order)}
    assert len(places) == len(order)
    assert all(places[id(parent)] < places[id(node)] for node in order for parent in node.parents)


def test_the_local_derivatives_of_numbers_are_those_of_their_operations():
    made = run("p = x * y; q = x + y; r = x ** 3", x=Number(2.0), y=Number(-5.0))
    assert [made[name].slopes for name in "pqrx"] == [(-5.0, 2.0), (1.0, 1.0), (12.0,), ()]
