# %% [markdown]
r"""
# 09 · The gradient of a gradient

**What is the gradient of a gradient?**

A backward pass computes numbers from numbers. So it can be recorded and differentiated like any other computation. One argument
switches that on: `create_graph=True`. In this lesson you watch the second graph grow out of the first. Then you use it: for mixed derivatives, curvature, Newton's step, and
losses that have gradients inside.

You need units 01 to 06, and kinks from unit 08: above all messages that add up, saved tensors (unit 04); and from unit 05 the columns of $X$, samples that do not mix, `grad_outputs`, and `torch.func` with `vmap`.
Allow about an hour; after section 4 is a good place for a pause, and sections 7 and 9 can wait for another day. Make each prediction before you go on. The output that answers a question stays folded until
you run its cell.

## A puzzle

`second` asks twice: for the gradient of the sum, and then for the gradient of that. Below, four functions go through it.
"""

# %% name="setup"
import torch

from course_utils import explore_curvature, predict, record, step

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
linear = torch.nn.Linear(2, 1)
relu_network = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))

functions = {
    "x**3": lambda x: x**3,
    "2 * x": lambda x: 2 * x,
    "a linear layer": linear,
    "a relu network": relu_network,
}


# %% name="puzzle"
def second(f, x):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)[0]


point = torch.tensor([[0.5, -1.5]])
for name, f in functions.items():
    try:
        print(f"{name:15}", second(f, point))
    except RuntimeError as error:
        print(f"{name:15}", "RuntimeError:", str(error).split(". ")[0])

# %% [markdown]
r"""
For $x^3$ it is $6x$, as it should be. For the other three, the right answer is 0. PyTorch gives it once, and raises two different errors for the others. How can three zeros differ? Section 5 has the answer.

## 1. A backward pass is a computation

The backward of $y = x^3$ computes $3x^2$, times the incoming gradient. As a rule it does so with recording off: you saw that in unit 06.
"""

# %% name="recorded_or_not"
x = torch.tensor(4.0, requires_grad=True)
y = x**3
(first,) = torch.autograd.grad(y, x, retain_graph=True)
print("as a rule:        ", first)
try:
    torch.autograd.grad(first, x)
except RuntimeError as error:
    print("once more:         RuntimeError:", error)

(first,) = torch.autograd.grad(y, x, create_graph=True)
print("create_graph=True:", first)

(second_derivative,) = torch.autograd.grad(first, x)
print("once more:        ", second_derivative, "  6 * x is", 6 * x.item())

# %% [markdown]
r"""
The number is the same. With `create_graph=True` it has a `grad_fn`: the backward pass was recorded, so you can ask the next question about its result. In that question, the **output is the first
gradient**. It is easy to name another one:
"""


# %% name="asked_the_same"
def derivative(output, x):
    return torch.autograd.grad(output.sum(), x, create_graph=True)[0]


x = torch.tensor([[0.5], [1.0]], requires_grad=True)
u = x**3
u_x = derivative(u, x)
print("u_x                 ", u_x.flatten().tolist())
print("'u_xx', asked of u  ", derivative(u, x).flatten().tolist())
print("u_xx, asked of u_x  ", derivative(u_x, x).flatten().tolist())

# %% [markdown]
r"""
The second line asks the first question again. Nothing fails: the shape is right. Read such a call aloud: the derivative of *this* with respect to *that*.

## 2. The second graph grows out of the first

Take $z = (x \cdot x \cdot y)^2$, which is $x^4 y^2$, at $x = 2$ and $y = 3$. Its derivative with respect to $x$ is $z_1 = 4x^3y^2$.

The stepper below has a switch: **show the second-order graph**. Turn it on. With each step, the nodes that this step records appear. Their labels have a prime (′), and
each says from which node it comes. As in every graph here, the numbers count from the end: the last node to be born is 0′. Say what you expect before you step:

1. The backward of `Pow` computes incoming × 2 × q. Which nodes will that leave behind?
2. Two messages arrive at `x` and are added up. Is this addition recorded too?
3. At the end, look for the arrows from the first graph into the second. Which tensors do they carry, and why these?
"""

# %% name="growth_stepper"
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
p = x * x
q = p * y
z = q**2
step(record(z, create_graph=True, with_respect_to=x))

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. `Pow 6′`, `Mul 5′` and `Mul 4′`: $q^1$, times 2, times the incoming gradient. This backward is made of PyTorch's operations, and each of them leaves a node.
2. Yes: `Add 0′`, the sum at `x`. It is born last, and its result is $z_1$.
3. `q` into `Pow 6′`, `y` into `Mul 3′`, `x` into `Mul 1′` and `Mul 2′`. These are the **saved tensors** that the backward computed with. They have a place in the first graph, and along these arrows
   the gradient of the gradient finds its way back to the inputs.

