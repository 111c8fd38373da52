"""Mistakes of unit 05 as learners write them, in other words than the witnesses: each is told its own idea."""

from __future__ import annotations

import pytest
import torch

from course_utils.checks import check

from .as_written import defined, given


def training(*lines: str, before: str = "pass"):
    """The loop of exercise 2 with these lines in it."""
    body = "".join(f"        {line}\n" for line in lines)
    return defined(
        f"def answer(loss_of, w, steps, lr):\n    {before}\n    for _ in range(steps):\n{body}    return w\n"
    )


FORWARD = "loss_of(w).backward()"
IN_PLACE = ("with torch.no_grad():", "    w -= lr * w.grad")
REPLACED = ("with torch.no_grad():", "    w = w - lr * w.grad")


@pytest.mark.parametrize(
    ("label", "answer"),
    [
        ("never_cleared", training(FORWARD, "w.data -= lr * w.grad")),
        ("never_cleared", training("(g,) = [loss_of(w).backward()]", *IN_PLACE)),
        ("stale_gradient_counts", training(FORWARD, *IN_PLACE, "w.grad.zero_()")),
        ("cleared_once", training(FORWARD, *IN_PLACE, before="w.grad.zero_()")),
        ("update_replaces_leaf", training("w.grad = None", FORWARD, *REPLACED)),
        ("update_replaces_leaf", training("w.grad = None", FORWARD, "w = (w - lr * w.grad).detach().requires_grad_()")),
        ("update_replaces_leaf", training("w.grad = None", FORWARD, "w = w.detach() - lr * w.grad")),
        ("update_is_recorded", training("w.grad = None", FORWARD, "w.sub_(lr * w.grad)")),
        ("cleared_before_use", training(FORWARD, "w.grad = None", *IN_PLACE)),
        ("cleared_before_use", training(FORWARD, "w.grad.zero_()", "w.data = w.data - lr * w.grad")),
        ("zeroed_where_there_is_none", training("w.grad.zero_()", FORWARD, *IN_PLACE)),
        ("uphill", training("w.grad = None", FORWARD, "w.data += lr * w.grad")),
    ],
)
def test_training(label, answer):
    assert check("mend_training", answer).diagnosis.label == label


@pytest.mark.parametrize("returned", ["w.detach()", "w.clone()", "torch.nn.Parameter(w)", "w.data"])
def test_another_tensor_with_the_trained_values_is_not_w(returned):
    answer = defined(
        "def answer(loss_of, w, steps, lr):\n    for _ in range(steps):\n        w.grad = None\n"
        f"        loss_of(w).backward()\n        w.data -= lr * w.grad\n    return {returned}\n"
    )
    assert check("mend_training", answer).diagnosis.label == "returns_another_tensor"


@pytest.mark.parametrize(
    "root", ["variance.sqrt()", "(variance + 1e-8).sqrt()", "(variance.sqrt() + 1e-5)", "x.std(0)"]
)
def test_the_small_constant_counts_where_the_numbers_are_small(root):
    lines = ("mean = x.mean(0).detach()", "variance = x.var(0, unbiased=False).detach()")
    result = check("standardise", given("x", *lines, f"return (x - mean) / {root}"))
    assert result.status == "wrong"
    assert root == "x.std(0)" or result.diagnosis.label == "constant_left_out"


def test_recording_that_stays_off_is_seen_and_switched_on_again():
    lines = ("(g,) = torch.autograd.grad(loss_of(w), w)", "torch.set_grad_enabled(False)", "w -= lr * g")
    once = training("torch.set_grad_enabled(True)", *lines)
    result = check("mend_training", once)
    assert result.diagnosis.label == "recording_left_off"
    assert torch.is_grad_enabled()


JACOBIAN = ("x = x.clone().requires_grad_()", "y = f(x)")
MARKED = "leaves = [one.clone().requires_grad_() for one in inputs]"


