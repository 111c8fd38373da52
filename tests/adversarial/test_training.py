"""The training loop: what is kept of it, what the factor does, and that no more is trained than was asked for."""

import itertools

import pytest
import torch

from course_utils.adversarial import (
    Networks,
    adversarial_loss,
    factor_at,
    fresh_domain_accuracy,
    moments,
    reverse,
    train,
    two_domains,
)
from course_utils.adversarial.training import LAST_RATE, RATE, _batch, learning_rate


def batch_of(seed):
    return _batch(two_domains(seed), torch.Generator().manual_seed(seed))


def gradients(factor):
    net = Networks(1)
    loss = adversarial_loss(net, batch_of(1), factor)
    return dict(zip(dict(net.named_parameters()), torch.autograd.grad(loss, list(net.parameters())), strict=True))


def test_the_layer_gives_back_the_input_and_turns_the_gradient():
    x = torch.tensor([2.0, -3.0], requires_grad=True)
    y = reverse(x, 0.5)
    y.backward(torch.tensor([4.0, 10.0]))
    assert torch.equal(y, x)
    assert x.grad.tolist() == [-2.0, -5.0]


@pytest.mark.parametrize(("progress", "factor"), [(0.0, 0.0), (0.5, 0.98661), (1.0, 0.99991)])
def test_the_schedule_goes_from_nothing_to_nearly_one(progress, factor):
    assert factor_at(progress) == pytest.approx(factor, abs=1e-5)


def test_the_features_get_minus_factor_times_the_domain_head_and_the_heads_are_not_turned():
    none, plain, turned = gradients(0.0), gradients(-1.0), gradients(0.3)
    for name in none:
        from_domain = plain[name] - none[name]
        if name.startswith("features"):
            torch.testing.assert_close(turned[name] - none[name], -0.3 * from_domain)
            assert from_domain.abs().max() > 1e-4
        else:
            assert torch.equal(turned[name], none[name])


def test_the_rate_is_constant_and_then_falls_along_a_line():
    rates = [learning_rate(progress) for progress in (0.0, 0.49, 0.5, 0.75, 1.0)]
    assert rates == pytest.approx([RATE, RATE, RATE, (RATE + LAST_RATE) / 2, LAST_RATE])


def test_moments_are_kept_at_equal_distances_with_the_start_and_the_end():
    run = train(seed=1, strength=2.0, steps=80)
    steps = [moment.step for moment in run.moments]
    assert (steps[0], steps[1], steps[-1], len(steps)) == (0, 2, 80, 41)
    assert run.last.factor == pytest.approx(2 * factor_at(79 / 80))


def test_a_moment_is_a_copy_that_gives_its_networks_again():
    run = train(seed=1, steps=40)
    start, end = run.moments[0].networks(), run.last.networks()
    assert torch.equal(start.features[0].weight, Networks(1).features[0].weight)
    assert not torch.equal(start.features[0].weight, end.features[0].weight)
    named = (end.label(end.features(run.domains.target)) > 0) == (run.domains.target_labels > 0)
    assert named.double().mean().item() == run.last.target


def test_who_asks_for_a_few_moments_gets_a_few_steps():
    calls = []

    def counted(net, batch, factor):
        calls.append(factor)
        return adversarial_loss(net, batch, factor)

    seen = list(itertools.islice(moments(1, loss=counted, steps=400), 3))
    assert [moment.step for moment in seen] == [0, 10, 20]
    assert len(calls) == 20


def test_two_trainings_of_one_seed_are_the_same_and_draw_nothing_from_the_notebook():
    state = torch.random.get_rng_state()
    one, other = (train(seed=2, steps=60).last.parameters for _ in range(2))
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not torch.equal(one["label.0.weight"], train(seed=3, steps=60).last.parameters["label.0.weight"])


def test_rounding_of_another_machine_changes_no_accuracy():
    generator = torch.Generator().manual_seed(0)

    def shaken(net, batch, factor):
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.mul_(1 + 1e-15 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
        return adversarial_loss(net, batch, factor)

    assert train(seed=1, steps=200, loss=shaken).moments == train(seed=1, steps=200).moments


def test_a_fresh_head_reads_the_domains_from_features_that_nobody_has_turned():
    run = train(seed=1, strength=0.0, steps=200)
    assert 0.7 < fresh_domain_accuracy(run) <= 1
