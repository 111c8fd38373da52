"""Mistakes of unit 03 as learners write them, in other words than the witnesses: each is told its own idea."""

from __future__ import annotations

import warnings

import pytest
import torch

from course_utils.checks import check
from course_utils.checks.catalogue import all_exercises


def turn(lines: str):
    names: dict[str, object] = {"torch": torch}
    body = "".join(f"    {line}\n" for line in lines.split("; "))
    exec(f"def turn(point, angle):\n    c, s = torch.cos(angle), torch.sin(angle)\n{body}", names)
    return names["turn"]


def plot(first: str, last: str = "return shown"):
    names: dict[str, object] = {"torch": torch}
    exec(
        f"def for_plot(out):\n    {first}\n    shown -= shown.mean()\n    shown /= shown.abs().max()\n    {last}\n",
        names,
    )
    return names["for_plot"]


def loss(target: str, result: str = "((now @ w - target) ** 2).mean()"):
    names: dict[str, object] = {"torch": torch}
    exec(f"def target_loss(w, now, later, reward):\n    target = {target}\n    return {result}\n", names)
    return names["target_loss"]


def freeze(line: str):
    names: dict[str, object] = {"torch": torch}
    exec(f"def freeze(network):\n    for p in network.body.parameters():\n        {line}\n", names)
    return names["freeze"]


def use(lines: str):
    names: dict[str, object] = {"torch": torch}
    exec("def use(network, x):\n" + "".join(f"    {line}\n" for line in lines.split("; ")), names)
    return names["use"]


@pytest.fixture(autouse=True)
def dtype_of_the_notebook():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def backward_inside(line: str):
    names: dict[str, object] = {"torch": torch}
    exec(
        "def target_loss(w, now, later, reward):\n    target = reward + 0.9 * (later @ w.detach())\n"
        f"    loss = ((now @ w - target) ** 2).mean()\n    {line}\n    return loss\n",
        names,
    )
    return names["target_loss"]


