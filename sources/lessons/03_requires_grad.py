# %% [markdown]
r"""
# 03 · Which graphs get built

**Who decides whether any of this is recorded?**

Unit 02 showed the graph that PyTorch records, and how gradients go back through it. It was there because we wrote `requires_grad=True`. This lesson
is about that decision: what is recorded, what is not, and where the recording stops although nobody wanted it to. Most gradients that are missing
in real programs are missing for one of the reasons below.

You need unit 02: node, leaf, message, and how `trace` draws a graph. Allow 70 minutes, with a pause after section 3. Where the
lesson asks for a prediction, make one before you go on. The output that answers a question stays folded until you run its cell.

Did an error message bring you here? [A table near the end](#From-a-message-to-its-cause) leads from each message to the place that explains it.

## A puzzle

A point on the unit circle has the coordinates $\cos$ and $\sin$ of its angle. The two programs below turn it towards a target, by four steps of
gradient descent. The first version of program two stopped with an error message about `requires_grad`. So its author added the line marked below,
and the error went away.
"""

# %% name="setup"
import warnings
from contextlib import nullcontext

import torch

from course_utils import predict, switches, trace


def attempt(do):
    """What `do()` gives, or the first words of the error that it raises."""
    try:
        return do()
    except (RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {str(error)[:76]}"


# %% name="puzzle"
target = torch.tensor([0.0, 1.0])


def loss_one(angle):
    point = torch.stack([angle.cos(), angle.sin()])
    return ((point - target) ** 2).sum()


def loss_two(angle):
    point = torch.tensor([angle.cos().item(), angle.sin().item()])
    loss = ((point - target) ** 2).sum()
    loss.requires_grad = True  # the line that was added
    return loss


def train(loss_of):
    angle = torch.tensor(0.3, requires_grad=True)
    optimizer = torch.optim.SGD([angle], lr=0.2)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = loss_of(angle)
        loss.backward()
        optimizer.step()
        losses.append(round(loss.item(), 4))
    return losses


print("program one:", train(loss_one))
print("program two:", train(loss_two))

# %% [markdown]
r"""
Both compute the same loss. Neither complains. In program two nothing is learnt. Why, and what has the added line done? Section 6 gives the answer.

## 1. Off, unless somebody asks for it

Every tensor has a flag, `requires_grad`. A layer brings its own tensors along: `torch.nn.Linear` computes `x @ weight.T + bias`.
"""

# %% name="layer"
layer = torch.nn.Linear(3, 2)
x = torch.ones(5, 3)
y = layer(x)

# %% name="predict_layer"
who = predict(
    "For which of the four tensors layer.weight, layer.bias, x and y is requires_grad True?",
    choices=["for none", "for weight and bias", "for weight, bias and y", "for all four"],
)
who

# %% name="reveal_layer" tags=["reveal"]
flags = {
    "weight": layer.weight.requires_grad,
    "bias": layer.bias.requires_grad,
    "x": x.requires_grad,
    "y": y.requires_grad,
}
print("The flag of each tensor:")
print(flags)
on = {name for name, flag in flags.items() if flag}
groups = [set(), {"weight", "bias"}, {"weight", "bias", "y"}, {"weight", "bias", "x", "y"}]
who.reveal(dict(zip(who.choices, [on == group for group in groups], strict=True)))

# %% [markdown]
r"""
`torch.ones`, `torch.tensor` and the others make tensors with the flag off. Data needs no gradient: nobody wants to change it. The layer has turned
the flag on for its weight and bias, because these are to be trained. (A tensor in a `torch.nn.Parameter` has the flag on by default.) And nobody
has set the flag of `y`. That is the rule of this unit, and its first half:

> **A result requires a gradient, and the operation is recorded, as soon as one of its inputs requires one.**

Why is recording not simply always on? Because a recorded operation keeps what its backward will need. Let us measure that. While a graph is built,
`saved_tensors_hooks` calls a function of ours for each tensor that is saved. The numbers of a tensor lie in its **storage**, a piece of memory. Two
tensors can have one storage in common, so each storage is counted once.
"""


# %% name="kept_bytes"
def kept_bytes(compute):
    """How many bytes the tensors have that are saved while `compute()` runs."""
    sizes = {}

    def note(tensor):
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = compute()  # as long as we hold the result, its graph stays, and what is saved in it
    assert isinstance(result, torch.Tensor)
    return sum(sizes.values())


data = torch.ones(100, 50)
weight = torch.full((50, 50), 0.01)


def layers(count):
    h = data
    for _ in range(count):
        h = torch.tanh(h @ weight)
    return h


# %% [markdown]
r"""
One `h` has 100·50 numbers of 4 bytes each: 20,000 bytes. In each round `h` gets a new tensor, and the name of the old one is gone. If `weight`
requires no gradient, the old tensor is freed at once, because nobody holds it any more.
"""

# %% name="predict_bytes"
growth = predict(
    "Now weight.requires_grad is True. How do the bytes that are kept grow from 8 layers to 16?",
    choices=["not at all: every h replaces the last", "they roughly double", "they roughly become four times as many"],
)
growth

# %% name="reveal_bytes" tags=["reveal"]
kept = {}
print("bytes that are kept, by number of layers and flag of the weight:")
print("layers    weight False    weight True")
for count in (1, 2, 4, 8, 16):
    for flag in (False, True):
        weight.requires_grad = flag
        kept[count, flag] = kept_bytes(lambda count=count: layers(count))
    print(f"{count:6} {kept[count, False]:15,} {kept[count, True]:14,}")
ratio = kept[16, True] / kept[8, True]
growth.reveal(dict(zip(growth.choices, [abs(ratio - times) < 0.3 for times in (1, 2, 4)], strict=True)))

# %% [markdown]
r"""
The graph keeps every `h`, though no variable holds it any more: `tanh` and `@` need it for their backward. Twice the layers, about twice the
memory. (`data` is kept as well, and from the second layer on `weight`: 10,000 bytes, once.) That is the price of recording, and the reason why it is off until somebody asks for it. It is also one reason why training needs more
memory than using a trained network.

## 2. Operate it

The second half of the rule is the **grad mode**. It is not a property of a tensor. It is a switch for whole pieces of a program, and it stands at
*enabled* unless you write something else:

- `with torch.no_grad():` nothing inside is recorded, whatever the inputs require;
- `with torch.inference_mode():` the same, and more, which section 4 takes up.

> **An operation is recorded if one of its inputs requires a gradient, and grad mode is enabled while it runs.**

(The exceptions are results that are whole numbers or truth values, and operations that cut on purpose, such as `detach()`, or that use only the
shape of their input. Sections 3 to 6 come to them.)

Below is $\mathit{loss} = (w\,x + b)^2$. With each click, PyTorch runs the three operations anew, and you see what it really recorded. Solid boxes
and lines are recorded. Dashed grey ones are not: there the values are computed, and no gradient can come back. Say what you expect before each
step:

1. As it stands, the multiplication has saved `x` alone. Why? Then turn on `x.requires_grad` as well. What is saved now?
2. Turn off everything but `b`. Which operations are still recorded?
3. Turn off `b`, too. What does the loss say of itself, in the line below the picture?
4. Turn on all three, and choose `no_grad`. What do the flags of the inputs say? Which operations are recorded?
"""


# %% name="switches"
def squared_line(x, w, b):
    p = w * x
    y = p + b
    loss = y**2
    return {"p": p, "y": y, "loss": loss}


x = torch.tensor(3.0)
w = torch.tensor(-2.0, requires_grad=True)
b = torch.tensor(1.5, requires_grad=True)
switches(squared_line, x=x, w=w, b=b)

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. It has saved `x`, because the gradient of `w` is the incoming gradient times `x`. The gradient of `x` would be the incoming gradient times `w`. Only when `x` requires one
   is `w` saved, too. Nothing is kept that is not needed.
2. The addition and the square. The multiplication is not: neither of its inputs requires a gradient. So a graph can begin in the middle of a computation.
3. Nothing is recorded. `loss.requires_grad` is False, and `loss` is a leaf. `loss.backward()` would raise an error.
4. The flags of the inputs are still True, and nothing is recorded. The mode does not change any flag of the inputs. It decides what happens while operations run.

</details>

## 3. Leaf or not

Unit 02 called a node a leaf if no operation made it. PyTorch's `tensor.is_leaf` says it more exactly: **a tensor is a leaf if no *recorded*
operation made it.** So a tensor that requires no gradient is a leaf, however it came about. After a backward pass, gradients are kept in the leaves
that require them. The other results pass them on, and keep none unless they are asked to.

Here are nine tensors. For each of them, write down on paper: is it a leaf? Does it require a gradient?
"""

# %% name="nine_tensors"
a = torch.tensor([1.5, -0.5])
b = torch.tensor([2.5, 1.0], requires_grad=True)
nine = {
    "a = torch.tensor([1.5, -0.5])": a,
    "b = torch.tensor(..., requires_grad=True)": b,
    "a * 3": a * 3,
    "b * 3": b * 3,
    "(b * 3).detach()": (b * 3).detach(),
    "b.to(torch.float64)": b.to(torch.float64),
    "torch.ones(2, requires_grad=True) * 0.1": torch.ones(2, requires_grad=True) * 0.1,
    "torch.nn.Parameter(b * 3)": torch.nn.Parameter(b * 3),
    "b > 2": b > 2,
}

# %% name="predict_leaves"
count_leaves = predict(
    "How many of the nine are leaves? How many of these leaves require a gradient, and how many do not?",
    numbers=["leaves", "require one", "require none"],
)
count_leaves

# %% name="reveal_leaves" tags=["reveal"]
print("Asked of the live tensors:")
print(f"{'':44}{'leaf':8}requires a gradient")
for name, tensor in nine.items():
    print(f"{name:44}{tensor.is_leaf!s:8}{tensor.requires_grad}")
leaves = [tensor for tensor in nine.values() if tensor.is_leaf]
require = sum(leaf.requires_grad for leaf in leaves)
count_leaves.reveal(len(leaves), require, len(leaves) - require)

# %% [markdown]
r"""
Some of them are worth a second look.

- `a * 3` and `b > 2` were computed, and are leaves: nothing was recorded. A comparison gives truth values, and these have no gradient.
- `torch.ones(2, requires_grad=True) * 0.1` looks like a weight with small start values, and is no leaf. The leaf is the tensor of ones, which nobody can reach any more.
- `torch.nn.Parameter(b * 3)` is a new leaf. It has the values of `b * 3`, and none of its history.
- `b.to(torch.float64)` really converts, so it is an operation: recorded, and no leaf. (If `b` had that dtype already, it would be `b` itself.)

`torch.ones(...) * 0.1` ends with an error as soon as it is given to an optimizer. The parameter does not.
"""


# %% name="weights_that_are_no_leaf"
small = torch.ones(2, requires_grad=True) * 0.1
print("wrong:", attempt(lambda: torch.optim.SGD([small], lr=0.1)))
small = (torch.ones(2) * 0.1).requires_grad_()
print("right:", small.is_leaf, small.requires_grad)

# %% name="parameter"
source = torch.tensor([1.0, 4.0], requires_grad=True)
h = source * 2
p = torch.nn.Parameter(h)
(p**2).sum().backward()
print("gradient of the parameter:", p.grad.tolist(), "  of source:", source.grad)
print("p has the storage of h:", p.data_ptr() == h.data_ptr())

print("Parameter(h.detach()):                 requires_grad", torch.nn.Parameter(h.detach()).requires_grad)
print("Parameter(h, requires_grad=False):     requires_grad", torch.nn.Parameter(h, requires_grad=False).requires_grad)

# %% [markdown]
r"""
`Parameter` always begins anew: the gradient stops there. And its flag is on unless you turn it off *in its own arguments*; that what it wraps had
been detached does not count. The numbers are not copied: to give a parameter numbers of its own, write `Parameter(h.detach().clone())`.

**Who may change the flag?** On a leaf of floating point or complex numbers you may: `t.requires_grad = True`, or
`t.requires_grad_()`. (Section 4 meets an exception.) On a result, you may not turn it
off: it follows from the inputs. Three attempts:
"""

# %% name="flag_errors"
result = b * 3
print("1", attempt(lambda: setattr(result, "requires_grad", False)))
print("2", attempt(lambda: torch.tensor([1, 2, 3], requires_grad=True)))
print("3", attempt(lambda: torch.ones(2, require_grad=True)))

# %% [markdown]
r"""
1. To go on without a gradient, use `result.detach()`.
2. Whole numbers cannot move by a small step, so there is no derivative. The same holds for truth values. With a point in the numbers, `[1.0, 2.0, 3.0]`, it works.
3. The name of the flag has an s in it: `requires_grad`. As an argument, the wrong name is noticed. As an attribute, it is not:
"""

# %% name="misspelt"
x = torch.ones(2)
x.require_grad = True
print("After x.require_grad = True, x.requires_grad is", x.requires_grad)
layer = torch.nn.Linear(3, 2)
layer.requires_grad = False
print("After layer.requires_grad = False, layer.weight.requires_grad is", layer.weight.requires_grad)

# %% [markdown]
r"""
Python lets you put a new attribute on a tensor, under any name. The same happens with `layer.requires_grad = False`: the layer gets a new
attribute, and the flags belong to its parameters. The method is safer: `x.require_grad_()` would raise an error, and `layer.requires_grad_(False)`
turns off the flag of every parameter in the layer.

**A good place for a pause.** If you come back to a fresh kernel, run the first two code cells: the imports and the puzzle. The rest of the lesson needs
nothing else from above.

## 4. Five ways to switch something off

People say "switch off the gradient" and mean different things. Here are five ways, on one small network: a layer `first`, dropout, a layer
`second`. Dropout sets some numbers to 0 at random, while a network is trained. The input `x` requires a gradient here, as if there were more layers
before it.

- `requires_grad_(False)` on `first`: the layer is *frozen*.
- `.detach()` between `first` and the rest.
- everything inside `torch.no_grad()`.
- everything inside `torch.inference_mode()`. What it makes are *inference tensors*, a special kind; below the table you see what is special.
- `.eval()` on the network.
"""


# %% name="five_ways"
def run_network(way):
    """One forward pass, and a backward pass if there is a graph; what could be seen of them."""
    torch.manual_seed(3)
    first, second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
    network = torch.nn.Sequential(first, torch.nn.Dropout(0.5), second)
    x = torch.linspace(-1, 1, 24).reshape(8, 3).requires_grad_()
    mode = nullcontext()
    if way == "requires_grad_(False)":
        first.requires_grad_(False)
    elif way == "no_grad()":
        mode = torch.no_grad()
    elif way == "inference_mode()":
        mode = torch.inference_mode()
    elif way == "eval()":
        network.eval()
    with mode:
        hidden = first(x)
        if way == "detach()":
            hidden = hidden.detach()
        result, again = second(network[1](hidden)), second(network[1](hidden))
    if result.requires_grad:
        result.sum().backward()
    return {
        "result": result.requires_grad,
        "second": second.weight.grad is not None,
        "first": first.weight.grad is not None,
        "x": x.grad is not None,
        "dropout": not torch.equal(result, again),
        "inference tensor": result.is_inference(),
    }


ways = ["requires_grad_(False)", "detach()", "no_grad()", "inference_mode()", "eval()"]

# %% name="predict_ways"
five = predict(
    "In how many of the five ways does second.weight get a gradient? In how many does x? In how many does first.weight?",
    numbers=["second.weight", "x", "first.weight"],
)
five

# %% name="reveal_ways" tags=["reveal"]
rows = {way: run_network(way) for way in ["(as it is)", *ways]}
print("the result requires a gradient; these get one; dropout is active; the result is an inference tensor:")
print(f"{'':23}result   second   first    x        dropout  inference tensor")
for way, row in rows.items():
    print(f"{way:22} " + "".join(f"{'yes' if seen else '-':9}" for seen in row.values()).rstrip())
five.reveal(*(sum(rows[way][name] for way in ways) for name in ("second", "x", "first")))

# %% [markdown]
r"""
No two rows are alike.

- **Freezing a layer** stops nothing but the gradients of its own parameters. The gradient still goes *through* it, to `x`.
- **detach** is a cut in the graph. What lies before it gets nothing along this path, whether it requires a gradient or not.
- **no_grad** records nothing. Dropout goes on as before.
- **inference_mode** records nothing, and gives tensors of a special kind.
- **eval** has nothing to do with recording. It tells layers like dropout and batch normalization to behave as in use. A full graph is built, and costs memory. To use a trained network, one
  usually wants both: `network.eval()`, and `no_grad` or `inference_mode` around the call. Afterwards, `network.train()` brings the layers back to training. If the network may have been in
  either state, keep `was_training = network.training` before, and call `network.train(was_training)` afterwards.

What is special about an inference tensor? It comes without some bookkeeping, and so autograd refuses to save it for a backward pass later. Take `z`
made in `inference_mode`, `n` made in `no_grad`, and a weight `w` that requires a gradient. All are used when the blocks have ended.
"""

# %% name="inference_tensors"
with torch.inference_mode():
    z = torch.ones(2) * 3
with torch.no_grad():
    n = torch.ones(2) * 3
w = torch.tensor([2.0, 5.0], requires_grad=True)

# %% name="predict_inference"
later = predict(
    "w * n is recorded as usual. What about w * z, and w + z?",
    choices=["both are recorded", "w * z raises an error, w + z is recorded", "both raise an error"],
)
later

# %% name="reveal_inference" tags=["reveal"]
print("After the blocks:")
for name, use in {
    "w * n": lambda: (w * n).requires_grad,
    "w * z": lambda: (w * z).requires_grad,
    "w + z": lambda: (w + z).requires_grad,
    "w * z.clone()": lambda: (w * z.clone()).requires_grad,
    "z.requires_grad_()": lambda: z.requires_grad_().requires_grad,
}.items():
    print(f"{name:20}", attempt(use))
product, total = (isinstance(attempt(use), torch.Tensor) for use in (lambda: w * z, lambda: w + z))
later.reveal(
    {
        "both are recorded": product and total,
        "w * z raises an error, w + z is recorded": total and not product,
        "both raise an error": not product and not total,
    }
)

# %% [markdown]
r"""
The multiplication has to save `z`, for the gradient of `w`. The addition saves nothing. So it depends on the operation whether you meet the error.
If a result may take part in training later, make it in `no_grad`. A `clone()` made outside the mode is an ordinary tensor.

One more thing about modes. They count while the operations of the **forward** pass run. The backward pass uses what was recorded then. (A mode can
also stand above a function, for all of its calls: `@torch.no_grad()`.)
"""

# %% name="when_the_mode_counts"
w = torch.tensor([2.0, 5.0], requires_grad=True)
recorded = (w * 3).sum()
with torch.no_grad():
    recorded.backward()  # works: the graph is there
    unrecorded = (w * 3).sum()
    leaf = torch.ones(2, requires_grad=True)  # a flag that you set is set
print("gradient of w:", w.grad.tolist())
print("after the block:", attempt(lambda: unrecorded.backward()))
print("a leaf that was made inside requires a gradient:", leaf.requires_grad)

# %% [markdown]
r"""
## 5. Shared memory, and when a cut takes effect

`detach()` gives a tensor without history. Does it give a *copy*? Here the sigmoid of three numbers is prepared for a plot: the smallest of them is
to be moved to 0.
"""

# %% name="predict_shared"
shared = predict(
    "out = a.sigmoid(), then shown = out.detach(), then shown -= shown.min(). What about out?",
    choices=["out is as before", "out has changed as well", "the last line raises an error"],
)
shared


# %% name="reveal_shared" tags=["reveal"]
def prepare(take):
    """What has become of `out`, and of the gradient of `a`, when `take(out)` was changed in place."""
    a = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    out = a.sigmoid()
    before = out.tolist()
    shown = take(out)
    shown -= shown.min()
    gradient = attempt(lambda: torch.autograd.grad(out.sum(), a)[0])
    if isinstance(gradient, torch.Tensor):
        gradient = [round(number, 4) for number in gradient.tolist()]
    return out.tolist() != before, str(gradient)[:62]


takes = {
    "out.detach()": lambda out: out.detach(),
    "out.data": lambda out: out.data,
    "out.detach().clone()": lambda out: out.detach().clone(),
}
print("When what was taken from out is changed in place:")
for name, take in takes.items():
    changed, gradient = prepare(take)
    print(f"{name:21} out has changed: {changed!s:6} gradient: {gradient}")
has_changed = prepare(takes["out.detach()"])[0]
shared.reveal(dict(zip(shared.choices, [not has_changed, has_changed, False], strict=True)))

# %% [markdown]
r"""
`detach()` gives another tensor **on the same storage**. So does `.data`. The difference shows at the backward of sigmoid, which uses the saved
`out`: after `detach()` autograd notices that these numbers have been changed, and refuses. After `.data` it notices nothing, and the gradient is
wrong without a word; the right one is in the last row. So prefer `detach()` to `.data`. And for a tensor with numbers of its own, write
`out.detach().clone()`.

And **when** does a cut take effect? `b.detach_()`, with an underscore, detaches the tensor `b` itself.
"""

# %% name="predict_late"
late = predict(
    "a = tensor([1., 2.]) requires a gradient. b = a * 3, c = 5 - b, and only then b.detach_(). Now c.sum().backward(). What is a.grad?",
    choices=["None", "[0.0, 0.0]", "[-3.0, -3.0]", "an error"],
)
late

# %% name="reveal_late" tags=["reveal"]
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 3
c = 5 - b
b.detach_()
print("b.requires_grad is now", b.requires_grad)
message = attempt(lambda: c.sum().backward())
seen = "an error" if message else "None" if a.grad is None else str(a.grad.tolist())
late.reveal(seen)

# %% [markdown]
r"""
`c` was recorded when `b` still had its history, and its node points to the node that made `b`. What is recorded stays recorded. Cut **before** the
use whose gradient you want to stop: `c = 5 - b.detach()`. (If an operation had saved `b` itself, backward would raise an error here.)

The underscore is a rule of PyTorch: a method whose name ends in `_` changes the tensor. Its twin without the underscore gives a new tensor, and leaves
the old one as it is. As a statement of its own, the twin has no effect.
"""

# %% name="without_effect"
h = a * 2
h.detach()  # no effect: the new tensor is thrown away
print("after h.detach():", h.requires_grad)

w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * torch.tensor([100.0, 0.5])).sum().backward()
w.grad.clamp(-1, 1)  # no effect, either
print("after w.grad.clamp(-1, 1): ", w.grad.tolist())
w.grad.clamp_(-1, 1)
print("after w.grad.clamp_(-1, 1):", w.grad.tolist())

# %% [markdown]
r"""
The first `clamp` stood in a published tutorial, which meant to limit the gradients. They were not limited.

## 6. Where the graph is cut and nobody asked for it

`detach` and `no_grad` cut on purpose. Other things cut as a side effect. Here `d` is a result that requires a gradient.
"""

# %% name="predict_cut"
cut = predict(
    "Four of these five cut the graph: their result requires no gradient. Which one does not?",
    choices=["d.data", "d.max()", "d.argmax()", "d.long()", "torch.tensor([d[0], d[1]])"],
)
cut


# %% name="reveal_cut" tags=["reveal"]
def look_at(make, d):
    """Whether the result requires a gradient and has the storage of `d`, and what PyTorch says."""
    torch.set_warn_always(True)  # a warning that is given once a session would depend on what ran before
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        made = attempt(make)
    torch.set_warn_always(False)
    if isinstance(made, str):
        return "-", "-", f"{made[:54]}..."
    says = f"warning: {str(given[0].message)[:45]}..." if given else ""
    if not isinstance(made, torch.Tensor):
        kind = type(made).__name__
        if kind != "ndarray":
            return "-", "-", f"no tensor: {kind}"
        made, says = torch.from_numpy(made), f"no tensor: {kind}"
    same = made.untyped_storage().data_ptr() == d.untyped_storage().data_ptr()
    return "yes" if made.requires_grad else "-", "yes" if same else "-", says


d = torch.tensor([2.5, 1.5, -0.5], requires_grad=True) * 2
makers = {
    "d[:2]": lambda: d[:2],
    "d.clone()": lambda: d.clone(),
    "d.double()": lambda: d.double(),
    "d.max()": lambda: d.max(),
    "torch.stack([d[0], d[1]])": lambda: torch.stack([d[0], d[1]]),
    "d.detach()": lambda: d.detach(),
    "d.data": lambda: d.data,
    "d.detach().clone()": lambda: d.detach().clone(),
    "torch.tensor([d[0], d[1]])": lambda: torch.tensor([d[0], d[1]]),
    "d[0].item()": lambda: d[0].item(),
    "d.tolist()": lambda: d.tolist(),
    "d.numpy()": lambda: d.numpy(),
    "d.detach().numpy()": lambda: d.detach().numpy(),
    "d.long()": lambda: d.long(),
    "d > 2": lambda: d > 2,
    "d.argmax()": lambda: d.argmax(),
}
seen = {name: look_at(make, d) for name, make in makers.items()}
print("requires a gradient; has the storage of d; what PyTorch says:")
print(f"{'':28}gradient  storage")
for name, row in seen.items():
    print(f"{name:28}{row[0]:10}{row[1]:9}{row[2]}".rstrip())
cut.reveal({name: seen[name][0] == "yes" for name in cut.choices})

# %% [markdown]
r"""
From `d.detach()` on, nothing requires a gradient, and few of these lines say so. There are three families:

- **The numbers leave PyTorch**: `.item()`, `.tolist()`, `.numpy()`, and `torch.tensor([...])`, which reads its elements as plain numbers and begins a new leaf. To put tensors together, use `torch.stack` or `torch.cat`: these
  are operations, and are recorded. `torch.stack([a, b])` of two numbers is a row; `torch.stack` of two rows is a matrix.
- **Somebody asks for the bare values**: `.detach()`, `.data`.
- **The result cannot move by a small step**: whole numbers and truth values: `.long()`, `d > 2`, `.argmax()`.

The column *storage* tells another story: `d.detach()`, `.data` and the NumPy array share the storage of `d`, and so does `d[:2]`, though it is recorded. Change one of them in place, and `d` changes.

Now the puzzle. Program one's loss has a graph with several nodes behind it.
"""

# %% name="predict_puzzle"
nodes = predict(
    "And the loss of program two, with its added line?",
    choices=["the same graph", "the same graph, without the angle", "a single node", "no graph: trace raises an error"],
)
nodes

# %% name="reveal_puzzle" tags=["reveal"]
angle = torch.tensor(0.3, requires_grad=True)
counted = {}
print("Nodes behind each loss:")
for name, loss_of in (("one", loss_one), ("two", loss_two)):
    loss = loss_of(angle)
    counted[name] = len(trace(loss)) if loss.requires_grad else None
    print(f"program {name}: {counted[name]}")
one, two = counted["one"], counted["two"]
nodes.reveal(dict(zip(nodes.choices, [two == one, two == one - 1, two == 1, two is None], strict=True)))

# %% name="puzzle_one" tags=["reveal"]
loss = loss_one(angle)
trace(loss)

# %% name="puzzle_two" tags=["reveal"]
loss = loss_two(angle)
trace(loss)

# %% [markdown]
r"""
In program two, the graph is cut by `.item()`. Without the added line, `backward()` says so: *element 0 of tensors does not require grad and does
not have a grad_fn*. The line does not mend the cut. It makes the loss a **leaf**: a graph with one node. The backward pass goes from the loss to
the loss, with gradient 1, and never sees the angle.

> If you feel like writing `loss.requires_grad = True`, the graph is cut somewhere above. Look for the cut.

**Finding it** is quick. Ask the results one after the other. The first one that says False, though one of its inputs says True, is the place.
"""


# %% name="find_the_cut"
def forecast(w, x):
    scores = x @ w
    best = scores.argmax().float()
    error = best - 2.0
    return {"scores": scores, "best": best, "error": error, "loss": error**2}


w = torch.tensor([0.5, -1.0], requires_grad=True)
x = torch.tensor([[1.0, 2.0], [3.0, 0.5], [0.2, 1.0]])
results = forecast(w, x)
print(attempt(lambda: results["loss"].backward()))
for name, value in results.items():
    print(f"{name:7} requires_grad {value.requires_grad}")

# %% [markdown]
r"""
Here it is `argmax`. There is nothing to repair in its recording: the position of the largest score is a whole number, and a small step of `w` does
not move it. A gradient would be 0 or nothing. What people do in its place is to compute a **mean position**: each position counts with a weight,
and the weights come from a softmax of the scores. The larger the score, the larger the weight. If one score is much larger than the others, the mean lies near its
position; if two are equally large, it lies between theirs. And it moves smoothly.
"""


# %% name="mean_position"
def mean_position(scores):
    weights = torch.softmax(scores, 0)  # positive numbers with the sum 1
    return (weights * torch.arange(len(scores))).sum()


scores = torch.tensor([0.2, 2.0, 0.4], requires_grad=True)
nudged = scores.detach() + torch.tensor([0.0, 0.0, 0.01])
print("argmax       ", scores.argmax().item(), "-> nudged:", nudged.argmax().item())
print("mean position", round(mean_position(scores).item(), 4), "-> nudged:", round(mean_position(nudged).item(), 4))
mean_position(scores).backward()
print("its gradient ", [round(number, 4) for number in scores.grad.tolist()])

# %% [markdown]
r"""
## From a message to its cause

| What you see | What it means | Where |
|---|---|---|
| element 0 of tensors does not require grad and does not have a grad_fn | nothing was recorded behind this result: look for the cut | [section 6](#6.-Where-the-graph-is-cut-and-nobody-asked-for-it) |
| Only Tensors of floating point and complex dtype can require gradients | whole numbers or truth values | [section 3](#3.-Leaf-or-not) |
| you can only change requires_grad flags of leaf variables | a result cannot be switched off: `detach()` it | [section 3](#3.-Leaf-or-not) |
| can't optimize a non-leaf Tensor | a weight was computed after its flag was set | [section 3](#3.-Leaf-or-not) |
| Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior | a number is read out of a tensor, and the graph ends there | [section 6](#6.-Where-the-graph-is-cut-and-nobody-asked-for-it) |
| Can't call numpy() on Tensor that requires grad | say that you mean it: `.detach().numpy()` | [section 6](#6.-Where-the-graph-is-cut-and-nobody-asked-for-it) |
| Inference tensors cannot be saved for backward | made in `inference_mode`, used in training: `no_grad`, or `clone()` | [section 4](#4.-Five-ways-to-switch-something-off) |
| nothing at all, and a loss that stands still | a silent cut, or a flag with another name | [section 3](#3.-Leaf-or-not) and [6](#6.-Where-the-graph-is-cut-and-nobody-asked-for-it) |

## What you can do now

- You can say of any result whether it requires a gradient, from the flags of its inputs and the grad mode, and of any tensor whether it is a leaf.
- You can measure what recording costs.
- You can tell freezing, `detach`, `no_grad`, `inference_mode` and `eval` apart, and choose the right one.
- You can find the place where a graph is cut, and say which tensors share their numbers.

In the exercises, `exercises/03_requires_grad.ipynb`, you mend programs in which gradients are missing, and write some in which they stop at the
right place.

**The next question.** A result that is recorded has a `grad_fn`. What exactly hangs on it, how long does it stay, and what happens if a saved
tensor is changed? That is unit 04.
"""
