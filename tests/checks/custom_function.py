"""Unit 06: right answers written differently, and mutants of the solutions that are still right."""

import numpy as np
import torch
from torch.autograd import Function

# wave


class WaveInThreeParts(Function):
    @staticmethod
    def forward(x, a, k):
        return torch.sin(x * k).mul(a)

    @staticmethod
    def setup_context(ctx, inputs, output):
        *tensors, ctx.k = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, grad_output):
        x, a = ctx.saved_tensors
        slope = grad_output * torch.cos(x * ctx.k)
        return slope * ctx.k * a, torch.sin(x * ctx.k) * grad_output, None


class WaveAsAsked(Function):
    """Computes what is needed only, in place on tensors of its own."""

    @staticmethod
    def forward(ctx, x, a, k):
        ctx.constants = {"k": k}
        ctx.save_for_backward(a, x)
        return a * (k * x).sin()

    @staticmethod
    def backward(ctx, grad_output):
        a, x = ctx.saved_tensors
        gradients = [None, None, None]
        if ctx.needs_input_grad[0]:
            gradients[0] = (ctx.constants["k"] * x).cos() * a * grad_output
            gradients[0] = gradients[0] * ctx.constants["k"]
        if ctx.needs_input_grad[1]:
            gradients[1] = grad_output.clone().mul((ctx.constants["k"] * x).sin())
        return tuple(gradients)


class WaveByInnerPass(Function):
    """Lets autograd find the backward, from the saved tensors themselves."""

    @staticmethod
    def forward(ctx, x, a, k):
        ctx.k = k
        ctx.save_for_backward(x, a)
        return a * torch.sin(k * x)

    @staticmethod
    def backward(ctx, grad_output):
        x, a = ctx.saved_tensors
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            x, a = x.view_as(x), a.view_as(a)
            x, a = (one if one.requires_grad else one.requires_grad_() for one in (x, a))
            value = a * torch.sin(ctx.k * x)
            return *torch.autograd.grad(value, (x, a), grad_output, create_graph=again), None


# mend_shrink


class ShrinkOnACopy(Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(x)
        ctx.t = t
        return torch.where(x > t, x - t, torch.where(x < -t, x + t, 0.0))

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x.abs() <= ctx.t] = 0
        return grad_input, None


