"""Mistakes of unit 06 as learners write them, in other words than the witnesses: each is told its own idea."""

from __future__ import annotations

import pytest
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from course_utils.checks import check


def made(name: str, body: str):
    """The class or function of this name that the code defines."""
    names: dict[str, object] = {"torch": torch, "Function": Function, "once_differentiable": once_differentiable}
    exec(body, names)
    return names[name]


def three(name: str, forward: str, setup: str, backward: str, more: str = ""):
    return made(
        name,
        f"class {name}(Function):\n    {more or 'pass'}\n    @staticmethod\n    def forward{forward}\n"
        f"    @staticmethod\n    def setup_context{setup}\n    @staticmethod\n    def backward{backward}\n",
    )


def two(name: str, forward: str, backward: str, decorator: str = ""):
    return made(
        name,
        f"class {name}(Function):\n    @staticmethod\n    def forward{forward}\n"
        f"    @staticmethod\n    {decorator}\n    def backward{backward}\n",
    )


SAVES = "(ctx, x, a, k):\n        ctx.save_for_backward(x, a)\n        ctx.k = k\n        return a * torch.sin(k * x)"


def wave(last: str, before: str = "pass", forward: str = SAVES):
    return two(
        "Wave", forward, f"(ctx, grad_output):\n        x, a = ctx.saved_tensors\n        {before}\n        {last}"
    )


GRAD_X = "grad_output * a * ctx.k * torch.cos(ctx.k * x)"
GRAD_A = "grad_output * torch.sin(ctx.k * x)"
KEEPS_BOTH = "(ctx, x, a, k):\n        ctx.x, ctx.a, ctx.k = x, a, k\n        return a * torch.sin(k * x)"
SAVES_DETACHED = SAVES.replace("(x, a)", "(x.detach(), a)")
KEEPS_X = (
    "(ctx, x, t):\n        ctx.save_for_backward(x)\n        ctx.t = t\n"
    "        return torch.nn.functional.softshrink(x, t)"
)


def shrink(*lines: str):
    return two(
        "Shrink", KEEPS_X, "(ctx, grad_output):\n        (x,) = ctx.saved_tensors\n        " + "\n        ".join(lines)
    )


def log_square(*lines: str, forward: str = "ctx.save_for_backward(x)", decorator: str = ""):
    return two(
        "LogSquare",
        f"(ctx, x):\n        {forward}\n        return torch.log(1 + x * x)",
        "(ctx, grad_output):\n        " + "\n        ".join(lines),
        decorator,
    )


LEAKY = """
class Leaky(Function):
    {before}
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return {returned}


def leaky(x, slope):
    return {called}
"""
GRADIENT = "torch.where(x > 0, grad_output, ctx.slope * grad_output)"


def leaky(called: str = "Leaky.apply(x, slope)", returned: str = f"{GRADIENT}, None", before: str = "pass"):
    return made("leaky", LEAKY.format(called=called, returned=returned, before=before))


SQUASH = "(x):\n        return torch.sigmoid(x)"
FROM_OUTPUT = "(ctx, grad_output):\n        (y,) = ctx.saved_tensors\n        return grad_output * y * (1 - y)"


