"""What is seen of an answer that autograd records."""

import warnings

import torch
from torch import nn

from course_utils.checks.recorded import BROKEN, bytes_of, flag, flags_of, fresh, gradients, recording, saved_while


def test_recording_is_on_whatever_the_callers_mode_is_and_leaves_it():
    with torch.inference_mode():
        with recording():
            assert (fresh(torch.ones(2)) * 2).requires_grad
        assert torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()


def test_recording_hides_warnings_and_gives_random_numbers_back():
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with recording():
            torch.rand(2)
            warnings.warn("unheard", stacklevel=1)
    assert torch.equal(torch.get_rng_state(), state)


def test_gradients_of_what_is_joined_and_none_for_what_is_not():
    x, y = fresh(torch.tensor([1.0, 2.0])), fresh(torch.tensor([3.0, 4.0]))
    found = gradients(x * 3, [x, y], torch.tensor([1.0, 10.0]))
    assert found[0].tolist() == [3, 30]
    assert found[1] is None
    assert x.grad is None


def test_no_gradients_of_what_is_no_recorded_tensor_of_the_shape():
    x = fresh(torch.ones(2))
    for result in (None, 3.0, x.detach(), x.sum()):
        assert gradients(result, [x], torch.ones(2)) == (None,)


def test_a_graph_that_torch_refuses_is_evidence():
    x = fresh(torch.ones(2))
    result = x.exp()
    result.detach().zero_()
    assert gradients(result, [x], torch.ones(2)) == (BROKEN,)


def test_flags():
    assert flag(fresh(torch.ones(1))) is True
    assert flag(torch.ones(1)) is False
    assert flag("text") is None
    assert flags_of(nn.Linear(2, 1).requires_grad_(False)) == (False, False)


def test_saved_tensors_count_once_for_each_storage():
    x = fresh(torch.ones(10, dtype=torch.float64))
    result, saved = saved_while(lambda: x * x)
    assert result.requires_grad
    assert len(saved) == 2
    assert bytes_of(saved) == 80
    assert saved_while(lambda: x.detach() * 2)[1] == []
