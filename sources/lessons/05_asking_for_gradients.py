# %% [markdown]
r"""
# 05 · Asking for gradients

**How do I get the derivative of this with respect to that?**

Units 01 to 04 were about how gradients are computed. This lesson is about how to ask for them. There are two ways to ask, and each of them
answers one exact question. Most trouble comes from a question that is a little different from the one a person has in mind. At the
end you can ask for the gradient of any result with respect to any tensor, for a whole Jacobian, and for the gradients of single samples.

You need unit 02 (incoming gradients, messages that add up), unit 03 (leaves, `detach`, `no_grad`) and `retain_graph` from unit 04. Allow
65 minutes; after section 3 is a good place for a pause. (When you come back, run the cells above with Run All Above Selected Cell.) Where the
lesson asks for a prediction, make one before you go on. The output that answers a question stays folded until you run its cell.

## A puzzle

A batch has three samples, with one number each. A person wants to know, for each sample: **how does its own output change with its own
input?** They know a trick from the web: take the gradient of `y.sum()`. Below, the trick is tried with two models, and the nudge of unit 01
checks it.
"""

# %% name="setup"
import torch

from course_utils import explore_batch, explore_jacobian, predict

torch.set_default_dtype(torch.float64)


# %% name="puzzle"
def model_a(x):
    return x**2


def model_b(x):
    return (x - x.mean()) / (x.var(unbiased=False) + 1e-5).sqrt()  # this is what batch norm does


def by_the_sum(model, x):
    x = x.clone().requires_grad_()
    model(x).sum().backward()
    return x.grad


def nudge_own(model, x, h=1e-5):
    """For each sample: nudge its input, and see what its own output does."""
    slopes = []
    for i in range(len(x)):
        step = torch.zeros_like(x)
        step[i] = h
        slopes.append((model(x + step)[i] - model(x - step)[i]) / (2 * h))
    return torch.stack(slopes)


def rounded(tensor):
    return (tensor.detach().round(decimals=3) + 0.0).tolist()  # + 0.0 makes 0 of -0


batch = torch.tensor([1.0, 2.0, 4.0])
for name, model in (("model a", model_a), ("model b", model_b)):
    print(f"{name}: by the sum {rounded(by_the_sum(model, batch))}   nudged {rounded(nudge_own(model, batch))}")

# %% [markdown]
r"""
With model a the trick works. With model b it says that no output moves at all. The nudge says that all of them do. PyTorch made no mistake:
it answered the question that it was asked. Which question was that? Section 6 gives the answer.

## 1. Two ways to ask

The first way you know: `L.backward()`. The second is `torch.autograd.grad`. Here $L = w\,x^2$.
"""


# %% name="two_ways"
def leaves():
    w = torch.tensor(3.0, requires_grad=True)
    x = torch.tensor(5.0, requires_grad=True)
    return w, x


w, x = leaves()
L = w * x**2
print("backward returns   ", L.backward())
print("afterwards w.grad, x.grad:", w.grad, x.grad)

w, x = leaves()
L = w * x**2
print("autograd.grad returns", torch.autograd.grad(outputs=L, inputs=[w, x]))
print("afterwards w.grad, x.grad:", w.grad, x.grad)

# %% [markdown]
r"""
| | `L.backward()` | `torch.autograd.grad(L, inputs)` |
|---|---|---|
| asks for the gradients of | every leaf behind `L` that requires one | the tensors that you name, leaves or not |
| where they go | into `.grad` of each leaf | to you, as a tuple |
| returns | `None` | one gradient for each input, in their order |

The second way leaves no trace in any `.grad`. It suits questions; the first suits training, where an optimizer looks into `.grad`.

Both names are plural, because both may be lists: `outputs` is **what** you differentiate, `inputs` is **with respect to what**. Here are two
calls that go wrong.
"""

# %% name="wrong_names"
w, x = leaves()
u = x**2
L = w * u

try:
    torch.autograd.grad(output=L, input=u)
except TypeError as error:
    print("singular names: TypeError:", error)

try:
    torch.autograd.grad(outputs=u, inputs=L)
except RuntimeError as error:
    print("exchanged:      RuntimeError:", str(error).split(". ")[0])

print("right:         ", torch.autograd.grad(outputs=L, inputs=u))

# %% [markdown]
r"""
The second message means: no path leads from `outputs` back to `inputs`. $u$ was not computed from $L$; it is the other way round. When you meet
this message, read your call aloud first: "the derivative of `outputs` with respect to `inputs`".

Now `.grad`. It belongs to **leaves**, and a name can stop pointing at the leaf without notice.
"""

