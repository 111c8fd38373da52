"""Answers of unit 07 as learners write them, in other words than variants and witnesses: each is told its own idea."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.autograd import Function
from torch.nn import functional

from course_utils.adversarial import reverse, train
from course_utils.checks import check


def made(name: str, code: str):
    """The class or function of this name that the code defines."""
    names: dict[str, object] = {
        "torch": torch, "nn": nn, "Function": Function, "functional": functional, "reverse": reverse, "math": math
    }  # fmt: skip
    exec(code, names)
    return names[name]


def layer(forward: str, backward: str):
    return made(
        "Reversal",
        f"class Reversal(Function):\n    @staticmethod\n    def forward(ctx, x, factor):\n        {forward}\n"
        f"    @staticmethod\n    def backward(ctx, grad_output):\n        {backward}\n",
    )


def function_of(head: str):
    """A maker of functions with this head, from the lines of their body."""
    name = head.partition("(")[0]
    return lambda *lines: made(name, f"def {head}:\n    " + "\n    ".join(lines))


schedule = function_of("lambda_at(batch, epoch, batches, epochs)")
heads = function_of("both_heads(h, label, domain, factor)")
detached = function_of("reverse_by_detach(x, factor)")
loss = function_of("moons_loss(net, batch, factor)")


def network(*lines: str, default: str = "=1.0"):
    body = "\n        ".join(lines)
    return made(
        "TwoHeads",
        f"""
class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(2, 3)
        self.label = nn.Linear(3, 1)
        self.domain = nn.Linear(3, 1)

    def turned(self, h, factor{default}):
        return reverse(h, factor)

    def forward(self, x, factor{default}):
        {body}
