"""Mistakes of unit 04 as learners write them, in other words than the witnesses: each is told its own idea."""

from __future__ import annotations

import pytest
import torch

from course_utils.checks import check


def train(body: str):
    names: dict[str, object] = {"torch": torch}
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    exec(
        "def train(w, inputs):\n    h = torch.ones_like(inputs[0])\n    gradients, total = [], 0.0\n"
        f"    for x in inputs:\n{lines}    return gradients, total / len(inputs)\n",
        names,
    )
    return names["train"]


def update(body: str):
    names: dict[str, object] = {"torch": torch}
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    exec(
        "def update(w, v, optimizer):\n    product = w * v\n    first = product.sum()\n"
        f"    second = (product**2).sum()\n    optimizer.zero_grad()\n{lines}",
        names,
    )
    return names["update"]


def step_of(body: str):
    names: dict[str, object] = {"torch": torch}
    exec("def sgd_step(w, lr):\n" + "".join(f"    {line}\n" for line in body.splitlines()), names)
    return names["sgd_step"]


def capped(body: str):
    names: dict[str, object] = {"torch": torch}
    exec("def capped(a, limit):\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return s\n", names)
    return names["capped"]


def hooked(body: str):
    names: dict[str, object] = {"torch": torch}
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    exec(
        f"def clip_and_note(y, limit):\n    noted = []\n    def hook(gradient):\n{lines}"
        "    y.register_hook(hook)\n    return noted\n",
        names,
    )
    return names["clip_and_note"]


GIVEN = "h = torch.tanh(w * h + x)\nloss = (h - 0.5) ** 2\nw.grad = None\n"
NOTE = "gradients.append(w.grad)\n"
SIGMOID = "s = torch.sigmoid(a)\n"


def every_path(result):
    leaves, nodes = [], [result.grad_fn]
    for node in nodes:
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        nodes.extend(following for following, _ in node.next_functions if following)
    return leaves


def none_asked_for_its_leaf(result):
    leaves, nodes = [], [result.grad_fn]
    while nodes:
        node = nodes.pop()
        for following, _ in node.next_functions:
            nodes.append(following)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
    return leaves


def straight_on(result):
    node = result.grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    return [node.variable]


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        ("predict_second_pass", (1, 1, 1, 0, 1), "nodes_are_enough"),
        ("predict_second_pass", (0, 0, 0, 0, 1), "backward_clears_the_graph"),
        ("predict_second_pass", (True, True, False, False, True), "constants_not_saved"),
        ("leaves_behind", every_path, "leaves_repeated"),
        ("leaves_behind", none_asked_for_its_leaf, "none_not_skipped"),
        ("leaves_behind", straight_on, "first_input_only"),
        ("mend_history", train(GIVEN + "loss.backward()\n" + NOTE + "total = total + loss"), "error_back"),
        (
            "mend_history",
            train(GIVEN + "loss.backward(retain_graph=True)\n" + NOTE + "total = total + loss.detach()"),
            "history_kept",
        ),
        (
            "mend_history",
            train(GIVEN + "loss.backward()\n" + NOTE + "total = total + loss\nh.detach_()"),
            "total_holds_the_graphs",
        ),
        (
            "mend_history",
            train(GIVEN + "loss.detach().backward()\n" + NOTE + "total = total + loss.item()"),
            "cut_too_early",
        ),
        ("mend_step_between", update("first.backward(retain_graph=True)\noptimizer.step()"), "first_loss_only"),
        ("mend_step_between", update("second.backward()\noptimizer.step()"), "second_loss_only"),
        ("mend_step_between", update("(first + second).backward()"), "no_step"),
        (
            "mend_step_between",
            update("(first + second).backward()\noptimizer.step()\noptimizer.step()"),
            "two_steps",
        ),
        ("mend_capped", capped(SIGMOID + "s = s.detach()\ns[s > limit] = limit"), "graph_cut"),
        ("mend_capped", capped(SIGMOID + "s.data[s > limit] = limit"), "change_hidden"),
        ("mend_capped", capped(SIGMOID + "s.detach().numpy()[(s > limit).numpy()] = limit"), "change_hidden"),
        ("mend_update", step_of("w.data = w.data - lr * w.grad"), "change_hidden"),
        ("mend_update", step_of("w.data.sub_(lr * w.grad)"), "change_hidden"),
        ("mend_update", step_of("w[:] -= lr * w.grad"), "through_a_view"),
        (
            "mend_step_between",
            update("first.backward()\nsecond.backward()\noptimizer.step()"),
            "freed_by_the_first_pass",
        ),
        ("mend_update", step_of("with torch.no_grad():\n    w = w - lr * w.grad"), "new_tensor"),
        ("mend_update", step_of("w = w.detach() - lr * w.grad\nw.requires_grad_()"), "new_tensor"),
        (
            "clip_and_note",
            hooked("noted.append(gradient)\ngradient = gradient.clamp(-limit, limit)"),
            "nothing_returned",
        ),
        ("clip_and_note", hooked("noted.append(gradient.clone())\ngradient.clamp_(-limit, limit)"), "written_into"),
        ("clip_and_note", hooked("gradient.clamp_(-limit, limit)\nnoted.append(gradient)"), "written_into_what_was_noted"),
        (
            "clip_and_note",
            hooked("gradient = gradient.clamp(-limit, limit)\nnoted.append(gradient)\nreturn gradient"),
            "notes_what_it_passes_on",
        ),
    ],
)
def test_the_idea_behind_a_mistake(name, answer, label):
    assert check(name, answer).diagnosis.label == label


@pytest.mark.parametrize(
    "answer",
    [
        update("first.backward(retain_graph=True)\noptimizer.step()\nsecond.backward(retain_graph=True)"),
    ],
)
def test_another_graph_kept_is_no_change_and_is_told_why(answer):
    result = check("mend_step_between", answer)
    assert result.status == "not attempted"
    assert "comes after w and v were changed in place" in result.html()


@pytest.mark.parametrize(
    "answer",
    [
        capped("with torch.no_grad():\n    s = a\ns = torch.sigmoid(a.clone())\ns[s > limit] = limit"),
        capped(SIGMOID + "with torch.no_grad():\n    s[s > limit] = limit"),
    ],
)
def test_a_saved_result_that_is_still_written_into_is_told_so(answer):
    result = check("mend_capped", answer)
    assert result.status == "not attempted"
    assert "in <code>no_grad()</code> too" in result.html()


def test_what_an_earlier_graph_adds_is_not_shown_as_the_learners():
    result = check("mend_update", step_of("w.data -= lr * w.grad"))
    assert "an earlier graph notices the change" in repr(result)
    assert "yours False, expected True" in repr(result)


def test_a_check_leaves_recording_as_it_was():
    check("mend_update", step_of("torch.set_grad_enabled(False)\nw -= lr * w.grad"))
    assert torch.is_grad_enabled()
