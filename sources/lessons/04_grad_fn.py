# %% [markdown]
r"""
# 04 · The recorded graph

**What exactly hangs on `tensor.grad_fn`?**

Unit 02 showed how a gradient finds its way, and unit 03 what is recorded. Now we open PyTorch's own record: which nodes are there, what each
of them keeps, when it lets go of it, and what happens if somebody changes a value in the meantime. At the end you can walk this graph,
listen in on it, and say of several well-known error messages which line of a program they are really about.

You need units 01 to 03: incoming gradient, message, node, leaf, `detach()` and `torch.no_grad()`. Allow an hour and a quarter; after section 5 is a good place for a pause. Where
the lesson asks for a prediction, make one before you go on. The output that answers a question stays folded until you run its cell.

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

print("the node of L:    ", L.grad_fn.name())
print("it sends to:      ", [(node.name(), number) for node, number in L.grad_fn.next_functions])
print("the node of q is it:", L.grad_fn.next_functions[0][0] is q.grad_fn)

# %% [markdown]
r"""
A node carries the name of its backward: `PowBackward0`. (In our pictures it is only `Pow`. The digit at the end tells variants of one
operation apart.) The entries of `next_functions` are pairs. The number in a pair says which result of that operation the gradient
belongs to. It is 0 where there is only one; section 7 meets an operation with three.
"""

# %% name="entries"
for node, number in q.grad_fn.next_functions:  # q = p + 1
    print(node if node is None else node.name(), number)

# %% [markdown]
r"""
The addition has two inputs, so there are two pairs. `None` means: this input, the number 1, needs no gradient, and nothing is sent there. Whoever walks the graph has to skip it. (Some inputs have no entry at all,
such as a plain number as the exponent of `**`.)

And where does the graph end? No operation made `x`, so it has no `grad_fn`.
"""

# %% name="leaf_nodes"
print("x.grad_fn:", x.grad_fn)
for node, _ in p.grad_fn.next_functions:
    print(node.name(), "  for x:", node.variable is x, "  for y:", node.variable is y)
print("x * 3 ends in the same node for x:", (x * 3).grad_fn.next_functions[0][0] is p.grad_fn.next_functions[0][0])

# %% [markdown]
r"""
At the end stands an `AccumulateGrad`, one for each leaf. It adds what arrives to the `.grad` of its `variable`, the leaf itself. Here the
graph of `x * 3` ends in the same node as that of `p`.

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
own attributes for that, and their names begin with `_saved_`. (The underscore says: for looking, not for building on.)
"""


# %% name="saved"
def saved(tensor):
    """The names of the tensors that the node of this tensor has saved."""
    node = trace(tensor).nodes[0]  # the first one is the tensor's own
    return [kept.name for kept in node.saved if kept.state == "saved"]


print("p = x * y:", saved(p), "  self is", p.grad_fn._saved_self.item(), "and other is", p.grad_fn._saved_other.item())
print("q = p + 1:", saved(q))
print("L = q**2: ", saved(L), "  self is", L.grad_fn._saved_self.item())

# %% [markdown]
r"""
For `x * y`, `self` is x, and `other` is y. An addition passes on what it gets. It needs no values, and saves none.
"""

# %% name="predict_exp"
kept = predict(
    "e = x.exp(). The derivative of exp is exp itself. Which tensor does the node of e save?",
    choices=["x, the input", "e, the result", "none"],
)
kept

# %% name="reveal_exp" tags=["reveal"]
e = x.exp()
print("What the node of x.exp() saves:")
print(saved(e))
kept.reveal({"x, the input": saved(e) == ["self"], "e, the result": saved(e) == ["result"], "none": saved(e) == []})

# %% [markdown]
r"""
The local derivative at $x$ is $e^x$, and that number has just been computed: it is the result. So some operations save their inputs, some
their **result**, some nothing. Each of them saves what its backward may need. Remember this for section 6.

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
    "x.clone()": torch.clone,
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
triple.reveal({"yes, as with x + 1": outcome == "works", "no, as with x ** 2": outcome == "fails"})