@pytest.mark.parametrize(
    ("name", "label", "answer"),
    [
        (
            "mend_jacobian",
            "jacobian_transposed",
            given(
                "f, x",
                *JACOBIAN,
                "J = torch.zeros(len(x), len(y), dtype=x.dtype)",
                "for i in range(len(y)):",
                "    g = torch.zeros_like(y)",
                "    g[i] = 1",
                "    J[:, i] = torch.autograd.grad(y, x, g, retain_graph=True)[0]",
                "return J",
            ),
        ),
        (
            "mend_jacobian",
            "batched_grads_means_batched_data",
            given("f, x", *JACOBIAN, "return torch.autograd.grad(y, x, y.detach(), is_grads_batched=True)[0]"),
        ),
        (
            "mend_jacobian",
            "graph_freed",
            given("f, x", *JACOBIAN, "return torch.stack([torch.autograd.grad(one, x)[0] for one in y])"),
        ),
        ("mend_jacobian", "jacobian_transposed", given("f, x", "return torch.func.jacrev(f)(x).T.contiguous()")),
        ("mend_jacobian", "raises", given("f, x", "return torch.func.jacrev(f(x))(x)")),
        (
            "gradient_for_each",
            "nones_left",
            given("f, inputs", MARKED, "f(*leaves).backward()", "return tuple(leaf.grad for leaf in leaves)"),
        ),
        (
            "gradient_for_each",
            "allow_unused_covers_everything",
            given(
                "f, inputs",
                "y = f(*inputs)",
                "leaves = [one.requires_grad_() for one in inputs]",
                "return torch.autograd.grad(y, leaves, allow_unused=True)",
            ),
        ),
        (
            "gradient_for_each",
            "given_tensors_changed",
            given(
                "f, inputs",
                "for one in inputs: one.requires_grad = True",
                "return list(torch.autograd.grad(f(*inputs), list(inputs), materialize_grads=True))",
            ),
        ),
        (
            "by_column",
            "zeros_in_place_of_none",
            given("f, X, k", "return torch.zeros(len(X), dtype=X.dtype)"),
        ),
        (
            "by_column",
            "summed_over_samples",
            given("f, X, k", "return torch.func.grad(lambda X: f(X).sum())(X).sum(0)[k]"),
        ),
        (
            "each_output",
            "output_components_collapsed",
            given(
                "f, t",
                "t = t.clone().requires_grad_()",
                "f(t).sum().backward()",
                "return t.grad",
            ),
        ),
        (
            "standardise",
            "nothing_detached",
            given("x", "return torch.nn.functional.batch_norm(x, None, None, training=True)"),
        ),
        (
            "standardise",
            "input_detached",
            given("x", "x = x.detach()", "return (x - x.mean(0)) / (x.var(0, unbiased=False) + 1e-5).sqrt()"),
        ),
        (
            "standardise",
            "each_sample_by_itself",
            given(
                "x",
                "c = x.detach()",
                "return (x - c.mean(1)[:, None]) / (c.var(1, unbiased=False)[:, None] + 1e-5).sqrt()",
            ),
        ),
        (
            "for_each_sample",
            "never_cleared",
            given(
                "losses_of, w, X",
                "w = w.clone().requires_grad_()",
                "found = []",
                "for row in X:",
                "    losses_of(w, row[None]).backward()",
                "    found += [w.grad.clone()]",
                "return torch.stack(found)",
            ),
        ),
        (
            "for_each_sample",
            "one_sum_for_all",
            given("losses_of, w, X", "return torch.func.grad(lambda w: losses_of(w, X).sum())(w)"),
        ),
        (
            "for_each_sample",
            "divided_by_count",
            given("losses_of, w, X", "return torch.func.jacrev(lambda w: losses_of(w, X) / len(X))(w)"),
        ),
    ],
)
def test_the_idea_behind_a_mistake(name, label, answer):
    assert check(name, answer).diagnosis.label == label


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("by_column", given("f, X, k", "return None")),
        ("standardise", given("x", "m = x.mean(0).data", "return (x - m) / (x.var(0, unbiased=False) + 1e-5).sqrt()")),
        ("mend_training", training(FORWARD, "w = (w - lr * w.grad).detach()")),
    ],
)
def test_code_that_does_what_the_given_code_did_is_told_so_with_a_thought(name, answer):
    result = check(name, answer)
    assert result.status == "not attempted"
    assert "it still does what the given code did" in result.html()
