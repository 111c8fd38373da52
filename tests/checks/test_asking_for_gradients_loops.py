"""Unit 05: loops that collect `.grad`, tuples in a tensor's place, and further mistakes met in its exercises."""

from __future__ import annotations

import pytest
import torch

from course_utils.checks import check

from .as_written import defined, given

LOOP = """
def answer(f, x{more}):
    x = x.clone().requires_grad_()
    rows = []
    for y in f(x{more}){outputs}:
        {before}
        y.sum().backward(retain_graph=True)
        rows.append({row})
        {after}
    return {joined}
"""
ROWS = {"more": "", "outputs": "", "joined": "torch.stack(rows)"}
COLUMNS = {"more": "", "outputs": ".unbind(1)", "joined": "torch.cat(rows, 1)"}
ENTRIES = {**ROWS, "more": ", X"}


def loop(shape, before="pass", row="x.grad", after="pass"):
    """The loop with these lines in it."""
    return defined(LOOP.format(**shape, before=before, row=row, after=after))


@pytest.fixture(autouse=True)
def dtype_of_the_notebook():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def label_of(exercise, answer):
    """The label of the diagnosis; the verdict where there is none."""
    result = check(exercise, answer)
    return result.diagnosis.label if result.diagnosis else result.status


@pytest.mark.parametrize(
    ("exercise", "shape"), [("mend_jacobian", ROWS), ("each_output", COLUMNS), ("for_each_sample", ENTRIES)]
)
def test_loops_that_collect_dot_grad(exercise, shape):
    assert label_of(exercise, loop(shape, before="x.grad = x.grad.zero_() if rows else None")) == "last_one_for_all"
    assert label_of(exercise, loop(shape, row="x.grad.clone()")) == "never_cleared"
    assert label_of(exercise, loop(shape, after="x.grad.zero_()")) == "emptied_afterwards"
    assert label_of(exercise, loop(shape, before="x.grad = None")) == "right"
    assert label_of(exercise, loop(shape, row="x.grad.clone()", after="x.grad.zero_()")) == "right"


def test_rows_that_are_one_tensor_are_told_so():
    assert label_of("each_output", loop(COLUMNS)) == "one_dot_grad_for_all"
    assert label_of("for_each_sample", loop(ENTRIES)) == "multiple_outputs_are_summed"
    assert "they are all one tensor" in check("mend_jacobian", loop(ROWS)).html()


HEADS = {
    "mend_training": "loss_of, w, steps, lr",
    "mend_jacobian": "f, x",
    "by_column": "f, x, k",
    "each_output": "f, x",
    "for_each_sample": "f, x, X",
    "gradient_for_each": "f, inputs",
    "standardise": "x",
}
FLAGGED = "x = x.clone().requires_grad_()"
COPIES = "leaves = [one.clone().requires_grad_() for one in inputs]"


def answered(exercise, *lines):
    """The answer of these lines to the exercise."""
    return given(HEADS[exercise], *lines)


@pytest.mark.parametrize(
    ("exercise", "code"),
    [
        ("mend_jacobian", "torch.stack([torch.autograd.grad(y, x, retain_graph=True) for y in f(x)])"),
        ("each_output", "torch.cat([torch.autograd.grad(y.sum(), x, retain_graph=True) for y in f(x).T], 1)"),
        ("for_each_sample", "torch.stack([torch.autograd.grad(y, x, retain_graph=True) for y in f(x, X)])"),
        ("by_column", "torch.autograd.grad(f(x).sum(), x)[:, k]"),
    ],
)
def test_a_tuple_in_a_tensors_place_is_named(exercise, code):
    says = check(exercise, answered(exercise, FLAGGED, f"return {code}")).diagnosis.says
    assert "`torch.autograd.grad` and `saved_tensors` give a tuple" in says


@pytest.mark.parametrize(
    ("exercise", "code"),
    [
        ("mend_jacobian", "torch.autograd.grad(f(x), x, torch.eye(len(f(x))), is_grads_batched=True)"),
        ("by_column", "torch.autograd.grad(f(x).sum(), x)"),
    ],
)
def test_a_tuple_that_is_returned_is_named(exercise, code):
    says = check(exercise, answered(exercise, FLAGGED, f"return {code}")).diagnosis.says
    assert "`torch.autograd.grad` returns a tuple." in says


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("no weights are given", "torch.autograd.grad(f(x), x)[0]"),
        ("No path leads", "torch.autograd.grad(f(x).sum(), x[0])[0]"),
        ("does not require a gradient", "torch.autograd.grad(f(x).sum(), x.detach())[0]"),
        ("None stands where", "torch.stack([x.grad])"),
        ("A tuple or a list stands", "0.5 * torch.autograd.grad(f(x).sum(), x)"),
    ],
)
def test_what_autograd_refuses_is_said_in_words(words, code):
    assert words in check("mend_jacobian", answered("mend_jacobian", FLAGGED, f"return {code}")).diagnosis.says


