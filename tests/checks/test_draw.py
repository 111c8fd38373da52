"""Random inputs hide nothing: no two alike in size, no 0, 1 or 2, and the same at every call."""

from __future__ import annotations

import pytest
import torch

from course_utils.checks.catalogue import all_exercises
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import gather, same_evidence


@pytest.mark.parametrize("seed", range(20))
def test_entries_have_different_sizes_two_decimals_and_no_tenths(seed: int):
    drawn = Draw(seed).tensor(4, 9)
    sizes = [round(abs(number) * 100, 6) for number in drawn.flatten().tolist()]
    assert drawn.dtype == torch.float64
    assert len(set(sizes)) == 36
    assert all(size == int(size) and size % 10 for size in sizes)
    assert all(50 < size < 250 for size in sizes)


def test_both_signs_occur():
    drawn = torch.cat([Draw(seed).tensor(10) for seed in range(5)])
    assert (drawn > 0).any()
    assert (drawn < 0).any()


def test_the_same_seed_gives_the_same_inputs_and_another_others():
    def drawn(seed: int) -> list[float]:
        draw = Draw(seed)
        return [*draw.tensor(2, 3).flatten().tolist(), *map(float, draw.scalars(2)), draw.whole(0, 1000)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_two_draws_from_one_source_differ():
    draw = Draw(0)
    assert not torch.equal(draw.tensor(3), draw.tensor(3))


def test_random_numbers_of_the_notebook_are_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    Draw(1).tensor(3)
    assert torch.equal(torch.rand(2), expected)


def test_scalars_have_no_dimension():
    assert [value.shape for value in Draw(0).scalars(3)] == [()] * 3


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_an_empty_tensor_can_be_drawn(shape):
    assert Draw(0).tensor(*shape).shape == shape


def test_more_entries_than_can_differ_are_refused():
    with pytest.raises(ValueError, match=r"91 entries that differ do not fit between 0.5 and 2.5"):
        Draw(0).tensor(91)


def test_a_whole_number_reaches_both_ends():
    draw = Draw(0)
    assert {draw.whole(2, 4) for _ in range(60)} == {2, 3, 4}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_a_default_dtype_of_the_notebook_changes_nothing(dtype):
    expected = [Draw(seed).tensor(40) for seed in range(20)]
    torch.set_default_dtype(dtype)
    try:
        assert all(torch.equal(Draw(seed).tensor(40), one) for seed, one in enumerate(expected))
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_nor_does_it_change_what_any_check_sees(dtype):
    exercises = all_exercises().values()
    expected = {one.name: gather(one, one.truth, 7) for one in exercises}
    torch.set_default_dtype(dtype)
    try:
        other = [one.name for one in exercises if not same_evidence(gather(one, one.truth, 7), expected[one.name])]
    finally:
        torch.set_default_dtype(torch.float32)
    assert not other
