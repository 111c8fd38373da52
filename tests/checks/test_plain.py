"""Answers become plain values, and these survive the way through text: within six digits, whatever they hold."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_utils.checks.draw import Draw
from course_utils.checks.plain import Array, Other, Plain, Raised, agree, as_json, from_json, plain, show

numbers = st.floats(allow_subnormal=False)
complexes = st.builds(complex, numbers, numbers)


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
    dtype, number = draw(st.sampled_from([("float64", numbers), ("float32", numbers), ("complex128", complexes)]))
    count = math.prod(shape)
    return Array(shape, dtype, tuple(draw(st.lists(number, min_size=count, max_size=count))))


plains = st.recursive(
    st.none() | st.text() | arrays() | st.builds(Raised, st.text()) | st.builds(Other, st.text()),
    lambda members: st.lists(members, max_size=3).map(tuple),
    max_leaves=6,
)


def through_text(value: Plain) -> Plain:
    return from_json(json.loads(json.dumps(as_json(value))))


@given(plains)
def test_what_comes_back_from_text_gives_the_same_text(value: Plain):
    assert as_json(through_text(value)) == as_json(value)


@given(plains)
def test_every_value_agrees_with_itself_and_can_be_shown(value: Plain):
    assert agree(value, value)
    assert "\n" not in show(value)


@given(st.floats(0.1, 1e6), st.floats(-3e-14, 3e-14))
def test_rounding_noise_tells_no_two_numbers_apart(number: float, noise: float):
    assert agree(plain(number), plain(number * (1 + noise)))


@given(st.floats(0.1, 1e6), st.floats(2e-5, 1), st.sampled_from([1, -1]))
def test_numbers_that_differ_have_different_texts_and_do_not_agree(number: float, relative: float, sign: int):
    one, other = plain(number), plain(number * (1 + sign * relative))
    assert not agree(one, other)
    assert as_json(one) != as_json(other)


@pytest.mark.parametrize("seed", range(5))
def test_two_ways_to_one_result_have_one_text(seed: int):
    incoming, x, w = (Draw(seed).tensor(3, 3) for _ in range(3))
    one, other = plain(incoming @ w.T), plain((w @ incoming.T).T)
    assert agree(one, other)
    assert as_json(one) == as_json(other)
    assert as_json(plain((incoming * x) / 7)) == as_json(plain(incoming / 7 * x))


@pytest.mark.parametrize("noise", [0.0, -0.0, 1e-17, -1e-12])
def test_noise_around_zero_is_zero(noise: float):
    assert as_json(plain(noise)) == as_json(plain(0))
    assert agree(plain(noise), plain(0))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, complex(1, -1e-12), complex(math.nan, -2)])
def test_unusual_numbers_agree_with_themselves_only(number: complex):
    assert agree(plain(number), through_text(plain(number)))
    assert not agree(plain(number), plain(3.0))


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, None),
        ("b", "b"),
        (np.str_("b"), "b"),
        (True, Array((), "bool", (1.0,))),
        (np.False_, Array((), "bool", (0.0,))),
        (3, Array((), "number", (3.0,))),
        (Fraction(1, 2), Array((), "number", (0.5,))),
        (Decimal("0.5"), Array((), "number", (0.5,))),
        (10**400, Array((), "number", (math.inf,))),
        (-(10**400), Array((), "number", (-math.inf,))),
        (2j, Array((), "number", (2j,))),
        (np.float64(2), Array((), "float64", (2.0,))),
        (np.arange(2, dtype=np.int8), Array((2,), "int8", (0.0, 1.0))),
        (np.array([1j]), Array((1,), "complex128", (1j,))),
        (torch.ones(2, dtype=torch.bfloat16), Array((2,), "bfloat16", (1.0, 1.0))),
        (torch.ones(1, 2, dtype=torch.bool), Array((1, 2), "bool", (1.0, 1.0))),
        (torch.ones(1, dtype=torch.complex64), Array((1,), "complex64", (1 + 0j,))),
        (torch.ones(2, requires_grad=True), Array((2,), "float32", (1.0, 1.0))),
        ([1, (2,)], (Array((), "number", (1.0,)), (Array((), "number", (2.0,)),))),
        ({}, Other("dict")),
        (..., Other("ellipsis")),
        (np.array([None]), Other("numpy array of object")),
        (np.array(["1"]), Other("numpy array of <U1")),
        (torch.ones(2).to_sparse(), Other("tensor that is not stored number by number")),
        (torch.empty(2, device="meta"), Other("tensor that is not stored number by number")),
        (torch.ones(1).expand(10**12), Other("tensor of shape (1000000000000,)")),
        (list(range(1000)), Other("list of 1000 values")),
    ],
    ids=repr,
)
def test_live_values_become_plain(value: object, seen: Plain):
    assert plain(value) == seen


def test_a_list_that_holds_itself_has_an_end():
    endless: list[object] = []
    endless.append(endless)
    assert "a list of 1 values" in show(plain(endless))


def test_shape_and_dtype_count_but_a_python_number_fits_every_dtype():
    assert not agree(plain(torch.ones(1)), plain(torch.tensor(1.0)))
    assert not agree(plain(torch.ones(1)), plain(torch.ones(1, dtype=torch.float64)))
    assert agree(plain(1), plain(torch.tensor(1.0)))
    assert not agree(plain(True), plain(torch.tensor(1.0)))


def test_an_empty_tensor_agrees_with_its_like_only():
    assert agree(plain(torch.ones(2, 0)), plain(torch.zeros(2, 0)))
    assert not agree(plain(torch.ones(2, 0)), plain(torch.ones(0, 2)))


@pytest.mark.parametrize(
    "forged",
    [
        3,
        {},
        {"raised": 1},
        {"shape": [2], "dtype": "float64", "numbers": ["1"]},
        {"shape": [-1, -1], "dtype": "float64", "numbers": ["1"]},
        {"shape": [True], "dtype": "float64", "numbers": ["1"]},
        {"shape": [[]], "dtype": "float64", "numbers": []},
        {"shape": [1], "dtype": "float64", "numbers": [1]},
        {"shape": [1], "dtype": "float64", "numbers": ["one"]},
        {"shape": [1] * 65, "dtype": "float64", "numbers": ["1"]},
        [[[[[[[[[[]]]]]]]]]],
    ],
    ids=repr,
)
def test_text_that_is_no_evidence_is_refused(forged: object):
    with pytest.raises(ValueError, match=r"no evidence has the form|could not convert"):
        from_json(forged)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (36.0, "36"),
        (-0.0, "0"),
        ((36, 24), "(36, 24)"),
        ((36,), "(36,)"),
        (torch.tensor([[1.0, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (True, "True"),
        (None, "None"),
        ("a\nb\ud800", '"a\\nb\\ud800"'),
        ("b" * 100, f'"{"b" * 60}…"'),
        ({}, "a dict"),
        (..., "an ellipsis"),
        (torch.zeros(5, 5), "<shape (5, 5)>"),
        (torch.zeros(1000, 0), "<shape (1000, 0)>"),
        (torch.zeros(2, 0), "[[], []]"),
        (list(range(30)), "<30 values>"),
    ],
    ids=repr,
)
def test_values_are_shown_as_a_person_would_write_them(value: object, text: str):
    assert show(plain(value)) == text
