"""Mistakes of unit 09 as learners write them, in other words than the witnesses: each is told its own idea."""

from __future__ import annotations

import textwrap

import pytest
import torch

from course_utils.checks import check


def made(code: str):
    """The function that the code defines last."""
    names: dict[str, object] = {"torch": torch, "grad": torch.autograd.grad}
    exec(code, names)
    return list(names.values())[-1]


def of(first_line: str, *lines: str):
    return made(f"def {first_line}:\n" + textwrap.indent("\n".join(lines), "    "))


def mixed(*lines: str):
    return of("mixed(f, X, i, j)", "X = X.clone().requires_grad_()", "z = f(X)", *lines)


def order(*lines: str):
    """The body of the given loop, written anew."""
    loop = ["for _ in range(n):", *(f"    {line}" for line in lines), "return value"]
    return of("derivative(f, x, n)", "x = x.clone().requires_grad_()", "value = f(x)", *loop)


def residual(*lines: str, first: str = "g = grad(u(X).sum(), X, create_graph=True)[0]"):
    return of("residual(u, X, k)", "X = X.clone().requires_grad_()", first, *lines)


def product(*lines: str, options: str = "create_graph=True"):
    ask = f"(g,) = grad(f(x), x, {options})"
    return of("hessian_times(f, x, v)", "x = x.clone().requires_grad_()", ask, *lines)


def nested(before: str, ask: str = "grad(g(x, y).sum(), y, create_graph=True)[0]"):
    return of("slope_along_y(g, x)", before, f"return {ask}")


def penalty(last: str, options: str = "create_graph=True"):
    ask = f"(g,) = grad(critic(x).sum(), x, {options})"
    return of("penalty(critic, x)", "x = x.clone().requires_grad_()", ask, f"return {last}")


def trained(*lines: str, before: str = "pass", last: str = "return outer(w)"):
    loop = ["for _ in range(steps):", *(f"    {line}" for line in lines)]
    return of("after_training(inner, outer, w, lr, steps)", before, *loop, last)


