# %% [markdown]
r"""
# Exercises 06 · Teaching autograd a new operation

These exercises go with the lesson `notebooks/06_custom_function.ipynb`. Read the lesson first.

You write both halves of operations, mend some that spoil other people's gradients, and bring an old one up to date. No exercise needs the answer
to another one.

A check uses your code as other people would: alone, inside other operations, several times in one graph, differentiated twice, and after somebody has
changed a tensor in place. And it looks whether a Function of yours has made the result. Hints wait inside its result; each one opens the next.

In a check's table, `grad_output` is what comes into your backward. A row *second derivative along x* comes from $L = \sum w\,z^2$, where $z$ is your
operation's result, and $w$ are the `weights` above it. The gradients of $L$ are taken with `create_graph=True`, and all their entries are added. The row is
the gradient of that sum.
"""

# %% name="setup"
import torch

from course_utils import check, progress

torch.set_default_dtype(torch.float64)

# %% [markdown]
r"""
## 1. Write: both halves of a wave

The operation is $z = a\,\sin(k\,x)$. `x` and `a` are tensors of the same shape, `k` is a plain number. Write both halves. Others call it as
`Wave.apply(x, a, k)`.

Its gradients must be right alone and inside other operations, beside another wave with another `k` too, and so must their own derivatives. If somebody changes `x` or `a` in
place between forward and backward, autograd must notice: an error is welcome, a wrong number is not.

In these exercises autograd is switched on. (The derivative of $\sin(u)$ with respect to $u$ is $\cos(u)$.)
"""


# %% name="wave" tags=["answer"]
class Wave(torch.autograd.Function):
    """z = a * sin(k * x)"""

    ### BEGIN STUB
    # @staticmethod
    # def forward(ctx, x, a, k):
    #     raise NotImplementedError("write your answer here")
    #
    # @staticmethod
    # def backward(ctx, grad_output):
    #     raise NotImplementedError("write your answer here")
    ### END STUB
    ### BEGIN SOLUTION
    @staticmethod
    def forward(ctx, x, a, k):
        ctx.save_for_backward(x, a)
        ctx.k = k
        return a * torch.sin(k * x)

    @staticmethod
    def backward(ctx, grad_output):
        x, a = ctx.saved_tensors
        grad_x = grad_output * a * ctx.k * torch.cos(ctx.k * x)
        grad_a = grad_output * torch.sin(ctx.k * x)
        return grad_x, grad_a, None

    ### END SOLUTION


# %% name="wave.check" tags=["check"]
check("wave", Wave)

# %% [markdown]
r"""
## 2. Choose: which backward leaves others alone

Four ways to write the backward of the absolute value, $|x|$. `x` is a saved tensor, without zeros. All four return the right numbers. Three of them may spoil
a gradient that is not theirs.

```
# a
grad_input = grad_output
grad_input[x < 0] *= -1
return grad_input

# b
grad_input = grad_output.detach()
grad_input[x < 0] *= -1
return grad_input

# c
grad_input = -grad_output
grad_input[x > 0] = grad_output[x > 0]
return grad_input

# d
grad_output[x < 0] *= -1
return grad_output.clone()
```

Which one does not? Answer with one letter in quotation marks.
"""

# %% name="choose_own_tensor" tags=["answer"]
### BEGIN SOLUTION
choice = "c"
### END SOLUTION

# %% name="choose_own_tensor.check" tags=["check"]
check("choose_own_tensor", choice)

# %% [markdown]
r"""
## 3. Predict: whose gradient is hit

`Gate` lets numbers above 1 through, and makes 0 of the others. Its backward writes into `grad_output`:

```
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.where(x > 1, x, 0.0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_output[x <= 1] = 0
        return grad_output
```

Two programs, each with fresh tensors `x = [0.5, 2.0]`, which requires a gradient, and `v = [10.0, 30.0]`:

```
A    (Gate.apply(x) + x).backward(v)
B    (Gate.apply(x) - x).backward(v)
```

An addition sends one and the same tensor to both of its inputs. A subtraction sends what comes in to its first input, and to its second input the negative of it, which is
a new tensor. The addition or subtraction runs first, and then the gate. What is `x.grad` after A, and after B?
"""