# %% name="predict_moved"
moved = predict(
    "The default here is float64. `x = torch.tensor([1.0, 2.0], requires_grad=True).to(torch.float32)`, then "
    "`(10 * x**2).sum().backward()`. What is `x.grad`?",
    choices=["tensor([20., 40.])", "None", "tensor([10., 40.])"],
)
moved

# %% name="reveal_moved" tags=["reveal"]
import warnings

created = torch.tensor([1.0, 2.0], requires_grad=True)
x = created.to(torch.float32)
(10 * x**2).sum().backward()
print("Is x a leaf?", x.is_leaf)
with warnings.catch_warnings(record=True) as caught:  # PyTorch warns when .grad of a non-leaf is read
    warnings.simplefilter("always")
    gradient = x.grad
print("x.grad:      ", gradient)
print("created.grad:", created.grad)
print("PyTorch warns:", str(caught[0].message).split(". ")[0])
moved.reveal({choice: str(gradient) == choice for choice in moved.choices})

# %% [markdown]
r"""
`.to(...)` that really converts something is an operation like any other. Its result is a new tensor and no leaf. The gradient went through
it, to the leaf that was created before. In the usual one-line form nobody holds that leaf any more. (`.cuda()` is such an operation, too.) If nothing
is to be converted, `.to(...)` returns the very same tensor. So a script can work on one machine and fail on another:
"""

# %% name="moved_nowhere"
created = torch.tensor([1.0, 2.0], requires_grad=True)
print("nothing to convert, the same tensor:", created.to("cpu") is created)

x = torch.tensor([1.0, 2.0], dtype=torch.float32, requires_grad=True)  # created as it is to be
(10 * x**2).sum().backward()
print("created as float32, x.grad:         ", x.grad)

# %% [markdown]
r"""
**Create a leaf where, and as, it is to be.** Or call `requires_grad_()` after the move.

## 2. `.grad`, call after call
"""

# %% name="predict_three"
three = predict(
    "w = 5, and three times in a row: `(w**2).backward()`. What is `w.grad` after the second call, and after the third?",
    numbers=["second", "third"],
)
three

# %% name="reveal_three" tags=["reveal"]
w = torch.tensor(5.0, requires_grad=True)
seen = []
print("w.grad, call after call:")
for _ in range(3):
    (w**2).backward()
    seen.append(w.grad.item())
print(seen)
w.grad = None
(w**2).backward()
print("cleared, and once more:", w.grad.item())
three.reveal(*seen[1:])

# %% [markdown]
r"""
Messages that arrive at a leaf add up (unit 02), and `.grad` does not know where one backward pass ends and the next begins.

In training, every step computes a loss, calls `backward`, and changes `w` by a small multiple of `w.grad`. Somebody writes a loop that does these three
things, and nothing else.
"""

# %% name="predict_uncleared"
uncleared = predict(
    "The loop computes a loss, calls `backward`, changes `w`, and so on. Which gradient does its third step use?",
    choices=[
        "that of the third step: backward() replaces the old one",
        "the sum of the gradients of steps 1 to 3",
        "the mean of the gradients of steps 1 to 3",
    ],
)
uncleared

# %% name="reveal_uncleared" tags=["reveal"]
X = torch.tensor([[1.0, 0.5], [-2.0, 1.5], [0.3, -1.0], [2.0, 0.7]])
t = torch.tensor([1.0, -0.5, 2.0, 0.3])


def loss_of(w):
    return ((X @ w - t) ** 2).sum()


w = torch.tensor([0.4, -1.2], requires_grad=True)
own, used = [], []
for _ in range(3):
    loss = loss_of(w)
    own.append(torch.autograd.grad(loss, w, retain_graph=True)[0])  # asked for, and not added to w.grad
    loss.backward()
    used.append(w.grad.clone())
    with torch.no_grad():
        w -= 0.02 * w.grad
print("For each step, its own gradient and the one that was used:")
for mine, theirs in zip(own, used, strict=True):
    print(rounded(mine), rounded(theirs))
claims = [own[2], torch.stack(own).sum(0), torch.stack(own).mean(0)]
uncleared.reveal(dict(zip(uncleared.choices, [bool(torch.allclose(used[2], c)) for c in claims], strict=True)))

# %% [markdown]
r"""
So the usual loop, with an optimizer, has four lines, and now you can say of each what it does to `.grad`:

```
optimizer.zero_grad()      # empties w.grad
loss = loss_of(w)          # does nothing to it
loss.backward()            # adds this step's gradient
optimizer.step()           # reads it, and changes w in place
```

Clear once a step, and never between `backward` and `step`. Before `backward` is the safer place: then nothing that stood in `.grad` before the
loop can count. How does `zero_grad` empty `.grad`?
"""