</details>

Now follow $z_1$ back to $y$. In the program, `y` is used once.
"""

# %% name="predict_messages"
messages = predict(
    "A backward pass from z1 = 4 * x**3 * y**2, for the gradient of y, at x = 2, y = 3. How many messages arrive at y, and what is their sum?",
    numbers=["messages", "sum"],
)
messages

# %% name="reveal_messages" tags=["reveal"]
(z1,) = torch.autograd.grad(z, x, create_graph=True)
second_pass = record(z1, with_respect_to=y)
arrived = [message.value for message in second_pass.messages_to("y")]
print("What arrives at y:")
print(arrived, "  the sum is", sum(arrived), "  8 * x**3 * y is", 8 * x.item() ** 3 * y.item())
messages.reveal(len(arrived), sum(arrived))

# %% [markdown]
r"""
In the first graph, one arrow leaves `y`. In the second there is one more: the backward of `p * y` multiplied by `y`. So $z_1$ depends on $y$ in two ways, through `q` and through the factor `y`, and one message comes along each. (That both are 96 is due to the square: with `q**3` one would be twice the other.)

## 3. Mixed derivatives by columns

Often $x$ and $y$ are columns of one tensor $X$, with one sample in each row. Unit 05 had two cures for columns: ask for the gradient of $X$ and take its column, or slice first.
With the first cure, and $z = x^4 y^2$ again:
"""

# %% name="mixed_by_columns"
X = torch.tensor([[1.0, 3.0], [2.0, 1.0]], requires_grad=True)
z = (X[:, 0] ** 2 * X[:, 1]) ** 2

(gradient_of_z,) = torch.autograd.grad(z.sum(), X, create_graph=True)
z1 = gradient_of_z[:, 0]
(gradient_of_z1,) = torch.autograd.grad(z1.sum(), X, retain_graph=True)  # the graph is needed again below
z2 = gradient_of_z1[:, 1]

x, y = X.detach().unbind(1)
print("z1:", z1.tolist(), "  4 * x**3 * y**2:", (4 * x**3 * y**2).tolist())
print("z2:", z2.tolist(), "  8 * x**3 * y:   ", (8 * x**3 * y).tolist())

# %% [markdown]
r"""
Each question has its own column: the first picks $\partial z/\partial x$, the second its change with $y$. (The sums are allowed because the samples do not mix.)
"""

# %% name="predict_column"
column = predict(
    "Somebody forgets the first [:, 0], and asks for the gradient of gradient_of_z.sum(). Column 1 of the answer is taken as before. What is it for the first sample, x = 1, y = 3?",
    choices=["24, as before: the column is taken at the end", "26: something is added", "an error"],
)
column

# %% name="reveal_column" tags=["reveal"]
print("Column 1, with the first [:, 0] forgotten:")
try:
    forgotten = torch.autograd.grad(gradient_of_z.sum(), X, retain_graph=True)[0][:, 1]
    outcome = f"{forgotten[0].item():g}"
    print(forgotten.tolist(), "  8 * x**3 * y + 2 * x**4:", (8 * x**3 * y + 2 * x**4).tolist())
except RuntimeError:
    outcome = "an error"
column.reveal({choice: choice.startswith(outcome) for choice in column.choices})

# %% [markdown]
r"""
The sum ran over both columns of the gradient, so the answer is $z_{xy} + z_{yy}$. It has the right shape.

The trap of unit 05 is still there: nothing was computed from a fresh slice `X[:, 1]`. Slicing first works, for both calls:
"""

# %% name="slices"
try:
    torch.autograd.grad(z1.sum(), X[:, 1])
except RuntimeError as error:
    print("a fresh slice: RuntimeError:", str(error).split(". ")[0])

x, y = X[:, 0], X[:, 1]
z = (x**2 * y) ** 2
(z1,) = torch.autograd.grad(z.sum(), x, create_graph=True)
(z2,) = torch.autograd.grad(z1.sum(), y)
print("sliced first: ", z2.tolist())

# %% [markdown]
r"""
## 4. create_graph is not retain_graph

Both are said to "keep the graph". They keep two different graphs.
"""


# %% name="two_arguments"
def can_be_differentiated(output, x):
    try:
        torch.autograd.grad(output, x, retain_graph=True)
    except RuntimeError:
        return "no"
    return "yes"


print("               y, a second time   the gradient")
for options in ({}, {"retain_graph": True}, {"create_graph": True}):
    x = torch.tensor(3.0, requires_grad=True)
    y = x**3
    (first,) = torch.autograd.grad(y, x, **options)
    words = ", ".join(options) or "neither"
    print(f"{words:14} {can_be_differentiated(y, x):18} {can_be_differentiated(first, x)}")

# %% [markdown]
r"""
- `retain_graph=True` keeps the saved tensors of the **old** graph, so that you can go through it again.
- `create_graph=True` records a **new** graph, that of the backward pass. Unless you say otherwise, it retains the old one too, because the new one grows out of it.

