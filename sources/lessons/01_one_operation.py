# %% [markdown]
r"""
# 01 · Forward and backward of one operation

**What does one operation have to know so that a gradient can pass through it?**

You can write `loss.backward()`, and gradients appear. This lesson takes the smallest piece of that machine into your hands: one
operation. You will compute its gradients yourself, with plain arithmetic. PyTorch's autograd comes in only at the end, as a judge.

You need: Python, tensors, and the idea of a derivative as a slope. Allow about 40 minutes. Run the cells from top to bottom. Where
the lesson asks for a prediction, make one before you go on: being wrong first is how it sticks. So that nothing is given away, the
outputs behind such a question are folded. Run the cell, then click the three dots below it.

## A puzzle

Here are two functions. Both were written to answer the same question: for $z = (x\,y)^2$, how fast does $z$ change with $x$, and how
fast with $y$? The second is how a widely read tutorial has it.
"""

# %% name="setup"
import torch

from course_utils import explore, predict

torch.set_default_dtype(torch.float64)  # section 5 shows why


# %% name="puzzle"
def version_one(x, y):
    return 2 * x * y**2, 2 * x**2 * y


def version_two(x, y):
    return 2 * x**2 * y, 2 * x * y**2


x, y = torch.tensor(3.0), torch.tensor(3.0)
print("version one:", [float(value) for value in version_one(x, y)])
print("version two:", [float(value) for value in version_two(x, y)])

# %% [markdown]
r"""
At $x = y = 3$ they agree. Yet one of them is wrong. Nothing raises an error, and training with it would go on without a warning.

Which one is wrong? And how could you find out **without** being told? At the end of this lesson you will have three ways: a nudge, a
picture, and autograd.

## 1. A derivative is an answer to a nudge

Forget formulas for a moment. Take the operation itself, change one input by a small step, and look at the result. Such a small step is
called a **nudge**.
"""


# %% name="forward"
def forward(x, y):
    return (x * y) ** 2


x, y = torch.tensor(2.0), torch.tensor(3.0)
print("z =", float(forward(x, y)))

# %% name="predict_nudge"
nudge = predict(
    "x goes from 2 to 2.001, and y stays 3. By about how much does z change?",
    choices=["0.001", "0.024", "0.036"],
)
nudge

# %% name="reveal_nudge" tags=["reveal"]
step = 0.001
change_by_x = forward(x + step, y) - forward(x, y)
change_by_y = forward(x, y + step) - forward(x, y)
print(f"nudge x: z changes by {change_by_x:.5f}, which is {change_by_x / step:.2f} times the step")
print(f"nudge y: z changes by {change_by_y:.5f}, which is {change_by_y / step:.2f} times the step")
nudge.reveal({choice: abs(float(choice) - change_by_x) < 0.0005 for choice in nudge.choices})

# %% [markdown]
r"""
A small step of $x$ comes out about 36 times as large. A small step of $y$ comes out about 24 times as large. These two factors are what
the **derivatives** $\partial z/\partial x$ and $\partial z/\partial y$ say: how much the result changes, per unit of a very small
change of one input while the others stay as they are.

Calculus gives the factors exactly: $\partial z/\partial x = 2 x y^2$ and $\partial z/\partial y = 2 x^2 y$. The first belongs to $x$,
the second to $y$. Let us hold both versions of the puzzle against the nudge, at a place where $x$ and $y$ differ.
"""

# %% name="puzzle_solved"
print("measured by nudging:", [round(float(change / step), 1) for change in (change_by_x, change_by_y)])
print("version one:        ", [float(value) for value in version_one(x, y)])
print("version two:        ", [float(value) for value in version_two(x, y)])

# %% [markdown]
r"""
Version two has both formulas right and puts each in the other's place. At $x = y$ nobody can notice. So here is a first rule for anyone
who tests gradients: **test where the inputs differ**.

## 2. An operation is a pair

For gradients to pass through it, an operation has to know two things:

- **forward**: from the inputs to the output;
- **backward**: from the gradient of the output to the gradients of the inputs, one for each input, **in the order of the inputs**.

"The gradient of the output"? The output of an operation is seldom the end. It goes on into other operations, and at the very end stands
one number, such as a loss. Call it $L$. What we want to know is how $L$ changes with $x$ and $y$. The operation can only answer for its
own part.

Let us make the rest of the computation as small as possible: $L = 5\,z$.
"""

