# %% [markdown]
r"""
# 04 · The recorded graph

**What exactly hangs on `tensor.grad_fn`?**

Unit 02 showed how a gradient finds its way, and unit 03 what is recorded. Now we open PyTorch's own record: which nodes are there, what each
of them keeps, when it lets go of it, and what happens if somebody changes a value in the meantime. At the end you can walk this graph,
watch what passes through it, and say of several well-known error messages which line of a program they are really about.

You need units 01 to 03: incoming gradient, message, node, leaf, `detach()` and `torch.no_grad()`. Allow 70 minutes for sections 1 to 7, with a pause after
section 5, and a quarter of an hour for section 8, which can wait. Where the lesson asks for a prediction, make one before you go on. The output that
answers a question stays folded until you run its cell.

Did an error message bring you here? [A table near the end](#From-a-message-to-its-cause) leads from each message to the place that explains it.

## A puzzle

A backward pass, and then the same one once more. With one operation that works. With another one it does not.
"""

# %% name="setup"
import torch

from course_utils import predict, record, step, trace


def says(error):
    """What an error message says first; the rest of it is long."""
    return str(error).split(". ")[0].split(" (")[0]


def saved(tensor):
    """The names of what the node of this tensor has saved; section 2 explains them."""
    node = trace(tensor).nodes[0]  # the first one is the tensor's own
    return [kept.name for kept in node.saved if kept.state == "saved"]


# %% name="puzzle"
def twice(operation):
    x = torch.tensor(3.0, requires_grad=True)
    y = operation(x)
    y.backward()
    try:
        y.backward()
    except RuntimeError as error:
        return says(error)
    return f"works, and x.grad is now {x.grad.item()}"


print("x + 1: ", twice(lambda x: x + 1))
print("x ** 2:", twice(lambda x: x**2))

# %% [markdown]
r"""
You can read that "`backward` clears the graph: afterwards `grad_fn` is gone". Then the second pass over `x + 1` would have nowhere to go.
You can also read: "write `retain_graph=True`, as the message says". Then the message goes away, and sometimes the right gradient goes with
it; section 5 shows how. What does `backward` really take away?

## 1. From node to node

`grad_fn` is the node of the operation that made a tensor. Its `next_functions` are the nodes that it will send messages to.
"""

# %% name="first_nodes"
x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)
p = x * y
q = p + 1
L = q**2

print("the node of L:   ", L.grad_fn.name())
print("it sends to:     ", L.grad_fn.next_functions[0][0].name())
print("the node of q is the same:", L.grad_fn.next_functions[0][0] is q.grad_fn)
print("and that sends to:")
for node, number in q.grad_fn.next_functions:  # q = p + 1
    print("  ", node if node is None else node.name(), number)

# %% [markdown]
r"""
A node carries the name of its backward: `PowBackward0`. (Our pictures write `Pow`.) The entries of `next_functions` are pairs of a node and a number. The number
says which result of that operation the gradient belongs to: 0 where there is only one.

The addition has two inputs, so there are two pairs. `None` means: this input, the number 1, needs no gradient, and nothing is sent there. Whoever walks the graph
has to skip it.

And where does the graph end? No operation made `x`, so it has no `grad_fn`.
"""

# %% name="leaf_nodes"
print("x.grad_fn:", x.grad_fn)
for node, _ in p.grad_fn.next_functions:  # p = x * y
    print(node.name(), "  for x:", node.variable is x, "  for y:", node.variable is y)

# %% [markdown]
r"""
At the end stands an `AccumulateGrad`, one for each leaf. It adds what arrives to the `.grad` of its `variable`, the leaf itself.

That is all one needs to walk the graph. As in unit 02, a loop does it, and each node comes once.
"""


# %% name="walk"
def walk(tensor):
    """Every node behind a tensor, each of them once."""
    found = [tensor.grad_fn]
    for node in found:  # the list grows while we go through it
        for following, _ in node.next_functions:
            if following is not None and following not in found:
                found.append(following)
    return found