# %% [markdown]
r"""
The node of `3 * x` saves the factor 3, as a tensor. (PyTorch computes it as `x * 3`, so the 3 is `other`.) It does not save `x`: the 3 needs no gradient, so nobody will ask for `x`. And the table
answers the puzzle: in each row the second pass fails if something was saved, and works if nothing was.

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
print("L.grad_fn:", L.grad_fn.name(), "  nodes behind L:", [node.name() for node in walk(L)])
try:
    p.grad_fn._saved_self
except RuntimeError as error:
    print("p.grad_fn._saved_self:", says(error))
after.reveal(
    {
        "it is None": L.grad_fn is None,
        "it is there, and next_functions is empty": len(walk(L)) == 1,
        "it is there, and leads to the same nodes as before": walk(L) == before,
    }
)

# %% [markdown]
r"""
Nodes and arrows are all there. They live as long as somebody holds `L`, or anything that was made from it. What `backward` takes away are
the **saved tensors**: they cost memory (unit 03 measured it), and usually nobody needs them again.

So the exact rule is: **`backward` frees what the nodes have saved. A later pass fails at the first node that needs something it no longer
has.** The message means that, and only that. A graph whose nodes saved nothing can be used any number of times, and nobody will be warned.

`retain_graph=True` means: free nothing in this pass.

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
2. Right after it has passed on. Each node frees for itself, while others still wait for their turn. So memory becomes free all the way.
3. `s`. Among the nodes that are ready, PyTorch takes the operation that was carried out last, as long as all of them are on the CPU. (A leaf
   that has received everything has its turn at once.)

</details>

Now the same graph a second time. How far does the pass get? Predict the node at which it ends, then step. When `record` fails, the error carries the
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

The message proposes `retain_graph=True`. It is the right mend for one cause of three. To find the cause, do not ask "how do I keep the graph?". Ask:
**which line made the nodes that are now gone through a second time? And did I mean to go through them again?**

### A part stands before the loop

In a notebook it begins like this: you run the cell with `loss.backward()` again, and not the cell that computes the loss. In a program it is a line
that is carried out once, although its input changes.
"""


# %% name="before_the_loop"
def train(retain_graph=False, inside=False):
    log_scale = torch.tensor(0.5, requires_grad=True)
    optimizer = torch.optim.SGD([log_scale], lr=0.02)
    scale = log_scale.exp()  # before the loop
    losses = []
    for _ in range(4):
        if inside:
            scale = log_scale.exp()
        loss = (2 * scale - 5) ** 2
        optimizer.zero_grad()
        loss.backward(retain_graph=retain_graph)
        optimizer.step()
        losses.append(round(loss.item(), 3))
    return losses, round(log_scale.item(), 3)


try:
    train()
except RuntimeError as error:
    print(says(error))

# %% name="predict_stale"
stale = predict(
    "With retain_graph=True the error is gone. What do the losses of the four iterations do?",
    choices=["they go down, as they should", "they stay the same", "they go up"],
)
stale

# %% name="reveal_stale" tags=["reveal"]
losses, log_scale = train(retain_graph=True)
print("The losses, and log_scale at the end:")
print("retain_graph=True:       ", losses, log_scale)
print("the line inside the loop:", *train(inside=True))
stale.reveal(
    {
        "they go down, as they should": losses[-1] < losses[0],
        "they stay the same": losses[-1] == losses[0],
        "they go up": losses[-1] > losses[0],
    }
)

# %% [markdown]
r"""
`scale` is a number that was computed once. The optimizer changes `log_scale`, and `scale` does not know of it. So every iteration computes
the same loss and the same gradient, while `log_scale` runs away. The error had been the only sign. **The mend is to compute again what
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
pass from here fails there. Two mends are in use. With `retain_graph=True` nothing is ever freed. With `h = h.detach()` at the end of an
iteration, the next one starts from the value alone.
"""


# %% name="carried_along"
def unroll(retain_graph=False, cut=False):
    w = torch.tensor(0.5, requires_grad=True)
    h = torch.tensor(1.0)
    grads, nodes = [], []
    for _ in range(4):
        w.grad = None
        h = torch.tanh(w * h)
        loss = h**2
        nodes.append(len(walk(loss)))
        loss.backward(retain_graph=retain_graph)
        grads.append(round(w.grad.item(), 4))
        if cut:
            h = h.detach()
    return grads, nodes


# %% name="predict_mends"
mends = predict(
    "Both mends silence the error. Compare the gradients of w in the four iterations.",
    choices=["all four are the same", "only the first one is the same", "all four differ"],
)
mends

# %% name="reveal_mends" tags=["reveal"]
retained, nodes_retained = unroll(retain_graph=True)
cut, nodes_cut = unroll(cut=True)
print("Gradients of w, and nodes behind each loss:")
print("retain_graph=True:", retained, nodes_retained)
print("h = h.detach():   ", cut, nodes_cut)
same = [one == other for one, other in zip(retained, cut, strict=True)]
mends.reveal(
    {
        "all four are the same": all(same),
        "only the first one is the same": same == [True, False, False, False],
        "all four differ": not any(same),
    }
)

# %% [markdown]
r"""
They answer two different questions. With `detach()`, `w.grad` says how this loss changes if `w` changes in **this** iteration, with the old
`h` as a given number. (Training recurrent networks this way is called truncated backpropagation.) With `retain_graph=True` it counts the
effect of `w` in all earlier iterations too, and each pass goes through everything again: the number of nodes grows from pass to pass. If that is what
you want, add the losses up and call `backward` **once** at the end. And as soon as an optimizer changes `w` between two iterations, the
old nodes belong to an old `w`; section 6 shows what PyTorch says to that.

