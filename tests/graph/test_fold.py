"""What is folded, what is not, and that a fold says what it hides."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course_utils.graph import draw, record, trace
from course_utils.graph.fold import fold


def chain(length, start=0.5):
    y = torch.tensor(start, requires_grad=True)
    for _ in range(length):
        y = y.sin()
    return y


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)

    def forward(self, x):
        return x + self.second(self.first(x).relu())


def blocks(count):
    torch.manual_seed(0)
    return nn.Sequential(*(Block() for _ in range(count)))


def tangle(count):
    """Many operations without a module, and without a chain: each uses the two before it."""
    a, b = torch.tensor(0.5, requires_grad=True), torch.tensor(0.3, requires_grad=True)
    for _ in range(count):
        a, b = b, a * b + a
    return b


def is_whole(view):
    """Whether each node stands in exactly one box."""
    return sorted(node for box in view.boxes for node in box.nodes) == list(range(len(view.graph)))


def has_no_circle(view):
    """Whether the boxes can be put in an order in which every line leads onward."""
    waits = {number: {link.source for link in view.links if link.target == number} for number in range(len(view.boxes))}
    while ready := [number for number, sources in waits.items() if not sources]:
        for number in ready:
            del waits[number]
        for sources in waits.values():
            sources.difference_update(ready)
    return not waits


def test_a_small_graph_is_shown_in_full():
    x, y = torch.tensor(3.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    view = fold(trace((x * y) ** 2))
    assert [box.nodes for box in view.boxes] == [(0,), (1,), (2,), (3,)]
    assert view.hidden == 0
    assert [(link.source, link.target) for link in view.links] == [(0, 1), (1, 2), (1, 3)]


def test_an_input_used_twice_keeps_its_two_lines():
    x = torch.tensor(3.0, requires_grad=True)
    view = fold(trace(x * x))
    assert [(link.source, link.target, link.edges[0].position) for link in view.links] == [(0, 1, 0), (0, 1, 1)]


def test_a_short_chain_is_shown_in_full():
    assert fold(trace(chain(10))).hidden == 0


def test_the_middle_of_a_long_chain_is_folded_and_counted():
    view = fold(trace(chain(100)))
    (folded,) = [box for box in view.boxes if box.is_fold]
    assert len(view.boxes) == 6  # two operations at each end, the fold, the leaf
    assert folded.title == "96 operations"
    assert folded.hides == ("from Sin 97 to Sin 2", "96 Sin")
    assert is_whole(view)


def test_the_picture_of_a_long_chain_says_what_it_hides():
    picture = draw(trace(chain(100)))
    assert "The picture folds 96 nodes into 1 box: 96 operations (from Sin 97 to Sin 2, 96 Sin)" in picture.text
    assert "96 Sin" in picture.svg


def test_modules_are_folded_under_their_names():
    model = blocks(9)
    view = fold(trace(model(torch.ones(2, 3)).sum(), model=model), most=20)
    titles = [box.title for box in reversed(view.boxes) if box.is_fold]
    assert titles[0] == "model.0"
    assert titles[-1] == "model.8"
    assert len(view.boxes) <= 20
    assert is_whole(view)
    assert has_no_circle(view)


def test_modules_inside_modules_are_folded_as_deep_as_fits():
    model = blocks(9)
    view = fold(trace(model(torch.ones(2, 3)).sum(), model=model))
    assert "model.4.first" in {box.title for box in view.boxes}
    assert has_no_circle(view)


def test_the_parameters_of_a_module_are_inside_its_fold():
    model = blocks(9)
    view = fold(trace(model(torch.ones(2, 3)).sum(), model=model), most=20)
    inside = next(box for box in view.boxes if box.title == "model.4")
    names = {view.graph.nodes[number].label for number in inside.nodes}
    assert {"model.4.first.weight", "model.4.second.bias"} <= names
    assert any("4 leaves" in line for line in inside.hides)


def test_a_long_row_of_modules_is_folded_again():
    model = blocks(30)
    view = fold(trace(model(torch.ones(2, 3)).sum(), model=model))
    titles = [box.title for box in view.boxes if box.is_fold]
    assert any(" to " in title for title in titles)
    assert len(view.boxes) < 12
    assert is_whole(view)
    assert has_no_circle(view)


@pytest.mark.parametrize("count", [40, 150, 1000])
def test_a_large_graph_without_names_is_cut_into_pieces(count):
    view = fold(trace(tangle(count)))
    assert len(view.boxes) <= 60
    assert view.hidden > 0
    assert is_whole(view)
    assert has_no_circle(view)


def test_a_module_used_twice_makes_no_circle():
    torch.manual_seed(0)
    layer = nn.Linear(3, 3)
    x = torch.ones(2, 3)
    for _ in range(25):
        x = layer(x).relu().sin()
    view = fold(trace(x.sum(), layer=layer))
    assert len(view.boxes) <= 60
    assert is_whole(view)
    assert has_no_circle(view)


def test_the_limit_can_be_chosen():
    graph = trace(tangle(30))
    assert fold(graph, most=200).hidden == 0
    assert len(fold(graph, most=10).boxes) <= 10


def test_lines_between_folds_gather_their_edges():
    model = blocks(9)
    recording = record(model(torch.ones(2, 3)).sum(), model=model)
    view = fold(recording.graph, most=20)
    numbers = {title: number for number, title in enumerate(box.title for box in view.boxes)}
    (link,) = [link for link in view.links if (link.source, link.target) == (numbers["model.5"], numbers["model.4"])]
    assert len(link.edges) == 2  # through the layers, and round them
    assert all(view.link_of[edge] == view.links.index(link) for edge in link.edges)