`backward` takes `create_graph` as well. Then two things happen that you may not want. The first concerns the numbers.
"""

# %% name="predict_accumulates"
accumulates = predict(
    "y = x**3 at x = 3. First y.backward(create_graph=True), then x.grad.backward(). The derivatives are 27 and 18. What is x.grad at the end?",
    numbers=["x.grad"],
)
accumulates

# %% name="reveal_accumulates" tags=["reveal"]
import warnings

x = torch.tensor(3.0, requires_grad=True)
y = x**3
torch.set_warn_always(True)  # else this warning comes only once in a session
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    y.backward(create_graph=True)
torch.set_warn_always(False)
print("Two calls of backward:")
print("after the first:", x.grad.item(), end="   ")
x.grad.backward()
print("after the second:", x.grad.item())
print("PyTorch warns:", str(caught[0].message).split(". ")[0])
accumulates.reveal(x.grad.item())

# %% [markdown]
r"""
`.grad` is an account into which every `backward` pays (unit 05). Neither derivative can be read there any more. `torch.autograd.grad` returns each by itself.

The second is what the warning speaks of: `x` holds `x.grad`, and `x.grad` has a graph that leads back to `x`. This circle runs through PyTorch's own memory, where Python's garbage collector does not look. The next cell makes five
tensors one after the other, lets go of them, calls the collector, and counts which of them are still alive.
"""

# %% name="leak"
import gc
import weakref


def with_backward(x):
    (x**3).sum().backward(create_graph=True)


def with_backward_and_none(x):
    with_backward(x)
    x.grad = None


def with_grad(x):
    torch.autograd.grad((x**3).sum(), x, create_graph=True)


warnings.filterwarnings("ignore", "Using backward.. with create_graph=True")
for way in (with_backward, with_backward_and_none, with_grad):
    watched = []
    for _ in range(5):
        x = torch.ones(1000, requires_grad=True)
        way(x)
        watched.append((weakref.ref(x), x.nbytes))
        del x
    gc.collect()
    alive = [nbytes for tensor, nbytes in watched if tensor() is not None]
    print(f"{way.__name__:24} {len(alive)} of 5 alive, {sum(alive):6} bytes in these tensors alone")

# %% [markdown]
r"""
**For second derivatives, use `torch.autograd.grad`.** If it must be `backward`, set `.grad` to None before you let go.

*This is a good place for a pause.*

## 5. Constants, and functions without curvature

Back to the puzzle. Ask each of the four first gradients whether it has a graph, and whether that graph leads to `x`.
"""

# %% name="what_the_gradient_depends_on"
print("                requires_grad   leads to x")
for name, f in functions.items():
    x = point.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    leads = first.requires_grad and torch.autograd.grad(first.sum(), x, allow_unused=True)[0] is not None
    print(f"{name:15} {first.requires_grad!s:15} {leads}")

# %% [markdown]
r"""
- **2 * x**: the backward multiplies the incoming gradient by 2. Nothing here requires a gradient, so nothing was recorded. This constant was computed from nothing that requires one, so it has no graph.
- **A linear layer**: the gradient is the weight. It requires a gradient, so there is a graph, and `x` is not in it.
- **A relu network**: the graph does lead to `x`, and what comes back along it is 0.