# %% name="predict_sister" tags=["answer"]
### BEGIN STUB
# x_grad = (..., ..., ..., ...)  # both entries after A, then both entries after B
### END STUB
### BEGIN SOLUTION
x_grad = (0.0, 60.0, -10.0, 0.0)
### END SOLUTION

# %% name="predict_sister.check" tags=["check"]
check("predict_sister", x_grad)

# %% [markdown]
r"""
## 4. Mend: a backward that writes into what it was given

`Shrink` moves every number towards 0 by `t`, and makes 0 of those that are nearer than that: $x - t$ above $t$, $x + t$ below $-t$, and 0 between. It has passed
gradcheck. Used in a network, it gives wrong gradients, now and then even to other operations. Mend its backward. (The forward is right. If `x` is changed in place before the backward,
no wrong gradient may come out: an error is right, and so is the gradient at the old `x`.)

And there is a second fault, at two single places: where $x$ is exactly $t$ or $-t$, the gradient shall be 0, as with PyTorch's own `softshrink`.
"""


# %% name="mend_shrink" tags=["answer"]
class Shrink(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, t):
        ctx.save_for_backward(x)
        ctx.t = t
        return torch.sign(x) * (x.abs() - t).clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        ### BEGIN STUB
        # grad_output[x.abs() < ctx.t] = 0
        # return grad_output, None
        ### END STUB
        ### BEGIN SOLUTION
        return grad_output * (x.abs() > ctx.t), None
        ### END SOLUTION


# %% name="mend_shrink.check" tags=["check"]
check("mend_shrink", Shrink)

# %% [markdown]
r"""
## 5. Mend: tensors in a list

`penalty(tensors)` is to return the sum of the squares of all entries of all tensors in a list. As it is, no gradient arrives. Mend the class and the function, so
that each tensor gets its gradient, by the backward of the class. The list can have any length.

If a tensor is changed in place between forward and backward, no wrong gradient may come out: an error is better. And second derivatives must be right.
"""


# %% name="mend_list" tags=["answer"]
### BEGIN STUB
# class Penalty(torch.autograd.Function):
#     @staticmethod
#     def forward(ctx, tensors):
#         ctx.tensors = tensors
#         return sum((one * one).sum() for one in tensors)
#
#     @staticmethod
#     def backward(ctx, grad_output):
#         return [2 * grad_output * one for one in ctx.tensors]
#
#
# def penalty(tensors):
#     return Penalty.apply(tensors)
### END STUB
### BEGIN SOLUTION
class Penalty(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *tensors):
        ctx.save_for_backward(*tensors)
        return sum((one * one).sum() for one in tensors)

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(2 * grad_output * one for one in ctx.saved_tensors)


def penalty(tensors):
    return Penalty.apply(*tensors)


### END SOLUTION

# %% name="mend_list.check" tags=["check"]
check("mend_list", penalty)

# %% [markdown]
r"""
## 6. Mend: a second derivative

`LogSquare` computes $\log(1 + x^2)$. To save work, it keeps $t = 1 + x^2$ for its backward. The gradient is right, and gradcheck is content. But the second derivative is
wrong, and `t` stays on `ctx` after the backward, so that its memory is not freed. Mend both. If `x` is changed in place before the backward, autograd notices, and it must still do
so afterwards.
"""


