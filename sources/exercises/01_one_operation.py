# %% [markdown]
r"""
# Exercises 01 · Forward and backward of one operation

These exercises go with the lesson `notebooks/01_one_operation.ipynb`. Read the lesson first.

How they work:

- Replace what stands in an answer cell, run it, and run the check below it. The check tells you what your code did, what was
  expected, and, if it can tell, which idea led there.
- A check runs your code on inputs that you have not seen. It never needs a particular way of writing.
- Hints wait inside the check's result. Each one opens the next. Try without them first.
- Write every backward **by hand**. Inside a check, autograd is switched off.

The arguments of a backward always come in the same order: first the incoming gradient, then the inputs of the operation. It
returns one gradient for each input, in the order of the inputs.
"""

# %% name="setup"
import torch

from course_utils import check, progress

# %% [markdown]
r"""
## 1. Write: the backward of $z = x^2 y^3$

`forward` is given. Write its backward: from the incoming gradient and the two inputs to the gradient of `x` and the gradient of
`y`. For example, at `x = 1`, `y = 2` and an incoming gradient of 5, the gradients are 80 and 60. All three
arguments may also be tensors of one shape.
"""


# %% name="square_times_cube" tags=["answer"]
def forward(x, y):
    return x**2 * y**3


def backward(incoming, x, y):
    ### BEGIN SOLUTION
    grad_x = incoming * 2 * x * y**3
    grad_y = incoming * 3 * x**2 * y**2
    return grad_x, grad_y
    ### END SOLUTION


# %% name="square_times_cube.check" tags=["check"]
check("square_times_cube", backward)

# %% [markdown]
r"""
## 2. Predict: two gradients

The lesson's operation, $z = (x\,y)^2$, now at $x = 1$ and $y = -2$. Its result goes into $L = -3\,z$.

Do it with pencil and paper: what are $\partial L/\partial x$ and $\partial L/\partial y$? Put the two numbers in place of the
dots.
"""

# %% name="predict_messages" tags=["answer"]
### BEGIN STUB
# gradients = (..., ...)  # the gradient of x, then the gradient of y
### END STUB
### BEGIN SOLUTION
gradients = (-24.0, 12.0)
### END SOLUTION

# %% name="predict_messages.check" tags=["check"]
check("predict_messages", gradients)

# %% [markdown]
r"""
## 3. Write: a judge of your own

A backward is a claim about slopes. A **central difference** measures the slope without knowing any formula. It takes one point a
little to the right of `x` and one a little to the left:

$$\frac{f(x + h) - f(x - h)}{2h}$$

Write it as a function. `function` takes a number and returns a number. `h` is the step, and the caller chooses it.
"""


# %% name="central_difference" tags=["answer"]
def central_difference(function, x, h):
    ### BEGIN SOLUTION
    return (function(x + h) - function(x - h)) / (2 * h)
    ### END SOLUTION


# %% name="central_difference.check" tags=["check"]
check("central_difference", central_difference)

# %% [markdown]
r"""
## 4. Mend: the backward of $z = x / y$

Every test that its author wrote for this backward passed. It is wrong all the same. Run the check as it is: it shows where. Then
mend it. Why did the tests not notice?
"""


# %% name="mend_quotient" tags=["answer"]
def quotient_backward(incoming, x, y):
    ### BEGIN STUB
    # grad_x = incoming / y
    # grad_y = -x / y**2
    # return grad_x, grad_y
    ### END STUB
    ### BEGIN SOLUTION
    grad_x = incoming / y
    grad_y = -incoming * x / y**2
    return grad_x, grad_y
    ### END SOLUTION


# %% name="mend_quotient.check" tags=["check"]
check("mend_quotient", quotient_backward)

# %% [markdown]
r"""
## 5. Choose: what an addition does

In a residual block, two tensors are added: $s = p + q$. The incoming gradient of $s$ is known. Which statement is true?

- **a.** It is shared out: `p` and `q` get half of it each.
- **b.** `p` gets all of it, and `q` gets all of it too.
- **c.** It is shared out in proportion to the values: the larger of the two gets more.
- **d.** It is taken apart again: `p` gets it minus `q`, and `q` gets it minus `p`.

Answer with one letter in quotation marks.
"""

# %% name="choose_addition" tags=["answer"]
### BEGIN SOLUTION
choice = "b"
### END SOLUTION

# %% name="choose_addition.check" tags=["check"]
check("choose_addition", choice)

# %% [markdown]
r"""
## 6. Write: the backward of `x.mean()`

`x` may have any shape. The mean is one number, so the incoming gradient is one number too. Return the gradient of `x`.
"""


# %% name="mean_backward" tags=["answer"]
def mean_backward(incoming, x):
    ### BEGIN SOLUTION
    return torch.full_like(x, incoming / x.numel())
    ### END SOLUTION


# %% name="mean_backward.check" tags=["check"]
check("mean_backward", mean_backward)

# %% [markdown]
r"""
## 7. Write: the backward of a bias

`x` has the shape `(rows, columns)`, and `b` has the shape `(columns,)`. In `x + b`, PyTorch copies `b` to every row. Return the
gradient of `x` and the gradient of `b`.
"""


# %% name="bias_backward" tags=["answer"]
def bias_backward(incoming, x, b):
    ### BEGIN SOLUTION
    return incoming, incoming.sum(0)
    ### END SOLUTION


# %% name="bias_backward.check" tags=["check"]
check("bias_backward", bias_backward)

# %% [markdown]
r"""
## 8. Write: the backward of a matrix product

`x` has the shape `(n, k)`, and `w` has the shape `(k, m)`. The result `x @ w` has the shape `(n, m)`, and so has `incoming`. Return
the gradient of `x` and the gradient of `w`.
"""


# %% name="matmul_backward" tags=["answer"]
def matmul_backward(incoming, x, w):
    ### BEGIN SOLUTION
    grad_x = incoming @ w.T
    grad_w = x.T @ incoming
    return grad_x, grad_w
    ### END SOLUTION


# %% name="matmul_backward.check" tags=["check"]
check("matmul_backward", matmul_backward)

# %% [markdown]
r"""
## 9. Write: undo any broadcasting

This one is harder, and unit 02 will need it. A tensor of the shape `shape` was broadcast to the shape of `incoming`. Bring the
gradient back to `shape`.

| from `shape` | to the shape of `incoming` | what happened |
|---|---|---|
| `(3,)` | `(2, 3)` | a dimension was put in front |
| `(2, 1)` | `(2, 3)` | a dimension of size 1 was stretched |
| `(2, 1)` | `(4, 2, 3)` | both |
| `()` | `(2, 3)` | a single number was copied everywhere |
| `(2, 3)` | `(2, 3)` | nothing |
"""


# %% name="sum_to_shape" tags=["answer"]
def sum_to_shape(incoming, shape):
    ### BEGIN SOLUTION
    while incoming.dim() > len(shape):
        incoming = incoming.sum(0)
    for dim, size in enumerate(shape):
        if size == 1:
            incoming = incoming.sum(dim, keepdim=True)
    return incoming
    ### END SOLUTION


# %% name="sum_to_shape.check" tags=["check"]
check("sum_to_shape", sum_to_shape)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
