# %% [markdown]
r"""
# 01 · Forward and backward of one operation

**What does one operation have to know so that a gradient can pass through it?**

You can write `loss.backward()`, and gradients appear. This lesson is about the smallest part of that machine: one operation. You will
compute its gradients yourself, with plain arithmetic. PyTorch's autograd comes in only at the end, as a judge.

You need: Python, tensors, and the idea of a derivative as a slope. Allow about an hour; after section 4 is a good place for a pause. Run
the cells from top to bottom. Where the lesson asks for a prediction, make one before you go on. You remember best what you first
predicted wrong. The output that answers a question stays folded until you run its cell. Do not read past a question before that: the
text below it tells the answer.

## A puzzle

Here are two functions. Both answer the same question: for $z = (x\,y)^2$, how fast does $z$ change with $x$, and how fast with $y$? The
second one follows a tutorial.
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


print("version one:", version_one(3.0, 3.0))
print("version two:", version_two(3.0, 3.0))

# %% [markdown]
r"""
At $x = y = 3$ they agree. Yet one of them is wrong. Nothing raises an error. Training with it would go on without a warning.

Which one is wrong? And how could you find out **without** being told? At the end of this lesson you will have three ways: a nudge, a
picture, and autograd.

## 1. A derivative is an answer to a nudge

Forget formulas for a moment. Take the operation itself, change one input by a small step, and look at the result. We call such a
small step a **nudge**.
"""


# %% name="forward"
def forward(x, y):
    return (x * y) ** 2


step = 0.001
print("z at x = 3, y = 4:    ", forward(3.0, 4.0))
print("z at x = 3.001, y = 4:", round(forward(3.0 + step, 4.0), 6))

# %% name="predict_nudge"
nudge = predict(
    "Nudging x by 0.001 changed z by about 0.096. Now y is nudged by 0.001 instead, and x stays 3. By about how much does z change?",
    choices=["0.072", "0.096", "0.128"],
)
nudge

# %% name="reveal_nudge" tags=["reveal"]
change_by_x = forward(3.0 + step, 4.0) - forward(3.0, 4.0)
change_by_y = forward(3.0, 4.0 + step) - forward(3.0, 4.0)
print(f"nudge x: z changes by {change_by_x:.5f}, which is {change_by_x / step:.2f} times the step")
print(f"nudge y: z changes by {change_by_y:.5f}, which is {change_by_y / step:.2f} times the step")
nudge.reveal({choice: abs(float(choice) - change_by_y) < 0.001 for choice in nudge.choices})

# %% [markdown]
r"""
A small step of $x$ comes out about 96 times as large. A small step of $y$ comes out about 72 times as large. These two factors are the
**derivatives** $\partial z/\partial x$ and $\partial z/\partial y$: how much the result changes, per unit of a very small change of one
input, while the others stay as they are.

Calculus gives the factors exactly: $\partial z/\partial x = 2 x y^2$ and $\partial z/\partial y = 2 x^2 y$. The first belongs to $x$,
the second to $y$. Now compare both versions of the puzzle with the nudge, at a place where $x$ and $y$ differ.
"""

# %% name="puzzle_solved"
print("measured by nudging:", (round(change_by_x / step), round(change_by_y / step)))
print("version one:        ", version_one(3.0, 4.0))
print("version two:        ", version_two(3.0, 4.0))

# %% [markdown]
r"""
Version two has both formulas right and puts each in the other's place. At $x = y$ nobody can notice. So here is the first rule for
everyone who tests gradients: **test where the inputs differ, and where none of them is 0**. (With a 0, both numbers may become 0, and
then too nobody can tell them apart.)

## 2. An operation is a pair

For gradients to pass through it, an operation has to know two things:

- **forward**: from the inputs to the output;
- **backward**: from the gradient of the output to the gradients of the inputs, one for each input, **in the order of the inputs**.

