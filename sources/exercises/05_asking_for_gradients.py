# %% [markdown]
r"""
# Exercises 05 · Asking for gradients

These exercises go with the lesson `notebooks/05_asking_for_gradients.ipynb`. Read the lesson first.

Here autograd is switched on: it does the work, and you ask the questions. No exercise needs the answer to another one.

A check runs your code on inputs that you have not seen. It never needs a particular way of writing. Hints wait inside its result; each
one opens the next.
"""

# %% name="setup"
import torch

from course_utils import check, progress

torch.set_default_dtype(torch.float64)

# %% [markdown]
r"""
## 1. Predict: what is in `.grad`

```
w = torch.tensor(7.0, requires_grad=True)
(3 * w).backward()
first = w.grad.item()
(w * w).backward()
second = w.grad.item()
asked = torch.autograd.grad(5 * w, w)[0].item()
third = w.grad.item()
w.grad = None
(w * w).backward()
fourth = w.grad.item()
```

Do it with pencil and paper: what are the five numbers?
"""

# %% name="predict_dot_grad" tags=["answer"]
### BEGIN STUB
# numbers = (..., ..., ..., ..., ...)  # first, second, asked, third, fourth
### END STUB
### BEGIN SOLUTION
numbers = (3.0, 17.0, 5.0, 17.0, 14.0)
### END SOLUTION

# %% name="predict_dot_grad.check" tags=["check"]
check("predict_dot_grad", numbers)

# %% [markdown]
r"""
## 2. Mend: a training loop

`train` should take `steps` steps of gradient descent. It has two faults. Mend it.

- `w` is a leaf that requires a gradient. After the call, **the same tensor** must hold the trained values, and still be such a leaf: others
  look at it, too.
- `w.grad` may hold something from before the call, or `None`. It must play no part.
- `loss_of(w)` returns a loss with one element. `lr` is a number. `train` returns `w`.
"""


# %% name="mend_training" tags=["answer"]
def train(loss_of, w, steps, lr):
    for _ in range(steps):
        ### BEGIN STUB
        # loss_of(w).backward()
        # with torch.no_grad():
        #     w = w - lr * w.grad
        ### END STUB
        ### BEGIN SOLUTION
        w.grad = None
        loss_of(w).backward()
        with torch.no_grad():
            w -= lr * w.grad
        ### END SOLUTION
    return w


# %% name="mend_training.check" tags=["check"]
check("mend_training", train)

# %% [markdown]
r"""
## 3. Predict: weights

```
x = torch.tensor([3.0, 5.0], requires_grad=True)
y = torch.stack([x[0] * x[1], x[0] + 4 * x[1], x[1] ** 2])
y.backward(torch.tensor([2.0, -1.0, 0.5]))
```

What is `x.grad`?
"""

# %% name="predict_weights" tags=["answer"]
### BEGIN STUB
# gradient = (..., ...)  # x.grad[0], then x.grad[1]
### END STUB
### BEGIN SOLUTION
gradient = (9.0, 7.0)
### END SOLUTION

# %% name="predict_weights.check" tags=["check"]
check("predict_weights", gradient)

# %% [markdown]
r"""
## 4. Mend: a Jacobian in one call

`jacobian(f, x)` should return the Jacobian of `f` at `x`: row $i$, column $j$ holds $\partial y_i/\partial x_j$. `x` and `f(x)` have one dimension
each, and not the same size. The author wanted to save the loop. Mend the function; a loop is allowed.
"""


