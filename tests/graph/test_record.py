"""A backward pass is recorded event by event, and leaves behind what a plain one leaves."""

import pytest
import torch
from torch import nn

from course_utils.graph import (
    Accumulated,
    Edge,
    Entered,
    Freed,
    GradientMessage,
    Place,
    Returned,
    Sent,
    Snapshot,
    record,
    trace,
)
from course_utils.graph.saved import CAN_SEE_HOOKS


def scalar(value: float) -> torch.Tensor:
    return torch.tensor(value, requires_grad=True)


def one(value: float) -> Snapshot:
    return Snapshot((), "float32", value)


def test_shared_input_receives_two_messages():
    x = torch.tensor(3.0, requires_grad=True)
    backward = record(x * x, x=x)
    assert [m.value for m in backward.messages_to("x")] == [3.0, 3.0]


def test_events_of_the_running_example():
    x, y = scalar(3.0), scalar(2.0)
    backward = record((x * y) ** 2, retain_graph=True, x=x, y=y)
    to_mul, to_x, to_y = Edge(0, 0, 1, 0), Edge(1, 0, 2, 0), Edge(1, 1, 3, 0)
    assert backward.events == (
        Entered(0, (one(1.0),)),
        Sent(GradientMessage(to_mul, one(12.0)), one(12.0)),
        Entered(1, (one(12.0),)),
        Sent(GradientMessage(to_x, one(24.0)), one(24.0)),
        Sent(GradientMessage(to_y, one(36.0)), one(36.0)),
        Entered(2, (one(24.0),)),
        Accumulated(Place(2, 0), one(24.0), None, one(24.0)),
        Entered(3, (one(36.0),)),
        Accumulated(Place(3, 0), one(36.0), None, one(36.0)),
    )


def test_nodes_free_what_they_saved_as_soon_as_they_have_run():
    x, y = scalar(3.0), scalar(2.0)
    z = (x * y) ** 2
    kinds = [type(event).__name__ for event in record(z).events]
    assert kinds[:3] == ["Entered", "Sent", "Freed"]
    assert kinds.count("Freed") == 2
    assert len(kinds) == 9 + 2
    with pytest.raises(RuntimeError, match="second time"):
        z.backward()


@pytest.mark.skipif(not CAN_SEE_HOOKS, reason="this torch cannot say whether reading would run code")
@pytest.mark.parametrize("retain_graph", [False, True])
def test_freed_is_what_the_graph_afterwards_says(retain_graph):
    x = scalar(3.0)
    y = (x * 2).sin() * x.exp() + 1
    backward = record(y, retain_graph=retain_graph)
    after = [n.number for n in trace(y) if any(saved.state == "freed" for saved in n.saved)]
    assert [event.node for event in backward.of_kind(Freed)] == after
    assert bool(after) is not retain_graph


def test_nothing_is_freed_where_nothing_was_saved():
    assert record(scalar(3.0) + 1).of_kind(Freed) == ()


def test_perceptron_has_ten_nodes_and_twenty_three_events():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    backward = record(model(torch.ones(4, 2)).sum(), retain_graph=True)
    assert (len(backward.graph), len(backward.events)) == (10, 23)


def test_nodes_are_entered_in_the_order_of_their_numbers():
    x = scalar(2.0)
    shared = x.exp()
    late, early = shared.sin(), shared.cos()
    backward = record(early * late + shared)
    entered = [event.node for event in backward.of_kind(Entered)]
    assert entered == list(range(len(backward.graph)))


def test_second_message_says_what_the_sum_is_now():
    x = scalar(3.0)
    sums = [(event.waiting.value, event.count) for event in record(x * x).of_kind(Sent)]
    assert sums == [(3.0, 1), (6.0, 2)]


def test_grad_before_and_after():
    x = scalar(3.0)
    x.grad = torch.tensor(10.0)
    (landed,) = record(x * x).of_kind(Accumulated)
    assert (landed.before.value, landed.gradient.value, landed.after.value) == (10.0, 6.0, 16.0)
    assert x.grad.item() == 16.0


def test_kept_values_do_not_change_when_grad_accumulates_later():
    x = torch.ones(2, requires_grad=True)
    backward = record((x * 2).sum())
    record((x * 2).sum())
    assert backward.grad("x").value == (2.0, 2.0)
    assert x.grad.tolist() == [4.0, 4.0]


def test_undefined_gradient_is_none_and_not_zero():
    x = torch.ones(3, 2, requires_grad=True)
    first, _, last = x.unbind(0)
    backward = record((first * last).sum())
    unbind = backward.graph.node("last").number
    (entered,) = (event for event in backward.of_kind(Entered) if event.node == unbind)
    assert [gradient is None for gradient in entered.incoming] == [False, True, False]
    assert backward.grad("x").value == ((1.0, 1.0), (0.0, 0.0), (1.0, 1.0))