# %% name="zero_grad"
w = torch.tensor([0.4, -1.2], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1, weight_decay=0.5)  # weight decay pulls every parameter towards 0
loss_of(w).backward()

optimizer.zero_grad()
print("after zero_grad():                  ", w.grad)
try:
    w.grad += 1.0
except TypeError as error:
    print("adding to it:                        TypeError:", error)
optimizer.step()
print("a step then leaves w at             ", rounded(w))

loss_of(w).backward()
optimizer.zero_grad(set_to_none=False)
optimizer.step()
print("with zeros in .grad, a step gives   ", rounded(w))

# %% [markdown]
r"""
Before PyTorch 2.0, `zero_grad()` wrote zeros unless it was told otherwise; now it puts `None` there. The two are different. `None` says: no gradient
has arrived, and this step left `w` as it was. Zeros say: a gradient has arrived, and it is 0. Then weight decay moved `w` all the same.

Last, the update itself. `w -= ...` and `w = w - ...` look alike.
"""


# %% name="updates"
def in_place(w):
    with torch.no_grad():
        w -= 0.1 * w.grad
    return w


def new_under_no_grad(w):
    with torch.no_grad():
        return w - 0.1 * w.grad


def new_and_recorded(w):
    return w - 0.1 * w.grad


def two_steps(update):
    w = torch.tensor(5.0, requires_grad=True)
    for _ in range(2):
        w.grad = None
        (w**2).backward()
        w = update(w)  # with the last two this says: w = w - ...
    return w


for update in (in_place, new_under_no_grad, new_and_recorded):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the last one reads .grad of a tensor that is no leaf
            print(f"{update.__name__:17}  w = {two_steps(update).item():.2f}")
    except (RuntimeError, TypeError) as error:
        print(f"{update.__name__:17}  {type(error).__name__}: {str(error)[:64]}")

# %% [markdown]
r"""
`w = w - ...` makes a **new** tensor. Under `no_grad` it requires no gradient, so the next `backward` stops with an error. Outside of `no_grad` it is
no leaf, so no gradient is kept in its `.grad`: `w.grad` is `None` in the second step. Either way the name `w` has lost the leaf that collects
gradients. **Change the leaf in place, under `no_grad`.** That is what an optimizer does.

## 3. When the output has many entries: weights

So far the output was a single number. How single must it be?
"""

# %% name="predict_shapes"
shapes = predict(
    "Four results have the shapes (), (1,), (1, 1) and (2,). For which of them does `backward()` work without an argument?",
    choices=["only ()", "() and (1,)", "(), (1,) and (1, 1)", "all four"],
)
shapes


# %% name="reveal_shapes" tags=["reveal"]
def works(shape):
    y = torch.ones(shape, requires_grad=True) * 3
    try:
        y.backward()
    except RuntimeError as error:
        print(f"{shape!s:7} RuntimeError: {error}")
        return False
    print(f"{shape!s:7} works")
    return True


print("backward() for results of these shapes:")
passed = [works(shape) for shape in ((), (1,), (1, 1), (2,))]
claims = [[True, False, False, False], [True, True, False, False], [True, True, True, False], [True] * 4]
shapes.reveal({choice: passed == claim for choice, claim in zip(shapes.choices, claims, strict=True)})

# %% [markdown]
r"""
What counts is the number of entries: exactly one. Then the incoming gradient is 1, because the result changes exactly as much as itself. For a
result $y$ with several entries you have to give the incoming gradients: one for each entry, in the shape of $y$. We call them **weights**, $g$ (not
those of a network: these weigh the entries of $y$). In `y.backward(g)` they have the name `gradient`, in `torch.autograd.grad(y, x, g)` the name
`grad_outputs`.

What you get is the gradient of the single number $L = \sum_i g_i\,y_i$. With ones, $L$ is the sum; with $1/N$ everywhere, the mean.
"""


# %% name="weighted"
def pair(x):
    return torch.stack([x[0] * x[1], x[0] ** 2])


x = torch.tensor([2.0, 5.0], requires_grad=True)
y = pair(x)
print("        with weights g   of one number")
for name, g, number in (
    ("g*y", torch.tensor([1.5, 4.0]), 1.5 * y[0] + 4.0 * y[1]),
    ("sum", torch.tensor([1.0, 1.0]), y.sum()),
    ("mean", torch.tensor([0.5, 0.5]), y.mean()),
):
    one = torch.autograd.grad(y, x, g, retain_graph=True)[0]
    other = torch.autograd.grad(number, x, retain_graph=True)[0]
    print(f"{name:7} {one.tolist()!s:16} {other.tolist()}")

