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
CUT = "h = torch.tanh(w * h.detach() + x)\nloss = (h - 0.5) ** 2\n"
BACKWARD = "loss.backward()\ngradients.append(w.grad)\ntotal = total + loss.item()"
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


IS_A_LEAF = "if hasattr(node, 'variable'): found.append(node"


def leaves(lines: str):
    """A walk that comes to each node once, does these things with it, and returns `found`."""
    names: dict[str, object] = {"torch": torch}
    body = "".join(f"        {line}\n" for line in lines.splitlines())
    exec(
        "def leaves_behind(result):\n    found, nodes = [], [result.grad_fn]\n    for node in nodes:\n"
        "        nodes += [one for one, _ in dict.fromkeys(node.next_functions) if one and one not in nodes]\n"
        f"{body}    return found\n",
        names,
    )
    return names["leaves_behind"]


def waiting_twice(result):
    seen, stack = [], [result.grad_fn]
    while stack:
        node = stack.pop()
        seen.append(node)
        for following, _ in node.next_functions:
            if following and following not in seen:
                stack.append(following)
    return [node.variable for node in seen if hasattr(node, "variable")]


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        ("predict_second_pass", (1, 1, 1, 0, 1), "nodes_are_enough"),
        ("predict_second_pass", (0, 0, 0, 0, 1), "backward_clears_the_graph"),
        ("predict_second_pass", (True, True, False, False, True), "constants_not_saved"),
        ("leaves_behind", every_path, "leaves_repeated"),
        ("leaves_behind", none_asked_for_its_leaf, "none_not_skipped"),
        ("leaves_behind", straight_on, "first_input_only"),
        ("leaves_behind", waiting_twice, "leaves_repeated"),
        (
            "leaves_behind",
            leaves("if hasattr(node, 'variable') and node.variable not in found:\n    found.append(node.variable)"),
            "compared_by_their_numbers",
        ),
        (
            "leaves_behind",
            leaves(f"if node is nodes[0]: result.sum().backward()\n{IS_A_LEAF}.variable)"),
            "backward_was_run",
        ),
        (
            "leaves_behind",
            leaves(f"if node is nodes[0]: result.backward()\n{IS_A_LEAF}.variable)"),
            "backward_without_a_number",
        ),
        ("leaves_behind", leaves(f"{IS_A_LEAF}.variable.detach())"), "other_tensors"),
        ("leaves_behind", leaves(f"{IS_A_LEAF})"), "nodes_not_tensors"),
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
        ("mend_history", train(CUT + "if w.grad is not None: w.grad.zero_()\n" + BACKWARD), "one_tensor_noted"),
        ("mend_history", train(CUT + BACKWARD + "\nw.grad.zero_()"), "one_tensor_noted"),
        ("mend_history", train(CUT + BACKWARD), "one_tensor_noted"),
        ("mend_history", train(CUT + "w.grad.zero_()\n" + BACKWARD), "nothing_there_to_set_to_zero"),
        (
            "mend_history",
            train(CUT + "gradients += torch.autograd.grad(loss, w, create_graph=True)\ntotal = total + loss.item()"),
            "gradients_hold_graphs",
        ),
        ("mend_history", train(CUT + "w.grad = None\n" + BACKWARD.replace("total +", "0.0 +")), "no_mean"),
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
        ("mend_capped", capped(SIGMOID + "s = s.clone()\ns[a > limit] = limit"), "input_capped"),
        ("mend_capped", capped(SIGMOID + "s = s.detach().clamp(max=limit).requires_grad_()"), "new_leaf"),
        ("mend_update", step_of("w = w.detach()\nw -= lr * w.grad"), "detached_has_no_grad"),
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
        (
            "clip_and_note",
            hooked("gradient.clamp_(-limit, limit)\nnoted.append(gradient)"),
            "written_into_what_was_noted",
        ),
        (
            "clip_and_note",
            hooked("noted.append(gradient)\nreturn gradient.clamp_(-limit, limit)"),
            "written_into_what_was_noted",
        ),
        ("clip_and_note", lambda y, limit: lambda gradient: gradient.clamp(-limit, limit), "hook_returned"),
        ("clip_and_note", lambda y, limit: y.register_hook(lambda g: g.clamp(-limit, limit)), "handle_returned"),
        ("clip_and_note", lambda y, limit: y, "tensor_returned"),
        ("clip_and_note", hooked("return gradient.clamp(-limit, limit)"), "list_not_filled"),
        ("clip_and_note", hooked("noted = [gradient]\nreturn gradient.clamp(-limit, limit)"), "list_not_filled"),
        (
            "clip_and_note",
            hooked("noted.append(gradient)\nif gradient > limit: return limit\nreturn gradient"),
            "whole_tensors_compared",
        ),
        ("predict_second_pass", (1, 1, 0, 0, 0), "one_and_zero_exchanged"),
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


@pytest.mark.parametrize("body", ["s = torch.where(s > limit, limit, s)", "s = s.clamp(max=limit)"])
def test_praise_does_not_speak_of_a_copy_that_nobody_made(body):
    result = check("mend_capped", capped(SIGMOID + body))
    assert result.status == "right"
    assert "copy" not in result.html()


def test_where_code_raises_what_was_expected_stands_part_by_part():
    result = check("clip_and_note", lambda y, limit: 1 / 0)
    assert "yours raises ZeroDivisionError, expected how many were noted: 2, noted: (" in repr(result)
    assert "how many were noted: 2,\nnoted: (" in result.html()


def test_a_check_leaves_recording_as_it_was():
    check("mend_update", step_of("torch.set_grad_enabled(False)\nw -= lr * w.grad"))
    assert torch.is_grad_enabled()