for node in walk(L):
    print(node.name())

# %% [markdown]
r"""
## 2. What a node saves

To send its messages, the node of `x * y` has to multiply by `y` and by `x`. So it keeps both: it **saves** them. Each kind of node has its
own attributes for that, and their names begin with `_saved_`. Our function `saved` lists them.
"""


# %% name="saved"
print("p = x * y:", saved(p), "  self is", p.grad_fn._saved_self.item(), "and other is", p.grad_fn._saved_other.item())
print("q = p + 1:", saved(q))
print("L = q**2: ", saved(L), "  self is", L.grad_fn._saved_self.item())

# %% [markdown]
r"""
For `x * y`, `self` is x, and `other` is y. An addition passes on what it gets. It needs no values, and saves none.

Now back to the puzzle, with a third operation.
"""

# %% name="predict_triple"
triple = predict(
    "y = 3 * x. The derivative is 3, whatever x is. Can y.backward() be called twice?",
    choices=["yes, as with x + 1", "no, as with x ** 2"],
)
triple

# %% name="reveal_triple" tags=["reveal"]
operations = {
    "x + 1": lambda x: x + 1,
    "-x": lambda x: -x,
    "x.sum()": torch.sum,
    "x ** 2": lambda x: x**2,
    "x.sin()": torch.sin,
    "x.exp()": torch.exp,
    "x.relu()": torch.relu,
    "3 * x": lambda x: 3 * x,
}
print("operation   saves      backward twice")
for name, operation in operations.items():
    outcome = "works" if twice(operation).startswith("works") else "fails"
    print(f"{name:11} {', '.join(saved(operation(x))):10} {outcome}")
triple.reveal(dict(zip(triple.choices, [outcome == "works", outcome == "fails"], strict=True)))

# %% [markdown]
r"""
The node of `3 * x` saves the factor 3, as a tensor. (PyTorch computes it as `x * 3`, so the 3 is `other`.) It does not save `x`: the 3 needs no
gradient.

Look at `exp`, too. Its derivative at $x$ is $e^x$, and that number has just been computed: it is the **result**. So some operations save inputs, some
their result, some nothing. Section 6 comes back to this.

And the table answers the puzzle: in each row the second pass fails if something was saved, and works if nothing was.

## 3. Freed, not cleared
"""

# %% name="predict_after"
after = predict(
    "L = (x*y + 1)**2 as above, and now L.backward() is called. What has become of L.grad_fn?",
    choices=[
        "it is None",
        "it is there, and next_functions is empty",
        "it is there, and leads to the same nodes as before",
    ],
)
after

# %% name="reveal_after" tags=["reveal"]
p = x * y
q = p + 1
L = q**2
before = walk(L)
L.backward()
print("After L.backward():")
print("L.grad_fn:", L.grad_fn.name(), "  nodes behind L:", len(walk(L)))
try:
    p.grad_fn._saved_self
except RuntimeError as error:
    print("p.grad_fn._saved_self:", says(error))
seen = [L.grad_fn is None, len(walk(L)) == 1, walk(L) == before]
after.reveal(dict(zip(after.choices, seen, strict=True)))

# %% [markdown]
r"""
Nodes and arrows are all there. They live as long as somebody holds `L`, or anything that was made from it. What `backward` takes away are
the **saved tensors**: they cost memory (unit 03 measured it), and usually nobody needs them again.

So the exact rule is: **`backward` frees what the nodes have saved. A later pass fails at the first node that needs something it no longer
has.** `retain_graph=True` means: free nothing in this pass.

## 4. Operate it

The backward pass of a larger graph, recorded while it ran: $L = (x\,y)^2 + 4\,y$. Use the buttons or the arrow keys. Say what you
expect before you go through it:

1. Which nodes have saved something? Which one has not, and so has nothing that could be freed?
2. When are the saved tensors of `r` freed: before `r` passes on, after it, or at the end of the whole pass?
3. `r` and `s` get their messages at the same time. Which of them has its turn first?
"""