# %% name="predict_incoming"
after = predict(
    "z = (x*y)**2 at x = 2, y = 3, and L = 5*z. By how many times the step does L change when x is nudged, and when y is?",
    numbers=["for x", "for y"],
)
after


# %% name="reveal_incoming" tags=["reveal"]
def rest(z):
    return 5 * z


change_by_x = rest(forward(x + step, y)) - rest(forward(x, y))
change_by_y = rest(forward(x, y + step)) - rest(forward(x, y))
print(f"measured with a step of {step}: {change_by_x / step:.2f} and {change_by_y / step:.2f}")
print(f"5 times the derivatives:       {5 * 2 * x * y**2:.2f} and {5 * 2 * x**2 * y:.2f}")
after.reveal(5 * 2 * x * y**2, 5 * 2 * x**2 * y)

# %% [markdown]
r"""
A step of $x$ is first stretched by the operation, 36 times. The result is stretched again by what comes after, 5 times. Stretches
multiply: that is the **chain rule**,

$$\frac{\partial L}{\partial x} = \frac{\partial L}{\partial z}\cdot\frac{\partial z}{\partial x}.$$

The first factor, $\partial L/\partial z$, comes from outside. The operation cannot know it, and need not know where it came from. It is
handed in. We call it the **incoming gradient**; in PyTorch you meet it under the name `grad_output`. The second factor is the
operation's own: its **local derivative**.

So this is the backward of our operation, complete:
"""


# %% name="backward"
def backward(incoming, x, y):
    grad_x = incoming * 2 * x * y**2
    grad_y = incoming * 2 * x**2 * y
    return grad_x, grad_y


for incoming in (1.0, 5.0, -2.0, 0.0):
    grad_x, grad_y = backward(incoming, x, y)
    print(f"incoming {incoming:4}:  gradient of x {grad_x:6.1f}   gradient of y {grad_y:6.1f}")

# %% [markdown]
r"""
Two things to notice.

- The operation never sees $L$. It gets one number, and that number says all it needs of everything that comes after.
- With an incoming gradient of 1, a backward that **forgets** to multiply by it looks right. Only at the very end of a computation is
  the incoming gradient 1: there the output is $L$ itself, and $L$ changes exactly as much as $L$. A test with 1 proves little.

A second rule, then: **test with an incoming gradient that is not 1**.

## 3. The two ways to forget a factor

Here is an operation from a tutorial on custom operations: it multiplies its input by a constant, $z = c\,x$. Its backward hands on
what came in.
"""


# %% name="scale_wrong"
def scale(x, c):
    return c * x


def scale_backward_wrong(incoming, x, c):
    return incoming


def scale_backward(incoming, x, c):
    return incoming * c


c, incoming = 5.0, 3.0
measured = incoming * (scale(x + step, c) - scale(x, c)) / step
print(f"measured: {measured:.2f}")
print(f"tutorial: {scale_backward_wrong(incoming, x, c):.2f}   the local derivative is missing")
print(f"right:    {scale_backward(incoming, x, c):.2f}")

# %% [markdown]
r"""
Nothing forces a backward to match its forward. They are two separate pieces of code. PyTorch does not compare them either: it calls
your backward and believes what it returns.

So a backward can forget the factor that comes in, or its own. Now watch both factors at work, in two operations, one after the other:
$q = x + y$ and then $f = q\,z$. The backward pass begins at the end, with $\partial f/\partial f = 1$.
"""


# %% name="two_operations"
def add_backward(incoming, x, y):
    return incoming * 1, incoming * 1  # the local derivatives of x + y are 1 and 1


def multiply_backward(incoming, x, y):
    return incoming * y, incoming * x  # the local derivatives of x * y are y and x


x, y, z = -2.0, 5.0, -4.0
q = x + y
f = q * z
grad_f = 1.0
grad_q, grad_z = multiply_backward(grad_f, q, z)
grad_x, grad_y = add_backward(grad_q, x, y)
print(f"forward:  q = {q}, f = {f}")
print(f"at f: {grad_f}   at q: {grad_q}   at z: {grad_z}   at x: {grad_x}   at y: {grad_y}")

