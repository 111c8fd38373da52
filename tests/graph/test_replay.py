"""The state after each event, for steppers and prose."""

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from course_utils.graph import Entered, Place, record, replay


@pytest.fixture
def states():
    x = torch.tensor(3.0, requires_grad=True)
    x.grad = torch.tensor(1.0)
    return replay(record(x * x, x=x))


X = Place(1, 0)


def test_there_is_a_state_before_the_first_event_and_one_after_each(states):
    assert len(states) == 7
    assert [state.step for state in states] == list(range(7))
    assert states[0].event is None
    assert states[3].event == states.recording.events[2]


def test_seed_waits_before_the_first_event(states):
    assert states[0].waiting[Place(0, 0)].value == 1.0
    assert states[0].status == ("waiting", "idle")
    assert not states[0].messages


def test_sum_grows_while_messages_arrive(states):
    assert [state.waiting[X].value for state in states if X in state.waiting] == [3.0, 6.0, 6.0]


def test_status_of_the_nodes(states):
    assert [state.status for state in states] == [
        ("waiting", "idle"),
        ("running", "idle"),
        ("running", "waiting"),
        ("running", "waiting"),
        ("running", "waiting"),
        ("done", "running"),
        ("done", "done"),
    ]


def test_grad_is_there_from_before_and_changes_when_it_lands(states):
    assert [state.grads[X].value for state in states] == [1.0] * 6 + [7.0]


def test_saved_tensors_are_freed_at_their_event(states):
    assert [0 in state.freed for state in states] == [False] * 4 + [True] * 3


def test_messages_stay_on_their_edges(states):
    assert [len(state.messages) for state in states] == [0, 0, 1, 2, 2, 2, 2]


def test_index_from_the_end_slices_and_iteration_agree(states):
    assert states[-1] == list(states)[-1]
    assert states[2:4] == list(states)[2:4]
    with pytest.raises(IndexError):
        states[7]


def test_states_cannot_be_changed(states):
    with pytest.raises(TypeError):
        states[0].waiting[X] = None


def test_hook_and_returned_gradient():
    x = torch.tensor(3.0, requires_grad=True)
    x.register_hook(lambda gradient: gradient * 10)
    *_, changed, end = replay(record(x + 1, with_respect_to=x))
    assert changed.waiting[X].value == 10.0
    assert end.returned[X].value == 10.0
    assert not end.grads


def test_node_that_raised_is_still_running_at_the_end():
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            return a * 1

        @staticmethod
        def backward(ctx, incoming):
            raise ValueError("lost the way")

    x = torch.tensor(3.0, requires_grad=True)
    with pytest.raises(ValueError, match="lost the way") as caught:
        record(Fails.apply(x))
    assert replay(caught.value.recording)[-1].status == ("running", "idle")


def test_node_runs_on_while_its_own_backward_pass_fills_a_leaf():
    x, w = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    y = (checkpoint(lambda a: a * w, x, use_reentrant=True) * w).sum()
    states = replay(record(y, x=x, w=w))
    opaque = next(node.number for node in states.recording.graph if node.kind == "opaque")
    inside = [s for s in states if isinstance(s.event, Entered) and s.event.within is not None]
    assert [state.status[opaque] for state in inside] == ["running"]
