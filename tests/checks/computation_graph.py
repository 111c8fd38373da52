"""Unit 02: right answers written differently, and mutants of the solutions that are still right."""

import numpy as np
import torch

from course_utils.checks.given import in_order

# sum_over_paths


def with_a_stack(result, x):
    total, stack = 0.0, [(result, 1.0)]
    while stack:
        node, product = stack.pop()
        if node is x:
            total += product
        stack += [(parent, product * slope) for parent, slope in zip(node.parents, node.slopes, strict=True)]
    return total


def in_one_line(result, x):
    if result is x:
        return 1
    return sum(slope * in_one_line(parent, x) for slope, parent in zip(result.slopes, result.parents, strict=True))


def by_the_engine(result, x):
    gradients = dict.fromkeys(in_order(result), 0.0)
    gradients[result] = 1.0
    for node in reversed(in_order(result)):
        for parent, slope in zip(node.parents, node.slopes, strict=True):
            gradients[parent] += gradients[node] * slope
    return gradients[x]


def along_from_the_input(result, x):
    tangent = {}
    for node in in_order(result):
        steps = zip(node.parents, node.slopes, strict=True)
        tangent[node] = 1.0 if node is x else sum(tangent[parent] * slope for parent, slope in steps)
    return torch.tensor(tangent[result])


# mend_overwriting


def added_in_place(result):
    result.grad = 1.0
    for node in in_order(result)[::-1]:
        for parent, slope in zip(node.parents, node.slopes, strict=True):
            parent.grad += slope * node.grad


def collected_first(result):
    received = {node: [] for node in in_order(result)}
    received[result].append(1.0)
    for node in reversed(in_order(result)):
        node.grad = sum(received[node])
        for place, parent in enumerate(node.parents):
            received[parent].append(node.slopes[place] * node.grad)


def path_by_path(result):
    def walk(node, gradient):
        node.grad += gradient
        for parent, slope in zip(node.parents, node.slopes, strict=True):
            walk(parent, gradient * slope)

    walk(result, 1.0)


# topological_order


def by_counting_messages(result):
    missing, found = {result: 0}, [result]
    for node in found:
        for parent in node.parents:
            if parent not in missing:
                missing[parent] = 0
                found.append(parent)
            missing[parent] += 1
    ready, order = [result], []
    while ready:
        node = ready.pop(0)
        order.append(node)
        for parent in node.parents:
            missing[parent] -= 1
            if not missing[parent]:
                ready.append(parent)
    order.reverse()
    return order


def with_iterators(result):
    order, seen, stack = [], {id(result)}, [(result, iter(result.parents))]
    while stack:
        node, parents = stack[-1]
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                stack.append((parent, iter(parent.parents)))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def until_nothing_waits(result):
    stack, placed = [result], {}
    while stack:
        waiting = [parent for parent in stack[-1].parents if parent not in placed]
        if waiting:
            stack.extend(waiting)
        else:
            placed[stack.pop()] = True
    return tuple(placed)


# head_gradient


def by_grad(x, head):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(x * x, x, head)[0]


def as_a_weighted_sum(x, head):
    x = x.detach().clone().requires_grad_()
    (x * x * head).sum().backward()
    return x.grad


def by_formula(x, head):
    return 2 * x * head


# operations


class Terse:
    def __init__(self, data, parents=(), pass_back=lambda incoming: []):
        self.data, self.parents, self.pass_back, self.grad = data, parents, pass_back, None

    def __add__(self, other):
        a, b = self.data, other.data
        return Terse(a + b, (self, other), lambda g: (g.sum_to_size(a.shape), g.sum_to_size(b.shape)))

    def __mul__(self, other):
        a, b = self.data, other.data
        return Terse(a * b, (self, other), lambda g: ((g * b).sum_to_size(a.shape), (a * g).sum_to_size(b.shape)))

    def __pow__(self, n):
        return Terse(self.data.pow(n), [self], lambda g: [g * self.data.pow(n - 1) * n])

    def __matmul__(self, other):
        a, b = self.data, other.data
        return Terse(a.mm(b), (self, other), lambda g: (g.mm(b.t()), (g.t() @ a).t()))

    def exp(self):
        return Terse(torch.exp(self.data), [self], lambda g: [g * torch.exp(self.data)])

    def relu(self):
        return Terse(torch.relu(self.data), [self], lambda g: [torch.where(self.data > 0, g, 0.0)])

    def sum(self):
        return Terse(self.data.sum(), [self], lambda g: [torch.ones_like(self.data) * g])