# %% [markdown]
r"""
Read the last line from left to right. The multiplication gets 1 and returns the gradient of $q$ and the gradient of $z$. The
gradient of $q$ is then the incoming gradient of the addition.

There are two different ones in this computation. The 1 at $f$ is a **gradient**: it starts the backward pass. The 1s inside
`add_backward` are **local derivatives**: they are why the addition hands on what it gets, $-4$, without changing it.

## 4. Operate it

Below is one operation with everything that goes in and comes out. Above, values go forward, from left to right. Below them, gradients
come back, from right to left. Under that, one plot for each input: how the output depends on it, and a line with the slope that the
backward claims. If the claim is right, the line touches the curve.

Move a slider with the mouse, or click it and use the arrow keys. Try this:

1. With the first operation: set the incoming gradient to 0, then to a negative number. What changes in the picture, and what does not?
2. Choose "gradients swapped". Set $x$ and $y$ to the same value. Does the picture show anything wrong? Now make them differ.
3. Choose "incoming forgotten". Find the one incoming gradient at which nothing looks wrong.
4. Choose `x * y`, and set $y$ to 0. Why is the line in the plot of $x$ flat?
"""


# %% name="explorer"
def swapped(incoming, x, y):
    grad_x, grad_y = backward(incoming, x, y)
    return grad_y, grad_x


def forgotten(incoming, x, y):
    return backward(1.0, x, y)


def quotient_backward(incoming, x, y):
    return incoming / y, -incoming * x / y**2


explore(
    {
        "(x * y)**2": (forward, backward),
        "(x * y)**2, gradients swapped": (forward, swapped),
        "(x * y)**2, incoming forgotten": (forward, forgotten),
        "x * y": (lambda x, y: x * y, multiply_backward),
        "x + y": (lambda x, y: x + y, add_backward),
        "x / y": (lambda x, y: x / y, quotient_backward),
    },
    x=2.0,
    y=3.0,
    incoming=5.0,
)

# %% [markdown]
r"""
You can hand your own pair to it: `explore((my_forward, my_backward), x=1.0, y=2.0, incoming=3.0)`. A backward that does not belong to
its forward shows a line that cuts through the curve.

## 5. A judge that knows no formula

The nudge is a good judge, because it uses the forward alone and knows nothing of your backward. It is called a **finite difference**.
But it is not exact: it measures over a step that is small, not infinitely small. How small should the step be?
"""

# %% name="predict_step"
best = predict(
    "The slope of f(x) = 1/x at x = 3 is measured as (f(3 + h) - f(3)) / h, in float32. Which step gives the smallest error?",
    choices=["h = 0.1", "h = 0.0001", "h = 0.0000001"],
)
best


# %% name="step_table" tags=["reveal"]
def error(h, dtype, central=False):
    """How far the measured slope of 1/x at 3 is from the exact one, -1/9, for a step h and numbers of a dtype."""
    x, h = torch.tensor(3.0, dtype=dtype), torch.tensor(h, dtype=dtype)
    if central:
        measured = (1 / (x + h) - 1 / (x - h)) / (2 * h)
    else:
        measured = (1 / (x + h) - 1 / x) / h
    return abs(float(measured) - (-1 / 9))


print("step     float32    float64    float64, central")
for power in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12):
    h = 10.0**-power
    errors = error(h, torch.float32), error(h, torch.float64), error(h, torch.float64, central=True)
    print(f"1e-{power:02}  " + "  ".join(f"{e:9.0e}" for e in errors))

# %% name="reveal_step" tags=["reveal"]
errors = {choice: error(float(choice.split()[-1]), torch.float32) for choice in best.choices}
for choice, e in errors.items():
    print(f"{choice:15} error {e:.0e}")
best.reveal(min(errors, key=errors.get))

# %% [markdown]
r"""
The smallest step is not the best one. The plot shows the same errors for many more steps. Both axes are logarithmic.
"""

# %% name="error_v"
import numpy as np

from course_utils.drawing.figures import blank, figure

steps = np.logspace(-14, 0, 85)
curves = {
    "float32, one side": [error(h, torch.float32) for h in steps],
    "float64, one side": [error(h, torch.float64) for h in steps],
    "float64, both sides": [error(h, torch.float64, central=True) for h in steps],
}
fig, axes = blank()
for name, values in curves.items():
    axes.loglog(steps, np.maximum(values, 1e-13), marker="", label=name)
