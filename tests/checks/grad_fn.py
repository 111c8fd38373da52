"""Unit 04: right answers written differently, and mutants of the solutions that are still right."""

from collections import deque

import numpy as np
import torch

# leaves_behind


def level_by_level(result):
    nodes = {result.grad_fn}
    level, leaves = [result.grad_fn], []
    while level:
        leaves += [node.variable for node in level if node.name().endswith("AccumulateGrad")]
        behind = [following for node in level for following, _ in node.next_functions if following is not None]
        level = [node for node in dict.fromkeys(behind) if node not in nodes]
        nodes.update(level)
    return tuple(leaves)


def in_a_growing_list(result):
    nodes = [result.grad_fn]
    for node in nodes:
        for following, _ in node.next_functions:
            if following is not None and following not in nodes:
                nodes.append(following)
    return [node.variable for node in nodes if not node.next_functions]


def leaves_by_their_ids(result):
    leaves, seen, queue = {}, set(), deque([result.grad_fn])
    kept = []
    while queue:
        node = queue.popleft()
        kept.append(node)
        variable = getattr(node, "variable", None)
        if variable is not None:
            leaves[id(variable)] = variable
        for pair in node.next_functions:
            if pair[0] and id(pair[0]) not in seen:
                seen.add(id(pair[0]))
                queue.append(pair[0])
    return leaves.values()


def asked_whether_it_is_the_same(result):
    leaves, nodes = [], [result.grad_fn]
    for node in nodes:
        if hasattr(node, "variable") and not any(node.variable is leaf for leaf in leaves):
            leaves.append(node.variable)
        nodes += [one for one, _ in dict.fromkeys(node.next_functions) if one is not None and one not in nodes]
    return leaves


# mend_history


def cut_at_the_end(w, inputs):
    h = torch.ones_like(inputs[0])
    gradients, losses = [], []
    for x in inputs:
        h = torch.tanh(w * h + x)
        loss = (h - 0.5) ** 2
        w.grad = None
        loss.backward()
        gradients.append(w.grad)
        losses.append(loss.detach())
        h = h.detach()
    return gradients, torch.stack(losses).mean()


def retained_all_the_same(w, inputs):
    h = torch.ones_like(inputs[0])
    gradients, total = [], 0.0
    for x in inputs:
        h = torch.tanh(w * h + x)
        loss = (h - 0.5) ** 2
        w.grad = None
        loss.backward(retain_graph=True)
        gradients.append(w.grad)
        with torch.no_grad():
            total = total + loss
            h = h.clone()
    return gradients, total / len(inputs)


def with_grad_and_numbers(w, inputs):
    h, gradients, total = 1.0, [], 0.0
    for x in inputs:
        out = torch.tanh(w * h + x)
        loss = (out - 0.5).square()
        gradients += torch.autograd.grad(loss, w)
        total += float(loss.detach())
        h = out.item()
    return tuple(gradients), total / len(inputs)


def set_to_zero_and_copied(w, inputs):
    h, gradients, losses = 1.0, [], []
    for x in inputs:
        if w.grad is not None:
            w.grad.zero_()
        h = torch.tanh(w * h + x)
        loss = (h - 0.5) ** 2
        loss.backward()
        h = h.data
        gradients.append(w.grad.clone())
        losses.append(loss.item())
    return gradients, sum(losses) / len(losses)


def cut_in_place(w, inputs):
    h = torch.ones_like(inputs[0])
    gradients, total = [], torch.zeros_like(inputs[0])
    for x in inputs:
        h = torch.tanh(w * h + x)
        loss = (h - 0.5) ** 2
        w.grad = None
        loss.backward()
        h.detach_()
        gradients.append(w.grad)
        total += loss.detach()
    return gradients, total / len(inputs)


# mend_step_between


def two_passes_and_a_step(w, v, optimizer):
    product = w * v
    first, second = product.sum(), (product**2).sum()
    optimizer.zero_grad()
    first.backward(retain_graph=True)
    second.backward()
    optimizer.step()


def both_roots_at_once(w, v, optimizer):
    product = w * v
    optimizer.zero_grad()
    torch.autograd.backward([product.sum(), (product**2).sum()])
    optimizer.step()


def two_forwards(w, v, optimizer):
    optimizer.zero_grad(set_to_none=False)
    (w * v).sum().backward()
    ((w * v) ** 2).sum().backward()
    optimizer.step()