### Two losses over one graph
"""


# %% name="two_losses"
from course_utils.graph import Sent


def body(w):
    return torch.tanh(torch.sin(w).exp() / 2)


def two_losses(mend):
    """The gradient of w from two losses that share everything up to `shared`, and the number of messages sent."""
    w = torch.tensor(0.5, requires_grad=True)
    shared = body(w)
    first, second = (shared - 1) ** 2, 4 * shared
    if mend == "the sum":
        passes = [record(first + second)]
    elif mend == "retain_graph":
        passes = [record(first, retain_graph=True), record(second)]
    else:
        passes = [record(first), record(second)]
    return round(w.grad.item(), 4), sum(len(one.of_kind(Sent)) for one in passes)


try:
    two_losses("none")
except RuntimeError as error:
    print(says(error))

# %% name="two_losses_mended"
w = torch.tensor(0.5, requires_grad=True)
((body(w) - 1) ** 2).backward()
(4 * body(w)).backward()
print("w.grad, from two graphs that share nothing:", round(w.grad.item(), 4))
for mend in ("the sum", "retain_graph"):
    grad, sent = two_losses(mend)
    print(f"{mend:12} w.grad {grad}, {sent} messages")

# %% [markdown]
r"""
The usual mend is to add the losses up, and to go backward once. But here `retain_graph=True` is right as well: you mean to go through the shared
part twice, and nothing has changed in between. It costs more messages, because the shared nodes have their turn twice. Two passes are worth their price if you want to look at each loss's gradient alone. The
**last** pass goes without `retain_graph`, so that it frees.

### History without an error

The opposite also happens: a graph grows, and no error ever comes. This loop keeps the loss of all iterations, to print their mean.
"""

# %% name="predict_total"
hanging = predict(
    "loss = (w * i)**2 has 2 operations. After each loss.backward(), total = total + loss. How many nodes are behind total after "
    "50 iterations, the leaf w counted as well?",
    choices=["none: backward has removed them", "3: those of the last loss", "4", "151"],
)
hanging

# %% name="reveal_total" tags=["reveal"]
w = torch.tensor(1.0, requires_grad=True)
total, plain_total = 0.0, 0.0
print("iterations   nodes behind total")
for i in range(1, 51):
    loss = (w * i) ** 2
    loss.backward()
    total = total + loss
    plain_total = plain_total + loss.item()
    if i in (1, 2, 10, 50):
        print(f"{i:10} {len(walk(total)):12}")
print("the sum of loss.item():", type(plain_total).__name__, " as large:", plain_total == total.item())
count = len(walk(total))
hanging.reveal(
    {
        "none: backward has removed them": count == 0,
        "3: those of the last loss": count == 3,
        "4": count == 4,
        "151": count == 151,
    }
)

# %% [markdown]
r"""
Three nodes an iteration, an addition and the two of its loss, and the leaf. `backward` has freed what they saved; the nodes themselves stay,
because `total` leads to them. In a loop for validation, where no `backward` is called, the saved tensors stay as well. For a running sum use
`loss.item()`, or `loss.detach()`.

