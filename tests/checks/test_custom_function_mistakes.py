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


def penalty(save: str = "*tensors", last: str = "tuple(2 * grad_output * one for one in ctx.saved_tensors)", **lines):
    return made(
        "penalty",
        PENALTY.format(save=save, last=last, **{"first": "*tensors", "handed": "*tensors", "before": "pass"} | lines),
    )


PENALTY = """
class Penalty(Function):
    @staticmethod
    def forward(ctx, {first}):
        {before}
        ctx.save_for_backward({save})
        return sum((one * one).sum() for one in tensors)

    @staticmethod
    def backward(ctx, grad_output):
        return {last}


def penalty(tensors):
    return Penalty.apply({handed})
"""
X = "(x,) = ctx.saved_tensors"
ONLY_X = "ctx.save_for_backward(x)"


def exp(*lines: str, last: str = "return grad_output * ctx.saved_tensors[0]"):
    return two("ExpInPlace", "(ctx, x):\n        " + "\n        ".join(lines), f"(ctx, grad_output):\n        {last}")


def without_function(name: str, body: str):
    return made(name, f"class {name}:\n    @staticmethod\n    def apply{body}")


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        # no Function at all
        ("wave", without_function("Wave", "(x, a, k):\n        return (k * x).sin() * a"), "without_a_function"),
        (
            "mend_shrink",
            without_function("Shrink", "(x, t):\n        return torch.nn.functional.softshrink(x, t)"),
            "without_a_function",
        ),
        (
            "mend_intermediate",
            without_function("LogSquare", "(x):\n        return (1 + x * x).log()"),
            "without_a_function",
        ),
        ("mend_dirty", without_function("ExpInPlace", "(h):\n        return h.exp_()"), "without_a_function"),
        (
            "sigmoid_for_func",
            without_function("Sigmoid", "(x):\n        return torch.sigmoid(x)"),
            "without_a_function",
        ),
        # wave
        (
            "wave",
            wave(
                f"return {GRAD_X}, {GRAD_A}, None".replace("ctx.k", "Wave.k"),
                forward=SAVES.replace("ctx.k = k", "Wave.k = k"),
            ),
            "number_on_the_class",
        ),
        (
            "wave",
            wave(f"return {GRAD_X}, {GRAD_A}, None", forward=SAVES.replace("(x, a)", "(x.clone(), a.clone())")),
            "intermediate_saved",
        ),
        ("wave", wave(f"return {GRAD_X.replace('* a ', '')}, {GRAD_A}, None"), "outer_factor_missing"),
        ("wave", wave(f"return {GRAD_X.replace('cos(ctx.k * x)', 'cos(x)')}, {GRAD_A}, None"), "cosine_of_x"),
        ("wave", wave(f"return grad_output.mul_(torch.cos(ctx.k * x) * a * ctx.k), {GRAD_A}, None"), "changes_input"),
        # mend_shrink
        (
            "mend_shrink",
            shrink("g = grad_output.detach().clone()", "g[x.abs() <= ctx.t] = 0", "return g, None"),
            "cut_from_the_graph",
        ),
        ("mend_shrink", shrink("return [grad_output * (x.abs() > ctx.t), None]"), "none_lost"),
        ("mend_shrink", shrink("grad_output.mul_(x.abs() > ctx.t)", "return grad_output, None"), "changes_input"),
        (
            "mend_shrink",
            two(
                "Shrink",
                KEEPS_X.replace("ctx.save_for_backward(x)", "ctx.x = x"),
                "(ctx, grad_output):\n        return grad_output * (ctx.x.abs() > ctx.t), None",
            ),
            "kept_as_an_attribute",
        ),
        # mend_list
        ("mend_list", penalty("*(one.clone() for one in tensors)"), "intermediate_saved"),
        ("mend_list", penalty("*(one.detach() for one in tensors)"), "intermediate_saved"),
        (
            "mend_list",
            penalty(
                "torch.cat([one.reshape(-1) for one in tensors])",
                "tuple(2 * grad_output * p.reshape(s) for p, s in zip("
                "ctx.saved_tensors[0].split([s.numel() for s in ctx.shapes]), ctx.shapes))",
                before="ctx.shapes = [one.shape for one in tensors]",
            ),
            "intermediate_saved",
        ),
        ("mend_list", penalty(handed="tensors"), "star_in_forward_only"),
        ("mend_list", penalty(handed="tuple(tensors)"), "star_in_forward_only"),
        ("mend_list", penalty("tensors"), "raises"),
        ("mend_list", penalty(first="tensors"), "raises"),
        ("mend_list", penalty(last="(2 * grad_output * one for one in ctx.saved_tensors)"), "raises"),
        # mend_intermediate
        (
            "mend_intermediate",
            log_square(
                "x, t = ctx.saved_tensors",
                "return grad_output * 2 * x / t",
                forward="ctx.save_for_backward(x, 1 + x * x)",
            ),
            "constant_to_the_second_pass",
        ),
        (
            "mend_intermediate",
            log_square(X, "return grad_output * 2 * x / (1 + x.data**2)"),
            "constant_to_the_second_pass",
        ),
        (
            "mend_intermediate",
            log_square(X, "with torch.no_grad(): t = 1 + x * x", "return grad_output * 2 * x / t"),
            "constant_to_the_second_pass",
        ),
        (
            "mend_intermediate",
            log_square(X, "t = torch.tensor((1 + x * x).tolist(), dtype=x.dtype)", "return grad_output * 2 * x / t"),
            "constant_to_the_second_pass",
        ),
        (
            "mend_intermediate",
            log_square(X, "return grad_output * 2 * x / (1 + x * x)", forward="ctx.save_for_backward(x.clone())"),
            "detached_again",
        ),
        (
            "mend_intermediate",
            log_square(X, "return grad_output * 2 * x / (1 + x * x)", forward="ctx.save_for_backward(x); ctx.x = [x]"),
            "left_on_ctx",
        ),
        ("mend_intermediate", log_square(X, "return 2 * x / (1 + x * x)"), "incoming_ignored"),
        # mend_dirty
        (
            "mend_dirty",
            exp("x.exp_()", "ctx.mark_dirty(x)", "ctx.y = x", "return x", last="return grad_output * ctx.y"),
            "kept_as_an_attribute",
        ),
        (
            "mend_dirty",
            exp("x.data = x.exp()", "ctx.mark_dirty(x)", "ctx.save_for_backward(x)", "return x"),
            "new_memory",
        ),
        (
            "mend_dirty",
            exp("x.exp_()", "ctx.mark_non_differentiable(x)", "ctx.save_for_backward(x)", "return x"),
            "marked_as_without_gradient",
        ),
        (
            "mend_dirty",
            exp(
                "x.exp_()",
                "ctx.mark_dirty(x)",
                "ctx.save_for_backward(x)",
                "return x",
                last="return ctx.saved_tensors[0]",
            ),
            "incoming_ignored",
        ),
        # mend_legacy
        ("mend_legacy", leaky(returned=GRADIENT.replace("x > 0", "x >= 0") + ", None"), "zero_taken_for_positive"),
        ("mend_legacy", leaky(before="def __init__(self, slope): super().__init__()"), "half_new"),
        ("mend_legacy", leaky(called="Leaky().apply(x, slope)"), "half_new"),
        ("mend_legacy", leaky(called="torch.nn.functional.leaky_relu(x, slope)"), "forward_called_directly"),
        ("mend_legacy", leaky(returned=f"{GRADIENT}, (grad_output * x).sum()"), "number_gets_a_gradient"),
        ("mend_legacy", leaky(returned=f"[{GRADIENT}, None]"), "none_missing"),
        # sigmoid_for_func
        (
            "sigmoid_for_func",
            sigmoid(
                "ctx.save_for_backward(*inputs)",
                FROM_OUTPUT.replace("(y,) = ctx.saved_tensors", "y = ctx.saved_tensors[0].sigmoid()"),
            ),
            "input_saved",
        ),
        (
            "sigmoid_for_func",
            sigmoid("ctx.save_for_backward(output)", FROM_OUTPUT, forward="(ctx, x):\n        return torch.sigmoid(x)"),
            "context_beside_setup_context",
        ),
        ("sigmoid_for_func", sigmoid("ctx.save_for_backward(output.detach())"), "intermediate_saved"),
        ("sigmoid_for_func", sigmoid("ctx.save_for_backward(output)", FROM_OUTPUT.replace("(y,)", "y")), "raises"),
    ],
)
def test_the_idea_behind_what_a_cold_reader_tried(name, answer, label):
    test_the_idea_behind_a_mistake(name, answer, label)


