"""The geometry of a moment: a boundary where the logit is 0, and features in two numbers that agree with the head."""

import pytest
import torch

from course_utils.adversarial import Networks, train
from course_utils.adversarial.plane import Field, feature_plane, field_of

XS = YS = tuple(i / 10 for i in range(-10, 11))


def field(function):
    return Field(XS, YS, tuple(tuple(function(x, y) for x in XS) for y in YS))


def test_a_boundary_lies_where_the_logit_is_zero():
    ends = [end for segment in field(lambda x, y: x + 2 * y - 0.33).boundary() for end in segment]
    assert ends
    assert all(x + 2 * y == pytest.approx(0.33) for x, y in ends)


def test_a_boundary_may_be_closed_and_every_end_is_met_twice():
    segments = field(lambda x, y: x * x + y * y - 0.517).boundary()
    ends = [tuple(round(value, 9) for value in end) for segment in segments for end in segment]
    assert all(ends.count(end) == 2 for end in ends)


def test_where_all_have_one_sign_there_is_no_boundary():
    assert field(lambda x, y: 1.0).boundary() == []


def test_a_saddle_gives_two_lines():
    saddle = Field((0.0, 1.0), (0.0, 1.0), ((1.0, -1.0), (-1.0, 1.0)))
    assert len(saddle.boundary()) == 2


def test_the_field_is_what_the_label_head_says():
    net = Networks(3)
    found = field_of(net, (-1.0, 0.5), (0.0, 2.0, 3.0))
    for y, row in zip(found.ys, found.rows, strict=True):
        for x, value in zip(found.xs, row, strict=True):
            with torch.no_grad():
                said = net.label(net.features(torch.tensor([[x, y]], dtype=torch.float64)))
            assert value == pytest.approx(said.item())


def test_the_first_number_is_the_distance_from_the_boundary_and_the_second_lies_along_it():
    run = train(seed=1, steps=100)
    net, data = run.last.networks(), run.domains
    source, target = feature_plane(net, data)
    assert source.shape == target.shape == (300, 2)
    with torch.no_grad():
        logits = net.label(net.features(data.source))
    torch.testing.assert_close(source[:, 0] * net.label[0].weight[0].norm(), logits)
    both = torch.cat([source, target])
    assert abs(both[:, 1].mean()) < 1e-9
    assert both.abs().max() < 6
