"""The second-order graph grows out of the first, node by node, at the step that builds it."""

from __future__ import annotations

import pytest
import torch

from course_utils.graph import record, replay, trace
from course_utils.graph.events import Sent
from course_utils.graph.fold import fold
from course_utils.graph.growth import growth
from course_utils.graph.scene import Scene
from course_utils.graph.text import growth_text

# torch says once per process that `backward(create_graph=True)` makes a reference cycle
pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")


@pytest.fixture
def recording():
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    return record((x * x * y) ** 2, create_graph=True, with_respect_to=[x], x=x, y=y)


def test_both_graphs_become_one(recording):
    grown = growth(recording)
    shared = len(recording.second_order.shared)
    graph = grown.recording.graph
    assert len(graph) == len(recording.graph) + len(recording.second_order.graph) - shared
    assert [node.number for node in graph.nodes] == list(range(len(graph)))
    assert all(edge.source < edge.target for edge in graph.edges)


def test_the_edges_are_those_of_both_graphs(recording):
    grown, second = growth(recording), recording.second_order
    fresh = [e for e in second.graph.edges if second.origins[e.source].birth != "first graph"]
    assert len(grown.recording.graph.edges) == len(recording.graph.edges) + len(fresh)


def test_labels_stay_and_the_new_ones_have_a_mark(recording):
    labels = [node.label for node in growth(recording).recording.graph.nodes]
    assert [label for label in labels if not label.endswith("′")] == [node.label for node in recording.graph.nodes]
    assert len(labels) == len(set(labels))


def test_the_events_are_the_same_ones_elsewhere(recording):
    grown = growth(recording)
    assert len(grown.recording) == len(recording)
    assert [message.value for message in grown.recording.messages] == [m.value for m in recording.messages]
    assert grown.recording.gradient("x") == recording.gradient("x")


def test_a_node_is_born_when_its_parent_sends_what_it_computed(recording):
    grown = growth(recording)
    first_sent = next(step for step, event in enumerate(recording.events, 1) if isinstance(event, Sent))
    assert grown.newborn(first_sent) == ("Mul 4′", "Mul 5′", "Pow 6′")
    assert {grown.why[n] for n, step in grown.born.items() if step == first_sent} == {"from Pow 0"}


def test_the_text_has_a_line_for_each_new_node_in_the_order_of_birth(recording):
    grown = growth(recording)
    head, *lines = growth_text(grown).splitlines()
    assert head == f"Second-order graph, and the events that build it: {len(grown.born)} nodes"
    assert [int(line.split()[0]) for line in lines] == sorted(grown.born.values())
    assert lines[0].startswith("  2  Pow 6′, from Pow 0: ") and lines[0].endswith("; sends to Mul 1")
    assert lines[-1].startswith("  8  Add 0′, sum at x: ") and lines[-1].endswith("; sends to Mul 1′, Mul 2′")


def test_the_sum_is_born_when_the_second_message_arrives(recording):
    grown = growth(recording)
    steps = [step for step, event in enumerate(recording.events, 1) if isinstance(event, Sent) and event.count == 2]
    (number,) = [n for n, why in grown.why.items() if why == "sum at x"]
    assert grown.born[number] == steps[-1]


def test_what_is_not_born_yet_is_not_there(recording):
    grown = growth(recording)
    view = fold(grown.recording.graph)
    scene = Scene(view, grown.recording, growth=grown)
    there = [sum(scene.describer.is_there(box, state) for box in view.boxes) for state in replay(grown.recording)]
    assert there[0] == len(recording.graph)
    assert there == sorted(there)
    assert there[-1] == len(view.boxes)


def test_no_gradient_travels_through_the_new_nodes(recording):
    grown = growth(recording)
    view = fold(grown.recording.graph)
    scene = Scene(view, grown.recording, growth=grown)
    carried = [link for link in view.links if scene.describer.carries_messages(link)]
    assert len(carried) == len(recording.graph.edges)


def test_without_create_graph_there_is_nothing_to_grow():
    x = torch.tensor(3.0, requires_grad=True)
    with pytest.raises(ValueError, match="create_graph=True"):
        growth(record(x * x))
    assert len(trace(x * x)) == 2
