"""Whatever the expression, the recorded messages add up to what torch computes."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from course_utils.graph import (
    Accumulated,
    ChangedByHook,
    Entered,
    Freed,
    Place,
    Recording,
    Returned,
    record,
    replay,
    trace,
)

UNARY = [torch.sin, torch.exp, torch.neg, torch.tanh, lambda a: a * 0.5, lambda a: a**2]
BINARY = [torch.add, torch.sub, torch.mul, torch.maximum, lambda a, b: a / (b**2 + 1)]
SHAPES = [(), (1,), (3,), (2, 1), (2, 3)]

step = st.tuples(st.sampled_from(UNARY + BINARY), st.integers(0, 20), st.integers(0, 20))


@st.composite
def expressions(draw) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Leaves, all results in the order they were made, and the last one summed up."""
    seed = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=4))
    leaves = [torch.randn(shape, generator=seed, dtype=torch.float64).requires_grad_() for shape in shapes]
    results = list(leaves)
    for operation, first, second in draw(st.lists(step, min_size=1, max_size=12)):
        arguments = [results[first % len(results)]]
        if operation in BINARY:
            arguments.append(results[second % len(results)])
        results.append(operation(*arguments).clamp(-50, 50))
    return leaves, results, results[-1].sum()


def total(recording: Recording, place: Place) -> tuple | float | None:
    """The messages and seeds that arrived at one place, added up from their plain values."""
    arrived = [m.gradient for m in recording.messages if m.edge.place == place]
    arrived += [seed.gradient for seed in recording.seeds if seed.place == place]
    parts = [torch.tensor(g.value, dtype=torch.float64) for g in arrived if g is not None]
    return sum(parts[1:], parts[0]) if parts else None


@settings(max_examples=150, deadline=None)
@given(expressions())
def test_messages_to_a_leaf_add_up_to_its_gradient(expression):
    leaves, _, output = expression
    expected = torch.autograd.grad(output, leaves, retain_graph=True, allow_unused=True)
    recording = record(output)
    used = iter(recording.graph.leaves)
    for leaf, gradient in zip(leaves, expected, strict=True):
        if gradient is None:
            assert leaf.grad is None
    by_value = {node.results[0].value: Place(node.number, 0) for node in used}
    for leaf, gradient in zip(leaves, expected, strict=True):
        if gradient is not None:
            value = leaf.tolist()
            place = by_value[_tuple(value)]
            torch.testing.assert_close(total(recording, place), gradient)
            assert torch.equal(leaf.grad, gradient)


@settings(max_examples=150, deadline=None)
@given(expressions())
def test_messages_to_a_result_add_up_to_its_gradient(expression):
    leaves, results, output = expression
    made = results[len(leaves) :]
    expected = torch.autograd.grad(output, made, retain_graph=True, allow_unused=True)
    names = {f"result_{number}": result for number, result in enumerate(made)}
    recording = record(output, **names)
    for name, gradient in zip(names, expected, strict=True):
        if gradient is None:
            assert name in dict(recording.graph.absent)
        else:
            torch.testing.assert_close(total(recording, recording.graph.place(name)), gradient)


@settings(max_examples=100, deadline=None)
@given(expressions(), st.data())
def test_chosen_results_are_those_of_autograd(expression, data):
    _, results, output = expression
    chosen = data.draw(st.lists(st.sampled_from(range(len(results))), min_size=1, unique=True))
    chosen = [results[index] for index in chosen]
    expected = torch.autograd.grad(output, chosen, retain_graph=True, allow_unused=True)
    recording = record(output, with_respect_to=chosen, allow_unused=True)
    returned = [event.gradient for event in recording.of_kind(Returned)]
    wanted = [_tuple(gradient.tolist()) for gradient in expected if gradient is not None]
    found = [gradient.value for gradient in returned if gradient is not None]
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@settings(max_examples=100, deadline=None)
@given(expressions())
def test_the_story_holds_together(expression):
    _, _, output = expression
    recording = record(output)
    entered = [event.node for event in recording.of_kind(Entered)]
    assert sorted(entered) == list(range(len(recording.graph)))
    assert len(recording.messages) == len(recording.graph.edges)
    assert len(recording.of_kind(Accumulated)) == len(recording.graph.leaves)
    assert recording.of_kind(ChangedByHook) == ()
    saving = [n for n in recording.graph if any(s.state != "empty" for s in n.saved)]
    assert [e.node for e in recording.of_kind(Freed)] == [n for n in entered if n in numbers(saving)]
    end = replay(recording)[-1]
    assert set(end.status) == {"done"}
    assert not end.waiting


@settings(max_examples=100, deadline=None)
@given(expressions())
def test_every_second_order_node_has_an_origin(expression):
    leaves, _, output = expression
    plain = torch.autograd.grad(output, leaves, create_graph=True, allow_unused=True)
    roots = [gradient for gradient in plain if gradient is not None and gradient.requires_grad]
    recording = record(output, create_graph=True, with_respect_to=leaves, allow_unused=True)
    second = recording.second_order
    if second is None:
        assert not roots
    else:
        assert [n.name for n in second.graph] == [n.name for n in trace(roots)]
        assert {origin.birth for origin in second.origins} <= {"first graph", "node", "sum"}


def numbers(nodes) -> set[int]:
    return {node.number for node in nodes}


def _tuple(value):
    return tuple(map(_tuple, value)) if isinstance(value, list) else value