So 0 can have three forms. Which one you meet can depend on how a function is written:
"""

# %% name="predict_cubes"
cubes = predict(
    "x**3 and x * x * x are the same function. Its fourth derivative is 0. Each of them is differentiated four times in a row. What comes out at the fourth?",
    choices=[
        "0 for both",
        "0 for x**3, an error for x * x * x",
        "an error for x**3, 0 for x * x * x",
        "an error for both",
    ],
)
cubes

# %% name="reveal_cubes" tags=["reveal"]
print("Four times in a row, at x = 2:")
fourth = {}
for name, cube in (("x**3", lambda x: x**3), ("x * x * x", lambda x: x * x * x)):
    x = torch.tensor(2.0, requires_grad=True)
    value, found = cube(x), []
    for _ in range(4):
        try:
            (value,) = torch.autograd.grad(value, x, create_graph=True)
            found.append(value.item())
        except RuntimeError:
            found.append("error")
            break
    fourth[name] = found[-1]
    print(f"{name:10}", found)
is_error = tuple(fourth[name] == "error" for name in fourth)
claims = [(False, False), (False, True), (True, False), (True, True)]
cubes.reveal(dict(zip(cubes.choices, [is_error == claim for claim in claims], strict=True)))

# %% [markdown]
r"""
Code that is to work for all of these (each treats every entry by itself, and its result depends on `x`) must deal with all three cases:
"""


# %% name="second_for_any"
def second_for_any(f, x):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    if not first.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(first.sum(), x, materialize_grads=True)[0]


cut = {"x**3, cut": lambda x: x * (x**2).detach()}
for name, f in (functions | cut).items():
    print(f"{name:15}", second_for_any(f, point).tolist())

# %% [markdown]
r"""
The last line is a warning: for a graph that somebody has cut by accident, this code gives zeros too, where $6x$ is right. The zeros of the relu network are the truth. (`torch.func.jacrev`, unit 05, gives second derivatives if it is applied twice.)
"""

# %% name="activations"
points = torch.randn(200, 2)
for activation in (torch.nn.ReLU(), torch.nn.LeakyReLU(), torch.nn.Tanh(), torch.nn.Softplus()):
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(2, 8), activation, torch.nn.Linear(8, 1))
    second = torch.func.jacrev(torch.func.jacrev(lambda x, network=network: network(x).squeeze()))
    largest = torch.func.vmap(second)(points).abs().max().item()
    print(f"{type(activation).__name__:10} largest second derivative at 200 points: {largest:.3f}")

# %% [markdown]
r"""
A network of linear layers and ReLUs is made of straight pieces. Inside a piece, its second derivatives with respect to the **input** are 0; at the kinks between the pieces there are none (unit 08). A leaky ReLU has kinks
too, and straight pieces. If your loss contains $u_{xx}$, use a smooth activation, one without kinks, such as tanh or softplus: with ReLU or leaky ReLU, that term is 0 whatever the weights are.

## 6. All second derivatives: the Hessian

A function of $n$ numbers has $n$ first derivatives, and each of these has $n$ derivatives. Their table is the **Hessian** $H$, with $H_{ij} = \partial^2 f/\partial x_i \partial x_j$. It is the Jacobian of the
gradient, so it takes one backward pass for each row (unit 05).
"""


# %% name="hessian"
def f(x):
    return x[0] ** 2 * x[1] + x[1] ** 3


def hessian_by_rows(f, x):
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.stack([torch.autograd.grad(entry, x, retain_graph=True)[0] for entry in gradient])


x = torch.tensor([1.0, 2.0])
print("by rows:           ", hessian_by_rows(f, x).tolist())
print("torch.func.hessian:", torch.func.hessian(f)(x).tolist())

# %% name="predict_row_sums"
row_sums = predict(
    "The Hessian of f at this point is [[4, 2], [2, 12]]. Somebody wants its diagonal in one pass, and asks for the gradient of gradient.sum(). What comes out?",
    choices=["[4, 12]", "[6, 14]", "18"],
)
row_sums

# %% name="reveal_row_sums" tags=["reveal"]
leaf = x.clone().requires_grad_()
(gradient,) = torch.autograd.grad(f(leaf), leaf, create_graph=True)
(found,) = torch.autograd.grad(gradient.sum(), leaf)
H = torch.func.hessian(f)(x)
print("In one pass:")
print(found.tolist(), "  H @ ones:", (H @ torch.ones(2)).tolist(), "  the diagonal:", H.diagonal().tolist())
row_sums.reveal(
    dict(
        zip(
            row_sums.choices,
            [torch.equal(found, H.diagonal()), torch.equal(found, H.sum(1)), found.ndim == 0],
            strict=True,
        )
    )
)

# %% [markdown]
r"""
Weights of ones add the rows. That is the diagonal where every mixed derivative is 0, as for a function that treats each entry by itself. (So `second` was right for $x^3$.) Otherwise, take one pass for each entry. The sum of the diagonal is the
**Laplacian** $\Delta u = u_{xx} + u_{yy}$, which many physical laws are written with:
"""


# %% name="laplacian"
def laplacian(u, X):
    X = X.clone().requires_grad_()
    (first,) = torch.autograd.grad(u(X).sum(), X, create_graph=True)
    return sum(torch.autograd.grad(first[:, k].sum(), X, retain_graph=True)[0][:, k] for k in range(X.shape[1]))


def sums_of_rows(u, X):
    X = X.clone().requires_grad_()
    (first,) = torch.autograd.grad(u(X).sum(), X, create_graph=True)
    return torch.autograd.grad(first.sum(), X)[0].sum(1)


samples = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
for name, u in (("x**2 + y**2", lambda X: (X**2).sum(1)), ("(x + y)**2", lambda X: X.sum(1) ** 2)):
    print(f"{name:12} laplacian {laplacian(u, samples).tolist()}   in one pass {sums_of_rows(u, samples).tolist()}")

# %% [markdown]
r"""
And a Hessian belongs to **one number**. For a function with several outputs, every output has one of its own:
"""

# %% name="hessian_of_a_vector"
try:
    torch.autograd.functional.hessian(lambda x: x**3, x)
except RuntimeError as error:
    print("autograd.functional.hessian: RuntimeError:", error)
print("func.hessian, shape:", tuple(torch.func.hessian(lambda x: x**3)(x).shape))

# %% [markdown]
r"""
### Operate it: curvature