class ShrinkByTheResult(Function):
    """The result is 0 exactly where the gradient is."""

    @staticmethod
    def forward(ctx, x, t):
        y = torch.sign(x) * (x.abs() - t).clamp(min=0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.where(y == 0, 0.0, grad_output), None


class ShrinkWithAMask(Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.passes = (x > t) | (x < -t)
        return (x - t * torch.sign(x)) * ctx.passes

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.masked_fill(~ctx.passes, 0), None


# mend_list


class SquaresInALoop(Function):
    @staticmethod
    def forward(ctx, *tensors):
        ctx.save_for_backward(*tensors)
        total = torch.zeros(())
        for one in tensors:
            total = total + one.pow(2).sum()
        return total

    @staticmethod
    def backward(ctx, grad_output):
        gradients = []
        for one, needed in zip(ctx.saved_tensors, ctx.needs_input_grad, strict=True):
            gradients.append(grad_output * 2 * one if needed else None)
        return tuple(gradients)


def penalty_in_a_loop(tensors):
    return SquaresInALoop.apply(*tensors)


class SquareOfOne(Function):
    @staticmethod
    def forward(x):
        return (x * x).sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return x * (grad_output + grad_output)


def penalty_of_one_long_tensor(tensors):
    return SquareOfOne.apply(torch.cat([one.reshape(-1) for one in tensors]))


def penalty_one_by_one(tensors):
    return sum(SquareOfOne.apply(one) for one in tensors)


class SquaresBehindACount(Function):
    """Knows how many tensors come, and gives the count a None."""

    @staticmethod
    def forward(ctx, count, *tensors):
        assert count == len(tensors)
        ctx.save_for_backward(*tensors)
        return torch.stack([torch.dot(one.reshape(-1), one.reshape(-1)) for one in tensors]).sum()

    @staticmethod
    def backward(ctx, grad_output):
        return (None, *(2 * one * grad_output for one in ctx.saved_tensors))


def penalty_with_a_count(tensors):
    return SquaresBehindACount.apply(len(tensors), *tensors)


# mend_intermediate


class LogSquareFromTheOutput(Function):
    """The output has a place in the graph: 1 + x * x is its exponential."""

    @staticmethod
    def forward(ctx, x):
        y = torch.log1p(x * x)
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return 2 * x * grad_output * torch.exp(-y)


class LogSquareInThreeParts(Function):
    @staticmethod
    def forward(x):
        return torch.log(x**2 + 1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x + x) / (x**2 + 1)


class LogSquareByInnerPass(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log(1 + x * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            value = torch.log(1 + x * x)
            return torch.autograd.grad(value, x, grad_output, create_graph=True)[0]


# mend_dirty


class ExpMarkedFirst(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x.exp_())
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.saved_tensors[0]


class ExpInThreeParts(Function):
    @staticmethod
    def forward(x):
        return x.exp_()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(*inputs)
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return y * grad_output


class ExpCopiedBack(Function):
    @staticmethod
    def forward(ctx, x):
        x.copy_(torch.exp(x))
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return torch.mul(y, grad_output)


# mend_legacy


class LeakyInThreeParts(Function):
    @staticmethod
    def forward(x, slope):
        return torch.max(x, slope * x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.slope = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.where(x > 0, 1.0, ctx.slope), None


class LeakyWithATensor(Function):
    """The slope is made a tensor, and saved with the other one."""

    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x, torch.as_tensor(slope, dtype=x.dtype))
        return x.clamp(min=0) + slope * x.clamp(max=0)

    @staticmethod
    def backward(ctx, grad_output):
        x, slope = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x <= 0] *= slope
        return grad_input, None


class LeakyByFactors(Function):
    @staticmethod
    def forward(ctx, slope, x):
        ctx.factors = torch.ones_like(x)
        ctx.factors[x <= 0] = slope
        return x * ctx.factors

    @staticmethod
    def backward(ctx, grad_output):
        return None, ctx.factors * grad_output


# sigmoid_for_func


class SigmoidInTwoProducts(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return torch.sigmoid(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        along_y = y * grad_output
        return along_y - y * along_y


class SigmoidWithItsOwnRule(Function):
    @staticmethod
    def forward(x):
        return x.exp() / (1 + x.exp())

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return (y - y**2) * grad_output

    @staticmethod
    def vmap(info, in_dims, x):
        return SigmoidWithItsOwnRule.apply(x), in_dims[0]


class SigmoidByTanh(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return (torch.tanh(x / 2) + 1) / 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        y = ctx.saved_tensors[-1]
        return (1 - y) * (grad_output * y)


RIGHT = {
    "wave": (WaveInThreeParts, WaveAsAsked, WaveByInnerPass),
    "choose_own_tensor": ("c", "C", " (c) "),
    "predict_sister": (
        [0, 60, -10, 0],
        (torch.tensor([0.0, 60.0]), torch.tensor([-10.0, 0.0])),
        np.array([0.0, 60.0, -10.0, 0.0]),
    ),
    "mend_shrink": (ShrinkOnACopy, ShrinkByTheResult, ShrinkWithAMask),
    "mend_list": (penalty_in_a_loop, penalty_of_one_long_tensor, penalty_with_a_count, penalty_one_by_one),
    "mend_intermediate": (LogSquareFromTheOutput, LogSquareInThreeParts, LogSquareByInnerPass),
    "predict_judges": (
        [0, 1, 1, 0, 1, 1],
        (0.0, 1.0, 1.0, 0.0, 1.0, 1.0),
        torch.tensor([0, 1, 1, 0, 1, 1]),
        ((0, 1), (1, 0), (1, 1)),
        [[False, True], [True, False], [True, True]],
    ),
    "mend_dirty": (ExpMarkedFirst, ExpInThreeParts, ExpCopiedBack),
    "mend_legacy": (
        lambda x, slope: LeakyInThreeParts.apply(x, slope),
        LeakyWithATensor.apply,
        lambda x, slope: LeakyByFactors.apply(slope, x),
    ),
    "sigmoid_for_func": (SigmoidInTwoProducts, SigmoidWithItsOwnRule, SigmoidByTanh),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
EQUIVALENT: dict[str, dict[str, str]] = {
    "predict_sister": {"`(0.0, 60.0, -10.0, 0.0)`: sign changed": "0 has no sign"},
    "predict_judges": {"`(0, 1, 1, 0, 1, 1)`: sign changed": "0 has no sign"},
    "mend_legacy": {"`x > 0`: Gt made GtE": "in the forward, both branches are 0 at exactly 0"},
}