# %% name="stepper"
x = torch.tensor(3.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)
p = x * y
r = p**2
s = 4 * y
L = r + s
step(record(L))

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. Three nodes have: that of `r` keeps `p`, that of `s` keeps the 4, that of `p` keeps `x` and `y`. The addition, which made `L`, keeps nothing. The
   sentence "... frees what it saved" never comes for it.
2. Right after it has passed on. Each node frees for itself, while others still wait for their turn.
3. `s`. Among the nodes that are ready, PyTorch takes the operation that was carried out last, as long as all of them are on the CPU. (A leaf
   that has received everything has its turn at once.)

</details>

Now the same graph a second time. Predict the node at which the pass ends, then step. When `record` fails, the error carries the
part that did happen.
"""

# %% name="second_pass"
try:
    record(L)
except RuntimeError as error:
    failed = error.recording
step(failed)

# %% [markdown]
r"""
<details><summary>What you could see</summary>

The addition has its turn, and sends its two messages: it needs nothing. The pass ends at the node of `s`, whose 4 is gone.

</details>

## 5. Backward a second time: three causes

The message proposes `retain_graph=True`. It is the right repair for one cause of three. To find the cause, ask:
**which line made the nodes that this pass goes through for the second time? And did I mean to go through them again?**

### A part stands before the loop

In a notebook: you run the cell with `loss.backward()` again, and not the cell that computes the loss. In a program: a line is carried out once, although its
input changes.
"""

# %% name="before_the_loop"
log_scale = torch.tensor(0.5, requires_grad=True)
optimizer = torch.optim.SGD([log_scale], lr=0.01)
scale = log_scale.exp()  # before the loop


def iteration(retain_graph=False):
    """One round of the loop."""
    loss = (2 * scale - 5) ** 2
    optimizer.zero_grad()
    loss.backward(retain_graph=retain_graph)
    optimizer.step()
    return round(loss.item(), 3)


print("loss:", iteration())
try:
    iteration()
except RuntimeError as error:
    print(says(error))

# %% name="predict_stale"
stale = predict(
    "scale is computed once more. Then iteration(retain_graph=True) is called five times, and no error comes. "
    "What do the five losses do?",
    choices=["they go down, as they should", "they stay the same", "they go up"],
)
stale

# %% name="reveal_stale" tags=["reveal"]
scale = log_scale.exp()
print("The losses, and log_scale at the end; best would be", round(torch.tensor(2.5).log().item(), 3))
losses = [iteration(retain_graph=True) for _ in range(5)]
print("retain_graph=True:    ", losses, round(log_scale.item(), 3))
repaired = []
for _ in range(5):
    scale = log_scale.exp()  # inside the loop
    repaired.append(iteration())
print("scale inside the loop:", repaired, round(log_scale.item(), 3))
first, last = losses[0], losses[-1]
stale.reveal(dict(zip(stale.choices, [last < first, last == first, last > first], strict=True)))

# %% [markdown]
r"""
`scale` is a number that was computed once. The optimizer changes `log_scale`, and `scale` does not know of it. So every iteration computes
the same loss and the same gradient, while `log_scale` runs past its best value. The error had been a warning. **The repair is to compute again what
depends on something that changes**: move the line into the loop.

### History carried along