"The gradient of the output"? The output of an operation is seldom the end. It goes on into other operations. At the very end stands one
number, such as a loss. Call it $L$. We want to know how $L$ changes with $x$ and with $y$. The operation can only answer for its own
part.

Let us make the rest of the computation as small as possible: $L = 5\,z$. From here on, $x = 2$ and $y = 3$.
"""

# %% name="predict_incoming"
after = predict(
    "At x = 2, y = 3: nudge x, and z changes by 36 times the step. Nudge y: 24 times. Now L = 5*z. By how many times the step "
    "does L change?",
    numbers=["for x", "for y"],
)
after


# %% name="reveal_incoming" tags=["reveal"]
def rest(z):
    return 5 * z


factor_x = (rest(forward(2.0 + step, 3.0)) - rest(forward(2.0, 3.0))) / step
factor_y = (rest(forward(2.0, 3.0 + step)) - rest(forward(2.0, 3.0))) / step
print(f"measured with a step of {step}:")
print(f"{factor_x:.2f} times the step for x, {factor_y:.2f} times for y")
after.reveal(round(factor_x), round(factor_y))

# %% [markdown]
r"""
The operation makes a step of $x$ 36 times as large. What comes after makes it 5 times as large again. The factors multiply: that is the
**chain rule**,

$$\frac{\partial L}{\partial x} = \frac{\partial L}{\partial z}\cdot\frac{\partial z}{\partial x}.$$

The first factor, $\partial L/\partial z$, comes from outside. The operation cannot know it, and need not know where it came from. It is
given to the backward as an argument. We call it the **incoming gradient**; in PyTorch you meet it under the name `grad_output`. The
second factor is the operation's own: its **local derivative**.

So this is the backward of our operation, complete:
"""


# %% name="backward"
def backward(incoming, x, y):
    grad_x = incoming * 2 * x * y**2
    grad_y = incoming * 2 * x**2 * y
    return grad_x, grad_y


for incoming in (1.0, 5.0, -2.0, 0.0):
    print(f"incoming {incoming:4}:  gradients {backward(incoming, 2.0, 3.0)}")

# %% [markdown]
r"""
Two things to notice.

- The operation never sees $L$. It gets one number, and that number says all it needs to know about everything that comes after.
- With an incoming gradient of 1, a backward that **forgets** to multiply by it looks right. Only at the very end of a computation can you
  be sure that it is 1: there the output is $L$ itself, and $L$ changes exactly as much as $L$. So a test with 1 proves little.

The second rule, then: **test with an incoming gradient that is not 1**.

## 3. Two factors, and two ways to forget one

Here is an operation from another tutorial. It multiplies its input by a fixed number: $z = c\,x$. Its backward returns what it was given.
"""


# %% name="scale_wrong"
def scale(x, c):
    return c * x


def scale_backward_wrong(incoming, c):
    return incoming


def scale_backward(incoming, c):
    return incoming * c


c, incoming = 5.0, 3.0
# the rest is L = incoming * z, so L changes `incoming` times as much as z
print(f"measured: {incoming * (scale(2.0 + step, c) - scale(2.0, c)) / step:.2f}")
print(f"tutorial: {scale_backward_wrong(incoming, c):.2f}   the local derivative is missing")
print(f"right:    {scale_backward(incoming, c):.2f}")

# %% [markdown]
r"""
Nothing forces a backward to match its forward. They are two separate pieces of code. When you write both for PyTorch, it checks how many
gradients come back, and whether the shape of each one fits its input. (A gradient that has the shape of the input's copies it sums by
itself.) It does not check whether the numbers are right.