axes.set(xlabel="step h", ylabel="error of the measured slope", title="Too large, too small, and in between")
axes.legend()
figure(
    fig,
    text="Error of the measured slope against the step, three V shapes: with larger steps the error grows, with smaller "
    "steps it grows too.",
    alt="Three V-shaped curves in a log-log plot of error against step size; float64 with both sides reaches lowest.",
)

# %% name="best_steps"
for name, values in curves.items():
    place = int(np.argmin(np.convolve(np.log10(np.maximum(values, 1e-16)), np.ones(5) / 5, mode="valid"))) + 2
    print(f"{name:20} best near h = 1e{round(np.log10(steps[place])):+d}")

# %% [markdown]
r"""
Each curve is a **V**, and its two arms have two causes.

- **Right arm, the step is too large**: the curve bends within the step, and the slope is measured across the bend. This error shrinks
  with the step.
- **Left arm, the step is too small**: `f(x + h)` and `f(x)` agree in nearly all their digits. A floating-point number has only so
  many digits, about 7 in float32 and about 16 in float64. The subtraction leaves the last, rounded ones, and dividing by a tiny `h` blows
  their error up.

Taking one point on each side of $x$ is the **central difference**, $\frac{f(x+h)-f(x-h)}{2h}$. By symmetry most of the bend cancels:
its right arm is steeper, and its lowest point lies far lower. So here is the judge for the rest of this lesson: float64, both sides, a step of
`1e-5`. This is also why gradient checks are done in float64: in float32, no step in the table gets the error below `4e-05`, and a wrong gradient
may be closer than that.
"""


# %% name="judge"
def measure(function, *inputs, h=1e-5):
    """The slope of a one-number function with respect to each number in each input, by central differences."""
    gradients = []
    for tensor in inputs:
        gradient = torch.zeros_like(tensor)
        for place in np.ndindex(*tensor.shape):
            kept = tensor[place].clone()
            tensor[place] = kept + h
            above = function(*inputs)
            tensor[place] = kept - h
            below = function(*inputs)
            tensor[place] = kept
            gradient[place] = (above - below) / (2 * h)
        gradients.append(gradient)
    return gradients


x, y = torch.tensor(2.0), torch.tensor(3.0)
measured = measure(lambda x, y: 5 * forward(x, y), x, y)
print("measured:", [round(float(g), 4) for g in measured])
print("backward:", [float(g) for g in backward(5.0, x, y)])

# %% [markdown]
r"""
## 6. What common operations do with a gradient

With the judge at hand we can write down pairs and believe them. Each row below is run: the backward is held against the measured
slopes, at $x = 1.7$, $y = -0.6$ and an incoming gradient of 2.5. All different, none of them 1.
"""

# %% name="operations"
pairs = {
    "x + y": (lambda x, y: x + y, lambda g, x, y: (g, g)),
    "x - y": (lambda x, y: x - y, lambda g, x, y: (g, -g)),
    "x * y": (lambda x, y: x * y, lambda g, x, y: (g * y, g * x)),
    "x / y": (lambda x, y: x / y, lambda g, x, y: (g / y, -g * x / y**2)),
    "x**3": (lambda x, y: x**3, lambda g, x, y: (g * 3 * x**2, g * 0)),
    "exp(y)": (lambda x, y: torch.exp(y), lambda g, x, y: (g * 0, g * torch.exp(y))),
    "sin(x * y)": (lambda x, y: torch.sin(x * y), lambda g, x, y: (g * torch.cos(x * y) * y, g * torch.cos(x * y) * x)),
}

x, y, incoming = torch.tensor(1.7), torch.tensor(-0.6), torch.tensor(2.5)
print("operation    backward            measured            agree")
for name, (op_forward, op_backward) in pairs.items():
    claimed = torch.stack([torch.as_tensor(g) for g in op_backward(incoming, x, y)])
    slopes = torch.stack(measure(lambda x, y, f=op_forward: incoming * f(x, y), x, y))
    numbers = "  ".join(f"{a:8.4f} {b:9.4f}" for a, b in (claimed, slopes))
    print(f"{name:11} {numbers}  {torch.allclose(claimed, slopes, atol=1e-6)}")

# %% [markdown]
r"""
Three patterns are worth knowing by heart.

- **Addition hands on.** Both inputs get the whole incoming gradient. It is not shared out: nudge either input, and the sum moves by the
  whole nudge.
- **Multiplication exchanges.** Each input gets the incoming gradient times the **other** input.
- **The rest multiplies by its slope** at the place where the forward was. So a backward needs the values that the forward has seen, and
  somebody has to keep them.

And one thing that the word "backward" suggests, but that is not so:
"""