A value from the last iteration is used in the next one, as the hidden state `h` of a recurrent network is:
"""

# %% name="history"
w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)
h = torch.tanh(w * h)
loss = h**2
loss.backward()  # end of the first iteration
h = torch.tanh(w * h)
loss = h**2
trace(loss)

# %% [markdown]
r"""
The new loss hangs on the new nodes, and through the old `h` on those of the first iteration. Their saved tensors are crossed out. A backward
pass from here fails there. Two repairs are in use: `retain_graph=True`, or `h = h.detach()` at the end of an iteration, so that the next one starts
from the value alone.
"""


# %% name="carried_along"
def unroll(retain_graph=False, cut=False):
    """The gradient of w in each of four iterations, and the number of nodes behind each loss."""
    w = torch.tensor(0.5, requires_grad=True)
    h = torch.tensor(1.0)
    grads, nodes = [], []
    for _ in range(4):
        w.grad = None
        h = torch.tanh(w * h)
        loss = h**2
        loss.backward(retain_graph=retain_graph)
        grads.append(round(w.grad.item(), 4))
        nodes.append(len(walk(loss)))
        if cut:
            h = h.detach()
    return grads, nodes


# %% name="predict_repairs"
repairs = predict(
    "With either repair the error is gone. Compare the gradients of w in the four iterations.",
    choices=["all four are the same", "only the first one is the same", "all four differ"],
)
repairs

# %% name="reveal_repairs" tags=["reveal"]
retained, nodes_retained = unroll(retain_graph=True)
cut, nodes_cut = unroll(cut=True)
print("Gradients of w, and nodes behind each loss:")
print("retain_graph=True:", retained, nodes_retained)
print("h = h.detach():   ", cut, nodes_cut)
same = [one == other for one, other in zip(retained, cut, strict=True)]
seen = [all(same), same == [True, False, False, False], not any(same)]
repairs.reveal(dict(zip(repairs.choices, seen, strict=True)))

# %% [markdown]
r"""
They answer two different questions. With `detach()`, `w.grad` says how this loss changes if `w` changes in **this** iteration, with the old
`h` as a given number. With `retain_graph=True` it counts the effect of `w` in all earlier iterations too, and the graph grows from pass to pass. If that is what
you want, add the losses up and call `backward` **once** at the end.

### Two losses over one graph
"""


# %% name="two_losses"
def two_losses():
    w = torch.tensor(0.5, requires_grad=True)
    shared = w.sin().exp()
    return w, (shared - 1) ** 2, 4 * shared


w, first, second = two_losses()
first.backward()
try:
    second.backward()
except RuntimeError as error:
    print(says(error))

w, first, second = two_losses()
(first + second).backward()
print("the sum:      w.grad", round(w.grad.item(), 4))

w, first, second = two_losses()
first.backward(retain_graph=True)
second.backward()
print("retain_graph: w.grad", round(w.grad.item(), 4))

# %% [markdown]
r"""
The usual repair is to add the losses up, and to go backward once. But here `retain_graph=True` is right as well: you mean to go through the shared
part twice, and nothing has changed in between. The **last** pass goes without it, so that it frees.

### History without an error

The opposite also happens: a graph grows, and no error ever comes. This loop adds all losses up, to print their mean.
"""

# %% name="running_total"
w = torch.tensor(1.0, requires_grad=True)
total = 0.0
for i in range(1, 51):
    loss = (w * i) ** 2
    loss.backward()
    total = total + loss
    if i in (1, 2, 50):
        print(f"after {i:2} iterations: {len(walk(total)):3} nodes behind total")

# %% [markdown]
r"""
`backward` has freed what the nodes saved; the nodes themselves stay, because `total` leads to them. Where no `backward` is called, as in
validation, the saved tensors stay as well. For a running sum use `loss.item()`, or `loss.detach()`.

**A good place for a pause.** If you come back to a fresh kernel, run the first code cell, the one with the imports. The rest of the lesson needs
nothing else from above.

## 6. Changes in place are counted