def rows(count):
    line = f"return torch.stack([torch.autograd.grad(y[i], x, retain_graph=True)[0] for i in range({count})])"
    return answered("mend_jacobian", FLAGGED, "y = f(x)", line)


def asking(outputs, inputs):
    line = f"return torch.autograd.grad({outputs}, {inputs}, materialize_grads=True)"
    return answered("gradient_for_each", COPIES, line)


STEP = ("w.grad = None", "loss_of(w).backward()", "w.data -= lr * w.grad")


@pytest.mark.parametrize(
    ("exercise", "label", "answer"),
    [
        ("mend_jacobian", "rows_counted_by_the_inputs", rows("len(x)")),
        ("mend_jacobian", "two_rows_whatever_comes", rows("2")),
        ("gradient_for_each", "allow_unused_covers_everything", asking("f(*inputs)", "leaves")),
        ("gradient_for_each", "first_input_only", asking("f(*leaves)", "leaves[0]")),
        ("gradient_for_each", "first_input_only", asking("f(*leaves)", "leaves[:1]")),
        ("gradient_for_each", "first_input_only", lambda f, inputs: torch.func.grad(f)(*inputs)),
        ("gradient_for_each", "list_as_one_argument", lambda f, inputs: torch.func.grad(f)(inputs)),
        ("gradient_for_each", "other_tensors_asked", asking("f(*leaves)", "[one * 1 for one in leaves]")),
        (
            "gradient_for_each",
            "other_tensors_asked",
            answered("gradient_for_each", COPIES, "f(*leaves).backward()", "return [one.grad for one in inputs]"),
        ),
        (
            "gradient_for_each",
            "backward_on_the_given",
            answered(
                "gradient_for_each",
                "for one in inputs: one.requires_grad = True",
                "torch.autograd.backward(f(*inputs))",
                "return tuple(one.grad for one in inputs)",
            ),
        ),
        ("by_column", "index_into_the_tuple", lambda f, x, k: torch.func.vjp(f, x)[1](torch.ones(len(x)))[k]),
        ("by_column", "f_of_a_column", lambda f, x, k: torch.func.grad(lambda c: f(c).sum())(x[:, k])),
        ("each_output", "whole_jacobian", lambda f, t: torch.autograd.functional.jacobian(f, t)),
        ("each_output", "dimension_left", lambda f, t: torch.func.jacrev(lambda t: f(t).sum(0))(t)),
        (
            "each_output",
            "batched_grads_means_batched_data",
            answered(
                "each_output",
                FLAGGED,
                "return torch.autograd.grad(f(x), x, torch.eye(f(x).shape[1]), is_grads_batched=True)[0]",
            ),
        ),
        ("standardise", "each_sample_by_itself", lambda x: torch.nn.functional.layer_norm(x, x.shape[1:])),
        (
            "standardise",
            "sample_detached_and_batch_left",
            answered(
                "standardise",
                "c = x.detach() - x.mean(0)",
                "return c / (x.detach().var(0, correction=0) + 1e-5).sqrt()",
            ),
        ),
        ("for_each_sample", "one_sum_for_all", lambda f, w, x: torch.func.grad(lambda w: f(w, x).mean())(w)),
        ("for_each_sample", "w_taken_apart", lambda f, w, x: torch.vmap(torch.func.grad(f))(w, x)),
        (
            "for_each_sample",
            "first_sample_for_all",
            lambda f, w, x: torch.stack([torch.func.grad(lambda w: f(w, x)[0])(w) for _ in x]),
        ),
        (
            "mend_training",
            "one_step_only",
            answered("mend_training", "for _ in range(steps):", *(f"    {line}" for line in (*STEP, "return w"))),
        ),
        (
            "mend_training",
            "update_replaces_leaf",
            answered(
                "mend_training",
                "for _ in range(steps):",
                "    loss_of(w).backward()",
                "    w = (w.detach() - lr * w.grad).requires_grad_()",
                "return w",
            ),
        ),
        (
            "mend_training",
            "loss_of_the_start",
            answered(
                "mend_training",
                "loss = loss_of(w)",
                "for _ in range(steps): w.data -= lr * torch.autograd.grad(loss, w, retain_graph=True)[0]",
                "return w",
            ),
        ),
        ("predict_dot_grad", "backward_overwrites_grad", (3, 14, 5, 5, 14)),
        ("predict_weights", "factor_lost", [9, 10]),
    ],
)
def test_further_mistakes(exercise, label, answer):
    assert label_of(exercise, answer) == label


def test_a_prediction_with_an_open_part_says_so():
    assert "A part of the answer is still" in check("predict_dot_grad", (3, 17, 5, 17, ...)).html()
    assert "A part of the answer" not in check("predict_dot_grad", (...,) * 5).html()
