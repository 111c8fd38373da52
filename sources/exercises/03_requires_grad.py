# %% [markdown]
r"""
# Exercises 03 · Which graphs get built

These exercises go with the lesson `notebooks/03_requires_grad.ipynb`. Read the lesson first.

The first four ask what is recorded. Then come three functions in which a gradient is lost, or something is spoilt, and three in which gradients
have to stop at the right place. No exercise needs the answer to another one.

A check runs your code on inputs that you have not seen. It never needs a particular way of writing. Hints wait inside its result; each
one opens the next. In this unit autograd works as usual in every check.
"""

# %% name="setup"
import torch

from course_utils import check, progress

torch.set_default_dtype(torch.float64)

# %% [markdown]
r"""
## 1. Predict: six flags

```
a = torch.tensor([1.0, 2.0])
b = torch.tensor([3.0, 4.0], requires_grad=True)
p = a * 2
q = p + b
with torch.no_grad():
    r = q * b
s = r + 1
t = r + b
u = q.argmax()
```

What is `requires_grad` of `p`, `q`, `r`, `s`, `t` and `u`? Put `True` or `False` in each place, without running the code.
"""

# %% name="predict_flags" tags=["answer"]
### BEGIN STUB
# flags = (..., ..., ..., ..., ..., ...)  # p, q, r, s, t, u
### END STUB
### BEGIN SOLUTION
flags = (False, True, False, False, True, False)
### END SOLUTION

# %% name="predict_flags.check" tags=["check"]
check("predict_flags", flags)

# %% [markdown]
r"""
## 2. Predict: leaf or not

```
a = torch.zeros(3)
b = torch.ones(3, requires_grad=True)
c = a + 1
d = b + 1
e = d.detach() * 5
f = torch.nn.Parameter(d)
g = b.to(torch.float32)
with torch.no_grad():
    h = b * 2
```

`b` is a leaf. What is `is_leaf` of `a`, `c`, `d`, `e`, `f`, `g` and `h`? (`b` has another dtype than float32.)
"""

# %% name="predict_leaves" tags=["answer"]
### BEGIN STUB
# leaves = (..., ..., ..., ..., ..., ..., ...)  # a, c, d, e, f, g, h
### END STUB
### BEGIN SOLUTION
leaves = (True, True, False, True, True, False, True)
### END SOLUTION

# %% name="predict_leaves.check" tags=["check"]
check("predict_leaves", leaves)

# %% [markdown]
r"""
## 3. Predict: what the graph keeps

`x` has the shape (100, 10) and `w` the shape (10,). Both are float32, so `x` takes 4,000 bytes and `w` takes 40.

```
p = x * w
q = p + x
r = q.exp()
L = r.sum()
```

How many bytes of saved tensors does the graph behind `L` keep,

1. if only `w` requires a gradient,
2. if only `x` requires a gradient,
3. if both do, and everything stands inside `with torch.no_grad():`?

Think of unit 01: which values does each of the four operations need for its backward? Recall that `exp` is its own derivative, so it saves its result.
Count each tensor once.
"""

# %% name="predict_bytes" tags=["answer"]
### BEGIN STUB
# kept = (..., ..., ...)  # only w, only x, both in no_grad
### END STUB
### BEGIN SOLUTION
kept = (8000, 4040, 0)
### END SOLUTION

# %% name="predict_bytes.check" tags=["check"]
check("predict_bytes", kept)

# %% [markdown]
r"""
## 4. Choose: what `eval()` does

A network with dropout is to be used on new data. Its author writes `network.eval()` and nothing else, then `y = network(x)`. What is the case?

- **a.** Dropout is off, and nothing is recorded: `eval()` includes `no_grad()`.
- **b.** Dropout is off, and a graph is recorded, as in training.
- **c.** Dropout is still on, and nothing is recorded.
- **d.** Dropout is off, and the parameters have `requires_grad` False until `network.train()`.

Answer with one letter in quotation marks.
"""

# %% name="choose_eval" tags=["answer"]
### BEGIN SOLUTION
choice = "b"
### END SOLUTION

# %% name="choose_eval.check" tags=["check"]
check("choose_eval", choice)

# %% [markdown]
r"""
## 5. Mend: a rotation that cannot be learnt

`turn` turns a point in the plane about the origin. Its values are right. But when the angle is to be trained, it never changes. Mend the function, so that
gradients reach both the angle and the point. (`point` has the shape (2,), `angle` the shape ().)
"""