A change **in place** writes into the memory of a tensor that is there: `t += 1`, `t.mul_(2)` (a final underscore says so), `t[0] = 5`, `optimizer.step()`.
A node saves a tensor, not a copy of it. So what if somebody writes into a saved tensor before the backward pass? PyTorch does not
prevent it. It **counts**. Each tensor has a **version**: 0 when it is new, and raised by changes in place. By all of them?
"""

# %% name="predict_version"
version = predict(
    "t = torch.zeros(3). Then t += 1; t[1:].zero_(); t.mul_(2) in no_grad(); t.detach().add_(1); t.data.add_(1); "
    "t.numpy()[0] = 7. What is t._version then?",
    numbers=["t._version"],
)
version

# %% name="reveal_version" tags=["reveal"]
print("t._version after each line:")
t = torch.zeros(3)
print("t = torch.zeros(3)    ", t._version)
t += 1
print("t += 1                ", t._version)
t[1:].zero_()
print("t[1:].zero_()         ", t._version)
with torch.no_grad():
    t.mul_(2)
print("t.mul_(2) in no_grad()", t._version)
t.detach().add_(1)
print("t.detach().add_(1)    ", t._version)
t.data.add_(1)
print("t.data.add_(1)        ", t._version)
t.numpy()[0] = 7
print("t.numpy()[0] = 7      ", t._version)
version.reveal(t._version)

# %% [markdown]
r"""
A **view** is a tensor that shares the memory of another one, or a part of it, such as `t[1:]`. A view shares the counter as well, and so does `detach()`. `no_grad()` does not stop
the counting. `.data` and `.numpy()` share the memory and **not** the counter: changes through them go unseen. (`t = t * 2` is no change in place: it makes a new tensor, with version 0.)

When a node saves a tensor, it notes the version. When it wants to use it, it compares.
"""

# %% name="changed"
x = torch.tensor([1.0, 2.0], requires_grad=True)
a = 2 * x
y = a.sin()  # needs a for its backward
a.mul_(3)
a.add_(1)
try:
    y.sum().backward()
except RuntimeError as error:
    print(str(error).split(" Hint")[0])

# %% name="trace_changed"
trace(y)

# %% [markdown]
r"""
Read this message word by word. *Which tensor?* A float tensor with 2 entries, and "output 0 of Add": that is its node **now**. So
the last change that was recorded is an addition. *How often?* It is at version 2, and 0 was expected: two changes after it had been saved. Look for
lines that change such a tensor in place, **below** the line that used it.

The repair: work on another tensor (`b = a + 1`, or `a = a.clone()` before the change), or make the change before the value is used.

### Which changes are harmless

Some web pages advise to avoid changes in place altogether, or to call `detach()` first. Is every change in place an error?
"""


# %% name="changed_result"
def changed_result(operation):
    """What comes of changing the result of an operation in place before the backward pass."""
    x = torch.tensor([3.0], requires_grad=True)
    y = operation(x)
    y.add_(1)
    try:
        y.sum().backward()
    except RuntimeError:
        return "the error comes"
    return f"x.grad is {x.grad.item():.4g}"


# %% name="predict_harmless"
harmless = predict(
    "What does changed_result(lambda x: x * 2) return?",
    choices=["the error comes", "x.grad is 1", "x.grad is 2", "x.grad is 3"],
)
harmless

# %% name="reveal_harmless" tags=["reveal"]
x = torch.tensor([3.0], requires_grad=True)
more = {
    "x * 2": lambda x: x * 2,
    "x ** 2": lambda x: x**2,
    "x.exp()": torch.exp,
    "x.sigmoid()": torch.sigmoid,
}
print("operation     saves     y.add_(1), then backward")
for name, operation in more.items():
    print(f"{name:13} {', '.join(saved(operation(x))):9} {changed_result(operation)}")
outcome = changed_result(more["x * 2"])
harmless.reveal({choice: choice == outcome for choice in harmless.choices})

# %% [markdown]
r"""
**A change in place is harmless as long as no node needs the tensor as it was.** `x * 2` has saved the 2, and nobody has saved `y`. `exp` and
`sigmoid` save their result, so their result is what must not be overwritten.