# %% name="predict_weights"
weights = predict(
    "The same `y = (x[0] * x[1], x[0]**2)` at x = (2, 5), with the weights g = (3, -1). What comes back for x[0], and for x[1]?",
    numbers=["x[0]", "x[1]"],
)
weights

# %% name="reveal_weights" tags=["reveal"]
print("For three choices of g:")
for g in ([1.0, 0.0], [0.0, 1.0], [3.0, -1.0]):
    (gradient,) = torch.autograd.grad(y, x, torch.tensor(g), retain_graph=True)
    print(f"g = {g!s:12} gradient {gradient.tolist()}")
weights.reveal(*gradient.tolist())

# %% [markdown]
r"""
The weights do not scale the gradients of $x[0]$ and $x[1]$. They belong to the entries of $y$: how much of each entry goes into $L$. With $g = (1, 0)$
we get how $y_0$ changes with every input. With $g = (0, 1)$, the same for $y_1$. Put these rows under each other, and you have the **Jacobian** of the
function: a row for each output, a column for each input,

$$J_{ij} = \frac{\partial y_i}{\partial x_j}, \qquad \text{and the backward pass gives}\quad \sum_i g_i\,J_{ij} .$$

That is the vector $g$ times the matrix $J$, a **vector-Jacobian product**. The backward pass computes it without ever making $J$.

The weights have the **shape of the output**, and the result has the shape of the input. Here is an output of another shape, `torch.outer(v, v)`: a matrix of
all products.
"""

# %% name="outer"
v = torch.tensor([1.0, 3.0, 7.0], requires_grad=True)
y = torch.outer(v, v)
try:
    torch.autograd.grad(y, v, torch.ones_like(v), retain_graph=True)
except RuntimeError as error:
    print("in the shape of v: RuntimeError:", error)

g = torch.zeros_like(y)
g[0, 2] = 1.0
print("a single 1, in the shape of y:  ", torch.autograd.grad(y, v, g)[0].tolist(), " this is d y[0, 2] / d v")

# %% [markdown]
r"""
### Operate it

Below is a Jacobian as a map: the stronger the shade, the larger the number; green stands for above 0, violet for below. On the left is a weight for each
row. Under each entry stands what its row's weight makes of it, and below the map what PyTorch's backward pass gives for these weights. (Click a slider, and use
the arrow keys. Weights that have a name are in the list.) Say what you expect before you do it:

1. Choose "only y[1]". What does the backward pass give?
2. Find weights, with neither of the first two 0, for which `x[0]` gets the gradient 0.
3. Choose the function "x**2" and set the weights to 3, 0 and 0. Many people conclude from such an example that the argument of `backward` scales the
   gradients. What is special about this Jacobian?
4. Choose "softmax" and the weights "all 1: the sum". Why does nothing come back?
"""

# %% name="jacobian_explorer"
explore_jacobian(
    {
        "(x[0]*x[1], x[0]**2, x[1]*x[2])": lambda x: torch.stack([x[0] * x[1], x[0] ** 2, x[1] * x[2]]),
        "x**2": lambda x: x**2,
        "softmax": lambda x: torch.softmax(x, 0),
        "(x.sum(), x.prod())": lambda x: torch.stack([x.sum(), x.prod()]),
    },
    torch.tensor([2.0, 3.0, -1.0]),
    weights=[1.0, -2.0, 0.5],
)

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. The row of `y[1]`, as it stands in the map.
2. The first column is 3, 4, 0. So three times the first weight and four times the second must cancel: -2 and 1.5, and any third weight.
3. It is diagonal: each output depends on one input only. Then each weight meets one input, and looks like its factor.
4. The outputs of a softmax add up to 1, whatever $x$ is. So the gradient of their sum is 0, although single outputs do change. (Keep this for the puzzle.)

</details>

You can give it a function of your own: `explore_jacobian(my_function, my_tensor)`, with up to six inputs and six outputs.

## 4. The whole Jacobian

One backward pass gives one row. So a Jacobian with $m$ rows takes $m$ passes, with a single 1 that wanders through $g$. A much-copied
answer on the web does this, and stores what it gets in **columns**:
"""


# %% name="columns_or_rows"
def passes(f, x):
    """What comes back for a single 1 at each place of g."""
    y = f(x)
    return [torch.autograd.grad(y, x, g, retain_graph=True)[0] for g in torch.eye(len(y))]


x = torch.tensor([2.0, 5.0], requires_grad=True)
for name, f in (("x**2", lambda x: x**2), ("pair", pair)):
    found = passes(f, x)
    print(f"{name}: in columns {torch.stack(found, dim=1).tolist()}, in rows {torch.stack(found).tolist()}")

# %% [markdown]
r"""
The answer's own example was like `x**2`: with a diagonal matrix nobody can see the difference. What a single 1 at output $i$ gives is everything about
**one output**, so it is row $i$. (`retain_graph=True` is right here: one graph, several passes.)