def sigmoid(setup: str, backward: str = FROM_OUTPUT, more: str = "generate_vmap_rule = True", forward: str = SQUASH):
    return three("Sigmoid", forward, f"(ctx, inputs, output):\n        {setup}", backward, more)


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        ("wave", wave(f"return {GRAD_X}, {GRAD_A}"), "none_missing"),
        ("wave", wave(f"return {GRAD_A}, {GRAD_X}, None"), "swapped"),
        ("wave", wave(f"return {GRAD_X}, {GRAD_A}, 0.0"), "number_gets_a_gradient"),
        ("wave", wave(f"return {GRAD_X}, {GRAD_A}, grad_output"), "number_gets_a_gradient"),
        ("wave", wave(f"return grad_output * {GRAD_X}, {GRAD_A}, None", "grad_output = 1"), "incoming_ignored"),
        ("wave", wave(f"return {GRAD_X}, {GRAD_A}, None", "x, a = ctx.x, ctx.a", KEEPS_BOTH), "raises"),
        (
            "wave",
            wave(
                "return grad_x, grad_a, None",
                f"grad_a = {GRAD_A}; grad_x = grad_output.mul_(a * ctx.k * torch.cos(ctx.k * x))",
            ),
            "writes_into_grad_output",
        ),
        ("mend_shrink", shrink("g = grad_output", "g[abs(x) <= ctx.t] = 0", "return g, None"), "still_shared"),
        (
            "mend_shrink",
            shrink("g = grad_output.detach()", "g.masked_fill_(x.abs() <= ctx.t, 0)", "return g, None"),
            "still_shared",
        ),
        (
            "mend_shrink",
            shrink("grad_output[x.abs() <= ctx.t] = 0", "return grad_output.clone(), None"),
            "still_shared",
        ),
        (
            "mend_shrink",
            shrink("g = grad_output.clone()", "g[(x < ctx.t) & (x > -ctx.t)] = 0", "return g, None"),
            "edges_let_through",
        ),
        ("mend_shrink", shrink("return grad_output * (x > ctx.t), None"), "one_side_only"),
        ("mend_shrink", shrink("return grad_output * (x.abs() > ctx.t)"), "none_lost"),
        ("mend_list", lambda tensors: sum(one.pow(2).sum() for one in tensors), "without_a_function"),
        (
            "mend_intermediate",
            log_square(
                "(x,) = ctx.saved_tensors", "t = (1 + x * x).detach()", "return grad_output * 2 * x.detach() / t"
            ),
            "detached_again",
        ),
        (
            "mend_intermediate",
            log_square("return grad_output * 2 * ctx.x / (1 + ctx.x ** 2)", forward="ctx.x = x"),
            "not_watched",
        ),
        (
            "mend_intermediate",
            log_square(
                "(x,) = ctx.saved_tensors", "return grad_output * 2 * x / (1 + x * x)", decorator="@once_differentiable"
            ),
            "refuses_a_second_derivative",
        ),
        ("mend_legacy", leaky(returned=GRADIENT), "none_missing"),
        ("mend_legacy", leaky(called="torch.where(x > 0, x, slope * x)"), "forward_called_directly"),
        (
            "sigmoid_for_func",
            sigmoid("ctx.y = output", FROM_OUTPUT.replace("(y,) = ctx.saved_tensors", "y = ctx.y")),
            "output_kept_as_an_attribute",
        ),
        ("sigmoid_for_func", sigmoid("ctx.save_for_backward(output)", more=""), "no_vmap_rule"),
        ("sigmoid_for_func", sigmoid("ctx.save_for_backward(inputs)"), "tuple_of_inputs_saved"),
        ("sigmoid_for_func", sigmoid("ctx.save_for_backward(inputs[0])"), "input_taken_for_output"),
        (
            "sigmoid_for_func",
            two(
                "Sigmoid",
                "(ctx, x):\n        y = torch.sigmoid(x)\n        ctx.save_for_backward(y)\n        return y",
                FROM_OUTPUT,
            ),
            "context_in_the_forward",
        ),
    ],
)
def test_the_idea_behind_a_mistake(name, answer, label):
    result = check(name, answer)
    assert result.diagnosis is not None, result
    assert result.diagnosis.label == label, result


T_SAVED = two(
    "LogSquare",
    "(ctx, x):\n        t = 1 + x * x\n        ctx.save_for_backward(x, t)\n        return torch.log(t)",
    "(ctx, grad_output):\n        x, t = ctx.saved_tensors\n        return grad_output * 2 * x / t",
)


IN_A_LIST = made(
    "penalty",
    """
class Penalty(Function):
    @staticmethod
    def forward(ctx, tensors):
        ctx.save_for_backward(*tensors)
        return sum((one * one).sum() for one in tensors)

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(2 * grad_output * one for one in ctx.saved_tensors)


def penalty(tensors):
    return Penalty.apply(tensors)
""",
)


@pytest.mark.parametrize(
    ("name", "answer", "thought"),
    [
        ("mend_intermediate", T_SAVED, "Saving t in another way does not help"),
        ("mend_legacy", leaky(called="Leaky()(x, slope)"), "a Function is never made into an object"),
        ("mend_legacy", leaky(called="Leaky(slope)(x)", before="def __init__(self, slope): pass"), "never called"),
        (
            "mend_list",
            IN_A_LIST,
            "tensors, or one list?",
        ),
    ],
)
def test_code_that_does_what_the_given_code_did_is_told_so_with_a_thought(name, answer, thought):
    result = check(name, answer)
    assert result.status == "not attempted", result
    assert thought in result.html()


@pytest.mark.parametrize("answer", [((0, 60), (-10, 0)), [[0.0, 60.0], [-10.0, 0.0]], (0, 60, -10, 0)])
def test_pairs_and_single_numbers_answer_the_same_question(answer):
    assert check("predict_sister", answer).status == "right"


def test_an_object_in_place_of_the_class_is_told_what_is_needed():
    assert check("wave", 3).diagnosis.label == "no_function"


@pytest.mark.parametrize("name", ["wave", "mend_shrink", "mend_intermediate", "mend_dirty", "sigmoid_for_func"])
def test_a_class_that_is_no_function_of_autograd_gets_its_error_shown(name):
    class Plain:
        pass

    result = check(name, Plain)
    assert result.status == "wrong"
    assert "has no attribute &#x27;apply&#x27;" in result.html()


def test_the_whole_probe_leaves_the_learners_tensors_alone():
    result = check("wave", wave(f"return {GRAD_X}, {GRAD_A}, None"))
    assert result.status == "right", result


def test_a_backward_that_is_still_to_be_written_is_not_attempted():
    stub = 'raise NotImplementedError("write your answer here")'
    assert check("wave", wave(stub)).status == "not attempted"


def test_a_detached_input_is_no_true_second_derivative():
    assert check("wave", wave(f"return {GRAD_X}, {GRAD_A}, None", forward=SAVES_DETACHED)).status == "wrong"
