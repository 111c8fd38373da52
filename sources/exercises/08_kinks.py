# %% [markdown]
r"""
# Exercises 08 · Kinks

These exercises go with the lesson `notebooks/08_kinks.ipynb`. Read the lesson first.

You predict slopes where there is none, and mend code whose values are right and whose gradients are not. No exercise needs the answer to
another one. No answer depends on what `clamp` does at its limits, which differs between versions of PyTorch.

Autograd is switched on, unless the text says otherwise. Hints wait inside a check's result; each one opens the next.
"""

# %% name="setup"
import torch

from course_utils import check, progress

torch.set_default_dtype(torch.float64)

# %% [markdown]
r"""
## 1. Predict: four gradients at 0

`x = torch.tensor(0.0, requires_grad=True)`, and `zero = torch.tensor(0.0)`. What gradient does autograd give for each of these?

- **a.** `torch.relu(x) + torch.maximum(x, zero)`
- **b.** `torch.where(x >= 0, 3 * x, x)`
- **c.** `x.abs() + 2 * x`
- **d.** `5 * torch.relu(x) - 2 * torch.relu(-x) + x`
"""

# %% name="predict_kinks" tags=["answer"]
### BEGIN STUB
# slopes = (..., ..., ..., ...)  # a, b, c, d
### END STUB
### BEGIN SOLUTION
slopes = (0.5, 3.0, 2.0, 1.0)
### END SOLUTION

# %% name="predict_kinks.check" tags=["check"]
check("predict_kinks", slopes)

# %% [markdown]
r"""
## 2. Write: does a line support a curve?

A line goes through the curve of `f` at `x`, with the given `slope`. It supports the curve if it stays below it, or touches it. Check this at the given `points`: return `True` if it holds
at each of them, and `False` if not.

`f` takes a tensor and gives a tensor of the same shape. `x` and `slope` are tensors with one number (shape `()`), `points` has the shape `(N,)`. Do not ask autograd: a slope is given.
"""


# %% name="supports" tags=["answer"]
def supports(f, x, slope, points):
    ### BEGIN SOLUTION
    line = f(x) + slope * (points - x)
    return bool((line <= f(points)).all())
    ### END SOLUTION


# %% name="supports.check" tags=["check"]
check("supports", supports)

# %% [markdown]
r"""
## 3. Write: the backward of max

`x` has the shape `(N,)`, and `incoming` is a number (shape `()`), the gradient of `x.max()`. Return the gradient of `x` as `x.max()` of PyTorch defines it, also where several entries are the
largest. Write it in plain tensor arithmetic: autograd is switched off.
"""


# %% name="max_backward" tags=["answer"]
def max_backward(incoming, x):
    ### BEGIN SOLUTION
    largest = x == x.max()
    return incoming * largest / largest.sum()
    ### END SOLUTION


# %% name="max_backward.check" tags=["check"]
check("max_backward", max_backward)

# %% [markdown]
r"""
## 4. Choose: where the slope comes out right

Each of these functions equals $x$ for every $x$. Which one has the gradient 1 at $x = 0$ in autograd?

- **a.** `torch.relu(x) - torch.relu(-x)`
- **b.** `torch.maximum(x, zero) + torch.minimum(x, zero)`
- **c.** `torch.where(x > 0, x, zero) + torch.where(x < 0, x, zero)`
- **d.** `x.abs() * x.sign()`

Answer with one letter in quotation marks.
"""

# %% name="choose_identity" tags=["answer"]
### BEGIN SOLUTION
choice = "b"
### END SOLUTION

# %% name="choose_identity.check" tags=["check"]
check("choose_identity", choice)

# %% [markdown]
r"""
## 5. Write: a sign that can learn

Networks with weights of -1 and 1 take the sign of a number. Write `straight_sign(x)`: its value is `x.sign()`. Its gradient is as if it were $x$ itself where $|x| < 1$, and 0 where $|x| > 1$.
(No entry is exactly -1, 0 or 1.)
"""


# %% name="straight_sign" tags=["answer"]
def straight_sign(x):
    ### BEGIN SOLUTION
    passes = torch.where(x.abs() < 1, x, 0.0)
    return passes + (x.sign() - passes).detach()
    ### END SOLUTION


# %% name="straight_sign.check" tags=["check"]
check("straight_sign", straight_sign)

# %% [markdown]
r"""
## 6. Mend: the length of a vector

`lengths(x)` gives the length of each row of `x`. The values are right. But a row of zeros makes its gradient `nan`. Mend it: the values must stay exactly the same, and the gradient of a row
of zeros must be 0.
"""


# %% name="mend_lengths" tags=["answer"]
def lengths(x):
    ### BEGIN STUB
    # return (x**2).sum(dim=1).sqrt()
    ### END STUB
    ### BEGIN SOLUTION
    squares = (x**2).sum(dim=1)
    is_zero = squares == 0
    safe = torch.where(is_zero, 1.0, squares)
    return torch.where(is_zero, 0.0, safe.sqrt())
    ### END SOLUTION


# %% name="mend_lengths.check" tags=["check"]
check("mend_lengths", lengths)

# %% [markdown]
r"""
## 7. Mend: an entropy

`entropy(p)` is $-\sum p_i \log p_i$, where $0 \log 0$ counts as 0. `p` has the shape `(N,)`, and no entry is negative. Its author has protected the values. Mend the gradient: it must
be 0 for entries that are 0, and what autograd gives for all others, $-\log p_i - 1$. The values must stay the same.
"""


# %% name="mend_entropy" tags=["answer"]
def entropy(p):
    ### BEGIN STUB
    # return torch.where(p > 0, -p * p.log(), 0.0).sum()
    ### END STUB
    ### BEGIN SOLUTION
    safe = torch.where(p > 0, p, 1.0)
    return torch.where(p > 0, -safe * safe.log(), 0.0).sum()
    ### END SOLUTION


# %% name="mend_entropy.check" tags=["check"]
check("mend_entropy", entropy)

# %% [markdown]
r"""
## 8. Mend: targets that are missing

`loss(x, target)` is the mean squared error over those entries whose target is known. A missing target is `nan`. (At least one is known.) The value is right. The gradient is
`nan` where a target is missing; there it must be 0. Mend it.
"""


# %% name="mend_missing" tags=["answer"]
def loss(x, target):
    known = ~target.isnan()
    ### BEGIN STUB
    # return ((x - target) ** 2)[known].mean()
    ### END STUB
    ### BEGIN SOLUTION
    return ((x[known] - target[known]) ** 2).mean()
    ### END SOLUTION


# %% name="mend_missing.check" tags=["check"]
check("mend_missing", loss)

# %% [markdown]
r"""
## 9. Mend: a row that sees nothing

`attend(scores, mask, values)` weighs the rows of `values` by a softmax over each row of `scores`, as an attention layer does. Only entries where `mask` is `True` may count. `scores` and `mask` have the shape `(Q, K)`, `values` has `(K, D)`, the result `(Q, D)`.

A row in which nothing may count gives `nan`. Mend it: such a row must give zeros, and no gradient may become `nan`. All other rows must stay as they are.
"""


# %% name="mend_attention" tags=["answer"]
def attend(scores, mask, values):
    ### BEGIN STUB
    # hidden = scores.masked_fill(~mask, -float("inf"))
    # return torch.softmax(hidden, dim=1) @ values
    ### END STUB
    ### BEGIN SOLUTION
    hidden = scores.masked_fill(~mask, -1e9)
    return (torch.softmax(hidden, dim=1) * mask) @ values
    ### END SOLUTION


# %% name="mend_attention.check" tags=["check"]
check("mend_attention", attend)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