Can a single call give all rows? A first attempt: a list of outputs, and the same input as often.
"""

# %% name="predict_list"
listed = predict(
    "`y = pair(x)` at x = (2, 5) has the Jacobian [[5, 2], [4, 0]]. What does `torch.autograd.grad([y[0], y[1]], [x, x])` return?",
    choices=["the two rows: (5, 2) and (4, 0)", "(9, 2), and (9, 2) again", "an error"],
)
listed

# %% name="reveal_list" tags=["reveal"]
y = pair(x)
print("Two outputs in a list:")
rows = torch.autograd.grad([y[0], y[1]], [x, x], retain_graph=True)
print([row.tolist() for row in rows])
J = passes(pair, x)
listed.reveal(
    {
        "the two rows: (5, 2) and (4, 0)": all(torch.equal(row, own) for row, own in zip(rows, J, strict=True)),
        "(9, 2), and (9, 2) again": all(torch.equal(row, sum(J)) for row in rows),
        "an error": rows is None,
    }
)

# %% [markdown]
r"""
A call is **one** backward pass, and in one pass everything that arrives at an input is added up. Several outputs are like one longer output.

What does work is a whole stack of weights. With `is_grads_batched=True`, `grad_outputs` gets one more dimension in front, and each `g` in it is answered
by itself. With the identity matrix as the stack, all rows come at once.
"""

# %% name="batched"
identity = torch.eye(len(y))
print("the rows:", torch.autograd.grad(y, x, identity, is_grads_batched=True, retain_graph=True)[0].tolist())

try:
    torch.autograd.grad(y, x, torch.ones_like(y), is_grads_batched=True)
except RuntimeError as error:
    print("RuntimeError:", str(error).split(". ")[0])

# %% [markdown]
r"""
The second call is a frequent mistake. The "batch" in this name is **a batch of weights**, and has nothing to do with a batch of data.

`torch.func.jacrev` takes a function and gives back a function, which computes the Jacobian.
"""

# %% name="jacrev"
print("jacrev:", torch.func.jacrev(pair)(torch.tensor([2.0, 5.0])).tolist())

# %% [markdown]
r"""
Now a case from real life. A network takes times $t$, of shape $(N, 1)$, and gives a position, of shape $(N, 2)$: two numbers for each time. Wanted are
the two velocities for each time.
"""


# %% name="position"
def position(t):
    return torch.cat([t**3, 5 * t], dim=1)


t = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
y = position(t)
(collapsed,) = torch.autograd.grad(y, t, torch.ones_like(y), retain_graph=True)
print("weights of ones, as one row:", collapsed.T.tolist())

velocity = torch.cat([torch.autograd.grad(y[:, k].sum(), t, retain_graph=True)[0] for k in range(2)], dim=1)
print("one output at a time:", velocity.tolist())

# %% [markdown]
r"""
The gradient has the shape of the input, $(N, 1)$. There is no room for two velocities in it, so they were added: $3t^2 + 5$. One pass for each of the two
outputs gives them apart. (In each pass the sum runs over the times. Why this is allowed here is the question of section 6.)

## 5. With respect to what?

