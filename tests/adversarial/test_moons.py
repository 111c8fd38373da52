"""The data: two moons of each domain, the same on every machine, whatever the notebook has set."""

import math

import pytest
import torch

from course_utils.adversarial import two_domains


@pytest.fixture
def default_dtype():
    before = torch.get_default_dtype()
    yield torch.set_default_dtype
    torch.set_default_dtype(before)


def tensors(domains):
    return domains.source, domains.source_labels, domains.target, domains.target_labels


def test_points_have_labels_of_both_moons_in_equal_number():
    domains = two_domains(3, points=40)
    assert domains.source.shape == domains.target.shape == (40, 2)
    assert domains.source_labels.sum() == domains.target_labels.sum() == 20


def test_without_noise_the_points_lie_on_half_circles():
    domains = two_domains(0, points=50, noise=0.0, degrees=0.0)
    middles = torch.tensor([[-0.5, -0.25], [0.5, 0.25]], dtype=torch.float64)
    for points, labels in ((domains.source, domains.source_labels), (domains.target, domains.target_labels)):
        distances = (points - middles[labels.long()]).norm(dim=1)
        torch.testing.assert_close(distances, torch.ones(50, dtype=torch.float64))
        assert ((points[:, 1] >= -0.25 - 1e-9) == (labels == 0)).sum() >= 40


def test_only_the_target_is_turned_counterclockwise_around_the_origin():
    straight, turned = two_domains(1, degrees=0.0), two_domains(1, degrees=35.0)
    assert torch.equal(straight.source, turned.source)
    as_complex = torch.view_as_complex(straight.target) * complex(
        math.cos(math.radians(35)), math.sin(math.radians(35))
    )
    torch.testing.assert_close(torch.view_as_real(as_complex), turned.target)


def test_source_and_target_are_not_the_same_points():
    domains = two_domains(1, degrees=0.0)
    assert not torch.allclose(domains.source, domains.target)


def test_a_seed_gives_the_same_data_under_any_default_dtype_and_draws_nothing_from_the_notebook(default_dtype):
    state = torch.random.get_rng_state()
    first = two_domains(2)
    default_dtype(torch.float64)
    assert all(map(torch.equal, tensors(first), tensors(two_domains(2))))
    assert first.source.dtype == torch.float64
    assert not torch.equal(first.source, two_domains(4).source)
    assert torch.equal(torch.random.get_rng_state(), state)
