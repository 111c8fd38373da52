# %% [markdown]
r"""
# Exercises 09 · The gradient of a gradient

These exercises go with the lesson `notebooks/09_second_derivatives.ipynb`. Read the lesson first.

Autograd is switched on. No exercise needs the answer to another one. Where a tensor is handed to your function, leave it as it is, unless the text says otherwise: it requires
no gradient, and it shall not require one afterwards.

A check runs your code on inputs that you have not seen. It never needs a particular way of writing. Hints wait inside its result; each one opens the next.
"""

# %% name="setup"
import torch

from course_utils import check, progress

torch.set_default_dtype(torch.float64)

# %% [markdown]
r"""
## 1. Write: a mixed derivative, column by column

`X` has one sample in each row, and `f(X)` gives one number for each sample, which depends on this sample alone. `mixed(f, X, i, j)` should return, for each sample, the second derivative
$\partial^2 f/\partial x_i\,\partial x_j$: the derivative with respect to the entry in column `i`, and of that the derivative with respect to the entry in column `j`. The result has the shape $(N,)$.
"""


# %% name="mixed_partial" tags=["answer"]
def mixed(f, X, i, j):
    ### BEGIN SOLUTION
    X = X.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(X).sum(), X, create_graph=True)
    (second,) = torch.autograd.grad(first[:, i].sum(), X)
    return second[:, j]
    ### END SOLUTION


# %% name="mixed_partial.check" tags=["check"]
check("mixed_partial", mixed)

# %% [markdown]
r"""
## 2. Predict: what is in `.grad`

```
w = torch.tensor(2.0, requires_grad=True)
(w**4).backward(create_graph=True)
first = w.grad.item()
asked = torch.autograd.grad(w.grad, w, retain_graph=True)[0].item()
second = w.grad.item()
w.grad.backward()
third = w.grad.item()
```

Do it with pencil and paper: what are the four numbers?
"""

# %% name="predict_accumulated" tags=["answer"]
### BEGIN STUB
# numbers = (..., ..., ..., ...)  # first, asked, second, third
### END STUB
### BEGIN SOLUTION
numbers = (32.0, 48.0, 32.0, 80.0)
### END SOLUTION

# %% name="predict_accumulated.check" tags=["check"]
check("predict_accumulated", numbers)

# %% [markdown]
r"""
## 3. Mend: derivatives of any order, for any function

`derivative(f, x, n)` differentiates `f` with respect to `x`, `n` times in a row. `f` treats each entry of `x` by itself. For some functions a derivative is 0, and the code stops with an error there. Mend it: it should return zeros in the shape of `x`, then.
`f` may use other tensors that require a gradient; `n` is at least 1.
"""


# %% name="mend_order" tags=["answer"]
def derivative(f, x, n):
    x = x.clone().requires_grad_()
    value = f(x)
    for _ in range(n):
        ### BEGIN STUB
        # (value,) = torch.autograd.grad(value.sum(), x, create_graph=True)
        ### END STUB
        ### BEGIN SOLUTION
        if not value.requires_grad:
            return torch.zeros_like(x)
        (value,) = torch.autograd.grad(value.sum(), x, create_graph=True, materialize_grads=True)
        ### END SOLUTION
    return value


# %% name="mend_order.check" tags=["check"]
check("mend_order", derivative)

# %% [markdown]
r"""
## 4. Choose: what has curvature

`net` is `Linear(2, 8)`, `ReLU()`, `Linear(8, 1)`. `leaky` is the same with `LeakyReLU()` in the middle. `x` is an input that lies on no kink. Which of these has second derivatives with respect to `x` that are not all 0, for almost
any weights?

- **a.** `net(x)`
- **b.** `leaky(x)`
- **c.** `net(x) ** 2`
- **d.** `net(x).abs()`

Answer with one letter in quotation marks.
"""

# %% name="choose_curvature" tags=["answer"]
### BEGIN SOLUTION
choice = "c"
### END SOLUTION

# %% name="choose_curvature.check" tags=["check"]
check("choose_curvature", choice)