def test_custom_function_that_sends_nothing():
    class Swallow(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, incoming):
            return incoming, None

    x, y = scalar(1.0), scalar(1.0)
    backward = record(Swallow.apply(x, y), x=x, y=y)
    (nothing,) = backward.messages_to("y")
    assert (nothing.value, nothing.needed) == (None, True)
    assert y.grad is None
    assert "sends nothing to y" in str(backward)


def test_broadcast_input_gets_a_gradient_of_its_own_shape():
    row, column = torch.ones(3, requires_grad=True), torch.ones(2, 1, requires_grad=True)
    backward = record((row * column).sum())
    assert [m.shape for m in backward.messages_to("row")] == [(3,)]
    assert [m.value for m in backward.messages_to("column")] == [((3.0,), (3.0,))]


def test_several_roots_one_of_them_inside_the_graph_of_the_other():
    x = scalar(3.0)
    a = x * 2
    b = a * 3
    backward = record([a, b], [torch.tensor(1.0), torch.tensor(10.0)])
    assert [seed.gradient.value for seed in backward.seeds] == [1.0, 10.0]
    assert [m.value for m in backward.messages_to("a")] == [30.0]
    assert backward.gradient("a").value == 31.0
    assert x.grad.item() == 62.0


def test_incoming_gradient_of_a_tensor():
    x = torch.ones(2, requires_grad=True)
    backward = record(x * 3, torch.tensor([1.0, 5.0]))
    assert backward.gradient("x").value == (3.0, 15.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_low_precision_and_complex_gradients(dtype):
    x = torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
    backward = record((x * x).sum().abs(), x=x)
    assert {m.gradient.dtype for m in backward.messages_to("x")} == {str(dtype)[6:]}
    assert backward.gradient("x").value == tuple(x.grad.tolist()) == (2.0, 4.0)


def test_large_gradients_are_kept_as_statistics():
    x = torch.arange(1000.0, requires_grad=True)
    backward = record((x * x).sum(), retain_graph=True)
    statistics = backward.gradient("x").value
    assert (statistics.minimum, statistics.maximum, statistics.mean) == (0.0, 1998.0, 999.0)
    small = record((x * x).sum(), keep=1000).gradient("x")
    assert small.value == tuple(2.0 * n for n in range(1000))


def test_sparse_gradient():
    table = torch.ones(5, 2, requires_grad=True)
    rows = nn.functional.embedding(torch.tensor([1, 1]), table, sparse=True)
    backward = record(rows.sum(), table=table)
    assert backward.gradient("table").value[1] == (2.0, 2.0)
    assert table.grad.is_sparse


def test_retained_gradient_of_a_result():
    x = scalar(3.0)
    hidden = x * 2
    hidden.retain_grad()
    backward = record(hidden**2)
    (landed,) = (e for e in backward.of_kind(Accumulated) if e.place == Place(1, 0))
    assert landed.after.value == hidden.grad.item() == 12.0


def test_chosen_results_are_returned_and_grad_stays_empty():
    x, y = scalar(3.0), scalar(2.0)
    backward = record((x * y) ** 2, with_respect_to=[x], x=x, y=y)
    assert backward.of_kind(Returned) == (Returned(backward.graph.place("x"), one(24.0)),)
    assert backward.of_kind(Accumulated) == ()
    assert x.grad is None
    (not_asked_for,) = backward.messages_to("y")
    assert (not_asked_for.value, not_asked_for.needed) == (None, False)
    assert "sends nothing to y, not asked for" in str(backward)


def test_result_is_returned_before_its_node_runs():
    x = scalar(3.0)
    hidden = x * 2
    backward = record(hidden**2, with_respect_to=[hidden, x])
    assert [type(e).__name__ for e in backward.events if not isinstance(e, Freed)] == [
        "Entered",
        "Sent",
        "Returned",
        "Entered",
        "Sent",
        "Returned",
    ]


def test_node_of_a_chosen_result_does_not_run_for_its_own_sake():
    x = scalar(3.0)
    hidden = x * 2
    backward = record(hidden**2, with_respect_to=hidden)
    assert [event.node for event in backward.of_kind(Entered)] == [0]
    assert backward.gradient("hidden").value == 12.0


def test_result_is_returned_when_its_turn_comes_and_not_when_its_last_message_does():
    x = scalar(3.0)
    waits = x * 2
    runs_first = x.sin()
    backward = record(waits * runs_first, retain_graph=True, with_respect_to=[waits, x])
    story = [getattr(event, "node", None) for event in backward.events]
    place = backward.graph.place("waits")
    returned = backward.events.index(Returned(place, backward.gradient("waits")))
    assert story[returned + 1] == place.node
    assert story.index(backward.graph.place("runs_first").node) < returned


def test_chosen_result_that_retains_its_gradient_accumulates_once():
    hidden = scalar(3.0) * 2
    hidden.retain_grad()
    backward = record(hidden**2, inputs=[hidden])
    assert [event.after.value for event in backward.of_kind(Accumulated)] == [12.0]
    assert hidden.grad.item() == 12.0


def test_retained_gradient_is_filled_even_when_it_is_returned():
    hidden = scalar(3.0) * 2
    hidden.retain_grad()
    backward = record(hidden**2, with_respect_to=hidden)
    assert [type(event) for event in backward.events[-3:]] == [Freed, Accumulated, Returned]
    assert backward.grad("hidden").value == hidden.grad.item() == 12.0


def test_unused_input_is_an_error_of_torch_unless_allowed():
    x, stranger = scalar(3.0), scalar(1.0)
    with pytest.raises(RuntimeError, match="not have been used"):
        record(x * 2, with_respect_to=[stranger])
    backward = record(x * 2, with_respect_to=[x, stranger], allow_unused=True)
    assert backward.gradient("x").value == 2.0


def test_inputs_fill_grad_of_the_chosen_tensors_only():
    x, y = scalar(3.0), scalar(2.0)
    hidden = x * y
    backward = record(hidden**2, inputs=[x, hidden], x=x, y=y)
    assert (x.grad.item(), y.grad) == (24.0, None)
    assert {e.place for e in backward.of_kind(Accumulated)} == {
        backward.graph.place("x"),
        backward.graph.place("hidden"),
    }
    assert backward.grad("hidden").value == 12.0


def test_empty_list_of_inputs_is_refused_as_usual():
    with pytest.raises(RuntimeError, match="cannot be empty"):
        record(scalar(3.0) * 2, inputs=[])


def test_inputs_and_with_respect_to_exclude_each_other():
    x = scalar(3.0)
    with pytest.raises(TypeError, match=r"leave every `\.grad` alone"):
        record(x * 2, inputs=[x], with_respect_to=[x])


def test_text_tells_the_events_in_order():
    x = scalar(3.0)
    backward = record(x * x, retain_graph=True, x=x)
    assert str(backward).splitlines() == [
        "Backward pass from Mul 0 with 1: 5 events",
        "  1  Mul 0 receives 1",
        "  2  Mul 0 sends 3 to x",
        "  3  Mul 0 sends 3 to x, where the sum is now 6",
        "  4  x receives 6",
        "  5  x.grad is now 6",
    ]
    assert repr(backward) == "<Recording of a backward pass from Mul 0: 5 events, 2 messages>"


def test_questions_about_senders():
    x, y = scalar(3.0), scalar(2.0)
    product = x * y
    backward = record(product**2)
    assert [m.value for m in backward.messages_from("product")] == [24.0, 36.0]
    assert [m.target for m in backward.messages_from(0)] == [1]
    assert [m.value for m in backward.messages_to(1)] == [12.0]


def hooks_of(graph_output: torch.Tensor, leaf: torch.Tensor) -> list[int]:
    """How many hooks hang on every node and on the leaf; registering is the only way to see."""
    counts = []
    node = graph_output.grad_fn
    while node is not None:
        for register in (node.register_hook, node.register_prehook):
            handle = register(lambda *_: None)
            counts.append(len(handle.hooks_dict_ref()) - 1)
            handle.remove()
        node = node.next_functions[0][0] if node.next_functions else None
    return [*counts, len(leaf._backward_hooks or ()), len(leaf._post_accumulate_grad_hooks or ())]


def test_graph_hooks_and_grad_are_left_as_by_a_plain_backward():
    def build():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        return x, (x * 3).sin().sum()

    x, y = build()
    y.backward(retain_graph=True)
    expected = x.grad.clone()
    plain, recorded = build(), build()
    plain[1].backward()
    record(recorded[1])
    assert torch.equal(recorded[0].grad, expected)
    assert hooks_of(recorded[1], recorded[0]) == hooks_of(plain[1], plain[0])
    assert trace(recorded[1]).edges == trace(plain[1]).edges
    assert recorded[0]._backward_hooks is None


class Fails(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 1

    @staticmethod
    def backward(ctx, incoming):
        raise ValueError("lost the way. And more")


def test_what_raises_midway_still_raises_and_leaves_no_hook_behind():
    x = scalar(3.0)
    y = Fails.apply(x * 2) * x
    with pytest.raises(ValueError, match="lost the way") as caught:
        record(y, x=x)
    recording = caught.value.recording
    assert recording.error == "lost the way"
    assert [event.node for event in recording.of_kind(Entered)] == [0, 1]
    assert [event.node for event in recording.of_kind(Freed)] == [0]
    assert str(recording).endswith("ended by an error: lost the way")
    assert set(hooks_of(y, x)) == {0}
    assert x.grad is None


def test_second_pass_through_a_freed_graph_raises_as_usual():
    x = scalar(3.0)
    y = x**2
    y.backward()
    with pytest.raises(RuntimeError, match="second time") as caught:
        record(y, x=x)
    assert caught.value.recording.error.startswith("Trying to backward through the graph a second")
    assert x.grad.item() == 6.0


def test_output_of_several_elements_needs_a_gradient_as_usual():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        record(x * 2)