ZEROS = "if not value.requires_grad: return torch.zeros_like(x)"
ASK = "value = grad(value.sum(), x, create_graph=True, materialize_grads=True)[0]"
U_XX = "h = grad(g[:, 1].sum(), X, create_graph=True)[0]"
ROWS = "H = torch.stack([grad(e, x, retain_graph=True)[0] for e in g])"
STEP = "(g,) = grad(inner(w), w, create_graph=True)"
LENGTHS = "g.flatten(1).norm(2, dim=1)"


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        (
            "mixed_partial",
            mixed(
                "g = grad(z, X, torch.ones_like(z), create_graph=True)[0]",
                "return grad(g, X, torch.ones_like(g))[0][:, j]",
            ),
            "first_column_forgotten",
        ),
        (
            "mixed_partial",
            mixed("g = grad(z.sum(), X, create_graph=True)[0][:, i]", "return grad(z.sum(), X)[0][:, j]"),
            "second_derivative_from_output",
        ),
        (
            "mixed_partial",
            mixed("g = grad(z.sum(), X)[0][:, i]", "return grad(g.sum(), X)[0][:, j]"),
            "not_recorded",
        ),
        (
            "mixed_partial",
            of("mixed(f, X, i, j)", "return grad(grad(f(X).sum(), X)[0][:, i].sum(), X)[0][:, j]"),
            "not_recorded",
        ),
        (
            "mixed_partial",
            mixed(
                "g = grad(z.sum(), X, create_graph=True)[0][:, i]",
                "return grad(g.sum(), X[:, j], allow_unused=True)[0]",
            ),
            "slice_is_the_same_tensor",
        ),
        (
            "mixed_partial",
            mixed("z.sum().backward(create_graph=True)", "X.grad[:, i].sum().backward()", "return X.grad[:, j]"),
            "first_left_in_grad",
        ),
        ("predict_accumulated", [32, 48, 32, 48], "backward_overwrites_grad"),
        ("predict_accumulated", (32, 24, 32, 56), "power_rule_half_done"),
        (
            "mend_order",
            order("value = grad(value.sum(), x, create_graph=True, allow_unused=True)[0]"),
            "none_for_an_unused_input",
        ),
        ("mend_order", order(ZEROS, ASK.replace(", materialize_grads=True", "")), "constant_only"),
        ("mend_order", order(ZEROS.replace("torch.zeros_like(x)", "0"), ASK), "zero_without_a_shape"),
        (
            "mend_order",
            order(
                "try:",
                "    value = grad(value.sum(), x, create_graph=True)[0]",
                "except RuntimeError:",
                "    return None",
            ),
            "none_left",
        ),
        ("mend_order", order(ZEROS, ASK.replace("create_graph", "retain_graph")), "retain_graph_in_its_place"),
        ("mend_order", order(ZEROS, ASK.replace("create_graph=True, ", "")), "retain_graph_in_its_place"),
        ("mend_order", order("if value.requires_grad: " + ASK), "constant_returned"),
        (
            "heat_residual",
            residual("h = grad(g[:, 1].sum(), X)[0]", "return g[:, 0] - k * h[:, 1]"),
            "graph_freed_by_the_last_call",
        ),
        (
            "heat_residual",
            residual("h = grad(g[:, 1].sum(), X, retain_graph=True)[0]", "return g[:, 0] - k * h[:, 1]"),
            "last_call_not_recorded",
        ),
        (
            "heat_residual",
            residual("h = grad(g.sum(), X, create_graph=True)[0]", "return g[:, 0] - k * h[:, 1]"),
            "rows_added",
        ),
        ("heat_residual", residual(U_XX, "return g[:, 0] - k * h[:, 0]"), "mixed_in_place_of_second"),
        ("heat_residual", residual(U_XX, "return g[:, 0] + k * h[:, 1]"), "sign_turned"),
        ("heat_residual", residual(U_XX, "return ((g[:, 0] - k * h[:, 1]) ** 2).mean()"), "made_a_loss_already"),
        ("heat_residual", residual(U_XX, "return g[:, :1] - k * h[:, 1:]"), "kept_as_columns"),
        ("heat_residual", residual("return g[:, 0] - k * g[:, 1] ** 2"), "square_of_the_slope"),
        ("hessian_times", product("return grad(g.sum(), x)[0] * v"), "v_outside"),
        ("hessian_times", product(ROWS, "return H @ v"), "whole_hessian"),
        (
            "hessian_times",
            product("return grad(g, x, torch.eye(len(x), dtype=x.dtype), is_grads_batched=True)[0] @ v"),
            "whole_hessian",
        ),
        ("hessian_times", product("return grad(g @ v, x)[0]", options="retain_graph=True"), "not_recorded"),
        ("hessian_times", product("return grad(g, x, v)[0] @ v"), "curvature_in_place_of_the_vector"),
        ("mend_nested", nested("y = x.detach().requires_grad_()"), "y_cut_off"),
        ("mend_nested", nested("y = torch.tensor(x.tolist(), dtype=x.dtype, requires_grad=True)"), "y_cut_off"),
        ("mend_nested", nested("y = x", "grad(g(x.detach(), y).sum(), y, create_graph=True)[0]"), "x_cut_off"),
        ("mend_nested", nested("y = x.clone()", "grad(g(x, y).sum(), y)[0]"), "not_recorded"),
        ("mend_penalty", penalty("((g.norm(2, dim=1) - 1) ** 2).mean()"), "norm_over_wrong_axis"),
        ("mend_penalty", penalty("((g.flatten(2).norm(2, dim=2) - 1) ** 2).mean()"), "norm_over_wrong_axis"),
        (
            "mend_penalty",
            penalty(f"(({LENGTHS} - 1) ** 2).mean()", options="retain_graph=True"),
            "inner_gradient_is_a_constant",
        ),
        ("mend_penalty", penalty("(g.norm() - 1) ** 2"), "one_norm_for_all"),
        ("mend_penalty", penalty(f"({LENGTHS} - 1).mean() ** 2"), "mean_before_the_square"),
        (
            "after_training",
            trained("(g,) = grad(inner(w), w)", "w = w - lr * g"),
            "inner_update_is_first_order",
        ),
        ("after_training", trained(STEP, "w.data = w.data - lr * g"), "changed_in_place"),
        (
            "after_training",
            trained(
                "optimizer.zero_grad()",
                "inner(w).backward()",
                "optimizer.step()",
                before="optimizer = torch.optim.SGD([w], lr=lr)",
            ),
            "changed_in_place",
        ),
        ("after_training", trained(STEP, "w = (w - lr * g).detach().requires_grad_()"), "start_cut_off"),
        (
            "after_training",
            trained("inner(w).backward(create_graph=True)", "w = w - lr * w.grad"),
            "asks_dot_grad",
        ),
        (
            "after_training",
            trained(STEP, "updated = w - lr * g", last="return outer(updated)"),
            "one_step_only",
        ),
    ],
)
def test_the_idea_behind_a_mistake(name, answer, label):
    result = check(name, answer)
    assert result.diagnosis is not None, result
    assert result.diagnosis.label == label, result