# %% name="mend_intermediate" tags=["answer"]
class LogSquare(torch.autograd.Function):
    ### BEGIN STUB
    # @staticmethod
    # def forward(ctx, x):
    #     ctx.save_for_backward(x)
    #     ctx.t = 1 + x * x
    #     return torch.log(ctx.t)
    #
    # @staticmethod
    # def backward(ctx, grad_output):
    #     (x,) = ctx.saved_tensors
    #     return grad_output * 2 * x / ctx.t
    ### END STUB
    ### BEGIN SOLUTION
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.log(1 + x * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x / (1 + x * x)

    ### END SOLUTION


# %% name="mend_intermediate.check" tags=["check"]
check("mend_intermediate", LogSquare)

# %% [markdown]
r"""
## 7. Predict: what both judges say

Three Functions are put before `gradcheck` and `gradgradcheck`, in float64, at $x = 0.5$ and $y = 3$.

```
A    x * y       saves x, y                  its backward returns  grad_output * x, grad_output * y
B    (1 + x)**2  saves t, where t = 1 + x    its backward returns  grad_output * 2 * t
C    x**3        saves x                     its backward returns  grad_output * 3 * x**2
```

All of them use `save_for_backward`. Who passes? Write 1 for "passes" and 0 for "fails".
"""

# %% name="predict_judges" tags=["answer"]
### BEGIN STUB
# verdicts = (
#     ..., ...,  # A: gradcheck, gradgradcheck
#     ..., ...,  # B
#     ..., ...,  # C
# )
### END STUB
### BEGIN SOLUTION
verdicts = (0, 1, 1, 0, 1, 1)
### END SOLUTION

# %% name="predict_judges.check" tags=["check"]
check("predict_judges", verdicts)

# %% [markdown]
r"""
## 8. Mend: an operation in place

`ExpInPlace.apply(h)` is to replace every number in `h` by its exponential, without a second tensor, as PyTorch's own `h.exp_()` does. Whoever uses `h` afterwards must
get the right gradients, second derivatives too. A leaf that requires a gradient must be refused. And if the result is changed in place once more before the backward, no wrong
gradient may come out: an error is better. As it is, `h` keeps its old node. Mend it.
"""


# %% name="mend_dirty" tags=["answer"]
class ExpInPlace(torch.autograd.Function):
    ### BEGIN STUB
    # @staticmethod
    # def forward(ctx, x):
    #     x.exp_()
    #     ctx.save_for_backward(x)
    #     return x
    #
    # @staticmethod
    # def backward(ctx, grad_output):
    #     (y,) = ctx.saved_tensors
    #     return grad_output * y
    ### END STUB
    ### BEGIN SOLUTION
    @staticmethod
    def forward(ctx, x):
        x.exp_()
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y

    ### END SOLUTION


# %% name="mend_dirty.check" tags=["check"]
check("mend_dirty", ExpInPlace)

# %% [markdown]
r"""
## 9. Mend: an old one

A repository from long ago has this leaky ReLU: $x$ where $x$ is positive, `slope` times $x$ elsewhere. Today it stops with an error. Bring it up to date, class and function,
with all four changes of the lesson's section 9. What it computes stays as it is, at exactly 0 too. And autograd still notices when `x` is changed in place. `leaky(x, slope)` is what others call, with a plain number for `slope`. Several
results may be waiting for their backward at the same time.
"""


# %% name="mend_legacy" tags=["answer"]
### BEGIN STUB
# class Leaky(torch.autograd.Function):
#     def __init__(self, slope):
#         super().__init__()
#         self.slope = slope
#
#     def forward(self, x):
#         self.save_for_backward(x)
#         return torch.where(x > 0, x, self.slope * x)
#
#     def backward(self, grad_output):
#         (x,) = self.saved_tensors
#         return torch.where(x > 0, grad_output, self.slope * grad_output)
#
#
# def leaky(x, slope):
#     return Leaky(slope)(x)
### END STUB
### BEGIN SOLUTION
class Leaky(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, slope):
        ctx.save_for_backward(x)
        ctx.slope = slope
        return torch.where(x > 0, x, slope * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return torch.where(x > 0, grad_output, ctx.slope * grad_output), None


def leaky(x, slope):
    return Leaky.apply(x, slope)


### END SOLUTION

# %% name="mend_legacy.check" tags=["check"]
check("mend_legacy", leaky)

# %% [markdown]
r"""
## 10. Write: a sigmoid for everyone

Write $y = \frac{1}{1 + e^{-x}}$ so that `torch.func.grad` and `torch.func.vmap` can use it too. Its derivative is $y\,(1 - y)$: save the output, and nothing else. Then the backward
needs no exponential, and `x` may be changed in place before it. If the output is changed in place before the backward, autograd must notice. Which parts the class needs, and which attribute, is yours to decide.
"""


# %% name="sigmoid_for_func" tags=["answer"]
class Sigmoid(torch.autograd.Function):
    ### BEGIN STUB
    # @staticmethod
    # def forward(*arguments):
    #     raise NotImplementedError("write your answer here")
    ### END STUB
    ### BEGIN SOLUTION
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return 1 / (1 + torch.exp(-x))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)

    ### END SOLUTION


# %% name="sigmoid_for_func.check" tags=["check"]
check("sigmoid_for_func", Sigmoid)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