TARGET = "reward + 0.9 * (later @ w)"
EVALUATED = "m = network.training; network.eval(); with torch.no_grad():; \ty = network(x)"


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        (
            "mend_rotation",
            turn("m = torch.tensor([c, -s, s, c]).view(2, 2); return (m @ point.detach()).requires_grad_()"),
            "requires_grad_on_the_result",
        ),
        ("mend_rotation", turn("return torch.stack([c, s, -s, c]).view(2, 2) @ point"), "turned_the_other_way"),
        (
            "mend_rotation",
            turn("m = torch.tensor([[c, -s], [s, c]], requires_grad=True); return m @ point"),
            "flag_on_the_matrix",
        ),
        (
            "mend_rotation",
            turn("m = torch.nn.Parameter(torch.tensor([[c, -s], [s, c]])); return m @ point"),
            "flag_on_the_matrix",
        ),
        (
            "mend_rotation",
            turn("x, y = point.tolist(); return torch.stack([c * x - s * y, s * x + c * y])"),
            "point_is_cut",
        ),
        (
            "mend_rotation",
            turn("x, y = point; return torch.tensor([(c * x - s * y).item(), (s * x + c * y).item()])"),
            "nothing_recorded",
        ),
        ("mend_position", lambda s, p, k: torch.sum(torch.softmax(s, 0) * p), "sharpness_missing"),
        ("mend_position", lambda s, p, k: (torch.softmax(k * s, 0) * p).mean(), "sum_taken_for_mean"),
        ("mend_position", lambda s, p, k: (torch.softmax(k * s.detach(), 0) * p).sum(), "weights_detached"),
        ("mend_position", lambda s, p, k: torch.softmax(k * s, 0) * p, "not_added_up"),
        (
            "mend_position",
            lambda s, p, k: torch.softmax(k * s, 0) @ torch.arange(len(s)).double(),
            "indices_for_positions",
        ),
        ("mend_position", lambda s, p, k: (torch.softmax(k * s, 0) @ p).item(), "number_returned"),
        ("mend_plot", plot("shown = out"), "second_name"),
        ("mend_plot", plot("shown = out.view_as(out)"), "second_name"),
        ("mend_plot", plot("shown = out.clone()"), "clone_keeps_history"),
        ("mend_plot", plot("shown = out + 0"), "clone_keeps_history"),
        ("mend_plot", plot("shown = out.data"), "data_shares_storage"),
        ("mend_plot", plot("shown = out.detach_().clone()"), "detaches_the_original"),
        ("mend_plot", plot("shown = out.clone().detach()", "return shown.numpy()"), "as_an_array"),
        ("fixed_target", loss(TARGET), "target_passes_gradient"),
        ("fixed_target", loss(f"({TARGET}).clone()"), "target_passes_gradient"),
        ("fixed_target", loss(TARGET, "((now @ w - target).detach() ** 2).mean()"), "nothing_recorded"),
        ("fixed_target", loss(TARGET, "((now @ w.detach() - target) ** 2).mean()"), "wrong_side_detached"),
        ("fixed_target", loss(f"({TARGET}).detach()", "((now @ w - target) ** 2).sum()"), "summed"),
        ("fixed_target", loss("reward + 0.9 * (later @ w.detach_())"), "detaches_w_itself"),
        ("fixed_target", loss(f"({TARGET}).detach()", "((now @ w - target) ** 2).mean().item()"), "number_returned"),
        ("fixed_target", backward_inside("loss.backward()"), "backward_inside"),
        ("fixed_target", backward_inside("loss.backward(retain_graph=True)"), "backward_inside"),
        ("freeze_body", freeze("p.require_grad = False"), "flag_without_effect"),
        ("freeze_body", freeze("p = p.detach()"), "flag_without_effect"),
        ("freeze_body", freeze("p.grad = None"), "flag_without_effect"),
        ("freeze_body", lambda network: setattr(network.body, "requires_grad", False), "flag_without_effect"),
        ("freeze_body", lambda network: network.requires_grad_(False), "everything_frozen"),
        ("freeze_body", lambda network: network.body[2].requires_grad_(False), "part_of_the_body_frozen"),
        ("freeze_body", lambda network: network.body.eval(), "eval_is_no_freezing"),
        ("freeze_body", lambda network: network.eval().body.requires_grad_(False), "frozen_and_in_eval"),
        ("freeze_body", lambda network: network.body.eval().requires_grad_(False), "frozen_and_in_eval"),
        ("freeze_body", lambda network: torch.set_grad_enabled(False), "recording_switched_off"),
        ("use_network", use("with torch.no_grad():; \treturn network(x)"), "no_grad_is_eval"),
        ("use_network", use("network.eval(); return network(x)"), "eval_disables_grad"),
        ("use_network", use("network.eval(); with torch.no_grad():; \treturn network(x)"), "left_in_eval"),
        (
            "use_network",
            use("network.eval(); with torch.no_grad():; \ty = network(x); network.train(); return y"),
            "always_back_to_training",
        ),
        ("use_network", lambda network, x: network(x), "nothing_switched"),
        ("use_network", use(f"{EVALUATED}; network.training = m; return y"), "back_on_the_outside_only"),
        ("use_network", use(f"{EVALUATED}; network.train(m); return y.requires_grad_()"), "flag_on_the_result"),
        ("use_network", use(f"{EVALUATED}; network.train(m); return y.numpy()"), "no_tensor"),
        ("use_network", use(f"{EVALUATED}; network.train(m)"), "returns_none"),
        ("predict_flags", (False, True, True, False, True, False), "mode_only_pauses_backward"),
        ("predict_flags", (False, True, False, True, True, False), "s_follows_from_b"),
        ("predict_flags", (False, True, True, False, True, True), "several_flags_wrong"),
        ("predict_flags", (False, False, False, False, True, True), "several_flags_wrong"),
        ("predict_leaves", (False, True, False, True, True, False, True), "leaf_means_requires_grad"),
        ("predict_leaves", (True, True, False, False, True, False, True), "detached_is_no_leaf"),
        ("predict_leaves", (True, True, True, True, True, False, True), "recorded_and_a_leaf"),
        ("predict_leaves", (True, True, True, True, True, True, True), "several_leaves_wrong"),
        ("predict_bytes", (4040, 4040, 0), "same_factor_in_both_cases"),
        ("predict_bytes", (8000, 8000, 0), "same_factor_in_both_cases"),
        ("predict_bytes", (4040, 8000, 0), "keeps_the_value_itself"),
    ],
)
def test_the_idea_behind_a_mistake(name, answer, label):
    assert check(name, answer).diagnosis.label == label


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("mend_rotation", turn("m = torch.tensor([[c.item(), -s.item()], [s.item(), c.item()]]); return m @ point")),
        ("mend_position", lambda scores, positions, sharpness: positions[torch.argmax(sharpness * scores)]),
        ("mend_plot", plot("shown = out.detach().view_as(out)")),
    ],
)
def test_code_that_does_what_the_given_code_did_is_told_so_with_a_thought(name, answer):
    exercise = all_exercises()[name]
    result = check(name, answer)
    assert result.status == "not attempted"
    assert "it still does what the given code did" in result.html()
    assert exercise.when_as_given


def test_a_warning_of_torch_is_no_error():
    """`torch.tensor` warns of elements that require a gradient, the first time in a process or always."""
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = check("mend_rotation", turn("return torch.tensor([[c, -s], [s, c]]) @ point"))
    finally:
        torch.set_warn_always(False)
    assert result.status == "not attempted"


def test_the_grad_mode_and_random_numbers_are_as_before():
    def leaves_it_off(network, x):
        torch.rand(3)
        torch.set_grad_enabled(False)
        return network(x)

    state = torch.get_rng_state()
    assert check("use_network", leaves_it_off).status == "wrong"
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), state)


def test_verdicts_do_not_depend_on_the_mode_of_the_notebook():
    with torch.no_grad():
        assert check("fixed_target", loss(f"({TARGET}).detach()")).status == "right"
        assert check("freeze_body", lambda network: network.body.requires_grad_(False)).status == "right"
        assert check("use_network", use("return network(x)")).status == "wrong"