@pytest.mark.parametrize(
    ("name", "answer", "thought"),
    [
        (
            "mend_order",
            order("value = grad(value, x, torch.ones_like(value), create_graph=True)[0]"),
            "Two others still stop",
        ),
        ("mend_nested", nested("y = x; x = x.clone()"), "takes both ways"),
        ("mend_nested", nested("y = x.clone(); x = y"), "in all its uses"),
        ("mend_penalty", penalty("((g.norm(2, 1) - 1) ** 2).mean()", options="retain_graph=True"), "have a graph?"),
    ],
)
def test_code_that_does_what_the_given_code_did_is_told_so_with_a_thought(name, answer, thought):
    result = check(name, answer)
    assert result.status == "not attempted", result
    assert thought in result.html()


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "mixed_partial",
            of("mixed(f, X, i, j)", "H = torch.func.hessian(lambda X: f(X).sum())(X)", "return H[:, i, :, j].sum(1)"),
        ),
        ("mend_order", order("value.requires_grad_()", ASK)),
        ("mend_order", order("if not value.requires_grad: return x.detach() * 0", ASK)),
        (
            "heat_residual",
            of(
                "residual(u, X, k)",
                "total = lambda X: u(X).sum()",
                "H = torch.autograd.functional.hessian(total, X, create_graph=True)",
                "J = torch.autograd.functional.jacobian(total, X, create_graph=True)",
                "n = torch.arange(len(X))",
                "return J[:, 0] - k * H[n, 1, n, 1]",
            ),
        ),
        ("hessian_times", of("hessian_times(f, x, v)", "return torch.autograd.functional.vhp(f, x, v)[1]")),
        (
            "hessian_times",
            of(
                "hessian_times(f, x, v)",
                "return torch.func.grad(lambda x: torch.func.jvp(f, (x,), (v,))[1])(x)",
            ),
        ),
        ("mend_nested", nested("y = x[:]")),
        (
            "mend_nested",
            of("slope_along_y(g, x)", "return torch.func.vmap(torch.func.grad(g, argnums=1))(x, x)"),
        ),
        ("mend_penalty", penalty("((g.norm(2, dim=(1, 2)) - 1) ** 2).mean()")),
    ],
)
def test_other_ways_are_right_too(name, answer):
    result = check(name, answer)
    assert result.status == "right", result


def test_a_function_that_is_called_already_is_told_what_is_needed():
    assert check("hessian_times", torch.ones(3)).diagnosis.label == "no_function"
