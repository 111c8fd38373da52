"""A graph and a recording show themselves as a picture and as the same story in words."""

from __future__ import annotations

import torch

from course_utils.graph import draw, record, trace


def product():
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    return x * y, x, y


def test_a_graph_shows_itself_with_text_beside_it():
    z, x, y = product()
    graph = trace(z, x=x, y=y)
    bundle = graph._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/plain"] == str(graph)
    assert '<img alt="Graph of z: 3 nodes, 2 edges Mul 0: gives' in bundle["text/html"]


def test_a_recording_shows_itself_and_tells_the_pass_in_its_order():
    z, x, y = product()
    picture = draw(record(z, x=x, y=y))
    assert picture.text.index("Mul 0 receives 1") < picture.text.index("Mul 0 sends 2 to x")
    assert picture.alt == " ".join(picture.text.split())


def test_the_direction_can_be_chosen():
    z, x, y = product()
    graph = trace(z.sin().exp(), x=x, y=y)
    (wide, low), (narrow, high) = (draw(graph, direction=way).size() for way in ("right", "down"))
    assert wide > narrow
    assert low < high


def tangle(count):
    a, b = torch.tensor(0.5, requires_grad=True), torch.tensor(0.3, requires_grad=True)
    for _ in range(count):
        a, b = b, a * b + a
    return b


def test_a_picture_that_would_be_much_higher_than_a_window_is_folded_further():
    recording = record(tangle(20))
    picture, whole = draw(recording), draw(recording, most=60)
    assert picture.size()[1] < 2500 < whole.size()[1]
    assert "The picture folds" in picture.text
    assert "The picture folds" not in whole.text


def test_dot_has_every_node_and_edge():
    z, x, y = product()
    graph = trace(z, x=x, y=y)
    dot = graph.to_dot()
    assert dot.startswith("digraph autograd {")
    assert 'n0 [label="Mul 0\\nMulBackward0\\nz = 6"];' in dot
    assert dot.count("->") == len(graph.edges)
    assert "n1 -> n0;" in dot


def test_dot_is_understood_by_graphviz():
    import pygraphviz

    x = torch.tensor(3.0, requires_grad=True)
    names = {'odd "name" \\': x}
    graph = trace((x * 2).sin(), **names)
    read = pygraphviz.AGraph(string=graph.to_dot())
    assert len(read.nodes()) == len(graph)
    assert len(read.edges()) == len(graph.edges)