## 6. Changes in place are counted

A node saves a tensor, not a copy of it. What if somebody writes into that tensor before the backward pass? PyTorch does not prevent it. It
**counts**. Each tensor has a **version**: 0 when it is new, and higher after each change in place, also if the change is made through a
view of it. (Mostly by one. `t[0] += 1` counts twice: an addition in a view, and an assignment.) A change **in place** writes into the memory of a tensor that is there: `t += 1`, `t.mul_(2)` (a final underscore says so),
`t[0] = 5`, `optimizer.step()`.
"""

# %% name="predict_version"
version = predict(
    "t = torch.zeros(3); t += 1; t[0] = 5.0; t = t * 2; t.add_(1). What is t._version at the end?",
    numbers=["t._version"],
)
version

# %% name="reveal_version" tags=["reveal"]
print("t._version after each line:")
t = torch.zeros(3)
print("t = torch.zeros(3)    ", t._version)
t += 1
print("t += 1                ", t._version)
t[0] = 5.0
print("t[0] = 5.0            ", t._version)
t = t * 2
print("t = t * 2             ", t._version, "  another tensor under the same name")
t.add_(1)
print("t.add_(1)             ", t._version)
version.reveal(t._version)

# %% name="shared_counters"
print("the version of t now:          ", t._version)
part = t[1:]
part.zero_()
print("after part = t[1:]; part.zero_():", t._version, "  and that of part:", part._version)
with torch.no_grad():
    t.mul_(2)
print("after t.mul_(2) in no_grad():  ", t._version)
t.detach().add_(1)
print("after t.detach().add_(1):      ", t._version)
t.data.add_(1)
print("after t.data.add_(1):          ", t._version)

# %% [markdown]
r"""
Views and `detach()` share the memory and the counter, and `no_grad()` does not stop the counting. `.data` shares the memory and
**not** the counter: changes through it go unseen. (So do changes through `.numpy()`, and, in the version used here, by an optimizer that was made with `fused=True`.)

When a node saves a tensor, it notes the version. When it wants to use it, it compares.
"""

# %% name="changed"
x = torch.tensor([1.0, 2.0], requires_grad=True)
a = 2 * x
y = a.sin()  # needs a for its backward
print("a is saved at version", a._version)
a.mul_(3)
a.add_(1)
print("and is now at version", a._version)
try:
    y.sum().backward()
except RuntimeError as error:
    print(str(error).split(" Hint")[0])

# %% name="trace_changed"
trace(y)

# %% [markdown]
r"""
This is a message to read word by word. *Which tensor?* A float tensor with 2 entries, and "output 0 of Add": that is its node **now**. So
the last change that was recorded is an addition. (A change in `no_grad()`, or through `detach()`, leaves the node as it was.) *How often?* It is at version 2, and 0 was expected: two changes after it had been saved. Look for
lines that change such a tensor in place, **below** the line that used it.

The mend: work on another tensor (`b = a + 1`, or `a = a.clone()` before the change), or make the change before the value is used.

### Which changes are harmless

On several web pages stands this warning, with the advice to avoid changes in place altogether, or to call `detach()` first:

```
y = x * 2
y.add_(1)
y.sum().backward()  # "fails, because y was changed in place"
```
"""

# %% name="predict_harmless"
harmless = predict(
    "x = torch.tensor([3.0], requires_grad=True), and then these three lines. What happens?",
    choices=["the error comes", "x.grad is 1", "x.grad is 2", "x.grad is 3"],
)
harmless


# %% name="reveal_harmless" tags=["reveal"]
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


more = {
    "x * 2": lambda x: x * 2,
    "x ** 2": lambda x: x**2,
    "x.exp()": torch.exp,
    "x.sigmoid()": torch.sigmoid,
    "1/(1+exp(-x))": lambda x: 1 / (1 + torch.exp(-x)),
}
print("operation       saves       y.add_(1), then backward")
for name, operation in more.items():
    print(f"{name:15} {', '.join(saved(operation(x))):11} {changed_result(operation)}")
outcome = changed_result(more["x * 2"])
harmless.reveal({choice: choice == outcome for choice in harmless.choices})

# %% [markdown]
r"""
**A change in place is harmless as long as no node needs the tensor as it was.** `x * 2` has saved the 2, and nobody has saved `y`. `exp` and
`sigmoid` save their result, so their result is what must not be overwritten. Written by hand, the same sigmoid ends in a node that did not save its result.
(Changes in place are operations. They are recorded and differentiated like any other.)

And the advice?
"""


# %% name="three_ways"
def with_second_entry_replaced(how):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = torch.sigmoid(x)
    if how == "y.clone()":
        y = y.clone()
    if how == "y.detach()":
        y = y.detach()
    (y.data if how == "y.data" else y)[1] = 2.0
    try:
        y.sum().backward()
    except RuntimeError as error:
        return says(error)[:52] + " ..."
    return [round(number, 4) for number in x.grad.tolist()]


for how in ("y", "y.detach()", "y.data", "y.clone()"):
    print(f"{how:11}", with_second_entry_replaced(how))

# %% [markdown]
r"""
The second entry was overwritten with a number, so `x[1]` has no influence any more: its gradient is 0. Only the last line says so.
`detach()` has cut the graph. `.data` has kept the counter from counting: nobody is warned, and the backward of the sigmoid computes with the 2 that was not
its result. An error would be better. The mend is `clone()`: the change goes into a tensor that no node has saved.

### A step between forward and backward

Two losses are computed, and both use the weight `w`. The program goes backward from the first one, lets the optimizer take a step, and
goes backward from the second one.
"""


# %% name="step_between"
def update(order, needs_x=True):
    w = torch.tensor([2.0], requires_grad=True)
    x = torch.tensor([3.0], requires_grad=needs_x)
    optimizer = torch.optim.SGD([w], lr=0.1)
    product = w * x
    first, second = product.sum(), (5 * product).sum()
    for action in order:
        if action == "step":
            optimizer.step()
        else:
            {"first": first, "second": second}[action].backward(retain_graph=True)
    return w.grad.item()


# %% name="predict_step"
between = predict(
    'update(["first", "step", "second"]): all passes retain the graph. What happens?',
    choices=[
        "nothing special: w.grad is the sum of both gradients",
        "the second backward says that saved values have been freed",
        "the second backward says that a variable has been modified",
    ],
)
between

# %% name="reveal_step" tags=["reveal"]
print("first, step, second:")
try:
    outcome = update(["first", "step", "second"])
except RuntimeError as error:
    outcome = str(error)
    print(outcome.split(" Hint")[0])
print("first, second, step:", update(["first", "second", "step"]))
print("first, step, second, where x needs no gradient:", update(["first", "step", "second"], needs_x=False))
between.reveal(
    {
        "nothing special: w.grad is the sum of both gradients": isinstance(outcome, float),
        "the second backward says that saved values have been freed": "freed" in str(outcome),
        "the second backward says that a variable has been modified": "modified" in str(outcome),
    }
)

# %% [markdown]
r"""
`optimizer.step()` changes `w` in place, and the product needs the old `w` for the gradient of `x`. **First all backward passes, then the
step; and after a step, a new forward.** This is where the loop with `h` in section 5 ends up, too, if you put `retain_graph=True` into it and then let an
optimizer change `w`. On old versions of PyTorch such programs ran without an error. They were not right then, only silent.