And the advice? The second entry of a sigmoid is to be overwritten with the number 2. Three ways:
"""


# %% name="three_ways"
def detached(y):
    y = y.detach()
    y[1] = 2.0
    return y


def unseen(y):
    y.data[1] = 2.0
    return y


def cloned(y):
    y = y.clone()
    y[1] = 2.0
    return y


for change in (detached, unseen, cloned):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    try:
        change(torch.sigmoid(x)).sum().backward()
        print(f"{change.__name__:9}", x.grad)
    except RuntimeError as error:
        print(f"{change.__name__:9}", says(error))

# %% [markdown]
r"""
`x[1]` has no influence any more, so its gradient is 0. Only the last line says so. `detach()` has cut the graph. `.data` has gone past the counter:
nobody is warned, and the backward of the sigmoid computes with the 2 that was not
its result. An error would be better. The repair is `clone()`: the change goes into a tensor that no node has saved.

### A step between forward and backward

Two losses share a product. Between their backward passes, the optimizer takes a step.
"""

# %% name="step_between"
w = torch.tensor([2.0], requires_grad=True)
x = torch.tensor([3.0], requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
product = w * x
first, second = product.sum(), (5 * product).sum()
first.backward(retain_graph=True)
optimizer.step()
try:
    second.backward()
except RuntimeError as error:
    print(str(error).split(" Hint")[0])

# %% [markdown]
r"""
`optimizer.step()` changes `w` in place, and the product needs the old `w` for the gradient of `x`. **First all backward passes, then the
step; and after a step, a new forward.** The loop with `h` in section 5 can end here, too: put `retain_graph=True` into it, and let an
optimizer change `w`.

### Entries that are overwritten

An assignment to an index is an operation, too: it is recorded. Before you run the cell: which gradient will `t[0]` get, and which `v`?
"""

# %% name="overwritten"
t = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
v = torch.tensor(7.0, requires_grad=True)
a = t * t
a[0] = v
L = 2 * a[0] + 3 * a[1] + 5 * a[2]
L.backward()
print("gradient of t:", t.grad.tolist(), "  of v:", v.grad.item())
print(a.grad_fn.name(), "sends to", [node.name() for node, _ in a.grad_fn.next_functions])

# %% [markdown]
r"""
The new node of `a` is called `CopySlices`. It sends the gradient of the overwritten entry to `v`, and that of the others to `t * t`. `t[0]` was used to
compute something that nobody uses: its gradient is 0, and that is right.

### Leaves

If a change in place of a leaf were recorded, the leaf would become the result of an operation, and be a leaf no longer. If the leaf requires a gradient, PyTorch refuses.
"""

# %% name="leaves"
w = torch.tensor([1.0, 2.0], requires_grad=True)
for change in (lambda: w.sub_(0.5), lambda: w[0].sub_(0.5)):
    try:
        change()
    except RuntimeError as error:
        print(says(error))

with torch.no_grad():
    w -= 0.5
print("in no_grad():", w, "  leaf:", w.is_leaf, "  version:", w._version)

# %% [markdown]
r"""
In `torch.no_grad()` the change is not recorded, and it is counted. `w` stays a leaf. The optimizer above did the same to its `w`: the message
said version 1. (`w = w - 0.5` makes a new tensor instead, and gives it the name; unit 05 shows what that leads to.)

## 7. Hooks that watch, hooks that change

