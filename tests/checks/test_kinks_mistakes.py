"""Mistakes of unit 08 as learners write them, in other words than the witnesses: each is told its own idea."""

from __future__ import annotations

import pytest
import torch

from course_utils.checks import check


def answer(exercise: str, *lines: str):
    """A function with the exercise's arguments and these lines."""
    heads = {
        "supports": "f, x, slope, points",
        "max_backward": "incoming, x",
        "straight_sign": "x",
        "mend_lengths": "x",
        "mend_entropy": "p",
        "mend_missing": "x, target",
        "mend_attention": "scores, mask, values",
    }
    names: dict[str, object] = {"torch": torch, "F": torch.nn.functional}
    exec("def answer({}):\n{}".format(heads[exercise], "".join(f"    {line}\n" for line in lines)), names)
    return names["answer"]


SLOPE = "secant = (f(points) - f(x)) / (points - x)"
KNOWN = "known = ~target.isnan()"
HIDDEN = "w = torch.softmax(torch.where(mask, scores, {}), dim=-1)"


@pytest.mark.parametrize(
    ("exercise", "label", "lines"),
    [
        ("supports", "touching_not_allowed", ("return all(f(x) + slope * (p - x) < f(p) for p in points)",)),
        ("supports", "same_side_for_both", (SLOPE, "return bool(torch.all(slope <= secant))")),
        ("supports", "at_one_point_is_enough", ("return any(f(x) + slope * (p - x) <= f(p) for p in points)",)),
        ("supports", "line_through_the_origin", ("return (points * slope).le(f(points)).all().item()",)),
        ("max_backward", "all_to_one_place", ("return incoming * F.one_hot(x.max(0).indices, len(x)).to(x.dtype)",)),
        ("max_backward", "not_shared", ("return torch.where(x == x.max(), incoming, 0.0)",)),
        ("max_backward", "shared_among_all", ("return (incoming / x.numel()).expand(x.shape)",)),
        ("straight_sign", "ste_without_the_gate", ("return x.sign().detach() + x - x.detach()",)),
        ("straight_sign", "flat_sign", ("return torch.where(x.abs() < 1, x.sign(), x.sign())",)),
        ("straight_sign", "everything_detached", ("with torch.no_grad():", "    return torch.sign(x)")),
        ("straight_sign", "clamped_value", ("return F.hardtanh(x)",)),
        ("mend_lengths", "eps_inside_changes_values", ("return torch.sqrt(torch.sum(x * x, dim=-1) + 1e-8)",)),
        ("mend_lengths", "length_of_everything", ("return torch.linalg.vector_norm(x)",)),
        ("mend_entropy", "logarithm_kept_finite", ("q = p.clamp_min(1e-12)", "return -(p * torch.log(q)).sum()")),
        ("mend_entropy", "sign_forgotten", ("q = p[p.nonzero()]", "return (q * q.log()).sum()")),
        ("mend_missing", "missing_counts_as_zero", ("return F.mse_loss(x, torch.nan_to_num(target, 0.0))",)),
        ("mend_missing", "divided_by_all", (KNOWN, "e = x[known] - target[known]", "return e @ e / len(x)")),
        ("mend_missing", "sum_in_place_of_mean", (KNOWN, "return (x[known] - target[known]).square().sum()")),
        ("mend_attention", "finite_and_not_masked", (HIDDEN.format("-1e4"), "return w @ values")),
        ("mend_attention", "hidden_by_zero", (HIDDEN.format("0.0"), "return (w * mask) @ values")),
        ("mend_attention", "masked_after_the_softmax", ("return scores.softmax(1).masked_fill(~mask, 0) @ values",)),
        (
            "mend_attention",
            "result_repaired",
            (HIDDEN.format("-float('inf')"), "y = w @ values", "return torch.where(y.isnan(), 0.0, y)"),
        ),
    ],
)  # fmt: skip
def test_the_idea_behind_a_mistake(exercise, label, lines):
    assert check(exercise, answer(exercise, *lines)).diagnosis.label == label


@pytest.mark.parametrize(
    ("exercise", "lines", "words"),
    [
        ("mend_lengths", ("return (x**2).sum(dim=1).sqrt().nan_to_num(0.0)",), "on the way back does 0 meet"),
        ("mend_lengths", ("n = (x**2).sum(dim=1)", "return torch.where(n > 0, n.sqrt(), 0.0)"), "on the way back"),
        ("mend_entropy", ("return (-p * p.log()).nan_to_num(0.0).sum()",), "the branch that was not chosen"),
        ("mend_missing", ("return ((x - target) ** 2).nanmean()",), "What does the square send back"),
        ("mend_missing", (KNOWN, "return ((x - target) ** 2)[known].sum() / known.sum()"), "behind the square"),
        (
            "mend_attention",
            (HIDDEN.format("-float('inf')"), "return (w * mask) @ values"),
            "all scores are minus infinity",
        ),
    ],
)  # fmt: skip
def test_what_leaves_the_gradient_as_it_was_is_told_where_to_look(exercise, lines, words):
    result = check(exercise, answer(exercise, *lines))
    assert result.status == "not attempted"
    assert words in result.html()
    assert "changed without effect" in result.html()


def test_the_backward_of_max_may_not_ask_autograd():
    result = check("max_backward", answer("max_backward", "return torch.func.grad(torch.max)(x) * incoming"))
    assert result.diagnosis.label == "uses_autograd"