The last line shows how silent. There `x` needs no gradient. So no node has saved `w`, there is nothing to compare, and no error. (Here the gradient
is right all the same, because nothing in it depends on `w`.) PyTorch checks the values that it is about to use. It does not check whether your program
makes sense.

## 7. One name, many nodes

### A name moves on

When a recorded tensor is changed in place, its name stays. Its node does not.
"""

# %% name="rebased"
leaf = torch.tensor([-2.0], requires_grad=True)
x = 3 * leaf
print("the node of x:              ", x.grad_fn.name())
y = torch.relu_(x)
print("after y = torch.relu_(x):   ", x.grad_fn.name(), " which sends to", x.grad_fn.next_functions[0][0].name())

# %% name="predict_relu"
which = predict(
    "torch.autograd.grad(y, x) returns the gradient of y with respect to x (unit 05 is about it). The entry of x was -6, and relu made it 0. "
    "What does it return?",
    choices=["0, the slope of relu at -6", "1", "3, the factor before it"],
)
which

# %% name="reveal_relu" tags=["reveal"]
(by_x,) = torch.autograd.grad(y, x, retain_graph=True)
(by_leaf,) = torch.autograd.grad(y, leaf)
print("The gradient of y with respect to x, and to the leaf:")
print(by_x.item(), by_leaf.item(), "  y is x:", y is x)
which.reveal(
    {
        "0, the slope of relu at -6": by_x.item() == 0,
        "1": by_x.item() == 1,
        "3, the factor before it": by_x.item() == 3,
    }
)

# %% [markdown]
r"""
`y` and `x` are one tensor with one node: the result of `relu_`. So the question was how `y` changes with `y`. The tensor from before the
change has no name any more. Ask for the leaf, or keep the value under a name of its own: `y = torch.relu(x)`.

### Entries that are overwritten

An assignment to an index is an operation, too. The slot takes the new value, and the gradient follows.
"""

# %% name="predict_overwritten"
slots = predict(
    "t = [1, 2, 3], v = 7, a = t * t, and then a[0] = v. L = 2*a[0] + 3*a[1] + 5*a[2]. Which gradients do t[0], t[1] and v get?",
    numbers=["t[0]", "t[1]", "v"],
)
slots

# %% name="reveal_overwritten" tags=["reveal"]
t = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
v = torch.tensor(7.0, requires_grad=True)
a = t * t
a[0] = v
L = (a * torch.tensor([2.0, 3.0, 5.0])).sum()
L.backward(retain_graph=True)
print("The gradients:")
print("of t:", t.grad.tolist(), "  of v:", v.grad.item())
slots.reveal(t.grad[0].item(), t.grad[1].item(), v.grad.item())

# %% name="trace_overwritten" tags=["reveal"]
trace(a)

# %% [markdown]
r"""
The node is called `CopySlices`. It sends the gradient of the overwritten entry to `v`, and that of the others to `t * t`. `t[0]` was used to
compute something that nobody uses: its gradient is 0, and that is right.

### Views

`a[0]` alone is a **view**: a tensor that shares a part of the memory of `a`. A change through it changes `a`, so `a` gets a new node.
That works with `a[0]`, the only result of its operation. It does not work with several views that one operation gives at once:
"""

# %% name="views"
b = torch.ones(3, 2, requires_grad=True)
a = 5 * b
for i in range(3):
    a[i].mul_(i + 1)
a.sum().backward()
print("for i in range(3): works, the gradient of b is", b.grad.tolist())

a = 5 * b
print("the rows of a:", [(row.grad_fn.name(), row.output_nr) for row in a])
try:
    for row in a:
        row.mul_(2)
except RuntimeError as error:
    print("for row in a:", says(error))

# %% [markdown]
r"""
A loop over a tensor calls `unbind`: **one** node with three results, number 0 to 2. That is the number in the pairs of section 1. If one of the
views changed, that node would have to be replaced, and with it the past of the other two. So PyTorch refuses. `split` and `chunk` behave
in the same way. Change by index as above, or out of place: `a * factors`.

### Leaves