A **hook** is a function of yours that PyTorch calls during the backward pass. Registered on a tensor, it gets the gradient of that tensor as
soon as it is complete, before the node goes on with it.
"""

# %% name="watch"
x = torch.tensor(2.0, requires_grad=True)
y = x**3
z = 5 * y
handle = y.register_hook(lambda gradient: print("at y passes", gradient.item()))
z.backward()
print("x.grad:", x.grad.item())
handle.remove()  # without this, the hook stays as long as y lives

# %% [markdown]
r"""
`y` is no leaf, so its gradient is not kept anywhere. A hook is one way to see it. And it can do more. These three hooks are
meant to make the gradient of `y` ten times as large.
"""


# %% name="hooks"
def rebind(gradient):
    gradient = gradient * 10


def give_back(gradient):
    return gradient * 10


def in_place(gradient):
    gradient.mul_(10)


def gradients_with(hook):
    x = torch.tensor(1.0, requires_grad=True)
    u = torch.tensor(4.0, requires_grad=True)
    v = 2 * u
    y = 3 * x
    y.register_hook(hook)
    (5 * (y + v)).backward()
    return f"gradient of x {x.grad.item()}, of u {u.grad.item()}"


print("a hook that does nothing:", gradients_with(lambda gradient: None))

# %% name="predict_hook"
rebound = predict("With the hook `rebind`, what is the gradient of x?", choices=["15, as before", "150"])
rebound

# %% name="reveal_hook" tags=["reveal"]
print("With each of the hooks:")
for hook in (rebind, give_back, in_place):
    print(f"{hook.__name__:10}", gradients_with(hook))
rebound.reveal({"15, as before": "x 15.0" in gradients_with(rebind), "150": "x 150.0" in gradients_with(rebind)})

# %% [markdown]
r"""
**What a hook returns takes the place of the gradient. If it returns None, the gradient stays.** Giving a local name a new value does nothing.

With `in_place`, `x` gets what was wanted, and `u` a wrong gradient. Yet `u` has nothing to do with `y`. The addition passes **one and the same tensor** on to
`y` and to `v`. Here the node of `y` has its turn first, and so that of `v` finds the changed numbers. No counter looks at them. A
hook must not change its argument; it returns something new.

## 8. For the day you meet them