Here $X$ has one sample in each row, and $z = x_0^2\,x_1$. Wanted is $\partial z/\partial x_0 = 2\,x_0\,x_1$ for each sample.
"""

# %% name="columns_of_X"
X = torch.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
z = X[:, 0] ** 2 * X[:, 1]
print("z:", z.tolist())

# %% name="predict_slice"
sliced = predict(
    "`z = X[:, 0]**2 * X[:, 1]`. What does `torch.autograd.grad(z.sum(), X[:, 0])` do?",
    choices=["it gives [4.0, 30.0]", "it gives zeros", "it raises an error"],
)
sliced

# %% name="reveal_slice" tags=["reveal"]
print("With respect to X[:, 0]:")
try:
    outcome = f"it gives {torch.autograd.grad(z.sum(), X[:, 0], retain_graph=True)[0].tolist()}"
except RuntimeError as error:
    outcome = "it raises an error"
    print("RuntimeError:", error)
sliced.reveal(outcome)

# %% [markdown]
r"""
`inputs` must be tensors **from which the output was really computed**. Each time that Python meets `X[:, 0]`, it makes a **new tensor**. The one in this
call was made after `z`, so `z` cannot have been computed from it. That it shows the same numbers, and even shares memory, does not help: autograd follows
operations, not memory. The message advises `allow_unused=True`:
"""

# %% name="slice_repaired"
print("X[:, 0] is X[:, 0]:  ", X[:, 0] is X[:, 0])
print("as the message says: ", torch.autograd.grad(z.sum(), X[:, 0], allow_unused=True, retain_graph=True))
print("column of a gradient:", torch.autograd.grad(z.sum(), X, retain_graph=True)[0][:, 0].tolist())

first, second = X[:, 0], X[:, 1]  # sliced before, and used
from_slices = first**2 * second
print("the same slice:      ", torch.autograd.grad(from_slices.sum(), first)[0].tolist())

# %% [markdown]
r"""
So there are two cures: **ask for the gradient of $X$ and take its column, or slice first, compute from the slice, and ask for that very
slice.** `allow_unused=True` cures nothing here. It only says `None` in place of the error.

It has its use where an input may really play no part:
"""

# %% name="unused"
a, b = torch.tensor([1.0, 4.0], requires_grad=True), torch.tensor(2.0, requires_grad=True)
s = (a**2).sum()  # b plays no part
try:
    torch.autograd.grad(s, [a, b], retain_graph=True)
except RuntimeError as error:
    print("without a word:   RuntimeError:", str(error).split(". ")[0])
print("allow_unused:    ", torch.autograd.grad(s, [a, b], allow_unused=True, retain_graph=True))
print("materialize_grads:", torch.autograd.grad(s, [a, b], materialize_grads=True))

# %% [markdown]
r"""
`None` says that no path was found. Zeros say the same as numbers. They are convenient, and hide a path that you have cut by mistake.

A tensor that does **not** require a gradient is another matter.
"""

# %% name="predict_flag"
flag = predict(
    "a does not require a gradient when `s = (a * a).sum() + b` is computed; b does. Then `a.requires_grad_()`. What does "
    "`torch.autograd.grad(s, a, allow_unused=True)` return?",
    choices=["(tensor([2., 8.]),)", "(None,)", "(tensor([0., 0.]),)"],
)
flag

# %% name="reveal_flag" tags=["reveal"]
a = torch.tensor([1.0, 4.0])
s = (a * a).sum() + b
print("Before the flag is set:")
try:
    torch.autograd.grad(s, a, allow_unused=True, retain_graph=True)
except RuntimeError as error:
    print("RuntimeError:", error)
a.requires_grad_()
found = torch.autograd.grad(s, a, allow_unused=True)
print("set afterwards:", found)

a = torch.tensor([1.0, 4.0]).requires_grad_()
s = (a * a).sum() + b
print("set before:    ", torch.autograd.grad(s, a))
flag.reveal({choice: choice == str(found) for choice in flag.choices})

# %% [markdown]
r"""
The graph was recorded when $s$ was computed. What was not recorded then cannot be asked for later.