@pytest.mark.parametrize("static", [(), ("forward",), ("backward",)])
def test_halves_that_are_not_static_are_told(static):
    answer = leaky()
    function = answer.__globals__["Leaky"]
    for half in {"forward", "backward"} - {*static}:
        setattr(function, half, function.__dict__[half].__func__)
    result = check("mend_legacy", answer)
    assert result.diagnosis.label == "half_new"
    assert "is static" in repr(result)


@pytest.mark.parametrize("name", ["wave", "mend_shrink", "mend_intermediate", "mend_dirty", "sigmoid_for_func"])
def test_what_is_written_into_is_named_as_the_learner_names_it(name):
    asked = {"wave": "x, a, k", "mend_shrink": "x, t"}.get(name, "x")
    body = "(ctx, grad_output):\n        grad_output.mul_(2)\n        return grad_output, None, None"
    kind = {"wave": "Wave", "mend_shrink": "Shrink", "mend_dirty": "ExpInPlace"}.get(name, "Sigmoid")
    result = check(name, two(kind, f"(ctx, {asked}):\n        return x * 1", body))
    assert "grad_output" in result.mine.changed


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ((1, 1, 1, 1, 1, 1), "nudged_where_it_hides"),
        ((0, 0, 1, 1, 1, 1), "the_second_includes_the_first"),
        ((1, 0, 1, 0, 1, 1), "exchanged_for_a"),
        ((0, 1, 1, 0, 1, 0), "sound_one_rejected"),
        ((1, 0, 0, 1, 0, 0), "sound_one_rejected"),
    ],
)
def test_verdicts_are_answered_for_the_function_that_they_are_of(answer, label):
    assert check("predict_judges", answer).diagnosis.label == label


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ((0, 60, -10, 30), "gate_alone"),
        ((10, 60, 0, 0), "programs_exchanged"),
        ((0, 60, 0, 60), "b_taken_for_a"),
        ((0, 60, -10, 60), "sign_forgotten_in_b"),
        ((10, 30, -10, -30), "direct_path_alone"),
    ],
)
def test_gradients_are_answered_for_the_program_that_they_are_of(answer, label):
    assert check("predict_sister", answer).diagnosis.label == label


KEEPS_T = "ctx.save_for_backward(x); ctx.t = (1 + x * x).detach()"
FROM_T = "return grad_output * 2 * ctx.saved_tensors[0] / ctx.t"


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
        ("mend_intermediate", log_square(FROM_T, forward=KEEPS_T), "t still waits on ctx for the backward"),
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


def test_verdicts_may_stand_in_pairs_too():
    assert check("predict_judges", ((0, 1), (1, 0), (1, 1))).status == "right"


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
