"""Unit 03: right answers written differently, and mutants of the solutions that are still right."""

import copy

import numpy as np
import torch

# mend_rotation


def by_cat(point, angle):
    c, s = torch.cos(angle), torch.sin(angle)
    return torch.cat([c.view(1), -s.view(1), s.view(1), c.view(1)]).reshape(2, 2) @ point


def by_coordinates(point, angle):
    x, y = point
    return torch.stack((x * angle.cos() - y * angle.sin(), x * angle.sin() + y * angle.cos()))


def filled_in_place(point, angle):
    matrix = torch.zeros(2, 2, dtype=point.dtype)
    matrix[0, 0] = matrix[1, 1] = angle.cos()
    matrix[1, 0] = angle.sin()
    matrix[0, 1] = -angle.sin()
    return matrix @ point


def from_constants(point, angle):
    across = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=point.dtype)
    return angle.cos() * point + angle.sin() * (across @ point)


def by_the_exponential(point, angle):
    across = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=point.dtype)
    return torch.linalg.matrix_exp(angle * across) @ point


# mend_position


def as_a_product(scores, positions, sharpness):
    return scores.mul(sharpness).softmax(dim=0) @ positions


def by_exponentials(scores, positions, sharpness):
    powers = torch.exp(sharpness * (scores - scores.max()))
    return (powers * positions).sum() / powers.sum()


def one_after_the_other(scores, positions, sharpness):
    weights = torch.nn.functional.softmax(scores * sharpness, dim=-1)
    return sum(weight * place for weight, place in zip(weights, positions, strict=True))


# mend_plot


def not_in_place(out):
    shown = out.detach()
    shown = shown - shown.mean()
    return shown / shown.abs().max()


def in_no_grad(out):
    with torch.no_grad():
        shown = out - out.mean()
        return shown / torch.max(torch.abs(shown))


def cloned_first(out):
    shown = out.clone().detach()
    shown -= shown.mean()
    shown /= shown.abs().max()
    return shown


def from_numbers(out):
    shown = torch.tensor(out.tolist(), dtype=out.dtype)
    shown -= shown.mean()
    return shown.div_(shown.abs().max())


def by_numpy(out):
    shown = out.detach().numpy().copy()
    shown -= shown.mean()
    return torch.from_numpy(shown / np.abs(shown).max())


# fixed_target


def target_detached(w, now, later, reward):
    target = (reward + 0.9 * (later @ w)).detach()
    return torch.nn.functional.mse_loss(now @ w, target)


def target_in_no_grad(w, now, later, reward):
    with torch.no_grad():
        target = later.mv(w).mul(0.9).add(reward)
    return (target - now @ w).square().mean()


def target_in_inference_mode(w, now, later, reward):
    with torch.inference_mode():
        target = reward + 0.9 * (later @ w)
    return ((now @ w - target) ** 2).mean()


def detached_in_place(w, now, later, reward):
    target = reward + 0.9 * (later @ w)
    target.detach_()
    difference = now @ w - target
    return difference @ difference / len(reward)


def flag_off_and_on_again(w, now, later, reward):
    w.requires_grad = False
    target = reward + 0.9 * (later @ w)
    w.requires_grad = True
    return (now @ w - target).pow(2).sum() / reward.numel()


def with_a_copy(w, now, later, reward):
    old = w.detach().clone()
    return ((now @ w - (reward + 0.9 * later @ old)) ** 2).mean()


def through_numpy(w, now, later, reward):
    target = reward + 0.9 * torch.from_numpy(later.numpy() @ w.detach().numpy())
    return torch.nn.MSELoss()(now @ w, target)


# freeze_body


def by_the_module(network):
    network.body.requires_grad_(False)


def by_name(network):
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not name.startswith("body."))


def with_new_parameters(network):
    for layer in network.body:
        if isinstance(layer, torch.nn.Linear):
            layer.weight = torch.nn.Parameter(layer.weight.detach(), requires_grad=False)
            layer.bias = torch.nn.Parameter(layer.bias.data, False)


def all_off_then_the_head_on(network):
    network.requires_grad_(False)
    network.head.requires_grad_(True)
    return network


# use_network


def with_try_and_finally(network, x):
    before = network.training
    try:
        with torch.no_grad():
            return network.eval()(x)
    finally:
        network.train(before)


@torch.no_grad()
def with_a_decorator(network, x):
    if not network.training:
        return network(x)
    network.eval()
    y = network(x)
    network.train()
    return y


def in_inference_mode_and_cloned(network, x):
    mode = network.training
    network.eval()
    with torch.inference_mode():
        y = network(x)
    network.train(mode=mode)
    return y.clone()


def with_a_copy_of_the_network(network, x):
    with torch.no_grad():
        return copy.deepcopy(network).eval()(x)


def every_layer_put_back(network, x):
    modes = {module: module.training for module in network.modules()}
    network.train(False)
    with torch.no_grad():
        result = network(x)
    for module, training in modes.items():
        module.training = training
    return result


def with_grad_mode_kept_by_hand(network, x):
    training, enabled = network.training, torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    network.train(False)
    result = network(x)
    network.train(training)
    torch.set_grad_enabled(enabled)
    return result


RIGHT = {
    "predict_flags": ([False, True, False, False, True, False], (0, 1, 0, 0, 1, 0), np.array([0, 1, 0, 0, 1, 0])),
    "predict_leaves": (
        [True, True, False, True, True, False, True],
        (1, 1, 0, 1, 1, 0, 1),
        tuple(letter not in "dg" for letter in "acdefgh"),
    ),
    "predict_bytes": ([8000, 4040, 0], (2 * 4000, 40 + 4000, 0.0), np.array([8000, 4040, 0])),
    "choose_eval": ("b", "B", " b.", "(b)"),
    "mend_rotation": (by_cat, by_coordinates, filled_in_place, from_constants, by_the_exponential),
    "mend_position": (as_a_product, by_exponentials, one_after_the_other),
    "mend_plot": (not_in_place, in_no_grad, cloned_first, from_numbers, by_numpy),
    "fixed_target": (
        target_detached,
        target_in_no_grad,
        target_in_inference_mode,
        detached_in_place,
        flag_off_and_on_again,
        with_a_copy,
        through_numpy,
    ),
    "freeze_body": (by_the_module, by_name, with_new_parameters, all_off_then_the_head_on),
    "use_network": (
        with_try_and_finally,
        with_a_decorator,
        in_inference_mode_and_cloned,
        with_grad_mode_kept_by_hand,
        with_a_copy_of_the_network,
        every_layer_put_back,
    ),
}

_FLAGS = "`-False` is 0, which counts as False"

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
EQUIVALENT: dict[str, dict[str, str]] = {
    "predict_flags": {"`(False, True, False, False, True, False)`: sign changed": _FLAGS},
    "predict_leaves": {"`(True, True, False, True, True, False, True)`: sign changed": _FLAGS},
    "predict_bytes": {"`(8000, 4040, 0)`: sign changed": "-0 is 0"},
    "mend_position": {"`0`: -1 instead": "a vector has one dimension, which is both the first and the last"},
    "fixed_target": {"`now @ w - target`: operands exchanged": "the difference is squared"},
}