So a backward can forget the factor that comes in, or its own. Now see both factors in two operations, one after the other: $q = x + y$,
and then $f = q\,w$.
"""


# %% name="pairs_to_chain"
def add_backward(incoming, x, y):
    return incoming * 1, incoming * 1  # the local derivatives of x + y are 1 and 1


def multiply_backward(incoming, x, y):
    return incoming * y, incoming * x  # the local derivatives of x * y are y and x


# %% name="predict_chain"
chain = predict(
    "x = -2, y = 5, w = -4. The backward pass begins at f with the gradient 1. Which gradients arrive at q, at w, and at x?",
    numbers=["q", "w", "x"],
)
chain

# %% name="reveal_chain" tags=["reveal"]
x, y, w = -2.0, 5.0, -4.0
q = x + y
f = q * w
print(f"forward:  q = {q}, f = {f}")

grad_f = 1.0
grad_q, grad_w = multiply_backward(grad_f, q, w)
grad_x, grad_y = add_backward(grad_q, x, y)
print(f"backward: at f {grad_f}, at q {grad_q}, at w {grad_w}, at x {grad_x}, at y {grad_y}")
chain.reveal(grad_q, grad_w, grad_x)

# %% [markdown]
r"""
The multiplication gets 1. It returns the gradient of $q$ and the gradient of $w$. The gradient of $q$ is then the incoming gradient of the
addition.

The number 1 has two roles here. The 1 at $f$ is a **gradient**: it starts the backward pass. The two 1s inside `add_backward` are
**local derivatives**: because of them, the addition passes on what it gets, $-4$, without changing it.

## 4. Operate it

Below is one operation with everything that goes in and comes out. In the upper row, values go forward, from left to right. In the lower
row, gradients come back, from right to left. Under that, there is one plot for each input: how the output depends on it, and a line with
the slope that the backward claims.

- **Is the local derivative right?** Then the line touches the curve. A wrong one cuts through it.
- **Is the incoming gradient multiplied in?** The plot cannot show this, because the line is drawn for an incoming gradient of 1. The last rows
  under it compare "incoming × slope" with the gradient that came back.

Move a slider with the mouse, or click it and use the arrow keys. The list of operations opens with a click or the space bar. (At the start, $z$ is 36, and the slope along $x$ is 36 too. That is
chance: it is so wherever $x$ is 2. Move $x$, and they part.) Try this, and say what you expect before you do it:

1. With the first operation: set the incoming gradient to 0, then to a negative number. What changes in the picture, and what does not?
2. Choose "gradients swapped". Set $x$ and $y$ to the same value. Does the picture show anything wrong? Now make them differ.
3. Choose "incoming forgotten". At which incoming gradient does nothing look wrong?
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
<details><summary>What you could see</summary>

1. The gradients that go back change: they become 0, and then change their sign. The values, the curves and the lines stay. They belong to
   the operation alone.
2. At equal values everything agrees, as in the puzzle. Where $x$ and $y$ differ, both lines cut through their curves. (Unless one of them
   is 0: then both slopes are 0, and exchanging them changes nothing.)
3. At 1. (Where $x$ or $y$ is 0, both slopes are 0, and no incoming gradient shows the mistake.)
4. The slope along $x$ is $y$, and $y$ is 0: as long as $y$ stays 0, so does the product, whatever $x$ does.

</details>

You can put your own pair in: `explore((my_forward, my_backward), x=1.0, y=2.0, incoming=3.0)`.

## 5. A judge that knows no formula

