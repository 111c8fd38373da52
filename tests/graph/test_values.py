"""Tensors become plain values that say what the tensor held at that moment."""

import math

import pytest
import torch

from course_utils.graph.values import Statistics, Unreadable, same, show, snapshot


@pytest.mark.parametrize(
    ("tensor", "value"),
    [
        (torch.tensor(3.0), 3.0),
        (torch.tensor([[1, 2], [3, 4]]), ((1, 2), (3, 4))),
        (torch.tensor([True]), (True,)),
        (torch.tensor(1 + 2j), 1 + 2j),
        (torch.tensor([0.5], dtype=torch.bfloat16), (0.5,)),
        (torch.zeros(0, 3), ()),
        (torch.eye(2).to_sparse(), ((1.0, 0.0), (0.0, 1.0))),
    ],
)
def test_small_tensor_is_kept_in_full(tensor, value):
    assert snapshot(tensor).value == value
    assert snapshot(tensor).shape == tuple(tensor.shape)


def test_snapshot_does_not_follow_the_tensor():
    tensor = torch.ones(2)
    before = snapshot(tensor)
    tensor.add_(1)
    assert before.value == (1.0, 1.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int64])
def test_large_tensor_is_kept_as_statistics(dtype):
    statistics = snapshot(torch.arange(100).to(dtype)).value
    assert (statistics.minimum, statistics.maximum) == (0.0, 99.0)
    assert statistics.mean == pytest.approx(49.5)
    assert statistics.norm == pytest.approx(573.0, abs=0.1)


def test_statistics_of_complex_numbers_are_those_of_their_magnitudes():
    statistics = snapshot(torch.full((100,), 3 + 4j)).value
    assert (statistics.minimum, statistics.maximum) == (5.0, 5.0)


def test_statistics_count_what_is_not_finite():
    tensor = torch.ones(100)
    tensor[3], tensor[4] = math.nan, math.inf
    assert snapshot(tensor).value.not_finite == 2
    assert "2 not finite" in str(snapshot(tensor))


def test_statistics_of_a_large_sparse_tensor():
    tensor = torch.sparse_coo_tensor([[1, 1]], [2.0, 3.0], (100,), check_invariants=True)
    assert isinstance(snapshot(tensor).value, Statistics)


def test_tensor_without_values_says_so():
    assert isinstance(snapshot(torch.ones(2, device="meta")).value, Unreadable)


def test_same_knows_that_nan_is_nan():
    nan = torch.tensor([math.nan, 1.0])
    assert same(snapshot(nan), snapshot(nan.clone()))
    assert not same(snapshot(nan), snapshot(torch.zeros(2)))
    assert not same(None, snapshot(torch.tensor(0.0)))
    assert same(None, None)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (36.0, "36"),
        (1 / 3, "0.333333"),
        (((1.0, 2.5), (3.0, 4.0)), "[[1, 2.5], [3, 4]]"),
        (1 - 2j, "1-2j"),
        (True, "True"),
        (None, "None"),
    ],
)
def test_values_as_short_text(value, text):
    assert show(value) == text