# %% name="predict_inverse"
inverse = predict(
    "z = x * y is computed, and then multiply_backward(z, x, y) is called: z itself is put in as the incoming gradient. What comes back?",
    choices=["x and y: the multiplication is undone", "z * y and z * x", "y and x"],
)
inverse

# %% name="reveal_inverse" tags=["reveal"]
x, y = torch.tensor(3.0), torch.tensor(5.0)
z = x * y
back_x, back_y = multiply_backward(z, x, y)
print(f"x = {x}, y = {y}, z = {z};  backward gives {back_x} and {back_y}")
inverse.reveal(
    {
        "x and y: the multiplication is undone": (back_x, back_y) == (x, y),
        "z * y and z * x": (back_x, back_y) == (z * y, z * x),
        "y and x": (back_x, back_y) == (y, x),
    }
)

# %% [markdown]
r"""
A backward is not an inverse. It does not compute inputs from outputs. It turns one gradient into others, and it is called backward
because gradients travel from the output to the inputs.

## 7. When the values are tensors

Nothing new happens with tensors, except that there are many numbers. One rule keeps order: **a gradient has the shape of the tensor it
belongs to**. Each entry of it answers the question of section 1 for one number: nudge this entry, and how does $L$ change?

When an operation's output is a tensor $Z$, so is its incoming gradient $G$, one number for each entry of $Z$. To judge such a backward,
we need a computation that ends in one number and has exactly that incoming gradient. The weighted sum $L = \sum G \cdot Z$ is one:
each entry of $Z$ changes $L$ by its own weight.

**A sum** adds up all entries. Nudge any of them, and the sum moves by the same amount. So the one incoming number goes to every entry.
"""


# %% name="sum_backward"
def sum_backward(incoming, x):
    return incoming * torch.ones_like(x)


def judged(result_of, gradients, incoming, *inputs):
    """Print each gradient beside what nudging measures for L = sum(incoming * result)."""
    slopes = measure(lambda *t: (incoming * result_of(*t)).sum(), *inputs)
    for gradient, slope in zip(gradients, slopes, strict=True):
        fits = gradient.shape == slope.shape and torch.allclose(gradient, slope, atol=1e-6)
        print(f"backward {gradient.tolist()}")
        print(f"measured {[[round(v, 4) for v in row] for row in slope.tolist()]}  agree: {fits}")


x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
incoming = torch.tensor(7.0)
judged(torch.sum, [sum_backward(incoming, x)], incoming, x)

# %% [markdown]
r"""
**Broadcasting** copies. In `x * s` below, `x` has the shape `(2, 3)` and `s` the shape `(2, 1)`: one factor for each row. PyTorch acts
as if `s` were copied to every column. So the multiplication rule alone returns a gradient of the wrong shape for `s`.
"""

# %% name="predict_copies"
copies = predict(
    "Every number in s is used in three places, one in each column. Three gradients come back to it. What becomes of them?",
    choices=["their mean is its gradient", "their sum is its gradient", "the last one is its gradient"],
)
copies


# %% name="broadcast_backward" tags=["reveal"]
def rows_backward_wrong(incoming, x, s):
    return incoming * s, incoming * x


def rows_backward(incoming, x, s):
    return incoming * s, (incoming * x).sum(1, keepdim=True)


s = torch.tensor([[10.0], [20.0]])
incoming = torch.tensor([[1.0, -1.0, 2.0], [3.0, 0.5, -2.0]])
print("wrong: the gradient of s has the shape", tuple(rows_backward_wrong(incoming, x, s)[1].shape))
print("right: the gradient of s has the shape", tuple(rows_backward(incoming, x, s)[1].shape))
judged(torch.mul, rows_backward(incoming, x, s), incoming, x, s)
three = measure(lambda copied: (incoming * x * copied).sum(), s.expand(2, 3).clone())[0]
measured = measure(lambda s: (incoming * x * s).sum(), s)[0][:, 0]
print("measured, each copy alone:", [[round(float(v), 4) for v in row] for row in three])
copies.reveal(
    {
        "their mean is its gradient": torch.allclose(measured, three.mean(1)),
        "their sum is its gradient": torch.allclose(measured, three.sum(1)),
        "the last one is its gradient": torch.allclose(measured, three[:, -1]),
    }
)