| the message says | look at |
|---|---|
| `got an unexpected keyword argument 'output'` | [section 1](#1.-Two-ways-to-ask): the names are plural |
| `grad can be implicitly created only for scalar outputs` | [section 3](#3.-When-the-output-has-many-entries:-weights): give weights, or make one number |
| `Mismatch in shape: grad_output[0] ...` | [section 3](#3.-When-the-output-has-many-entries:-weights): the weights have the shape of the output |
| `If is_grads_batched=True, we interpret the first dimension ...` | [section 4](#4.-The-whole-Jacobian): a batch of weights |
| `appears to not have been used in the graph` | [section 1](#1.-Two-ways-to-ask): exchanged; [section 5](#5.-With-respect-to-what?): a fresh slice; an input that plays no part |
| `One of the differentiated Tensors does not require grad` | [section 5](#5.-With-respect-to-what?): set the flag before you compute |
| `element 0 of tensors does not require grad ...` | [section 2](#2.-.grad,-call-after-call): an update that replaced the leaf; else unit 03 |
| `unsupported operand ... 'NoneType'` | [section 2](#2.-.grad,-call-after-call): `.grad` is `None` when nothing has arrived; [section 1](#1.-Two-ways-to-ask): the name does not point at the leaf |

## 6. Samples that mix

Back to the puzzle. In the gradient of `y.sum()` the weights are ones, so **the rows of the Jacobian are added**. Its entry $j$ is
$\sum_i \partial y_i/\partial x_j$: how **all** outputs together change with sample $j$. The person wanted the diagonal, $\partial y_i/\partial x_i$.
"""

# %% name="both_jacobians"
for name, model in (("model a", model_a), ("model b", model_b)):
    J = torch.func.jacrev(model)(batch)
    print(name)
    for row in J:
        print("  ", rounded(row))
    print("   diagonal       ", rounded(J.diagonal()))
    print("   rows added up  ", rounded(J.sum(0)))

# %% [markdown]
r"""
In model a each output depends on its own sample alone. Everything beside the diagonal is 0, so the sum of a column **is** its diagonal entry. Model b
subtracts the mean of the batch and divides by its spread. Both depend on every sample, so every output does. The outputs of model b add up to 0: move one
sample, and what one output wins, the others lose. That is why each column adds up to 0.

**You can rely on the trick with the sum only if the samples do not mix.** Many layers treat each sample by itself. Batch normalisation in training does not.

A widely read text offers a repair: detach the mean.
"""

# %% name="predict_detached"
detached = predict(
    "Model b with the mean detached: `(x - x.mean().detach()) / (x.var(unbiased=False) + 1e-5).sqrt()`. Is its Jacobian diagonal?",
    choices=["yes: without the mean nothing connects the samples", "no: something still connects them"],
)
detached


# %% name="reveal_detached" tags=["reveal"]
def mean_detached(x):
    return (x - x.mean().detach()) / (x.var(unbiased=False) + 1e-5).sqrt()


def mean_and_variance_detached(x):
    return (x - x.mean().detach()) / (x.var(unbiased=False) + 1e-5).sqrt().detach()


print("How the first output changes with each of the three inputs:")
found = {}
for name, model in (
    ("nothing detached", model_b),
    ("mean detached", mean_detached),
    ("mean and variance", mean_and_variance_detached),
):
    found[name] = torch.func.jacrev(model)(batch)[0]
    print(f"{name:18} {rounded(found[name])}")
off_diagonal = found["mean detached"][1:].abs().max()
detached.reveal(dict(zip(detached.choices, [bool(off_diagonal < 1e-9), bool(off_diagonal >= 1e-9)], strict=True)))

# %% [markdown]
r"""
The spread is computed from the batch too. With both detached, nothing connects the samples in the backward pass, and the diagonal is $1$ over the spread.
But this is a third number: neither that of the whole batch norm nor that with the mean detached. **Detaching does not make the trick right. It changes the
question**: how does $y_0$ change with $x_0$, *if mean and spread stay as they are*? This may be what you want, or not. In `eval()` mode batch norm works
like that: with fixed numbers, which it has gathered in training.

### Operate it

The map below shows it for a batch of three samples with three columns each. In row $i$ stands the derivative of output $i$ with respect to each of the
inputs, **as autograd gives it**: a nudge would know nothing of `detach`. The thick frames are the samples' own derivatives. Under the map, they are compared
with what a backward pass from the sum gives.

1. With which of the five do the samples mix? Say it before you look.
2. Column 0 is the batch of the puzzle. Where do you find the numbers from above?
3. Layer norm also subtracts a mean and divides by a spread. Why do the samples not mix?
"""

# %% name="batch_explorer"
from torch.nn import functional

samples = torch.tensor([[1.0, 3.0, 0.5], [2.0, -1.0, 1.5], [4.0, 0.5, -2.0]])
trained = torch.nn.BatchNorm1d(3, affine=False)
for shift in (0.0, 1.0, 2.0):  # what it gathers in training: a mean and a variance for each column
    trained(1.5 * samples + shift)
trained.eval()


def spread(x):
    return (x.var(0, unbiased=False) + 1e-5).sqrt()


explore_batch(
    {
        "batch norm, training": lambda x: functional.batch_norm(x, None, None, training=True),
        "batch norm, eval": trained,
        "batch norm, mean detached": lambda x: (x - x.mean(0).detach()) / spread(x),
        "batch norm, mean and variance detached": lambda x: (x - x.mean(0).detach()) / spread(x).detach(),
        "layer norm": lambda x: functional.layer_norm(x, (3,)),
    },
    samples,
)

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. With batch norm in training, and with the mean detached. With the other three, everything beside the diagonal is 0. (At this batch. A single point is no
   proof for all others.)
2. In the first rows: with nothing detached, with the mean detached, and with both.
3. Its mean and its spread are those of **one sample**, over its columns. It mixes the columns of a sample. That is allowed: the trick adds over samples only.

</details>

It takes functions of your own: `explore_batch(my_function, my_batch)`, for a function that gives a result of the shape of the batch.

## 7. A gradient for each sample, three ways

In training, samples meet in another way: the loss of the batch adds up their losses, and so `w.grad` is a sum over samples. Some methods need the gradient
of the **parameters** for each sample: which sample pulls hardest? These are the rows of a Jacobian once more: that of all losses with respect to the
parameters.
"""


# %% name="three_ways"
def losses(W, v, X, t):
    hidden = torch.sin(X @ W)
    return ((hidden * v).sum(-1) - t) ** 2  # one loss for each sample


def by_loop(losses, W, v, X, t):
    each = losses(W, v, X, t)
    return torch.stack([torch.autograd.grad(loss, W, retain_graph=True)[0] for loss in each])


def by_batch_of_weights(losses, W, v, X, t):
    each = losses(W, v, X, t)
    return torch.autograd.grad(each, W, torch.eye(len(each)), is_grads_batched=True)[0]


def by_torch_func(losses, W, v, X, t):
    of_one_sample = torch.func.grad(losses)  # with respect to the first argument
    return torch.func.vmap(of_one_sample, in_dims=(None, None, 0, 0))(W, v, X, t)


def make(N, seed=0):
    random = torch.Generator().manual_seed(seed)
    W, v, X, t = (torch.randn(shape, generator=random) for shape in ((8, 5), (5,), (N, 8), (N,)))
    return W.requires_grad_(), v, X, t


W, v, X, t = make(4)
(summed,) = torch.autograd.grad(losses(W, v, X, t).sum(), W)
for way in (by_loop, by_batch_of_weights, by_torch_func):
    each = way(losses, W, v, X, t)
    print(
        f"{way.__name__:20} {tuple(each.shape)}   add up to the usual gradient: {torch.allclose(each.sum(0), summed)}"
    )

# %% [markdown]
r"""
- **The loop** makes one forward and $N$ backward passes.
- **A batch of weights** makes one backward pass in which every message carries $N$ gradients.
- **`torch.func`** turns it round: `grad` makes, of the loss of **one** sample, a function for its gradient. `vmap` runs this function for all samples at
  once. (`in_dims` says which arguments have a dimension of samples in front: `W` and `v` have none.)

All three give the same. What do they cost? Times differ from machine to machine, so we count: `count_work` says how many operations are carried out, and how
many numbers they compute, forward and backward.
"""

# %% name="predict_costs"
costs = predict(
    "With 128 samples in place of 64, one forward and backward for the sum computes about twice as many numbers. And the loop, for the "
    "gradients of each sample?",
    choices=["about as many as before", "about 2 times as many", "about 4 times as many"],
)
costs

# %% name="reveal_costs" tags=["reveal"]
from course_utils.graph import count_work


def by_the_sum_alone(losses, W, v, X, t):
    return torch.autograd.grad(losses(W, v, X, t).sum(), W)[0]


def work_of(way, N):
    with count_work() as work:
        way(losses, *make(N))
    return work


grows = {}
print("operations, and numbers, for 64 and for 128 samples:")
for way in (by_the_sum_alone, by_loop, by_batch_of_weights, by_torch_func):
    small, large = work_of(way, 64), work_of(way, 128)
    grows[way] = large.numbers / small.numbers
    print(f"{way.__name__:19} {small.operations:5,} {large.operations:5,} {small.numbers:11,} {large.numbers:11,}")
    print(f"   {grows[way]:.1f} times as many numbers")
times = {1: "about as many as before", 2: "about 2 times as many", 4: "about 4 times as many"}
costs.reveal(times[round(grows[by_loop])])

# %% [markdown]
r"""
The loop sends a backward pass through the **whole batch** for each sample, although nearly everything in it is 0. That is $N$ passes whose cost grows with
$N$. The batch of weights carries the same zeros about, in one pass and few operations: that saves Python's time, and only a part of the arithmetic. Here
`torch.func` alone begins with a single sample, so it carries no zeros about. Its cost grows like that of the sum.

## What you can do now

- You can ask for the gradient of any result with respect to any tensor that it was computed from, and say which of the two ways writes into `.grad`.
- You can read a training loop and say of each line what it does to `.grad`.
- You can choose weights: for a row, for a sum, for a mean. You can build a Jacobian row by row, at once, or by `jacrev`.
- You can say when the gradient of a sum is the derivative of each sample, and test it. You know what detaching changes: the question.
- You can get per-sample gradients in three ways, and say which of them pays.

The exercises are in `exercises/05_asking_for_gradients.ipynb`.

**The next question.** So far every operation had its backward from PyTorch. What if you have an operation of your own, and want to bring both halves yourself? That is unit 06.
"""