The nudge is a good judge. It uses the forward alone and knows nothing of your backward. Its proper name is **finite difference**. But it is
not exact: it measures over a step that is small, not infinitely small. How small should the step be?
"""

# %% name="predict_step"
best = predict(
    "The slope of f(x) = 1/x at x = 3 is measured as (f(3 + h) - f(3)) / h, in float32. Which step gives the smallest error?",
    choices=["h = 0.1", "h = 0.001", "h = 0.0000001"],
)
best


# %% name="step_table" tags=["reveal"]
def error(h, dtype, sides=1):
    """How far the measured slope of 1/x at 3 is from the exact one, -1/9, for a step h and numbers of a dtype."""
    x, h = torch.tensor(3.0, dtype=dtype), torch.tensor(h, dtype=dtype)
    measured = (1 / (x + h) - 1 / x) / h if sides == 1 else (1 / (x + h) - 1 / (x - h)) / (2 * h)
    return abs(float(measured) - (-1 / 9))


kinds = [(torch.float32, 1), (torch.float32, 2), (torch.float64, 1), (torch.float64, 2)]
print("           float32                float64")
print("step       one side  both sides   one side  both sides")
for power in range(1, 11):
    one32, both32, one64, both64 = (error(10.0**-power, dtype, sides) for dtype, sides in kinds)
    print(f"1e-{power:02}      {one32:.0e}     {both32:.0e}      {one64:.0e}     {both64:.0e}")
best.reveal(min(best.choices, key=lambda choice: error(float(choice.split()[-1]), torch.float32)))

# %% [markdown]
r"""
The smallest step is not the best one. "Both sides" means the **central difference**: one point a step to the right of $x$, one a step to the
left, $\frac{f(x+h) - f(x-h)}{2h}$. Here are the same errors for many more steps. Both axes are logarithmic. (You need not read this
cell's code: it only draws.)
"""

# %% name="error_v"
import numpy as np

from course_utils.drawing.figures import blank, figure

steps = np.logspace(-12, 0, 73)
fig, axes = blank()
for name, dtype, sides in [
    ("float32, one side", torch.float32, 1),
    ("float64, one side", torch.float64, 1),
    ("float64, both sides", torch.float64, 2),
]:
    axes.loglog(steps, [max(error(h, dtype, sides), 1e-13) for h in steps], marker="", label=name)
axes.set(xlabel="step h", ylabel="error of the measured slope", title="Too large, too small, and in between")
axes.legend()
figure(
    fig,
    text="Error of the measured slope against the step. From right to left each curve falls, reaches a lowest place, and rises again.",
    alt="A log-log plot of the error against the step: three V-shaped curves. The one of float64 with both sides reaches lowest.",
)

# %% [markdown]
r"""
Each curve is a **V**, and its two arms have two causes.

- **Right arm, the step is too large.** The curve $1/x$ bends within the step, and we measure across the bend. This error shrinks with the
  step. On both sides of $x$ the bends nearly cancel, so the central difference falls faster and reaches far lower.
- **Left arm, the step is too small.** `f(x + h)` and `f(x)` agree in nearly all their digits, and a number has only about 7 digits in
  float32 and about 16 in float64. The subtraction leaves the last, rounded ones, and dividing by a tiny `h` makes their error large.
  At a step of `1e-07` in float32, `x + h` is rounded to `x` itself: the measured slope is 0, and the error is the whole slope, 1/9, which the
  table rounds to `1e-01`.

So here is the judge for the rest of this lesson: float64, both sides, a step of `1e-5`. The table says that its error is about `4e-12`. In
float32 the best entry is about `9e-07` (both sides, step `1e-02`; that it beats float64 in this row is the luck of rounding), and the next
smaller step is already about ten times worse. A small mistake in a gradient could hide there. That is why gradient checks are done in
float64.

`measure` below is that judge. It takes a function that returns one number, and then the inputs. For each number in each input it does what we
did by hand: it puts in $x + h$, then $x - h$, and divides by $2h$. It returns a list: one tensor of slopes for each input. (Its few lines are
in `course_utils/checks/nudge.py`.)
"""

# %% name="judge"
from course_utils.checks.nudge import measure

x, y = torch.tensor(2.0), torch.tensor(3.0)
slope_x, slope_y = measure(lambda x, y: 5 * forward(x, y), x, y)
print(f"measured: {slope_x:.4f} and {slope_y:.4f}")
print(f"backward: {backward(5.0, x, y)}")

# %% [markdown]
r"""
## 6. What common operations do with a gradient

With the judge we can write down pairs and believe them. Each row below compares a backward with the measured slopes, at $x = 1.7$,
$y = -0.6$ and an incoming gradient `g` of 2.5: all different, and none of them 1.
"""

# %% name="operations"
pairs = {
    "x + y": (lambda x, y: x + y, lambda g, x, y: (g, g)),
    "x - y": (lambda x, y: x - y, lambda g, x, y: (g, -g)),
    "x * y": (lambda x, y: x * y, lambda g, x, y: (g * y, g * x)),
    "x / y": (lambda x, y: x / y, lambda g, x, y: (g / y, -g * x / y**2)),
    "x**3 * y": (lambda x, y: x**3 * y, lambda g, x, y: (g * 3 * x**2 * y, g * x**3)),
    "sin(x * y)": (lambda x, y: torch.sin(x * y), lambda g, x, y: (g * torch.cos(x * y) * y, g * torch.cos(x * y) * x)),
}

x, y, g = torch.tensor(1.7), torch.tensor(-0.6), torch.tensor(2.5)
print("operation     backward              measured")
for name, (its_forward, its_backward) in pairs.items():
    grad_x, grad_y = its_backward(g, x, y)
    slope_x, slope_y = measure(lambda x, y: g * its_forward(x, y), x, y)
    agree = torch.isclose(grad_x, slope_x) and torch.isclose(grad_y, slope_y)
    print(
        f"{name:10} {grad_x:10.4f} {grad_y:9.4f}  {slope_x:10.4f} {slope_y:9.4f}   {'agree' if agree else 'DISAGREE'}"
    )

# %% [markdown]
r"""
Three patterns are worth knowing by heart.

- **Addition passes on.** Both inputs get the whole incoming gradient. It is not shared out: nudge either input, and the sum moves by the
  whole nudge.
- **Multiplication exchanges.** Each input gets the incoming gradient times the **other** input.
- **Behind both stands one rule: multiply the incoming gradient by the slope**, at the values that the forward had. For a sum the slope is 1
  everywhere. For most operations it depends on those values, so somebody has to keep them until the backward is called.

One more question. What does a backward do with the output itself?
"""

# %% name="predict_inverse"
inverse = predict(
    "z = x * y is computed, and then multiply_backward(z, x, y) is called: z itself is put in as the incoming gradient. What comes back?",
    choices=["x and y: the multiplication is undone", "z * y and z * x", "y and x"],
)
inverse

# %% name="reveal_inverse" tags=["reveal"]
x, y = 3.0, 5.0
z = x * y
back = multiply_backward(z, x, y)
print(f"forward:  x = {x}, y = {y}, z = {z}")
print(f"backward: {back}")
inverse.reveal(
    {
        "x and y: the multiplication is undone": back == (x, y),
        "z * y and z * x": back == (z * y, z * x),
        "y and x": back == (y, x),
    }
)

# %% [markdown]
r"""
A backward is not an inverse. It does not compute inputs from outputs. It turns one gradient into others, and it is called backward because
gradients travel from the output to the inputs.

## 7. When the values are tensors

Nothing new happens with tensors, except that there are many numbers. One rule keeps order: **a gradient has the shape of the tensor it
belongs to**. Each of its entries answers the question of section 1 for one number: nudge this entry, and how does $L$ change?

When the output of an operation is a tensor $Z$, its incoming gradient is a tensor $G$ of the same shape, one number for each entry of $Z$. To
judge such a backward, we need a computation that ends in one number and has exactly this incoming gradient. Multiply entry by entry and
add up: $L = \sum_i G_i Z_i$. Each entry of $Z$ changes $L$ by its own weight.

**A sum** adds up all entries. Nudge any of them, and the sum moves by the same amount. So the one incoming number goes to every entry.
"""


# %% name="sum_backward"
def sum_backward(incoming, x):
    return incoming * torch.ones_like(x)


x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
(slopes,) = measure(lambda x: 7 * x.sum(), x)  # (slopes,) takes the only tensor out of the list
print("backward:", sum_backward(7.0, x).tolist())
print("measured:", [[round(value, 6) for value in row] for row in slopes.tolist()])

# %% [markdown]
r"""
**Broadcasting** copies. In `x * s` below, `x` has the shape `(2, 3)` and `s` the shape `(2, 1)`: one factor for each row. PyTorch acts
as if `s` were copied into every column. So each number of `s` is used in three places, and three gradients come back to it.
"""

# %% name="predict_copies"
copies = predict(
    "Each number in s is used in three places. Three gradients come back to it. What is its gradient?",
    choices=["their mean", "their sum", "the last of them"],
)
copies

# %% name="reveal_copies" tags=["reveal"]
s = torch.tensor([[10.0], [20.0]])
G = torch.tensor([[1.0, -1.0, 2.0], [3.0, 0.5, -2.0]])
(one_gradient,) = measure(lambda s: (G * (x * s)).sum(), s)
(three_gradients,) = measure(lambda copied: (G * (x * copied)).sum(), s.expand(2, 3))
print("each copy nudged alone:", [[round(value, 6) for value in row] for row in three_gradients.tolist()])
print("s nudged:              ", [[round(value, 6) for value in row] for row in one_gradient.tolist()])
copies.reveal(
    {
        "their mean": torch.allclose(one_gradient, three_gradients.mean(1, keepdim=True)),
        "their sum": torch.allclose(one_gradient, three_gradients.sum(1, keepdim=True)),
        "the last of them": torch.allclose(one_gradient, three_gradients[:, -1:]),
    }
)

# %% [markdown]
r"""
Nudge `s[0]`, and three entries of the result move at once. Each of them moves $L$, and these changes add up. So the rule of
multiplication alone is not enough:
"""


# %% name="broadcast_backward"
def rows_backward_wrong(incoming, x, s):
    return incoming * s, incoming * x


def rows_backward(incoming, x, s):
    return incoming * s, (incoming * x).sum(1, keepdim=True)


print("s has the shape        ", tuple(s.shape))
print("wrong: its gradient has", tuple(rows_backward_wrong(G, x, s)[1].shape))
print("right: its gradient has", tuple(rows_backward(G, x, s)[1].shape), rows_backward(G, x, s)[1].tolist())

# %% [markdown]
r"""
**What was copied forward is summed backward.** The sum runs along the dimension of the copies. Here that is dimension 1, and
`keepdim=True` keeps the shape `(2, 1)`. If a tensor has fewer dimensions than the result, such as the shape `(3,)` in a result of shape
`(2, 3)`, PyTorch first puts a dimension in front, and copies along that one. Then the sum runs along dimension 0, and the dimension
disappears again:
"""

# %% name="dimension_in_front"
print("G                      ", tuple(G.shape))
print("G.sum(0, keepdim=True) ", tuple(G.sum(0, keepdim=True).shape))
print("G.sum(0)               ", tuple(G.sum(0).shape), " as a tensor of shape (3,) needs it")

# %% [markdown]
r"""
It works the other way round too: the sum adds entries up forward, and its backward copies.

**A matrix times a vector** combines both. In $r = A\,v$, entry $i$ of the result is $r_i = \sum_j A_{ij}\, v_j$. It is made of
multiplications, which exchange, and of a sum, which copies:

- $A_{ij}$ is used in one place only, in $r_i$, where it meets $v_j$. Its gradient is $G_i\, v_j$.
- $v_j$ is used in every $r_i$, where it meets $A_{ij}$. Its gradients are summed: $\sum_i G_i\, A_{ij}$. That is the matrix product
  $A^\top G$.
"""


# %% name="matvec_backward"
def matvec_backward(incoming, matrix, vector):
    grad_matrix = incoming[:, None] * vector[None, :]  # a column times a row: entry (i, j) is G_i * v_j
    grad_vector = matrix.T @ incoming
    return grad_matrix, grad_vector


def agrees(gradients, slopes):
    return [bool(torch.allclose(gradient, slope)) for gradient, slope in zip(gradients, slopes, strict=True)]


A = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
v = torch.tensor([0.5, -1.0, 2.0])
G = torch.tensor([3.0, -2.0])
gradients = matvec_backward(G, A, v)
print("gradient of A", gradients[0].tolist())
print("gradient of v", gradients[1].tolist())
print("agree:", agrees(gradients, measure(lambda A, v: (G * (A @ v)).sum(), A, v)))

# %% [markdown]
r"""
If you forget where a transpose belongs, the shapes remind you: `A` has the shape `(2, 3)`, `G` has `(2,)`, and the gradient of `v` must
have `(3,)`. `A @ G` does not fit; `A.T @ G` does. With a square matrix, the wrong product fits too:
"""

# %% name="square_matrix"
square, u = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.5, -1.0])
(slope,) = measure(lambda u: (G * (square @ u)).sum(), u)
print("measured:    ", [round(value, 6) for value in slope.tolist()])
print("square.T @ G:", (square.T @ G).tolist())
print("square @ G:  ", (square @ G).tolist(), " the right shape, the wrong numbers")

# %% [markdown]
r"""
That is the puzzle of the beginning again. The third rule: **test with sizes that differ**.

**A matrix product** $R = A\,B$ is nothing but several of these: every column of $R$ is $A$ times a column of $B$, and it has its own column of
$G$. `B` meets `A` as `v` did, column by column. `A` is used by every column $c$, so its gradients are summed over the columns: entry
$(i, j)$ of its gradient is $\sum_c G_{ic}\, B_{jc}$. There a row of $G$ meets a row of $B$. In a matrix product, rows meet columns. So which
of the two must be transposed? Exercise 8 asks you to write both gradients as matrix products.

## 8. Autograd as the judge

So far we have measured. PyTorch brings a backward for nearly all of its operations, and its machine for calling them is **autograd**. Ask it
about the same operations: mark the inputs with `requires_grad_()`, compute, and call `backward` on the result, with the incoming gradient
as its argument. Then each input has its gradient in `.grad`.
"""


# %% name="autograd"
def by_autograd(its_forward, incoming, *inputs):
    inputs = [tensor.clone().requires_grad_() for tensor in inputs]
    its_forward(*inputs).backward(incoming)
    return [tensor.grad for tensor in inputs]


x, y = torch.tensor(2.0), torch.tensor(3.0)
for incoming in (torch.tensor(1.0), torch.tensor(5.0)):
    judge = by_autograd(forward, incoming, x, y)
    print(
        f"incoming {incoming}: mine {[g.item() for g in backward(incoming, x, y)]}, autograd {[g.item() for g in judge]}"
    )

for G in (torch.tensor([1.0, 1.0]), torch.tensor([3.0, -2.0])):
    judge = by_autograd(torch.mv, G, A, v)
    print(
        f"incoming {G.tolist()}: gradient of A {judge[0].tolist()}, as mine: {agrees(matvec_backward(G, A, v), judge)}"
    )

# %% [markdown]
r"""
Look at the last two lines. The incoming gradient of a tensor is not one scale for everything. Each entry of the result has a weight of its own,
and here each row of the gradient follows its own weight.

Now `loss.backward()` reads differently. The loss is one number, so the call needs no argument: it starts with an incoming gradient of one,
because the loss changes exactly as much as itself. The operation that made the loss turns it into gradients of its inputs. Those are the
incoming gradients of the operations before it, and so on, down to the parameters.

## What you can do now

- You can write **both halves** of an operation, and say what its backward returns, in which order, and in which shape.
- You can tell the incoming gradient from the local derivative, and say when each of them is 1.
- You can **prove** a backward right or wrong, without trusting its author: by nudging in float64 with a central difference, by a
  picture, and by autograd. You test where inputs differ, where the incoming gradient is not 1, and where sizes differ.

The exercises are in `exercises/01_one_operation.ipynb`. Their checks ask for exactly this.

**The next question.** You have passed a gradient by hand through two operations, and you know that gradients of copies are summed. In a
network there are hundreds of operations, and a value may be used in many of them. In which order must their backwards be called, and who
keeps the account? That is unit 02.
"""