# %% [markdown]
r"""
Nudge `s[0]`, and three entries of the result move at once. Each of them moves $L$, and these changes add up. The second rule of shapes:
**what was copied forward is summed backward**. The sum in `rows_backward` runs along the dimension of the copies, and `keepdim=True`
keeps the shape `(2, 1)`.

It works the other way round too. The sum added entries up forward, and its backward copies.

**A matrix product** combines both. Take a matrix times a vector first, $r = A\,v$. Entry $i$ of the result is
$r_i = \sum_j A_{ij}\, v_j$. It is made of multiplications, which exchange, and of a sum, which copies:

- $A_{ij}$ is used in one place only, in $r_i$, where it meets $v_j$. Its gradient is $G_i\, v_j$.
- $v_j$ is used in every $r_i$, where it meets $A_{ij}$. Its gradients are summed: $\sum_i G_i\, A_{ij}$.

With matrices: the gradient of $A$ is the column $G$ times the row $v$, and the gradient of $v$ is $A^\top G$.
"""


# %% name="matvec_backward"
def matvec_backward(incoming, matrix, vector):
    grad_matrix = incoming[:, None] * vector[None, :]
    grad_vector = matrix.T @ incoming
    return grad_matrix, grad_vector


matrix = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
vector = torch.tensor([0.5, -1.0, 2.0])
incoming = torch.tensor([3.0, -2.0])
grad_matrix, grad_vector = matvec_backward(incoming, matrix, vector)
slopes = measure(lambda m, v: (incoming * (m @ v)).sum(), matrix, vector)
print("gradient of the matrix", grad_matrix.tolist(), "agree:", torch.allclose(grad_matrix, slopes[0], atol=1e-6))
print("gradient of the vector", grad_vector.tolist(), "agree:", torch.allclose(grad_vector, slopes[1], atol=1e-6))

# %% [markdown]
r"""
If you forget where a transpose belongs, the shapes remind you. The gradient of `matrix` must have the shape `(2, 3)`, and `incoming` has
the shape `(2,)`. Use sizes that differ when you test: with square matrices, a wrong product fits too. It is the puzzle of the
beginning once more.

## 8. Autograd as the judge

So far we have measured. PyTorch has a backward for each of its operations, and the course calls the whole machine **autograd**. Ask it
about the same operations: mark the inputs with `requires_grad_()`, compute, and call `backward` on the result, with the incoming gradient
as its argument. Then each input has its gradient in `.grad`.
"""


# %% name="autograd"
def by_autograd(op_forward, incoming, *inputs):
    inputs = [tensor.clone().requires_grad_() for tensor in inputs]
    op_forward(*inputs).backward(incoming)
    return [tensor.grad for tensor in inputs]


x, y = torch.tensor(2.0), torch.tensor(3.0)
for incoming in (torch.tensor(1.0), torch.tensor(5.0)):
    mine, judge = backward(incoming, x, y), by_autograd(forward, incoming, x, y)
    print(f"incoming {incoming}: mine {[float(g) for g in mine]}, autograd {[float(g) for g in judge]}")

matrix_judge, vector_judge = by_autograd(torch.mv, torch.tensor([3.0, -2.0]), matrix, vector)
print("matrix times vector:", torch.equal(matrix_judge, grad_matrix), torch.equal(vector_judge, grad_vector))

# %% [markdown]
r"""
Now `loss.backward()` reads differently. The loss is one number. The call without an argument starts with an incoming gradient of one,
because the loss changes exactly as much as itself. The operation that made the loss turns it into gradients of its inputs. Those are the
incoming gradients of the operations before it, and so on, down to the parameters.

## What you can do now

- You can write **both halves** of an operation, and say what its backward returns, in which order, and in which shape.
- You can tell the incoming gradient from the local derivative, and say when each of them is 1.
- You can **prove** a backward right or wrong, without trusting its author: by nudging in float64 with a central difference, by a
  picture, and by autograd. You test where inputs differ, where the incoming gradient is not 1, and where sizes differ.

The exercises are in `exercises/01_one_operation.ipynb`. Their checks ask for exactly this.

**The next question.** We passed a gradient by hand through two operations in a row. But what if a value is used in two places, as `x` is
in `x * x`? Then two gradients arrive. How does a gradient find its way through hundreds of operations, and in which order? That is unit 02.
"""