What does $H$ say? Stand at a point, and choose a direction $v$ of length 1. The **slope** along $v$ is $g \cdot v$, where $g$ is the gradient. The **curvature** along $v$ is $v^{\mathsf T} H\, v$: how fast the slope
changes as you walk. Value, slope and curvature together give a **parabola**. All these parabolas form a model of the surface. At a distance $s$ from $x$, the gradient of the model is $g + H s$. **Newton's step** goes to where it is 0: $s = -H^{-1} g$.

Move the point, turn the direction, and say what you expect first.

1. In the valley, choose the direction of the largest curvature, then of the smallest. How do they lie to the level lines?
2. Choose "to where Newton's step lands", and move the point. Where on the parabola is the landing? Where is the model good?
3. On the saddle, where does Newton's step lead, from every point? Is that downhill?
4. Choose the relu network. What is the curvature, in every direction? Why is there no Newton step?
5. "stripes": find a direction without curvature. What does it mean for Newton's step?
"""

# %% name="curvature_explorer"
explore_curvature(
    {
        "a curved valley": lambda x: (1 - x[0]) ** 2 + 5 * (x[1] - x[0] ** 2) ** 2,
        "a saddle": lambda x: x[0] ** 2 - x[1] ** 2 + x[0] * x[1],
        "a relu network": relu_network,
        "stripes": lambda x: torch.cos(2 * (x[0] + x[1])),
    },
    at=(-1.0, 0.5),
    direction="downhill, against the gradient",
    across=(-2, 2),
    up=(-1, 3),
)

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. Largest: across them. Smallest: nearly along them, as the valley runs.
2. Where the parabola turns: it is a slice through the model. Near the floor of the valley the parabola follows the curve for some distance. The further it has to reach, the more it is a guess.
3. To (0, 0), in one step: this surface is its own model. There the slopes are 0, and it is a saddle. Newton's step looks for slopes of 0, not for a low place.
4. It is 0. In a straight piece the slope does not change, so no step makes it 0.
5. At 135 or -45 degrees, along the stripes. The Hessian has no inverse, so there is no single landing place.

</details>

With a function of your own: `explore_curvature(my_function, at=(1.0, 0.5))`, for a function that takes a tensor with two entries and gives one number.

### Newton against gradient descent

A valley like the first one has its lowest point at (1, 1). Gradient descent and Newton's method start at the same place.
"""