""",
    )


KEEP = "ctx.factor = factor; return x.view_as(x)"
P = "p = (batch + epoch * batches) / (epochs * batches)"
CURVE = "return 2 / (1 + math.exp(-10 * p)) - 1"
H = "h = torch.tanh(self.features(x))"
FEATURES = "h = net.features(torch.cat([batch.source, batch.target]))"
BCE = "bce = functional.binary_cross_entropy_with_logits"
LABEL = "label = bce(net.label(h[:64]), batch.labels)"
DOMAIN = "domain = bce(net.domain(reverse(h, factor)), batch.domains)"


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "reversal_layer",
            layer("ctx.lambd = factor; return x * 1.0", "return grad_output.neg().mul(ctx.lambd), None"),
        ),
        ("reversal_layer", layer(KEEP, "g = grad_output.clone(); g *= -ctx.factor; return g, None")),
        ("reversal_layer", layer(KEEP, "return -ctx.factor * grad_output, None, None")),
        ("reversal_layer", layer("ctx.factor = factor; return x.detach()", "return -ctx.factor * grad_output, None")),
        ("mend_schedule", schedule(P, "return (1 - math.exp(-10 * p)) / (1 + math.exp(-10 * p))")),
        ("mend_schedule", schedule("p = float(batch + epoch * batches) / epochs / batches", CURVE)),
        ("mend_two_heads", network(H, "return self.label(h), self.domain(self.turned(h, factor=factor))", default="")),
        (
            "mend_two_heads",
            network(
                "f = lambda: torch.tanh(self.features(x))", "return self.label(f()), self.domain(reverse(f(), factor))"
            ),
        ),
        ("mend_two_heads", network(H, "s = h.detach()", "return self.label(h), self.domain(s + factor * (s - h))")),
        (
            "mend_hook",
            heads(
                "d = h * 1.0",
                "if torch.is_grad_enabled(): d.register_hook(lambda g: -g * factor)",
                "return label(h), domain(d)",
            ),
        ),
        (
            "mend_hook",
            heads(
                "d = h[:]", "if d.requires_grad: d.register_hook(lambda g: -factor * g)", "return label(h), domain(d)"
            ),
        ),
        ("reverse_by_detach", detached("zero = x - x.detach()", "return x.detach() - factor * zero")),
        ("reverse_by_detach", detached("return x + (1 + factor) * (x.detach() - x)")),
        ("moons_loss", loss(BCE, FEATURES, LABEL, DOMAIN, "return domain + label")),
        ("predict_turned", (torch.tensor(2), torch.tensor(6.0), 7)),
        ("predict_derivatives", [torch.tensor(-16.0), torch.tensor(12.0), torch.tensor(-6.0)]),
    ],
)
def test_a_right_answer_is_right_however_it_is_written(name, answer):
    assert check(name, answer).status == "right"


@pytest.mark.parametrize(
    ("name", "answer", "label"),
    [
        ("reversal_layer", layer(KEEP, "return [-ctx.factor * grad_output, None]"), "none_missing"),
        ("reversal_layer", layer(KEEP, "return None, -ctx.factor * grad_output"), "number_gets_a_gradient"),
        (
            "reversal_layer",
            layer("ctx.factor = -factor; return x", "return -ctx.factor * grad_output, None"),
            "not_turned",
        ),
        (
            "reversal_layer",
            layer(KEEP, "grad_output *= -ctx.factor; return grad_output.clone(), None"),
            "changes_input",
        ),
        ("reversal_layer", layer(KEEP, "return -grad_output / ctx.factor, None"), "not_finite"),
        ("mend_schedule", schedule(P, "return 2 / (1 + math.exp(10 * p)) - 1"), "negative_factor"),
        ("mend_schedule", schedule(P, "return -(2 / (1 + math.exp(-10 * p)) - 1)"), "negative_factor"),
        (
            "mend_schedule",
            schedule("p = batch + epoch * batches / (epochs * batches)", CURVE),
            "progress_not_normalised",
        ),
        ("mend_two_heads", network(H, "return self.label(h), self.domain(self.turned(h))"), "lambda_not_forwarded"),
        (
            "mend_two_heads",
            network(H, "h = reverse(h, factor)", "return self.label(h), self.domain(h)"),
            "label_head_turned",
        ),
        (
            "mend_two_heads",
            network("h = torch.tanh(reverse(self.features(x), factor))", "return self.label(h), self.domain(h)"),
            "label_head_turned",
        ),
        ("mend_two_heads", network(H, "return self.label(h), reverse(self.domain(h), factor)"), "head_turned"),
        (
            "mend_two_heads",
            network(H, "reverse(h, factor)", "return self.label(h), self.domain(h)"),
            "not_turned",
        ),
        (
            "mend_two_heads",
            network("h = self.features(x)", "return self.label(h), self.domain(reverse(h, factor))"),
            "curve_lost",
        ),
        (
            "mend_hook",
            heads("if h.requires_grad: h.register_hook(lambda g: -factor * g)", "return label(h), domain(h)"),
            "hook_on_the_features",
        ),
        (
            "mend_hook",
            heads("d = domain(h)", "d.register_hook(lambda g: -factor * g)", "return label(h), d"),
            "hook_on_the_result",
        ),
        (
            "mend_hook",
            heads(
                "d = h.clone()",
                "if d.requires_grad: d.register_hook(lambda g: g.mul_(-factor))",
                "return label(h), domain(d)",
            ),
            "writes_into_the_gradient",
        ),
        (
            "mend_hook",
            heads(
                "d = h.clone().detach().requires_grad_()",
                "d.register_hook(lambda g: -factor * g)",
                "return label(h), domain(d)",
            ),
            "copy_cut_off",
        ),
        ("reverse_by_detach", detached("return x.detach() * (1 + factor) - x * factor"), "rounded"),
        ("reverse_by_detach", detached("return x - 2 * x.detach()"), "mirrored"),
        ("reverse_by_detach", detached("return x.detach() - factor * (x.detach() - x)"), "not_turned"),
        ("reverse_by_detach", detached("return reverse(x, factor)"), "with_a_function"),
        ("moons_loss", loss(BCE, FEATURES, LABEL, DOMAIN, "return label - domain"), "minus_in_loss_and_reversal"),
        (
            "moons_loss",
            loss(BCE, FEATURES, LABEL, "return label - factor * bce(net.domain(h), batch.domains)"),
            "layer_on_the_loss",
        ),
        (
            "moons_loss",
            loss(BCE, FEATURES, "h = reverse(h, factor)", LABEL, "return label + bce(net.domain(h), batch.domains)"),
            "label_head_turned",
        ),
        (
            "moons_loss",
            loss(BCE, FEATURES, LABEL, DOMAIN.replace("batch.domains", "1 - batch.domains"), "return label + domain"),
            "domains_exchanged",
        ),
        (
            "moons_loss",
            loss(BCE, FEATURES, LABEL, DOMAIN.replace("(h, factor)", "(h, 1.0)"), "return label + factor * domain"),
            "factor_twice",
        ),
        ("predict_turned", (2, 6, 3.5), "reversal_affects_later_layers"),
        ("predict_turned", (-13, 6, 7), "everything_is_turned"),
        ("predict_derivatives", (-16, -12, -6), "signs_forgotten"),
    ],
)
def test_the_idea_behind_a_mistake(name, answer, label):
    result = check(name, answer)
    assert result.diagnosis is not None, result
    assert result.diagnosis.label == label, result


def test_a_second_name_for_the_features_is_told_so_with_a_thought():
    result = check("mend_hook", heads("d = h", "d.register_hook(lambda g: -factor * g)", "return label(h), domain(d)"))
    assert result.status == "not attempted", result
    assert "makes no second tensor" in result.html()


@pytest.mark.parametrize("name", ["reversal_layer", "mend_two_heads", "mend_hook", "reverse_by_detach", "moons_loss"])
def test_a_value_in_place_of_a_function_is_told_what_is_needed(name):
    assert check(name, 3).diagnosis.label == "no_function"


def test_what_a_loss_comes_to_is_asked_again_when_what_it_calls_has_changed():
    names = {"functional": functional, "torch": torch, "reverse": lambda h, factor: h}
    lines = (BCE, FEATURES, LABEL, DOMAIN, "return label + domain")
    exec("def moons_loss(net, batch, factor):\n    " + "\n    ".join(lines), names)
    assert check("moons_loss", names["moons_loss"]).diagnosis.label == "not_turned"
    names["reverse"] = reverse
    assert check("moons_loss", names["moons_loss"]).status == "right"


def test_losses_that_are_said_not_to_reach_the_target_do_not():
    turned = loss(BCE, FEATURES, LABEL, "return label + bce(reverse(net.domain(h), factor), batch.domains)")
    assert train(seed=1, loss=turned).last.target <= 0.85