# %% name="mend_rotation" tags=["answer"]
def turn(point, angle):
    c, s = torch.cos(angle), torch.sin(angle)
    ### BEGIN STUB
    # matrix = torch.tensor([[c, -s], [s, c]])
    ### END STUB
    ### BEGIN SOLUTION
    matrix = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
    ### END SOLUTION
    return matrix @ point


# %% name="mend_rotation.check" tags=["check"]
check("mend_rotation", turn)

# %% [markdown]
r"""
## 6. Mend: where is the object?

A network gives a score for each of several positions, and the position with the largest score is taken. The network in front of it learns nothing. Return the **mean
position** in its place: each position counts with a weight, and the weights are the softmax of `sharpness * scores`. (The larger the sharpness, the more the largest score
counts.) `scores` and `positions` are vectors of the same length, `sharpness` is a number. Gradients must reach the scores.
"""


# %% name="mend_position" tags=["answer"]
def position(scores, positions, sharpness):
    ### BEGIN STUB
    # return positions[scores.argmax()]
    ### END STUB
    ### BEGIN SOLUTION
    weights = torch.softmax(sharpness * scores, 0)
    return (weights * positions).sum()
    ### END SOLUTION


# %% name="mend_position.check" tags=["check"]
check("mend_position", position)

# %% [markdown]
r"""
## 7. Mend: a plot that spoils the training

`out` is a result in the middle of a network. `for_plot` prepares its numbers for a plot: the mean is moved to 0, and then the number of the largest size becomes 1 or -1. Since this
function is called between the forward pass and the backward pass, training stops with an error. Mend it. The values that are returned stay the same; they must not require a
gradient; and `out` must be as it was, with its history.
"""


# %% name="mend_plot" tags=["answer"]
def for_plot(out):
    ### BEGIN STUB
    # shown = out.detach()
    ### END STUB
    ### BEGIN SOLUTION
    shown = out.detach().clone()
    ### END SOLUTION
    shown -= shown.mean()
    shown /= shown.abs().max()
    return shown


# %% name="mend_plot.check" tags=["check"]
check("mend_plot", for_plot)

# %% [markdown]
r"""
## 8. Write: a target that stands still

In reinforcement learning, `now @ w` estimates how good a situation is. It should come near a target, which is computed with the same `w`: `reward + 0.9 * (later @ w)`. The
loss is the mean of the squared differences between the two. For the gradient, the target counts as given numbers: it pulls the estimate, and is not pulled itself.

Return the loss. `w` requires a gradient, and has the shape (n,). `now` and `later` have the shape (m, n), `reward` the shape (m,). Leave `w`, its `.grad` and the grad mode as they
are.
"""


# %% name="fixed_target" tags=["answer"]
def target_loss(w, now, later, reward):
    ### BEGIN SOLUTION
    target = reward + 0.9 * (later @ w.detach())
    return ((now @ w - target) ** 2).mean()
    ### END SOLUTION


# %% name="fixed_target.check" tags=["check"]
check("fixed_target", target_loss)

# %% [markdown]
r"""
## 9. Write: freeze the body, train the head

A network like this one has been trained before, and now gets a new task:

```
class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        self.head = torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x)))
```

Write `freeze(network)`. Afterwards no parameter of `network.body` requires a gradient, and every parameter of `network.head` still does. A gradient can still go
through the body to `x`, because there is another network before it. The network itself computes what it did. Nothing is returned.
"""


# %% name="freeze_body" tags=["answer"]
def freeze(network):
    ### BEGIN SOLUTION
    for parameter in network.body.parameters():
        parameter.requires_grad = False
    ### END SOLUTION


# %% name="freeze_body.check" tags=["check"]
check("freeze_body", freeze)

# %% [markdown]
r"""
## 10. Write: use a network for something else

Between two training steps, the results of `network` on `x` are needed as an input for another network, which is being trained. Write `use(network, x)`, which returns
`network(x)`, and

- the layers of `network` behave as in use, not as in training;
- nothing is recorded while it runs, and the result requires no gradient;
- the result is an ordinary tensor, with which a later training can do anything;
- afterwards `network` is in the mode in which it was before, be it training or not (`network.training` says which), and so is the grad mode.
"""


# %% name="use_network" tags=["answer"]
def use(network, x):
    ### BEGIN SOLUTION
    was_training = network.training
    network.eval()
    with torch.no_grad():
        result = network(x)
    network.train(was_training)
    return result
    ### END SOLUTION


# %% name="use_network.check" tags=["check"]
check("use_network", use)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