# %% name="two_methods"
def valley(x):
    return (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2


def gradient_of(f, x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(f(x), x)[0]


def gradient_step(x, lr):
    return x - lr * gradient_of(valley, x)


def newton_step(x):
    return x - torch.linalg.solve(torch.func.hessian(valley)(x), gradient_of(valley, x))


def walk(take_step, most=3000):
    """The points visited until one is nearer than 0.001 to the lowest point."""
    path = [torch.tensor([-1.2, 1.0])]
    while len(path) <= most and not (path[-1] - 1).norm() < 1e-3 and path[-1].isfinite().all():
        path.append(take_step(path[-1]))
    return path


# %% name="predict_steps"
steps = predict(
    "Gradient descent may use the best of four step sizes. How many times as many steps as Newton's method does it need to arrive?",
    choices=["less than 5 times", "5 to 50 times", "more than 50 times"],
)
steps

# %% name="reveal_steps" tags=["reveal"]
print("Steps until the distance is below 0.001:")
newton, best = walk(newton_step), None
for lr in (0.005, 0.01, 0.02, 0.04):
    path = walk(lambda x, lr=lr: gradient_step(x, lr))
    arrives = (path[-1] - 1).norm() < 1e-3
    print(f"gradient descent, lr = {lr}: {len(path) - 1 if arrives else 'does not arrive'}")
    if arrives and (best is None or len(path) < len(best)):
        best = path
print("Newton:", len(newton) - 1)
heights = [valley(x).item() for x in newton]
print("Newton, the value at the start and after each step:", ", ".join(f"{z:.3f}" for z in heights))
ratio = (len(best) - 1) / (len(newton) - 1)
print(f"{ratio:.0f} times as many")
steps.reveal(dict(zip(steps.choices, [ratio < 5, 5 <= ratio <= 50, ratio > 50], strict=True)))

# %% name="paths" tags=["reveal"]
from course_utils.drawing.figures import blank, figure

fig, axes = blank(7.2, 4.4)
across, up = torch.meshgrid(torch.linspace(-1.6, 1.6, 120), torch.linspace(-1.3, 1.6, 120), indexing="xy")
axes.contour(
    across, up, valley(torch.stack([across, up])), levels=[0.3, 1, 3, 8, 20, 50], colors="#8b867a", linewidths=0.8
)
for words, path, marks in (("gradient descent", best, 60), ("Newton", newton, 1)):
    axes.plot(*torch.stack(path).T, label=f"{words}: {len(path) - 1} steps", markevery=marks, markersize=5)
axes.plot(1, 1, marker="*", markersize=14, linestyle="", color="black", label="lowest point")
axes.legend(loc="lower left")
axes.set(xlabel="x[0]", ylabel="x[1]")
figure(
    fig,
    text=f"Two paths through the valley: gradient descent in {len(best) - 1} steps, Newton in {len(newton) - 1}",
    alt="Level lines of a curved valley with two paths from (-1.2, 1) to (1, 1). Gradient descent falls to the floor of the "
    "valley and creeps along it, with a mark every 60 steps. Newton's method jumps, twice far off the floor, and arrives soon.",
)

# %% [markdown]
r"""
Gradient descent has one step size for all directions. It must be small enough for the curvature across the valley (0.04 is too large), and is then tiny for the way along it (with 0.005, 3,000 steps are not enough). Along the directions of largest and of smallest curvature, Newton's step is
minus the slope divided by the curvature: each has its own step size. The price: at some steps the value **rises**, where the model reaches too far; it goes to saddles as well as to low points; and written like this, each step needs the whole Hessian. With a million parameters, that is a million times a million entries. (`torch.linalg.solve` finds
$s$ in $H s = g$ without computing $H^{-1}$.)

## 7. H times v, without H

The curvature along $v$ needs only the vector $H v$. There are two ways to it. The first is one more backward pass, with `grad_outputs=v` (unit 05): the vector-Jacobian product of the gradient is $v^{\mathsf T} H$, and $H$ is symmetric where the second derivatives are continuous. The second way is
**forward mode**: `torch.func.jvp` runs a function, and carries along with each value how it changes if the input moves along $v$. Applied to the function that gives the gradient, it gives $H v$ too.
"""


# %% name="two_ways"
def reverse_over_reverse(f, x, v):
    x = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(gradient, x, grad_outputs=v)[0]


def forward_over_reverse(f, x, v):
    return torch.func.jvp(torch.func.grad(f), (x,), (v,))[1]


def whole_hessian(f, x, v):
    return torch.func.hessian(f)(x) @ v


x, v = torch.tensor([1.0, 2.0]), torch.tensor([0.6, -0.8])
for way in (reverse_over_reverse, forward_over_reverse, whole_hessian):
    print(f"{way.__name__:21} {[round(one, 6) for one in way(f, x, v).tolist()]}")

# %% [markdown]
r"""
What do they cost? `count_work` (unit 05) counts how many numbers PyTorch computes. The function is a long chain of valleys, with $n$ numbers as its input.
"""

# %% name="predict_costs"
costs = predict(
    "n = 200. How many gradients of the chain cost as much as one H times v, in the cheaper of the two ways? And by the whole Hessian?",
    choices=["about 2, and about 2", "about 2, and more than 200", "about 200, and about 200"],
)
costs

# %% name="reveal_costs" tags=["reveal"]
from course_utils.graph import count_work


def chain(x):
    return ((1 - x[:-1]) ** 2 + 10 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def numbers_of(run):
    with count_work() as work:
        run()
    return work.numbers


print("What H times v costs, in gradients:")
relative = {}
for n in (100, 200):
    x, v = torch.linspace(-1, 1, n), torch.linspace(2, 0.5, n)
    one_gradient = numbers_of(lambda x=x: gradient_of(chain, x))
    for way in (reverse_over_reverse, forward_over_reverse, whole_hessian):
        relative[way] = numbers_of(lambda way=way, x=x, v=v: way(chain, x, v)) / one_gradient
    print(f"n = {n}: ", ", ".join(f"{way.__name__} {ratio:.1f}" for way, ratio in relative.items()))
cheap, whole = min(relative[reverse_over_reverse], relative[forward_over_reverse]), relative[whole_hessian]
costs.reveal(dict(zip(costs.choices, [whole < 5, 1.5 < cheap < 3 and whole > 200, cheap > 100], strict=True)))

# %% [markdown]
r"""
$H v$ costs a few gradients, for the longer input as for the shorter one. The whole Hessian costs a number of gradients that grows with $n$.

### Two traps

The first: wanted is the derivative of $y\,(x - 2y)$ with respect to $y$, taken at $y = x$. That is $x - 4y$, so $-3x$. Then its derivative with respect to $x$, which is $-3$.
"""


# %% name="nested"
def inner(x, y):
    return torch.autograd.grad(y * (x - 2 * y), y, create_graph=True)[0]


x = torch.tensor(1.0, requires_grad=True)
print("y is the same tensor as x:   ", torch.autograd.grad(inner(x, x), x)[0].item())
print("y is a tensor of its own:    ", torch.autograd.grad(inner(x, x.clone()), x)[0].item())

by_argument = torch.func.grad(lambda x: torch.func.grad(lambda y: y * (x - 2 * y))(x))
print("torch.func, by its arguments:", by_argument(x.detach()).item())

# %% [markdown]
r"""
`torch.autograd.grad` differentiates with respect to a **tensor**, in all its uses. With one tensor in both roles, the inner derivative is that of $x\,(x - 2x) = -x^2$, so $-2x$, and its derivative is $-2$. A clone is another tensor, and the outer gradient still passes
through it. `torch.func.grad` differentiates with respect to an **argument**.

The second: forward mode, and what stops it. (`jacfwd` gives the same Jacobian as `jacrev`, by forward mode.)
"""


# %% name="stopped"
def with_no_grad(x):
    with torch.no_grad():
        y = x**2
    return 3 * x + y


def with_detach(x):
    return 3 * x + (x**2).detach()


x = torch.tensor(1.0)
for g in (with_no_grad, with_detach):
    print(
        f"{g.__name__:12} reverse mode: {torch.func.jacrev(g)(x).item()}   forward mode: {torch.func.jacfwd(g)(x).item()}"
    )

# %% [markdown]
r"""
`no_grad` switches off recording, and forward mode records nothing: it computes as it goes. `detach` stops both. Where a part is to be a constant, say `detach`.

## 8. Losses with a gradient inside

A **gradient penalty** wants the gradient of a network's output with respect to its input to have length 1, for every sample. The samples here are small images.
"""

# %% name="penalty_axes"
critic = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(16, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
images = torch.randn(3, 1, 4, 4)


def input_gradient(create_graph):
    x = images.clone().requires_grad_()
    return torch.autograd.grad(critic(x).sum(), x, create_graph=create_graph)[0]


gradient = input_gradient(create_graph=False)
for words, norm in (
    ("norm(2, dim=1)", gradient.norm(2, dim=1)),
    ("flatten(1).norm(2, dim=1)", gradient.flatten(1).norm(2, dim=1)),
):
    print(f"{words:26} shape {tuple(norm.shape)!s:10} penalty {((norm - 1) ** 2).mean().item():.4f}")

# %% [markdown]
r"""
The images have one channel, and `dim=1` is the channel: the first line takes the length of single pixels. A sample's gradient is everything behind the batch, so flatten it first.

Training needs the gradient of the penalty with respect to the **weights**. Is `create_graph` needed for that?
"""

# %% name="predict_penalty"
constant = predict(
    "The loss is critic(images).mean() + penalty. The inner gradient is computed without create_graph. What happens at loss.backward()?",
    choices=[
        "an error: the gradient has no graph",
        "no error, and the penalty has no effect on the weights",
        "no error, and the penalty acts as it should",
    ],
)
constant


# %% name="reveal_penalty" tags=["reveal"]
def pull_on_the_weights(penalty):
    loss = critic(images).mean() + penalty
    (gradient,) = torch.autograd.grad(loss, critic[1].weight)
    return gradient


def penalty(create_graph):
    return ((input_gradient(create_graph).flatten(1).norm(2, dim=1) - 1) ** 2).mean()


print("The gradient of the first weights:")
alone = pull_on_the_weights(0.0)
for create_graph in (False, True):
    found = pull_on_the_weights(penalty(create_graph))
    print(f"create_graph={create_graph!s:6} the same as without a penalty: {torch.equal(found, alone)}")
without_effect = torch.equal(pull_on_the_weights(penalty(False)), alone)
constant.reveal(dict(zip(constant.choices, [False, without_effect, not without_effect], strict=True)))

# %% [markdown]
r"""
Nothing fails, because the rest of the loss has a graph. The penalty is added as a constant, and the gradient of a constant is 0.

**An inner update.** In meta-learning, an outer loss looks at the weights *after* a training step, and asks: which start `w` is good to train from? Here the inner loss is $w^3$, the step size 0.1, and the outer loss the square of the
updated weight.
"""


# %% name="inner_update"
def outer_loss(w, create_graph):
    (g,) = torch.autograd.grad(w**3, w, create_graph=create_graph)
    updated = w - 0.1 * g
    return updated**2


# %% name="predict_inner"
inner_update = predict(
    "At w = 1 the updated weight is 0.7. What is the gradient of the outer loss with respect to w, without create_graph, and with it?",
    numbers=["without", "with"],
)
inner_update

# %% name="reveal_inner" tags=["reveal"]
w = torch.tensor(1.0, requires_grad=True)
found = [torch.autograd.grad(outer_loss(w, create_graph), w)[0].item() for create_graph in (False, True)]
above, below = (outer_loss(torch.tensor(start, requires_grad=True), False).item() for start in (1.00001, 0.99999))
print("The gradient of the outer loss:")
print(f"create_graph=False {found[0]:.4f}, create_graph=True {found[1]:.4f}, nudged {(above - below) / 0.00002:.4f}")
inner_update.reveal(*[round(one, 6) for one in found])

# %% [markdown]
r"""
The nudge decides for `create_graph=True`. The gradient is $2 \cdot 0.7$ times $1 - 0.1 \cdot 6w$. The second factor says how the updated weight changes with $w$, and the second derivative of the inner loss is in it. Without `create_graph` the inner gradient is a
constant, and the factor is 1. That is called first-order, and is sometimes done on purpose, because it is cheaper. It should not happen by accident.

## 9. A Function of your own, twice

Unit 06 gave the rule: save inputs and outputs, and compute everything else again in the backward. There the second derivative was wrong because of what was *saved*. Here the fault is in what *comes in*: somebody detaches `grad_output`, to be safe.
"""


# %% name="detached_incoming"
class CarefulSquare(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.detach() * 2 * x


def two_derivatives(function):
    x = torch.tensor(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(function(x), x, create_graph=True)
    return first.item(), torch.autograd.grad(first, x)[0].item()


for words, function in (
    ("x**2, alone       ", CarefulSquare.apply),
    ("x**2, then squared", lambda x: CarefulSquare.apply(x) ** 2),
    ("x**4, by PyTorch  ", lambda x: x**4),
):
    print(words, *two_derivatives(function))
try:
    torch.autograd.gradgradcheck(CarefulSquare.apply, torch.tensor(3.0, requires_grad=True))
except RuntimeError as error:
    print("gradgradcheck:", type(error).__name__)

# %% [markdown]
r"""
Alone, both derivatives are right: what comes in is 1, a constant. Inside another operation, what comes in depends on $x$, and the part of the second derivative that runs through it is lost. `gradgradcheck` finds it even alone: it takes what comes in for a second input, and asks for the derivative along it too.

## From a message to its cause

| what you see | what it means | where |
|---|---|---|
| element 0 of tensors does not require grad | the first gradient has no graph: `create_graph` is missing, or the gradient is a constant | [section 1](#1.-A-backward-pass-is-a-computation), [section 5](#5.-Constants,-and-functions-without-curvature) |
| appears to not have been used in the graph | the gradient depends on other tensors only; or a fresh slice | [section 5](#5.-Constants,-and-functions-without-curvature), [section 3](#3.-Mixed-derivatives-by-columns) |
| Using backward() with create_graph=True will create a reference cycle | use `torch.autograd.grad` | [section 4](#4.-create_graph-is-not-retain_graph) |
| should contain a single element | a Hessian belongs to one number | [section 6](#6.-All-second-derivatives:-the-Hessian) |
| no message, and a mixed derivative is wrong | a column is missing, or rows were added | [section 3](#3.-Mixed-derivatives-by-columns), [section 6](#6.-All-second-derivatives:-the-Hessian) |
| no message, and all second derivatives are 0 | the function is made of straight pieces, or the graph was cut | [section 5](#5.-Constants,-and-functions-without-curvature) |
| no message, and a penalty or an inner step has no effect | the inner gradient is a constant | [section 8](#8.-Losses-with-a-gradient-inside) |
| no message, and forward and reverse mode disagree | `no_grad` in place of `detach` | [section 7](#7.-H-times-v,-without-H) |

## What you can do now

- You can say what `create_graph=True` records, follow the second graph out of the first, and say why `retain_graph=True` is something else.
- You can take mixed derivatives by columns, a Laplacian, a Hessian, and $Hv$ without a Hessian; and you know what each costs.
- You can write code for second derivatives that also works where the first one is a constant; and you know where there is no curvature to be found.
- You can read slope and curvature along a direction, and say what Newton's step promises and what it does not.
- You can put a gradient into a loss so that it really pulls on the weights.

The exercises are in `exercises/09_second_derivatives.ipynb`.

**The next question.** Much in this lesson was wrong without a message. My gradient is None, zero, NaN or wrong: how do I find out why? That is unit 10.
"""