# %% name="mend_jacobian" tags=["answer"]
def jacobian(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    ### BEGIN STUB
    # return torch.stack(torch.autograd.grad(list(y), [x] * len(y)))
    ### END STUB
    ### BEGIN SOLUTION
    return torch.autograd.grad(y, x, torch.eye(len(y)), is_grads_batched=True)[0]
    ### END SOLUTION


# %% name="mend_jacobian.check" tags=["check"]
check("mend_jacobian", jacobian)

# %% [markdown]
r"""
## 5. Write: a gradient for every input

`f` takes several tensors and returns a number. `inputs` is a list of tensors, and none of them requires a gradient. Return a list (or a tuple) with the gradient
of `f(*inputs)` with respect to each of them, in their order. For an input that plays no part in `f`, return zeros in its shape.

Leave the given tensors as they are: afterwards they still require no gradient, and their `.grad` is `None`.
"""


# %% name="gradient_for_each" tags=["answer"]
def gradient_for_each(f, inputs):
    ### BEGIN SOLUTION
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    return torch.autograd.grad(f(*leaves), leaves, materialize_grads=True)
    ### END SOLUTION


# %% name="gradient_for_each.check" tags=["check"]
check("gradient_for_each", gradient_for_each)

# %% [markdown]
r"""
## 6. Mend: one column

`X` has one sample in each row, and `f(X)` gives one number for each sample, which depends on this sample alone. `by_column(f, X, k)` should return, for each
sample, the derivative of its number with respect to **its entry in column `k`**. Its author followed the advice of an error message, and now gets `None`. Mend it.
"""


# %% name="by_column" tags=["answer"]
def by_column(f, X, k):
    X = X.clone().requires_grad_()
    values = f(X)
    ### BEGIN STUB
    # return torch.autograd.grad(values.sum(), X[:, k], allow_unused=True)[0]
    ### END STUB
    ### BEGIN SOLUTION
    return torch.autograd.grad(values.sum(), X)[0][:, k]
    ### END SOLUTION


# %% name="by_column.check" tags=["check"]
check("by_column", by_column)

# %% [markdown]
r"""
## 7. Write: a derivative for each output

`t` has the shape $(N, 1)$: one number for each sample. `f(t)` has the shape $(N, m)$: $m$ outputs for each sample, which depend on this sample alone. Return
a tensor of shape $(N, m)$: in row $i$, column $k$, the derivative of output $k$ of sample $i$ with respect to `t[i, 0]`.

`t` requires no gradient. Leave it so.
"""


# %% name="each_output" tags=["answer"]
def each_output(f, t):
    ### BEGIN SOLUTION
    t = t.clone().requires_grad_()
    y = f(t)
    columns = [torch.autograd.grad(y[:, k].sum(), t, retain_graph=True)[0] for k in range(y.shape[1])]
    return torch.cat(columns, dim=1)
    ### END SOLUTION


# %% name="each_output.check" tags=["check"]
check("each_output", each_output)

# %% [markdown]
r"""
## 8. Choose: where the trick works

`x` has the shape `(4, 3)`, one sample in each row. For which of these does the gradient of `y.sum()` with respect to `x` tell, for every sample, how **its own** output changes
with its own entries?

- **a.** `y = torch.tanh(x - x.mean(0)).sum(1)`
- **b.** `y = torch.tanh(x - x.mean(1, keepdim=True)).sum(1)`
- **c.** `y = (torch.softmax(x, 0) ** 2).sum(1)`
- **d.** `y = torch.cumsum(x, 0).sum(1)`

Answer with one letter in quotation marks.
"""

# %% name="choose_trick" tags=["answer"]
### BEGIN SOLUTION
choice = "b"
### END SOLUTION

# %% name="choose_trick.check" tags=["check"]
check("choose_trick", choice)

# %% [markdown]
r"""
## 9. Mend: a batch norm that does not mix

`standardise(x)` subtracts from each column of `x` its mean over the batch, and divides by `(variance + 1e-5).sqrt()`. (`x` has one sample in each row.) Its author wants
gradients **as if mean and variance were fixed numbers**, so that the samples do not mix in the backward pass. The values must stay the same. Something
still connects the samples. Mend it.
"""


# %% name="standardise" tags=["answer"]
def standardise(x):
    ### BEGIN STUB
    # mean = x.mean(0).detach()
    # variance = x.var(0, unbiased=False)
    ### END STUB
    ### BEGIN SOLUTION
    mean = x.mean(0).detach()
    variance = x.var(0, unbiased=False).detach()
    ### END SOLUTION
    return (x - mean) / (variance + 1e-5).sqrt()


# %% name="standardise.check" tags=["check"]
check("standardise", standardise)

# %% [markdown]
r"""
## 10. Write: a gradient of the weights for each sample

`losses_of(w, X)` returns one loss for each row of `X`, and each loss depends on its row alone. `w` is a tensor of any shape that requires no gradient. Return the gradients of the single losses with
respect to `w`, stacked: entry `i` is the gradient of loss `i`. So the result has the shape $(N, \ldots)$, with the shape of `w` behind the $N$.

All three ways of the lesson will do. Leave `w` as it is.
"""


# %% name="for_each_sample" tags=["answer"]
def for_each_sample(losses_of, w, X):
    ### BEGIN SOLUTION
    w = w.clone().requires_grad_()
    losses = losses_of(w, X)
    return torch.stack([torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses])
    ### END SOLUTION


# %% name="for_each_sample.check" tags=["check"]
check("for_each_sample", for_each_sample)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