class WithRules:
    """The operations know the result's Value, and read data and shapes from the parents when gradients come."""

    def __init__(self, data, parents=(), rule=None):
        self.data, self.parents, self.rule = data, tuple(parents), rule

    def pass_back(self, incoming):
        if not self.parents:
            return ()
        gradients = self.rule(incoming, self.data, *(parent.data for parent in self.parents))
        return tuple(
            gradient.sum_to_size(parent.data.shape) for gradient, parent in zip(gradients, self.parents, strict=True)
        )

    def __add__(self, other):
        return WithRules(self.data + other.data, (self, other), lambda g, out, a, b: (g, g))

    def __mul__(self, other):
        return WithRules(self.data * other.data, (self, other), lambda g, out, a, b: (g * b, g * a))

    def __pow__(self, n):
        return WithRules(self.data**n, (self,), lambda g, out, a: (n * g * a ** (n - 1),))

    def __matmul__(self, other):
        return WithRules(self.data @ other.data, (self, other), lambda g, out, a, b: (g @ b.mT, a.mT @ g))

    def exp(self):
        return WithRules(self.data.exp(), (self,), lambda g, out, a: (g * out,))

    def relu(self):
        data = self.data.clone()
        data[data < 0] = 0
        return WithRules(data, (self,), lambda g, out, a: (g * torch.sign(out),))

    def sum(self):
        return WithRules(self.data.sum(), (self,), lambda g, out, a: (torch.full_like(a, g.item()),))


class OnTop(Terse):
    """Another class is extended; its other operations return the class below, which is a Value as well."""

    def relu(self):
        mask = (self.data > 0).to(self.data.dtype)
        return Terse(self.data * mask, (self,), lambda incoming: (mask * incoming,))


# engine_backward


def with_a_dictionary(result, incoming):
    sums = {id(result): incoming}
    for node in in_order(result)[::-1]:
        node.grad = sums[id(node)]
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            sums[id(parent)] = sums.get(id(parent), 0) + gradient


def with_zeros(result, incoming):
    order = by_counting_messages(result)
    for node in order:
        node.grad = torch.zeros_like(node.data)
    result.grad = result.grad + incoming
    for node in reversed(order):
        for place, gradient in enumerate(node.pass_back(node.grad)):
            node.parents[place].grad = node.parents[place].grad + gradient


def on_copies_in_place(result, incoming):
    result.grad = incoming.clone()
    for node in reversed(until_nothing_waits(result)):
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            if parent.grad is None:
                parent.grad = gradient.clone()
            else:
                parent.grad += gradient


def when_all_have_arrived(result, incoming):
    missing = {}
    for node in in_order(result):
        for parent in node.parents:
            missing[parent] = missing.get(parent, 0) + 1
    result.grad, ready = incoming, [result]
    while ready:
        node = ready.pop()
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            parent.grad = gradient if parent.grad is None else torch.add(parent.grad, gradient)
            missing[parent] -= 1
            if missing[parent] == 0:
                ready.append(parent)


RIGHT = {
    "predict_nodes": ([3, 2, 4], (3.0, 2.0, 4.0), np.array([3, 2, 4])),
    "predict_two_paths": ([8, 5], (3 + 5, 5), (torch.tensor(8.0), torch.tensor(5.0))),
    "sum_over_paths": (with_a_stack, in_one_line, by_the_engine, along_from_the_input),
    "choose_cost": ("d", "D", " d.", "(d)"),
    "mend_overwriting": (added_in_place, collected_first, path_by_path),
    "topological_order": (by_counting_messages, with_iterators, until_nothing_waits),
    "head_gradient": (by_grad, as_a_weighted_sum, by_formula),
    "operations": (Terse, WithRules, OnTop),
    "engine_backward": (with_a_dictionary, with_zeros, on_copies_in_place, when_all_have_arrived),
}

_AS_MANY = "there is always one slope or gradient for each parent; `strict` only says so"

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
EQUIVALENT: dict[str, dict[str, str]] = {
    "sum_over_paths": {
        "`result is x`: Is made Eq": "nodes have no equality of their own, so `==` asks for the same node as well",
        "`zip(result.parents, result.slopes, strict=True)`: `strict` dropped": _AS_MANY,
        "`True`: False instead": _AS_MANY,
    },
    "engine_backward": {
        "`zip(node.parents, node.pass_back(node.grad), strict=True)`: `strict` dropped": _AS_MANY,
        "`True`: False instead": _AS_MANY,
        "`parent.grad is None`: Is made Eq": "a tensor that is compared with None by `==` gives False as well",
    },
    "operations": {
        "`self.data > 0`: Gt made GtE": "at exactly 0 relu has no derivative; unit 08 is about such places",
    },
}