def gradients_put_in_place(w, v, optimizer):
    product = w * v
    w.grad, v.grad = torch.autograd.grad(product.sum() + (product * product).sum(), (w, v))
    optimizer.step()


# mend_capped


def chosen_by_where(a, limit):
    s = torch.sigmoid(a)
    return torch.where(s > limit, limit, s)


def clamped(a, limit):
    return torch.sigmoid(a).clamp(max=limit)


def filled(a, limit):
    s = a.sigmoid()
    return s.masked_fill(s > limit, limit)


def assigned_after_an_addition(a, limit):
    s = 0 + torch.sigmoid(a)
    s.clamp_(max=limit)
    return s


def smaller_of_both(a, limit):
    s = torch.sigmoid(a)
    return s - torch.relu(s - limit)


def by_hand(a, limit):
    s = 1 / (1 + (-a).exp())
    s[s > limit] = limit
    return s


# mend_update


def copied(w, lr):
    with torch.no_grad():
        w.copy_(w - lr * w.grad)


@torch.no_grad()
def decorated(w, lr):
    w.sub_(w.grad, alpha=lr)


def through_detach(w, lr):
    w.detach().sub_(lr * w.grad)


def in_inference_mode(w, lr):
    with torch.inference_mode():
        w.add_(w.grad, alpha=-lr)


def mode_put_back(w, lr):
    with torch.set_grad_enabled(False):
        w[:] = w - lr * w.grad
    return w


# clip_and_note


def copies_noted(y, limit):
    noted = []

    def hook(gradient):
        noted.append(gradient.detach().clone())
        return torch.clamp(gradient, min=-limit, max=limit)

    y.register_hook(hook)
    return noted


def numbers_noted(y, limit):
    noted = []
    y.register_hook(lambda gradient: noted.append(gradient.tolist()))
    y.register_hook(lambda gradient: torch.where(gradient.abs() > limit, limit * gradient.sign(), gradient))
    return noted


def before_the_node(y, limit):
    noted = []

    def prehook(received):
        noted.append(received[0].numpy().copy())
        return (received[0].clip(-limit, limit),)

    y.grad_fn.register_prehook(prehook)
    return noted


def by_two_hooks(y, limit):
    noted = deque()
    y.register_hook(noted.append)
    y.register_hook(lambda gradient: torch.nn.functional.hardtanh(gradient, -limit, limit))
    return noted


def copy_clipped_in_place(y, limit):
    noted = []

    def hook(gradient):
        noted.append(gradient)
        return gradient.clone().clamp_(-limit, limit)

    y.register_hook(hook)
    return noted


RIGHT = {
    "predict_second_pass": ([1, 0, 0, 0, 1], (True, False, False, False, True), np.array([1, 0, 0, 0, 1])),
    "leaves_behind": (level_by_level, in_a_growing_list, leaves_by_their_ids, asked_whether_it_is_the_same),
    "mend_history": (
        cut_at_the_end,
        retained_all_the_same,
        with_grad_and_numbers,
        cut_in_place,
        set_to_zero_and_copied,
    ),
    "mend_step_between": (two_passes_and_a_step, both_roots_at_once, two_forwards, gradients_put_in_place),
    "choose_changed": ("c", "C", " c.", "(c)"),
    "mend_capped": (chosen_by_where, clamped, filled, assigned_after_an_addition, by_hand, smaller_of_both),
    "predict_overwritten": ([43, 0, 8, 6], (28 + 15, 0, 8, 6), torch.tensor([43.0, 0.0, 8.0, 6.0])),
    "mend_update": (copied, decorated, through_detach, mode_put_back, in_inference_mode),
    "clip_and_note": (copies_noted, numbers_noted, before_the_node, copy_clipped_in_place, by_two_hooks),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
_MINUS_ZERO = "the minus stands before a zero"
EQUIVALENT: dict[str, dict[str, str]] = {
    "predict_second_pass": {"`(1, 0, 0, 0, 1)`: sign changed": _MINUS_ZERO},
    "leaves_behind": {"`node is None`: Is made Eq": "nodes have no equality of their own, and none equals None"},
    "mend_history": {"`h - 0.5`: operands exchanged": "the difference is squared"},
    "mend_capped": {
        "`s > limit`: Gt made GtE": "only at exactly the limit would it matter, and the value is the same there"
    },
    "predict_overwritten": {"`(43.0, 0.0, 8.0, 6.0)`: sign changed": _MINUS_ZERO},
}
