"""Unit 07: right answers written differently, and mutants of the solutions that are still right."""

import contextlib
import math

import numpy as np
import torch
from torch import nn
from torch.autograd import Function
from torch.nn import functional

from course_utils.adversarial import reverse

# reversal_layer


class ReversalInThreeParts(Function):
    @staticmethod
    def forward(x, factor):
        return x.clone()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * -ctx.factor, None


class ReversalAsItIs(Function):
    """Returns the input itself; apply makes a view of it."""

    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad.neg() * ctx.alpha, None


class ReversalWithATensor(Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(torch.as_tensor(factor, dtype=x.dtype))
        return x * 1

    @staticmethod
    def backward(ctx, grad_output):
        (factor,) = ctx.saved_tensors
        grad_input = None
        if ctx.needs_input_grad[0]:
            grad_input = grad_output.clone()
            grad_input = -(grad_input * factor)
        return grad_input, None


# mend_schedule


def schedule_by_steps(batch, epoch, batches, epochs):
    p = epoch / epochs + batch / (batches * epochs)
    return 2.0 / (1.0 + np.exp(-10 * p)) - 1


def schedule_by_hyperbolic_tangent(batch, epoch, batches, epochs):
    return math.tanh(5 * (epoch * batches + batch) / (epochs * batches))


def schedule_in_tensors(batch, epoch, batches, epochs):
    p = torch.tensor((batch + batches * epoch) / batches / epochs, dtype=torch.float64)
    return 2 * torch.sigmoid(10 * p) - 1


# mend_two_heads


class TwoHeadsWithDefaults(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(2, 3)
        self.label = nn.Linear(3, 1)
        self.domain = nn.Linear(3, 1)

    def turned(self, h, factor=1.0):
        return reverse(h, factor)

    def forward(self, x, factor=1.0):
        h = self.features(x).tanh()
        return self.label(h), self.domain(self.turned(h, factor))


class TwoHeadsByDetach(TwoHeadsWithDefaults):
    def forward(self, x, factor):
        h = torch.tanh(self.features(x))
        return [self.label(h), self.domain(h.detach() * (1 + factor) - factor * h)]


class TwoHeadsByHook(TwoHeadsWithDefaults):
    def forward(self, x, factor):
        h = torch.tanh(self.features(x))
        own = h.clone()
        if own.requires_grad:
            own.register_hook(lambda grad: grad * -factor)
        return self.label(h), self.domain(own)


# mend_hook


def hook_under_a_condition(h, label, domain, factor):
    of_domain = h * 1
    if torch.is_grad_enabled() and of_domain.requires_grad:
        of_domain.register_hook(lambda grad: grad.neg() * factor)
    return label(h), domain(of_domain)


def hook_on_the_label_side_too(h, label, domain, factor):
    first, second = h.clone(), h.clone()

    def turn(grad):
        return grad * (-factor)

    if h.requires_grad:
        second.register_hook(turn)
    return label(first), domain(second)


def hook_on_the_node(h, label, domain, factor):
    own = h.view_as(h)
    if own.grad_fn is not None:
        own.grad_fn.register_prehook(lambda grads: (-factor * grads[0],))
    return label(h), domain(own)


def hook_if_it_can(h, label, domain, factor):
    own = h + 0
    with contextlib.suppress(RuntimeError):
        own.register_hook(lambda grad: -factor * grad)
    return label(h), domain(own)


# reverse_by_detach


def from_the_recorded_side(x, factor):
    return x - (1 + factor) * (x - x.detach())


def with_no_grad(x, factor):
    with torch.no_grad():
        still = x.clone()
    return still - (x - still) * factor


def added_to_itself(x, factor):
    zero = x.detach() - x
    return x + zero * factor + zero


# moons_loss


def loss_of_three_parts(net, batch, factor):
    """Each domain alone: the mean of two means is the mean, because both have as many points."""
    source, target = net.features(batch.source), net.features(batch.target)
    bce = functional.binary_cross_entropy_with_logits
    says_source, says_target = net.domain(reverse(source, factor)), net.domain(reverse(target, factor))
    domain_loss = (bce(says_source, torch.zeros_like(says_source)) + bce(says_target, torch.ones_like(says_target))) / 2
    return bce(net.label(source), batch.labels) + domain_loss


def loss_of_all_points_at_once(net, batch, factor):
    h = net.features(torch.cat((batch.source, batch.target)))
    count = len(batch.source)
    losses = [
        functional.binary_cross_entropy_with_logits(net.label(h)[:count], batch.labels),
        nn.BCEWithLogitsLoss()(net.domain(reverse(h, factor)), batch.domains),
    ]
    return torch.stack(losses).sum()


def loss_by_probabilities(net, batch, factor):
    h_source = net.features(batch.source)
    h = torch.cat([h_source, net.features(batch.target)])
    still = h.detach()
    label = functional.binary_cross_entropy(torch.sigmoid(net.label(h_source)), batch.labels)
    domain = functional.binary_cross_entropy(torch.sigmoid(net.domain(still + factor * (still - h))), batch.domains)
    return domain + label


RIGHT = {
    "reversal_layer": (ReversalInThreeParts, ReversalAsItIs, ReversalWithATensor),
    "predict_turned": ([2, 6, 7], torch.tensor([2.0, 6.0, 7.0]), np.array([2.0, 6.0, 7.0])),
    "choose_loss": ("b", "B", " (b) "),
    "mend_schedule": (schedule_by_steps, schedule_by_hyperbolic_tangent, schedule_in_tensors),
    "mend_two_heads": (TwoHeadsWithDefaults, TwoHeadsByDetach, TwoHeadsByHook),
    "mend_hook": (hook_under_a_condition, hook_on_the_label_side_too, hook_on_the_node, hook_if_it_can),
    "predict_derivatives": ([-16, 12, -6], torch.tensor([-16.0, 12.0, -6.0]), (-16, 12.0, -6)),
    "reverse_by_detach": (from_the_recorded_side, with_no_grad, added_to_itself),
    "moons_loss": (loss_of_three_parts, loss_of_all_points_at_once, loss_by_probabilities),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
EQUIVALENT: dict[str, dict[str, str]] = {
    "reversal_layer": {"`x.view_as(x)`: call dropped": "`apply` makes a view of an input that is returned as it is"},
}
