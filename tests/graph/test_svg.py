"""What stands in a picture, that it can be read, and that it is the same bytes every time."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from course_utils.drawing import language
from course_utils.drawing.lettering import text_width
from course_utils.graph import draw, record, replay, trace
from course_utils.graph.cards import CHIP, LABEL, NAME, PADDING, TITLE
from course_utils.graph.fold import fold
from course_utils.graph.narrate import narrate
from course_utils.graph.scene import Scene
from course_utils.graph.svg import svg

SVG = "{http://www.w3.org/2000/svg}"

# torch says once per process that `backward(create_graph=True)` makes a reference cycle
pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")


def leaf(value):
    return torch.tensor(value, requires_grad=True)


def square():
    x, y = leaf(3.0), leaf(2.0)
    p = x * y
    return record(p**2, x=x, y=y, p=p)


def shared():
    x, y = leaf(3.0), leaf(2.0)
    return record(x * x * y * y, x=x, y=y)


def perceptron():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    inp, target = torch.randn(5, 3), torch.randn(5, 2)
    return record(nn.functional.mse_loss(net(inp), target), net=net, inp=inp, target=target)


def broadcast():
    x, y = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), leaf([1.0, 2.0, 3.0])
    return record((x + y).sum(), x=x, y=y)


def unused_output():
    x = leaf([1.0, 2.0, 3.0])
    a, b, _ = x.unbind()
    return record(a * b, x=x)


def long_chain():
    y = leaf(0.5)
    for _ in range(100):
        y = y.sin()
    return record(y)


def two_roots():
    x, y = leaf(3.0), leaf(2.0)
    u = x * y
    return record([u.sin(), u + x], [torch.tensor(1.0), torch.tensor(2.0)], x=x, y=y)


def second_order():
    x, y = leaf(3.0), leaf(2.0)
    return record((x * x * y) ** 2, create_graph=True, x=x, y=y)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, incoming):
        return incoming * ctx.factor, None


def custom():
    x = leaf(3.0)
    return record(Scale.apply(x, 2.5).exp(), x=x)


def retained():
    x = leaf(3.0)
    p = x * x
    p.retain_grad()
    x.grad = torch.tensor(10.0)
    return record(p.exp() * p, x=x, p=p)


def chosen():
    x, y = leaf(3.0), leaf(2.0)
    return record(x * y + y, with_respect_to=[x], x=x, y=y)


def complex_numbers():
    x = leaf(2.0)
    return record((torch.complex(x, x) * 2).abs(), x=x)


def no_elements():
    x = torch.zeros(0, 3, requires_grad=True)
    return record((x * 2).sum(), x=x)


def checkpointed():
    x = leaf([1.0, 2.0])
    return record(checkpoint(lambda t: (t * t).sin(), x, use_reentrant=False).sum(), x=x)


def strange_name():
    x = leaf(1.0)
    return record((x * 3).exp(), **{'<b>&"' + "long " * 20: x})


EXAMPLES = [
    square, shared, perceptron, broadcast, unused_output, long_chain, two_roots, second_order, custom, retained, chosen,
    complex_numbers, no_elements, checkpointed, strange_name,
]  # fmt: skip
every_example = pytest.mark.parametrize("example", EXAMPLES)


def words(picture: str) -> list[str]:
    return [e.text for e in ElementTree.fromstring(picture).iter(SVG + "text")]


def scene_of(recording, **options):
    return Scene(fold(recording.graph), recording, **options)


def frame(recording, step):
    return svg(scene_of(recording), replay(recording)[step])


def test_operations_have_torchs_name_and_leaves_have_theirs():
    shown = words(draw(square()).svg)
    assert {"Mul 1", "MulBackward0", "Pow 0", "PowBackward0", "exponent 2", "x", "y"} <= set(shown)


def test_values_stand_in_the_graph_and_messages_on_its_lines():
    shown = words(draw(square()).svg)
    assert {"p = 6", "36", "3", "2"} <= set(shown)
    # on the line and in .grad
    assert shown.count("24") == 2
    assert shown.count("36") >= 2


def test_a_graph_alone_has_no_messages_and_an_empty_grad():
    x, y = leaf(3.0), leaf(2.0)
    picture = draw(trace(x * y, x=x, y=y))
    assert words(picture.svg).count("?") == 3  # two leaves, and the legend
    assert "24" not in words(picture.svg)
    assert "not computed yet" in picture.text


def test_before_the_pass_nothing_is_computed_and_zero_is_not_shown():
    shown = words(frame(square(), 0))
    assert shown.count("?") >= 5
    assert "0" not in shown


def test_a_zero_gradient_is_not_the_same_as_none():
    x = leaf(3.0)
    zero, none = words(draw(record(x * 0, x=x)).svg), words(draw(unused_output()).svg)
    assert "0" in zero and "nothing" not in zero
    assert "nothing" in none


def test_saved_tensors_are_struck_through_once_they_are_freed():
    recording = square()
    before, after = frame(recording, 2), frame(recording, 4)
    assert "p = 6" in words(before)
    struck = language.FREED.dash
    assert after.count(f'stroke-dasharray="{struck}"') == before.count(f'stroke-dasharray="{struck}"') + 1
    assert "freed" in words(after)


def test_an_input_that_needs_no_gradient_is_shown_as_a_constant():
    x = leaf(3.0)
    picture = draw(record(x * 2.5, x=x)).svg
    assert "2.5" in words(picture)
    assert language.CONSTANT.word in words(picture)
    assert language.CONSTANT.word not in words(draw(shared()).svg)


def test_a_custom_function_shows_what_its_ctx_keeps():
    shown = words(frame(custom(), 0))
    assert {"Scale 1", "ScaleBackward", "custom Function", "ctx.factor 2.5", "x = 3"} <= set(shown)


def test_a_sum_of_messages_is_shown_where_they_arrive():
    shown = words(draw(shared()).svg)
    assert shown.count("12") == 2  # two messages
    assert shown.count("24") == 2  # their sum, and .grad
    assert "arrives" in shown


def test_a_tensor_that_retains_its_grad_has_it_in_the_picture():
    before, after = words(frame(retained(), 0)), words(draw(retained()).svg)
    assert before.count(".grad") == after.count(".grad") == 2  # of p and of x
    assert before.count("?") > after.count("?")


def test_a_gradient_that_is_returned_leaves_grad_alone():
    shown = words(draw(chosen()).svg)
    assert "returned" in shown
    assert "not asked for" in shown


def test_the_largest_tensors_are_told_by_shape_and_norm():
    shown = words(draw(perceptron()).svg)
    assert any(text.startswith("5×4, norm ") for text in shown)


@every_example
def test_each_step_has_its_sentence(example):
    recording = example()
    assert all(narrate(recording, state).endswith(".") for state in replay(recording))


@every_example
def test_each_frame_is_well_formed_and_uses_presentation_attributes_only(example):
    recording = example()
    scene = scene_of(recording)
    for state in replay(recording)[:: max(1, len(recording) // 8)]:
        found = list(ElementTree.fromstring(svg(scene, state)).iter())
        assert {e.tag for e in found}.isdisjoint({SVG + "style", SVG + "use"})
        assert not any("style" in e.attrib or "class" in e.attrib for e in found)


def rectangle(placed):
    (x, y), (width, height) = placed.centre, placed.size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def overlap(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def pills(scene, state):
    rooms = scene.describer.rooms
    for link, run in zip(scene.view.links, scene.link_runs, strict=True):
        if run.label is not None:
            width = rooms.of(scene.describer.message(link, state))
            x, y = run.label
            yield x - width / 2, y - 12, x + width / 2, y + 12


@pytest.mark.parametrize("direction", ["right", "down"])
@every_example
def test_nothing_overlaps(example, direction):
    recording = example()
    scene, state = scene_of(recording, direction=direction), replay(recording)[-1]
    placed = [rectangle(one) for one in (*scene.cards(state), *scene.constants, *scene.seeds)]
    placed += pills(scene, state)
    assert not [pair for pair in combinations(placed, 2) if overlap(*pair)]


@pytest.mark.parametrize("direction", ["right", "down"])
@every_example
def test_no_text_is_wider_than_its_card(example, direction):
    recording = example()
    scene = scene_of(recording, direction=direction)
    for state in replay(recording):
        for placed in scene.cards(state):
            card, room = placed.card, placed.size[0] - 2 * PADDING + 0.5
            assert text_width(card.title, TITLE, bold=True) <= room
            assert text_width(card.name, NAME, code=True) <= room
            assert all(text_width(note, LABEL) <= room for note in card.notes)
            for row in card.rows:
                for chip in row.chips:
                    assert scene.describer.rooms.of(chip) >= text_width(chip.text, CHIP)


@every_example
def test_nothing_moves_from_frame_to_frame(example):
    recording = example()
    scene = scene_of(recording)
    places = {
        tuple((placed.centre, placed.size, len(placed.card.rows)) for placed in scene.cards(state))
        for state in replay(recording)
    }
    assert len(places) == 1


@every_example
def test_each_step_stands_out_without_colour(example):
    """Something is drawn in another shape or weight at each step, and not at rest."""
    recording = example()
    scene = scene_of(recording)
    for state in replay(recording)[1:]:
        cards = scene.cards(state)
        chips = [chip for placed in cards for row in placed.card.rows for chip in row.chips]
        chips += [scene.describer.message(link, state) for link in scene.view.links]
        assert any(chip.new for chip in chips) or any(placed.card.new for placed in cards)
    assert 'stroke-width="3"' not in draw(recording).svg


def test_a_number_that_torch_does_not_keep_is_not_called_by_its_shape():
    graph = trace((leaf(3.0) + leaf(2.0)) * 2 + 1)
    shown = words(draw(graph).svg)
    assert shown.count("value not kept") == 2
    assert "scalar" not in shown
    assert "gives float32 scalar, value not kept" in str(graph)


def test_the_wide_goes_down_and_the_narrow_to_the_right():
    assert scene_of(square()).layout.direction == "right"
    assert scene_of(perceptron()).layout.direction == "down"
    assert scene_of(perceptron(), direction="right").layout.direction == "right"


SCRIPT = """
import sys
sys.path.insert(0, {here!r})
import test_svg
for example in test_svg.EXAMPLES:
    print(test_svg.draw(example()).svg)
"""


def test_the_bytes_do_not_depend_on_the_hash_seed():
    here = str(Path(__file__).resolve().parent)
    outputs = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", SCRIPT.format(here=here)],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            check=True,
            encoding="utf-8",
        ).stdout
        for seed in ("2", "3")  # `course test` itself has another one
    }
    outputs.add("".join(f"{draw(example()).svg}\n" for example in EXAMPLES))
    assert len(outputs) == 1
    assert outputs.pop().count("</svg>") == len(EXAMPLES)