# %% [markdown]
r"""
## 5. Write: the residual of the heat equation

`u(X)` gives a temperature for each row of `X`, which depends on this row alone. Column 0 of `X` is a time $t$, column 1 a place $x$. Heat spreads by the law $u_t = k\,u_{xx}$. So the **residual** $u_t - k\,u_{xx}$ says how far `u` is from
obeying the law, for each sample. Return it, in the shape $(N,)$; `k` is a number.

`u` is a model with parameters, and the residual will become a part of its loss. So the gradient of your result must arrive at these parameters, and be right.
"""


# %% name="heat_residual" tags=["answer"]
def residual(u, X, k):
    ### BEGIN SOLUTION
    X = X.clone().requires_grad_()
    (first,) = torch.autograd.grad(u(X).sum(), X, create_graph=True)
    (second,) = torch.autograd.grad(first[:, 1].sum(), X, create_graph=True)
    return first[:, 0] - k * second[:, 1]
    ### END SOLUTION


# %% name="heat_residual.check" tags=["check"]
check("heat_residual", residual)

# %% [markdown]
r"""
## 6. Write: H times v, without H

`f` takes a tensor of one dimension and gives one number. Return $H v$, where $H$ is the Hessian of `f` at `x`. `v` has the shape of `x`. Your code must not make the whole Hessian: if `x` is four times as long, it may do about four times the
work, not sixteen times.
"""


# %% name="hessian_times" tags=["answer"]
def hessian_times(f, x, v):
    ### BEGIN SOLUTION
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(gradient, x, grad_outputs=v)[0]
    ### END SOLUTION


# %% name="hessian_times.check" tags=["check"]
check("hessian_times", hessian_times)

# %% [markdown]
r"""
## 7. Mend: one tensor in two roles

`slope_along_y(g, x)` should return the derivative of `g(x, y)` **with respect to y, taken at y = x**, for each entry. (`g` treats each entry by itself.) Here `x` does require a gradient, because the result will be differentiated once more, with
respect to `x`; and that must be right, too. As it is, the numbers differ from those on paper. Mend it.
"""


# %% name="mend_nested" tags=["answer"]
def slope_along_y(g, x):
    ### BEGIN STUB
    # y = x
    ### END STUB
    ### BEGIN SOLUTION
    y = x.clone()
    ### END SOLUTION
    return torch.autograd.grad(g(x, y).sum(), y, create_graph=True)[0]


# %% name="mend_nested.check" tags=["check"]
check("mend_nested", slope_along_y)

# %% [markdown]
r"""
## 8. Mend: a gradient penalty

`x` holds signals: its shape is (samples, channels, length). `critic(x)` gives one number for each sample, which depends on this sample alone. `penalty(critic, x)` should measure, for each sample, the length of the gradient of its number with respect to **the whole
sample**; subtract 1; square; and return the mean over the samples. It will be a part of the critic's loss. It has two faults. Mend it.
"""


# %% name="mend_penalty" tags=["answer"]
def penalty(critic, x):
    x = x.clone().requires_grad_()
    ### BEGIN STUB
    # (gradient,) = torch.autograd.grad(critic(x).sum(), x)
    # length = gradient.norm(2, dim=1)
    ### END STUB
    ### BEGIN SOLUTION
    (gradient,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    length = gradient.flatten(1).norm(2, dim=1)
    ### END SOLUTION
    return ((length - 1) ** 2).mean()


# %% name="mend_penalty.check" tags=["check"]
check("mend_penalty", penalty)

# %% [markdown]
r"""
## 9. Write: a loss after some training

`after_training(inner, outer, w, lr, steps)` should train for a while, and then judge. It takes `steps` steps of gradient descent on the loss `inner`, with the step size `lr`, beginning at `w`. Then it returns `outer` of the weights that it has reached.

`w` is a leaf that requires a gradient. It must stay as it is. The gradient of the result with respect to `w` must be the true one: it tells how the **start** should be changed.
"""


# %% name="after_training" tags=["answer"]
def after_training(inner, outer, w, lr, steps):
    ### BEGIN SOLUTION
    for _ in range(steps):
        (gradient,) = torch.autograd.grad(inner(w), w, create_graph=True)
        w = w - lr * gradient
    return outer(w)
    ### END SOLUTION


# %% name="after_training.check" tags=["check"]
check("after_training", after_training)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