For a leaf that requires a gradient, a change in place would mean: it becomes the result of an operation, and is a leaf no longer. PyTorch refuses this, too.
"""

# %% name="leaves"
w = torch.tensor([1.0, 2.0], requires_grad=True)
(w**2).sum().backward()


def minus(tensor):
    tensor -= 0.1 * w.grad


def first_entry(tensor):
    tensor[0] = 0.0


for change in (minus, first_entry):
    try:
        change(w)
    except RuntimeError as error:
        print(says(error))

same = w
with torch.no_grad():
    w -= 0.1 * w.grad
print("in no_grad():", w, " leaf:", w.is_leaf, " the same tensor:", w is same, " version:", w._version)

# %% [markdown]
r"""
In `torch.no_grad()` the change is not recorded, and it is counted. `w` stays the same tensor and stays a leaf. That is what every optimizer does. (`w = w - 0.1 * w.grad` makes
a new tensor instead, and gives it the name; unit 05 shows what that leads to.)

## 8. Hooks that watch, hooks that change

A **hook** is a function of yours that PyTorch calls during the backward pass. Registered on a tensor, it gets the gradient of that tensor as
soon as it is complete, before the node goes on with it.
"""

# %% name="watch"
x = torch.tensor(2.0, requires_grad=True)
y = x**3
z = 5 * y
watching = y.register_hook(lambda gradient: print("at y passes", gradient.item()))
z.backward()
print("x.grad:", x.grad.item())
watching.remove()  # it would stay as long as y lives

# %% [markdown]
r"""
`y` is no leaf, so its gradient is not kept anywhere. A hook is one way to see it. And it can do more. Here are four hooks. `watch_only` looks on, and
the others are meant to make the gradient ten times as large.
"""


# %% name="hooks"
def rebind(gradient):
    gradient = gradient * 10


def give_back(gradient):
    return gradient * 10


def watch_only(gradient):
    print("  seen:", gradient.tolist())


def in_place(gradient):
    gradient.mul_(10)


def gradients_with(hook):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    v = 0.5 * u
    y = 3 * x
    y.register_hook(hook)
    ((y + v) * torch.tensor([5.0, 7.0])).sum().backward()
    return "gradient of x", x.grad.tolist(), "gradient of u", u.grad.tolist()


print("no effect ", *gradients_with(lambda gradient: None))

# %% name="predict_hook"
rebound = predict(
    "With the hook `rebind`, which first entry does the gradient of x have? Without a hook it is 15.",
    choices=["15", "150"],
)
rebound

# %% name="reveal_hook" tags=["reveal"]
print("With each of the hooks:")
for hook in (watch_only, rebind, give_back):
    print(f"{hook.__name__:10}", *gradients_with(hook))
rebound.reveal({choice: gradients_with(rebind)[1][0] == float(choice) for choice in rebound.choices})

# %% [markdown]
r"""
**What a hook returns takes the place of the gradient. If it returns None, the gradient stays.** Giving a local name a new value does
nothing. Neither does printing.

There is a fourth hook, `in_place`. The gradient of `x` is then the same as with `give_back`. Predict the gradient of `u`, which has nothing to
do with `y`.
"""

# %% name="in_place_hook" tags=["reveal"]
print("With a hook that writes into the gradient:")
print("give_back ", *gradients_with(give_back))
print("in_place  ", *gradients_with(in_place))

# %% [markdown]
r"""
The addition passes **one and the same tensor** on to `y` and to `v`. Who writes into it, changes the other one's gradient. No counter looks here. A
hook must not change its argument; it returns something new.

### Hooks on nodes