Four rarer cases. No exercise needs them. You can go on to the [table](#From-a-message-to-its-cause) and come back when one of its messages sends you here.

### Several views of one operation

A change through the view `a[0]` changes `a`, so `a` gets a new node. With several views that one operation gives at once, that does not work:
"""

# %% name="views"
a = 5 * torch.ones(3, 2, requires_grad=True)
a[0].mul_(2)
print("a[0].mul_(2) works, and the node of a is now", a.grad_fn.name())

print("for row in a:", [(row.grad_fn.name(), row.output_nr) for row in a])
try:
    for row in a:
        row.mul_(2)
except RuntimeError as error:
    print(says(error))

# %% [markdown]
r"""
A loop over a tensor calls `unbind`: **one** node with three results, number 0 to 2. (That is the number in the pairs of section 1.) If one of the
views changed, that node would have to be replaced, and with it the past of the other two. So PyTorch refuses. `split` and `chunk` behave
in the same way. Change by index, as `a[i].mul_(2)` does, or out of place: `a = a * 2`.

### A name that moves on

When a recorded tensor is changed in place, its name stays. Its node does not. To which of them belongs a hook, and to which the gradient that `retain_grad()` keeps
in `.grad`?
"""

# %% name="name_moves_on"
a = 1 * torch.tensor(-4.0, requires_grad=True)
print("the node of a:           ", a.grad_fn.name())
a.register_hook(lambda gradient: print("registered before relu_, sees", gradient.item()))
a.retain_grad()  # a is no leaf, and shall keep its .grad
y = torch.relu_(a)
print("after y = torch.relu_(a):", a.grad_fn.name(), "  y is a:", y is a)
a.register_hook(lambda gradient: print("registered after relu_, sees ", gradient.item()))
(3 * y).backward()
print("a.grad:", a.grad.item())

# %% [markdown]
r"""
A hook belongs to the tensor **as it was when the hook was registered**. The slope of relu at -4 is 0, so the first one sees 0. But `a` is now the same tensor
as `y`, the **result** of `relu_`, and `a.grad` belongs to that: 3. The value from before has no name any more. If you want to ask about it, write `y = torch.relu(a)`.

### Hooks on nodes

`register_hook` on a node calls a function **after** the node's turn, with what it has sent and what it had received.
`torch.autograd.grad(L, p)` returns the gradient of `p` in place of filling `.grad` (unit 05). Which hooks does it call?
"""

# %% name="node_hooks"
x = torch.tensor(2.0, requires_grad=True)
p = x**2
L = 3 * p
p.register_hook(lambda gradient: print("  p:", gradient.item()))
p.grad_fn.register_hook(lambda sent, got: print("  its node: received", got[0].item(), "and sent", sent[0].item()))
print("L.backward():")
L.backward(retain_graph=True)
print("torch.autograd.grad(L, p):")
p_gradient = torch.autograd.grad(L, p)

# %% [markdown]
r"""
The hook on the tensor is called in both cases. (It was not so in old versions; old answers on the web say otherwise.) A hook on a node is called only
if that node has its turn. Asked for the gradient of `p`, the pass ends **before** the node of `p`.

### A hook on a layer

A full backward hook makes the layer's output a view, and here the layer behind it writes into that view.
"""

# %% name="module_hook"
for inplace in (True, False):
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(inplace=inplace))
    layers[0].register_full_backward_hook(lambda module, sent, received: None)
    try:
        print(f"inplace={inplace}: works, the shape is", tuple(layers(torch.ones(1, 2)).shape))
    except RuntimeError as error:
        print(f"inplace={inplace}:", says(error))

# %% [markdown]
r"""
## From a message to its cause

| What you see | Ask yourself | Where |
|---|---|---|
| *Trying to backward through the graph a second time* | Which line made those nodes: one before the loop, one of the last iteration, one that two losses share? | [a part before the loop](#A-part-stands-before-the-loop), [history](#History-carried-along), [two losses](#Two-losses-over-one-graph) |
| *one of the variables needed for gradient computation has been modified by an inplace operation* | Which line changes such a tensor, below the line that used it? | [versions](#6.-Changes-in-place-are-counted), [harmless or not](#Which-changes-are-harmless), [an optimizer's step](#A-step-between-forward-and-backward) |
| *a leaf Variable that requires grad is being used in an in-place operation*, or *a view of a leaf Variable* | Is it an update? Then it belongs into `no_grad()`. | [leaves](#Leaves) |
| *Output 0 of Unbind is a view and is being modified inplace* (or of Split) | Do I change what a loop over a tensor, `split` or `chunk` gave me? | [views](#Several-views-of-one-operation) |
| *Output 0 of BackwardHookFunction is a view and is being modified inplace* | A hook on a layer, and an in-place layer behind it? | [a hook on a layer](#A-hook-on-a-layer) |
| *element 0 of tensors does not require grad and does not have a grad_fn* | Where is the graph cut? | [unit 03](03_requires_grad.ipynb), in the table near its end |
| no message, but the memory grows | Do I keep losses that still have their graph? | [history without an error](#History-without-an-error) |
| no message, but a gradient is wrong | Did `.data`, a hook that writes, or `retain_graph=True` hide a change? | [harmless or not](#Which-changes-are-harmless), [hooks](#7.-Hooks-that-watch,-hooks-that-change), [a part before the loop](#A-part-stands-before-the-loop) |

## What you can do now

- You can **walk** the graph from `grad_fn` over `next_functions` to the leaves, and read what each node has saved.
- You can say what `backward` frees and what it leaves, and so predict **which** second pass works.
- You can trace "backward through the graph a second time" to one of its three causes, mend it there, and say when `retain_graph=True` is the repair.
- You can read a version message, and tell a harmless change in place from a harmful or an unseen one.
- You can watch a gradient with a hook, and change it with a hook.

The exercises are in `exercises/04_grad_fn.ipynb`.

**The next question.** You know how a backward pass goes and what it leaves behind. How do you ask it for exactly the derivative that you want:
of this, with respect to that, also when the result is not a single number? That is unit 05.
"""
