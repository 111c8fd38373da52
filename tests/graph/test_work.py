import torch

from course_utils.graph import count_work


def test_operations_and_the_numbers_they_write():
    x = torch.ones(3, 4)
    with count_work() as work:
        (x * 2).sum()
    assert (work.operations, work.numbers) == (2, 12 + 1)


def test_what_only_looks_in_another_way_is_free():
    x = torch.ones(3, 4)
    with count_work() as work:
        x.T[0].reshape(3, 1)
    assert (work.operations, work.numbers) == (0, 0)


def test_a_backward_pass_is_counted():
    x = torch.ones(5, requires_grad=True)
    with count_work() as forward:
        y = (x * x).sum()
    with count_work() as backward:
        y.backward()
    assert forward.numbers == 5 + 1
    assert backward.operations > 0
    assert backward.numbers >= 2 * 5  # a message for each of the two factors


def test_what_comes_after_the_block_is_not_counted():
    with count_work() as work:
        torch.ones(2)
    before = work.operations
    torch.ones(2)
    assert work.operations == before


def test_several_results_of_one_operation_all_count():
    with count_work() as work:
        torch.max(torch.ones(4, 6), dim=1)
    assert work.numbers == 24 + 4 + 4
    assert work.operations == 2


def test_work_under_vmap_is_that_of_the_whole_batch():
    x = torch.ones(7, 3)
    with count_work() as work:
        torch.func.vmap(lambda row: row * 2)(x)
    assert (work.operations, work.numbers) == (1, 21)