A node takes hooks as well. `register_prehook` is called before the node has its turn, with all its incoming gradients.
`register_hook` is called after it, with what it sends and with what it had received. `torch.autograd.grad` returns gradients in place
of filling `.grad`; what do hooks do then?
"""


# %% name="node_hooks"
def with_all_hooks(go):
    """Who was called when `go` has its gradients computed: the hooks on x, on p, and on the node of p."""
    seen = []
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(5.0, requires_grad=True)
    p = x * y

    def at_the_node(sent, received):
        sent = [gradient.item() for gradient in sent if gradient is not None]
        seen.append(f"node received {received[0].item()}, sent {sent}")

    x.register_hook(lambda gradient: seen.append(f"x: {gradient.item()}"))
    p.register_hook(lambda gradient: seen.append(f"p: {gradient.item()}"))
    p.grad_fn.register_hook(at_the_node)
    go(3 * p, x, p)
    return seen


print("backward():     ", with_all_hooks(lambda L, x, p: L.backward()))
print("grad(L, x):     ", with_all_hooks(lambda L, x, p: torch.autograd.grad(L, x)))
print("grad(L, p):     ", with_all_hooks(lambda L, x, p: torch.autograd.grad(L, p)))

# %% [markdown]
r"""
Hooks on tensors are called in all three cases, whenever a gradient of that tensor is computed. (It was not so in old versions; old
answers on the web say otherwise.) A hook on a node is called only if that node has its turn. Asked for the gradient of `p`, the pass
ends **before** the node of `p`.

### Hooks and changes in place

A change in place gives a tensor a new node. To which of them does a hook belong?
"""

# %% name="hook_versions"
a = 1 * torch.tensor(4.0, requires_grad=True)
a.register_hook(lambda gradient: print("registered before a.mul_(2), sees", gradient.item()))
a.retain_grad()  # a is no leaf, and shall keep its .grad
a.mul_(2)
a.register_hook(lambda gradient: print("registered after a.mul_(2), sees", gradient.item()))
(3 * a).backward()
print("a.grad:", a.grad.item())

# %% [markdown]
r"""
A hook belongs to the tensor **as it was when the hook was registered**: the earlier one sees the gradient of the old value,
on the far side of the multiplication by 2. `retain_grad` goes along with the tensor: `a.grad` belongs to the value that `a` has now.

One more message comes from the two together. `register_full_backward_hook` on a layer makes its output a view, and a `ReLU(inplace=True)` behind
it writes into that view:
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
| *one of the variables needed for gradient computation has been modified by an inplace operation* | Which line changes a tensor of that shape, below the line that used it? | [versions](#6.-Changes-in-place-are-counted), [harmless or not](#Which-changes-are-harmless), [an optimizer's step](#A-step-between-forward-and-backward) |
| *a leaf Variable that requires grad is being used in an in-place operation* | Is it an update? Then it belongs into `no_grad()`. | [leaves](#Leaves) |
| *a view of a leaf Variable that requires grad is being used in an in-place operation* | The same, through an index. | [leaves](#Leaves) |
| *Output 0 of Unbind is a view and is being modified inplace* (or of Split) | Do I change what a loop over a tensor, `split` or `chunk` gave me? | [views](#Views) |
| *Output 0 of BackwardHookFunction is a view and is being modified inplace* | A hook on a layer, and an in-place layer behind it? | [hooks and changes in place](#Hooks-and-changes-in-place) |
| no message, but the memory grows | Do I keep losses that still have their graph? | [history without an error](#History-without-an-error) |
| no message, but a gradient is wrong | Did `.data`, a hook that writes, or `retain_graph=True` hide a change? | [harmless or not](#Which-changes-are-harmless), [a part before the loop](#A-part-stands-before-the-loop) |

## What you can do now

- You can **walk** the graph from `grad_fn` over `next_functions` to the leaves, and read what each node has saved.
- You can say what `backward` frees and what it leaves, and so predict **which** second pass works.
- You can trace "backward through the graph a second time" to one of its three causes, mend that cause, and say when `retain_graph=True` is the mend.
- You can read a version message, tell a harmless change in place from a harmful one, and name the ways by which a change goes unseen.
- You can watch a gradient with a hook, change it with a hook, and say which value of a tensor the hook belongs to.

The exercises are in `exercises/04_grad_fn.ipynb`.

**The next question.** You know how a backward pass goes and what it leaves behind. How do you ask it for exactly the derivative that you want:
of this, with respect to that, also when the result is not a single number? That is unit 05.
"""
