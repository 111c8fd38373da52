# %% [markdown]
r"""
# 06 · Teaching autograd a new operation

**How do I write both halves myself, so that everything else still works?**

In unit 01 you wrote operations as pairs: a forward and a backward. In this lesson you hand such a pair to PyTorch. Then it is a node like any
other, and other people's code uses it without knowing. That last part is the hard one: a pair can be right in every test that you think of, and
still spoil a gradient that is not its own.

You need units 01 to 05: incoming gradient and local derivative, nodes and messages, what is recorded, saved tensors and version counters,
`torch.autograd.grad`. Allow 75 minutes. After section 5 is a good place for a pause. (When you come back, run the cells above with Run All Above
Selected Cell.) Make each prediction before you go on. The output that answers a question stays folded until you run its cell.

## A puzzle

Below is ReLU, the function $\max(x, 0)$, as a much-copied tutorial writes it. One line looks superfluous: `grad_output.clone()` makes a copy
that nobody seems to need. The usual explanation is that the copy "stays in the computation graph". The second class leaves it out.
"""

# %% name="setup"
import warnings

import torch

from course_utils import predict, record, step, trace

warnings.filterwarnings("ignore", "Use of .* on expanded tensors")  # section 4 looks at this one


# %% name="two_relus"
class WithClone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[x < 0] = 0
        return grad_input


class WithoutClone(WithClone):  # the forward is the same
    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        grad_output[x < 0] = 0
        return grad_output


# %% name="puzzle"
def gradient(operation, rest):
    x = torch.tensor([3.0, -1.0, 4.0], requires_grad=True)
    rest(operation(x)).backward()
    return x.grad.tolist()


print("                with clone         without")
for words, rest in (("(2 * y).sum()", lambda y: (2 * y).sum()), ("y.sum()", lambda y: y.sum())):
    print(f"{words:14} {gradient(WithClone.apply, rest)}    {gradient(WithoutClone.apply, rest)}")

# %% [markdown]
r"""
With `y.sum()`, the simpler of the two, one class gives zeros everywhere. The operation is the same, and the input too. What has the *rest* of
the computation to do with it? Section 4 gives the answer.

## 1. From a pair to a Function

Here is the pair of unit 01, $z = (x\,y)^2$, in the form in which PyTorch takes it.
"""


# %% name="squared_product"
class SquaredProduct(torch.autograd.Function):
    """z = (x * y)**2"""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return (x * y) ** 2

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        grad_x = grad_output * 2 * x * y**2
        grad_y = grad_output * 2 * x**2 * y
        return grad_x, grad_y


x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(3.0, requires_grad=True)
z = SquaredProduct.apply(x, y)
L = 5 * z
L.backward()
print("gradients:", x.grad.item(), y.grad.item(), "  as in unit 01, with an incoming gradient of 5")

# %% [markdown]
r"""
- The class is a **Function**. You make no object of it. Both methods are static: they have no `self`.
- `grad_output` is the incoming gradient. The backward returns one gradient for each input, in their order.
- `ctx`, the **context**, carries values from the forward to the backward: `save_for_backward` puts tensors in, `saved_tensors` takes them out.
- You call **`apply`**, which the class inherits. It makes the context, and runs your forward with it.
"""

# %% name="predict_recorded"
recorded = predict(
    "The forward computes x * y, and then ** 2. Which operations are recorded behind L = 5 * SquaredProduct.apply(x, y)?",
    choices=[
        "SquaredProduct",
        "SquaredProduct, and the multiplication by 5",
        "the multiplication x * y, the power, and the multiplication by 5",
        "x * y, the power, SquaredProduct, and the multiplication by 5",
    ],
)
recorded

# %% name="reveal_recorded" tags=["reveal"]
L = 5 * SquaredProduct.apply(x, y)
names = [node.operation for node in trace(L) if node.kind != "leaf"]
print("Behind L, from the result back:")
print(names)
claims = [["SquaredProduct"], ["Mul", "SquaredProduct"], ["Mul", "Pow", "Mul"], ["Mul", "SquaredProduct", "Pow", "Mul"]]
recorded.reveal({choice: names == claim for choice, claim in zip(recorded.choices, claims, strict=True)})

# %% [markdown]
r"""
`apply` runs your forward with recording off, as under `no_grad` (unit 03). That is the point: autograd shall not see what is inside. It sees one
node, asks that node for the gradients, and believes what comes back. Section 6 has judges for that.

## 2. One gradient for each argument

Functions often take something that is no tensor, such as an exponent. $z = (x\,y)^n$ has the gradients $n\,(x\,y)^{n-1}\,y$ and
$n\,(x\,y)^{n-1}\,x$. And for $n$?
"""


# %% name="product_power"
class ProductPower(torch.autograd.Function):
    """z = (x * y)**n, for a whole number n"""

    @staticmethod
    def forward(ctx, x, y, n):
        ctx.save_for_backward(x, y)
        ctx.n = n  # no tensor: an attribute
        return (x * y) ** n

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        slope = grad_output * ctx.n * (x * y) ** (ctx.n - 1)
        return slope * y, slope * x, None  # nothing for n


# %% name="count_of_gradients"
def returning(change):
    """The same operation, whose backward returns something else."""

    class Changed(ProductPower):
        @staticmethod
        def backward(ctx, grad_output):
            return change(*ProductPower.backward(ctx, grad_output)[:2])

    return Changed


for words, change in (
    ("a, b", lambda a, b: (a, b)),
    ("a, b, None", lambda a, b: (a, b, None)),
    ("a, b, None, None", lambda a, b: (a, b, None, None)),
    ("a, b, a", lambda a, b: (a, b, a)),
    ("[a, b, None]", lambda a, b: [a, b, None]),
):
    try:
        found = [g.item() for g in torch.autograd.grad(returning(change).apply(x, y, 3), (x, y))]
    except RuntimeError as error:
        found = error
    print(f"return {words:18}{found}")

# %% [markdown]
r"""
**One value for each argument that was handed to `apply`, in a tuple; None for what is no tensor.**

- "Expected 3, got 2": a None is missing. "Got 1": a list counts as one value.
- "Different than None": a gradient for something that can have none.
- Superfluous Nones at the end are let through. That is why adding `None` until the error goes away seems to work.

Each value must be a tensor of its input's shape:
"""


# %% name="shapes_of_gradients"
class AnyGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gradient):
        ctx.gradient = gradient
        return x.sum()

    @staticmethod
    def backward(ctx, grad_output):
        return ctx.gradient, None


for words, gradient_of_x in (
    ("shape [3]", torch.ones(3)),
    ("a list", [torch.ones(2)]),
    ("shape [3, 2]", torch.ones(3, 2)),
):
    p = torch.zeros(2, requires_grad=True)
    try:
        AnyGradient.apply(p, gradient_of_x).backward()
        print(f"{words:13} x.grad is", p.grad.tolist())
    except (RuntimeError, TypeError) as error:
        print(f"{words:13} {type(error).__name__}:", error)

# %% [markdown]
r"""
The last shape is one that broadcasting (unit 01) could have made of `x`. It is summed over the rows, without a word.

The other way round, `save_for_backward` takes tensors only (or None):
"""


# %% name="saves_a_number"
class SavesNumber(ProductPower):
    @staticmethod
    def forward(ctx, x, y, n):
        ctx.save_for_backward(x, y, n)
        return (x * y) ** n


try:
    SavesNumber.apply(x, y, 3)
except TypeError as error:
    print("TypeError:", error)

# %% [markdown]
r"""
("Variable" is an old word for a tensor.) Numbers, shapes and flags become attributes of `ctx`.

Now a Function that takes its tensors in a list.
"""


# %% name="sum_of_list"
class SumOfList(torch.autograd.Function):
    @staticmethod
    def forward(ctx, tensors):
        return tensors[0] + tensors[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output


# %% name="predict_list"
listed = predict(
    "x and y require a gradient. What is SumOfList.apply([x, y])?",
    choices=[
        "a tensor that requires a gradient",
        "a tensor that does not require a gradient",
        "an error: one gradient is returned for two tensors",
    ],
)
listed


# %% name="reveal_list" tags=["reveal"]
try:
    result = SumOfList.apply([x, y])
except RuntimeError:
    result = None
print("SumOfList.apply([x, y]) is", result)
listed.reveal(
    {
        listed.choices[0]: result is not None and result.requires_grad,
        listed.choices[1]: result is not None and not result.requires_grad,
        listed.choices[2]: result is None,
    }
)


# %% name="one_by_one"
class SumOfAll(torch.autograd.Function):
    @staticmethod
    def forward(ctx, *tensors):
        return tensors[0] + tensors[1]

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output


w = torch.tensor(1.0, requires_grad=True)
try:
    SumOfList.apply([x, y]).backward()
except RuntimeError as error:
    print("in a list:            RuntimeError:", error)
print("in a list, beside w: ", torch.autograd.grad(SumOfList.apply([x, y]) + w, (x, y, w), allow_unused=True))
print("one by one, beside w:", torch.autograd.grad(SumOfAll.apply(x, y) + w, (x, y, w)))

# %% [markdown]
r"""
`apply` looks at its direct arguments. What is inside a list, a tuple or a dictionary is a constant to it. Beside something else that requires a
gradient, no error says so. With `*tensors`, each tensor is an argument, and each gets a gradient.

Can an argument be passed by its name? You may read that `apply` takes no keywords.
"""

# %% name="keywords"
print("torch", torch.__version__.split("+")[0])
try:
    print("apply(x, y, n=3) gives", ProductPower.apply(x, y, n=3).item())
except TypeError as error:
    print("TypeError:", error)

# %% [markdown]
r"""
Before PyTorch 2.13 this was a TypeError. Code that must run everywhere passes by position.

A backward need not compute what nobody can use. `ctx.needs_input_grad` says for each argument whether it requires a gradient:
"""


# %% name="needs_input_grad"
class WhatIsNeeded(ProductPower):
    @staticmethod
    def backward(ctx, grad_output):
        print("needs_input_grad:", ctx.needs_input_grad)
        return ProductPower.backward(ctx, grad_output)


WhatIsNeeded.apply(x, y, 3).backward()
WhatIsNeeded.apply(x.detach(), y, 3).backward()

# %% [markdown]
r"""
So a costly gradient is written `grad_x = ... if ctx.needs_input_grad[0] else None`. (The input of a network's first layer is such an argument, unit 03.)

## 3. Operate it

A card with the words *custom Function* shows your node and its context: the saved tensors, and the attributes with `ctx.` before their names. Below, $u = x + 1$, $z = (u\,y)^3$, and $L = z/4$. Say what you expect before each step:

1. What does the card of `ProductPower` show before the pass begins?
2. Which gradient comes in, and how many messages go out? What became of the None?
3. Its backward is done. Which parts of its context are still there?
"""

# %% name="stepper"
x = torch.tensor(1.0, requires_grad=True)
y = torch.tensor(2.5, requires_grad=True)
u = x + 1
z = ProductPower.apply(u, y, 3)
L = z / 4
step(record(L))

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. The two saved tensors, $u$ and $y$, under their own names, and `ctx.n 3`.
2. 0.25 comes in. Two messages go out, to the addition and to `y`. There is no arrow for `n`: an argument that is no tensor has no place in the graph.
3. The saved tensors are freed, as at every other node (unit 04). `ctx.n` stays: nothing frees an attribute.

</details>

## 4. Why the clone?

Back to the puzzle. `WithoutClone` writes into `grad_output`. Whose tensor is that? Three experiments.

**First: what comes in.** A hook (unit 04) looks at it.
"""


# %% name="look"
def look(incoming):
    in_memory = incoming.untyped_storage().nbytes() // incoming.element_size()
    print(f"{incoming.tolist()}: {incoming.numel()} entries, {in_memory} in memory")


for rest in (lambda y: (2 * y).sum(), lambda y: y.sum()):
    relu = WithClone.apply(torch.ones(3, requires_grad=True))
    relu.register_hook(look)
    rest(relu).backward()

# %% [markdown]
r"""
After `y.sum()`, three entries share **one** number in memory: the backward of a sum uses `expand`, which copies nothing (unit 03). Write a 0 into
one entry, and it stands in all three. That is the puzzle. With `(2 * y).sum()`, the multiplication lies between, and makes three new numbers.

PyTorch does warn, and the first cell of this lesson has kept that silent. Another way to write in place is refused:
"""

# %% name="warned"
small = torch.tensor([False, True, False])
grad_output = torch.tensor(1.0).expand(3)  # like the one behind y.sum()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    grad_output[small] = 0
print("grad_output[small] = 0, a warning:\n   ", str(caught[-1].message).split(". ")[0], "\n   ", grad_output.tolist())
try:
    grad_output *= ~small
except RuntimeError as error:
    print("grad_output *= ~small, an error:\n   ", str(error).split(". ")[0])

# %% [markdown]
r"""
For the next two experiments, there is not even a warning.

**Second: a sister branch.** Here $s = \mathrm{relu}(x) + x$, and the backward pass starts with an incoming gradient `v`. Right would be $v$ for the direct path, plus
$v$ where $x > 0$.
"""

# %% name="predict_sister"
sister = predict(
    "x = [3, -1, 4] and v = [10, 20, 30]. (WithClone.apply(x) + x).backward(v) gives x.grad = [20, 20, 60]. And with WithoutClone?",
    choices=["[20, 20, 60], because there is no sum here", "[20, 0, 60]", "[10, 20, 30]", "[0, 0, 0]"],
)
sister

# %% name="reveal_sister" tags=["reveal"]
x = torch.tensor([3.0, -1.0, 4.0], requires_grad=True)
v = torch.tensor([10.0, 20.0, 30.0])
(WithoutClone.apply(x) + x).backward(v)
print("Without the clone:")
print("x.grad", x.grad.tolist())
seen = str([int(g) for g in x.grad.tolist()])
sister.reveal({choice: choice.startswith(seen) for choice in sister.choices})

# %% [markdown]
r"""
In the second entry, a gradient of 20 is lost that never went through the ReLU. Step through it: the addition sends one and the same tensor to both of
its inputs.
"""

# %% name="sister_stepper"
x = torch.tensor([3.0, -1.0, 4.0], requires_grad=True)
v = torch.tensor([10.0, 20.0, 30.0])
relu = WithoutClone.apply(x)
s = relu + x
step(record(s, v))

# %% [markdown]
r"""
**Third: the caller's own tensor.** Look at `v`, which the last cell made and handed to the pass.
"""

# %% name="caller"
print("v was  [10.0, 20.0, 30.0]")
print("v is  ", v.tolist())

# %% [markdown]
r"""
If the caller uses `v` again, the next gradient is wrong too.

So this is the reason for the clone: **`grad_output` is not yours.** It can be shared with a sister branch, with the caller, or with itself. You may
read it, and return it unchanged. You may not write into it. And does the copy "stay in the graph"? Ask, in an ordinary backward pass:
"""


# %% name="graph_has_no_part"
class Asked(WithClone):
    @staticmethod
    def backward(ctx, grad_output):
        copy = WithClone.backward(ctx, grad_output)
        print("recording:", torch.is_grad_enabled(), "  the copy requires a gradient:", copy.requires_grad)
        return copy


print("x.grad:", gradient(Asked.apply, lambda y: y.sum()))

# %% [markdown]
r"""
There is no graph for it to stay in. And a backward without a clone is as good, if it makes a new tensor. Here is one. It also repairs a second
fault of the tutorial's version, at one single place:
"""


# %% name="my_relu"
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)


for words, relu in (("torch.relu", torch.relu), ("WithClone", WithClone.apply), ("MyReLU", MyReLU.apply)):
    x = torch.tensor([-2.0, 0.0, 2.0], requires_grad=True)
    (7 * relu(x)).sum().backward()
    print(f"{words:11} at x = -2, 0, 2: {[g + 0.0 for g in x.grad.tolist()]}")

# %% [markdown]
r"""
At exactly 0, the tutorial's mask `x < 0` lets the whole gradient through. Mathematics does not decide: 0 is a **kink**, a place where the slope jumps
(unit 08). But an operation that claims to be ReLU should do what `torch.relu` does.

## 5. What saving is for

An attribute `ctx.y = y` seems to do the same as `save_for_backward`. Three things are different. The operation is $y = e^x$. Its derivative is the
output itself, so the output is kept.
"""


# %% name="two_ways_to_keep"
class ExpSaved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y


class ExpKept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * ctx.y


# %% name="predict_versions"
versions = predict(
    "x = 0, y = ExpKept.apply(x), and then y += 4, in place. A constant was added, so dy/dx is still exp(0) = 1. What does ExpKept's backward give?",
    numbers=["gradient of x"],
)
versions

# %% name="reveal_versions" tags=["reveal"]
print("After y += 4:")
for operation in (ExpSaved, ExpKept):
    x = torch.tensor(0.0, requires_grad=True)
    y = operation.apply(x)
    y += 4
    try:
        (found,) = torch.autograd.grad(y, x)
        print(f"{operation.__name__}: {found.item()}")
    except RuntimeError as error:
        print(f"{operation.__name__}: RuntimeError, {str(error).split(': [')[0]}")
versions.reveal(found)

# %% [markdown]
r"""
**Versions.** What is saved properly is watched: its version counter is compared (unit 04), and an error is better than a wrong number. The attribute
`ctx.y` is the tensor `y` itself. It follows every change, and nobody notices.

**Memory.** The next cell makes a result and a loss, lets go of the result, and asks at four moments whether its memory is still held. Python's
garbage collector, which finds objects that hold only each other, is off until the last one.
"""

# %% name="memory"
import gc

from torch.multiprocessing.reductions import StorageWeakRef  # knows whether a tensor's memory is in use


def memory_of_result(operation, retain_graph):
    y = operation.apply(torch.ones(3, requires_grad=True))
    memory = StorageWeakRef(y.untyped_storage())
    loss = y.sum()
    del y
    yield memory
    loss.backward(retain_graph=retain_graph)
    yield memory
    del loss
    yield memory
    gc.collect()
    yield memory


gc.collect()
gc.disable()
print("                         before     after     after      after a")
print("                         the pass   the pass  del loss   collection")
for operation, retain_graph in ((ExpSaved, False), (ExpSaved, True), (ExpKept, False)):
    found = ["free" if memory.expired() else "held" for memory in memory_of_result(operation, retain_graph)]
    print(f"{operation.__name__}{', retain_graph' if retain_graph else '':16} " + "       ".join(found))
gc.enable()

y = ExpKept.apply(torch.ones(3, requires_grad=True))
print("ExpKept: y.grad_fn.y is y:", y.grad_fn.y is y)

# %% [markdown]
r"""
A saved tensor is freed by the backward pass (unless it retains the graph). An attribute stays as long as the node does. And here the node is
held by its own result: `y` points to its node, and the context, which is that node, points to `y`. Such a circle waits for the
collector, which knows nothing of a full GPU. `save_for_backward` stores a result without the circle.

**Second derivatives.** (Unit 09 is about them. Here you need one fact: with `create_graph=True` the backward is recorded too, so that
it can be differentiated again.) The operation is $(3x)^3$. One Function saves its input, the other the intermediate $t = 3x$:
"""


# %% name="four_ways"
def reference(x):
    return (3 * x) ** 3


class SavesInput(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (3 * x) ** 3

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 9 * (3 * x) ** 2


class SavesMiddle(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        t = 3 * x
        ctx.save_for_backward(t)
        return t**3

    @staticmethod
    def backward(ctx, grad_output):
        (t,) = ctx.saved_tensors
        return grad_output * 9 * t**2


# %% [markdown]
r"""
Others let autograd work the backward out, inside the forward:
"""


# %% name="inner_graph"
class KeepsInnerGraph(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.inside = x.detach().requires_grad_()
            ctx.y = (3 * ctx.inside) ** 3
        return ctx.y.detach()

    @staticmethod
    def backward(ctx, grad_output):
        return torch.autograd.grad(ctx.y, ctx.inside, grad_output, create_graph=True)[0]


def both_derivatives(operation):
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    result = operation(x) ** 2  # 729 * x**6
    (first,) = torch.autograd.grad(result, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    return first.item(), second.item()


print("                 first     second derivative of the square, at x = 1")
print("reference      ", *both_derivatives(reference))
print("SavesInput     ", *both_derivatives(SavesInput.apply))

# %% name="predict_second"
second = predict(
    "SavesMiddle saves t properly. KeepsInnerGraph does not even need a formula. Which of them get both derivatives right?",
    choices=[
        "both of them",
        "SavesMiddle only",
        "KeepsInnerGraph only",
        "neither: the first is right, the second is not",
    ],
)
second

# %% name="reveal_second" tags=["reveal"]
right, middle, inner = map(both_derivatives, (reference, SavesMiddle.apply, KeepsInnerGraph.apply))
print("At x = 1:")
print("SavesMiddle    ", *middle)
print("KeepsInnerGraph", *inner)
both_right = middle == right, inner == right
first_only = middle[0] == inner[0] == right[0] and not any(both_right)
second.reveal(
    dict(zip(second.choices, [all(both_right), both_right == (1, 0), both_right == (0, 1), first_only], strict=True))
)

# %% [markdown]
r"""
13122 in place of 21870, and no error. With $y = (3x)^3$ the second derivative of $y^2$ is $2\,y'^2 + 2\,y\,y''$, here $2 \cdot 81^2 = 13122$ and $2 \cdot 27 \cdot 162 = 8748$. The first part runs
through `grad_output`. The second should come from $9t^2$, and is missing: the forward ran with recording off, so nobody knows that `t` came from `x`. When the backward is differentiated, `t` is
a constant. The inner graph has the same fault: it ends at a detached copy, `ctx.inside`.

Inputs and outputs of `apply` stand in the outer graph, and come back from `saved_tensors` with their place in it.
So the safe rule is: **save inputs and outputs; compute everything else again in the backward.**

(A good place for a pause.)

## 6. Two judges

In unit 01 the nudge was the judge. **`gradcheck`** is that judge, ready made: it nudges every entry of each input that requires a gradient, and
compares. **`gradgradcheck`** does the same to the backward: it nudges what goes into it, and compares with its own derivative.
"""


# %% name="judges"
from torch.autograd import gradcheck, gradgradcheck


class Swapped(SquaredProduct):
    @staticmethod
    def backward(ctx, grad_output):
        return SquaredProduct.backward(ctx, grad_output)[::-1]  # the two gradients exchanged


def leaves(*values, dtype=torch.float64):
    return [torch.tensor(value, dtype=dtype, requires_grad=True) for value in values]


def verdict(judge, program, inputs):
    try:
        return "passes" if judge(program, inputs) else "fails"
    except RuntimeError as error:  # GradcheckError is one, too
        return f"{type(error).__name__}"


print("SquaredProduct:", verdict(gradcheck, SquaredProduct.apply, leaves(2.0, 3.0)))
print("Swapped:       ", verdict(gradcheck, Swapped.apply, leaves(2.0, 3.0)))
try:
    gradcheck(Swapped.apply, leaves(2.0, 3.0))
except RuntimeError as error:
    print(str(error).strip())

# %% [markdown]
r"""
"Numerical" is the nudge, and "analytical" is your backward. A judge must be asked properly. Here are four questions that are badly put:
"""

# %% name="asked_wrongly"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    single = verdict(gradcheck, SquaredProduct.apply, leaves(2.0, 3.0, dtype=torch.float32))
print("SquaredProduct in float32:     ", single, " warned:", "not a double precision" in str(caught[0].message))
print("MyReLU at 0:                   ", verdict(gradcheck, MyReLU.apply, leaves([-1.0, 0.0])))
print("Swapped at x = y = 3:          ", verdict(gradcheck, Swapped.apply, leaves(3.0, 3.0)))
expanded = torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
print("ExpSaved on an expanded tensor:", verdict(gradcheck, ExpSaved.apply, [expanded]))

# %% [markdown]
r"""
- In **float32** a step of $10^{-6}$ drowns in rounding (unit 01). Use float64, for the parameters of a module too.
- At a **kink**, the nudge measures across it.
- Where **inputs are equal**, exchanged gradients look right.
- In an **expanded** tensor, nudging one entry nudges all. gradcheck refuses it; give it a `.clone()`.

Now four Functions that are wrong, or at least incomplete. The fourth computes with NumPy, which autograd cannot see.
"""


# %% name="suspects"
class NumpyCube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.from_numpy(x.detach().numpy() ** 3)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * torch.from_numpy(3 * x.detach().numpy() ** 2)


suspects = {
    Swapped: leaves(2.0, 3.0),
    WithoutClone: leaves([3.0, -1.0, 4.0]),
    SavesMiddle: leaves([0.7]),
    NumpyCube: leaves([1.5]),
}

# %% name="predict_caught"
caught_by = predict(
    "All inputs are float64, different, and away from kinks. How many of the four does gradcheck catch? How many does gradgradcheck catch?",
    numbers=["gradcheck", "gradgradcheck"],
)
caught_by

# %% name="reveal_caught" tags=["reveal"]
counts = {gradcheck: 0, gradgradcheck: 0}
print("                gradcheck         gradgradcheck")
for operation, inputs in suspects.items():
    found = {judge: verdict(judge, operation.apply, inputs) for judge in counts}
    for judge in counts:
        counts[judge] += found[judge] != "passes"
    print(f"{operation.__name__:15} {found[gradcheck]:17} {found[gradgradcheck]}")
caught_by.reveal(*counts.values())

# %% [markdown]
r"""
- **gradcheck sees first derivatives only.** `SavesMiddle` and `NumpyCube` have these right. So has `WithoutClone`, if its `grad_output` is shared with nobody.
- **gradgradcheck makes `grad_output` a leaf that requires a gradient.** To write into such a leaf is forbidden (unit 04). So `WithoutClone` ends with PyTorch's own RuntimeError, before anything is compared.
- **gradgradcheck asks only about the backward's own derivative.** That of `Swapped` is right: it is the derivative of two wrong formulas. (Nor does it see a
  wrong forward, if inputs alone are saved.)

So run both. And know what slips through both:
"""

# %% name="slips_through"
for words, program, inputs in (
    ("ExpKept: wrong after a change in place", ExpKept.apply, leaves([0.7, -1.2])),
    ("WithClone: 1 at exactly 0", WithClone.apply, leaves([3.0, -1.0])),
):
    print(f"{words:40} {verdict(gradcheck, program, inputs)}, {verdict(gradgradcheck, program, inputs)}")

print("\nWithoutClone and gradcheck, once more:")
for words, program in (
    ("alone", WithoutClone.apply),
    ("beside x", lambda x: WithoutClone.apply(x) + x),
    ("in a sum", lambda x: WithoutClone.apply(x).sum()),
):
    print(f"{words:40} {verdict(gradcheck, program, leaves([3.0, -1.0, 4.0]))}")

# %% [markdown]
r"""
The judges look at numbers, at the places that you give them. You must check memory, versions and special places yourself. And let them judge your
operation **inside others**: that shows what it does to tensors that it shares.

## 7. Three things to announce

Some things autograd cannot find out. You announce them, with a method of `ctx` or a decorator.

**`mark_dirty`: "I have changed this input in place."** Below, `h` is computed from `a`, then doubled in place, and then *used again under its old
name*.
"""


# %% name="doubles_in_place"
class DoubleInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output * 2


class DoubleMarked(DoubleInPlace):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x


def after_doubling(operation):
    a = torch.tensor(3.0, requires_grad=True)
    h = a * 5
    operation.apply(h)
    (h * 1).backward()
    return h.item(), a.grad.item()


# %% name="predict_dirty"
dirty = predict(
    "a = 3 and h = a * 5, which DoubleInPlace doubles in place. So h is 30, which is 10 * a. Nothing is marked. Which gradient does h * 1 send back to a?",
    numbers=["gradient of a"],
)
dirty

# %% name="reveal_dirty" tags=["reveal"]
print("Both ways:")
print("nothing marked: h is {}, gradient of a {}".format(*after_doubling(DoubleInPlace)))
print("mark_dirty:     h is {}, gradient of a {}".format(*after_doubling(DoubleMarked)))
dirty.reveal(after_doubling(DoubleInPlace)[1])


# %% [markdown]
r"""
Unmarked, `h` holds the new value and still hangs on its old node, the multiplication by 5. Marked, its `grad_fn` becomes the new node. And autograd now sees two faults that it could not see before:
"""


# %% name="dirty_errors"
class DoubleNotReturned(DoubleInPlace):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x.clone()


leaf = torch.tensor(3.0, requires_grad=True)
for words, operation, given in (("on a leaf:   ", DoubleMarked, leaf), ("not returned:", DoubleNotReturned, leaf * 5)):
    try:
        operation.apply(given)
    except RuntimeError as error:
        print(words, error)

# %% [markdown]
r"""
A leaf that requires a gradient is refused, as in unit 04. What is marked must be returned.

**`mark_non_differentiable`: "this output has no gradient."** Below, `index` is a whole number: autograd knows by itself that it has none. `share` is a
float, and has to be marked.
"""


# %% name="non_differentiable"
class Largest(torch.autograd.Function):
    """The largest entry, its index, and its share of the sum."""

    @staticmethod
    def forward(ctx, x):
        value, index = x.max(0)
        share = value / x.sum()
        ctx.mark_non_differentiable(share)
        ctx.save_for_backward(index)
        ctx.length = len(x)
        return value, index, share

    @staticmethod
    def backward(ctx, *incoming):
        print("comes in:     ", *(g.item() for g in incoming))
        (index,) = ctx.saved_tensors
        return incoming[0] * torch.nn.functional.one_hot(index, ctx.length)


x = torch.tensor([1.0, 7.0, 4.0], requires_grad=True)
outputs = Largest.apply(x)
print("requires_grad:", *(one.requires_grad for one in outputs))
outputs[0].backward(torch.tensor(2.5))
print("x.grad:       ", x.grad.tolist())

# %% [markdown]
r"""
The backward gets one incoming gradient for each output all the same. Where none arrives, it is filled with zeros.

**`@once_differentiable`: "do not differentiate my backward."** `NumpyCube` cannot do second derivatives.
"""

# %% name="once_differentiable"
from torch.autograd.function import once_differentiable


class NumpyCubeOnce(NumpyCube):
    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        return NumpyCube.backward(ctx, grad_output)


x = torch.tensor([2.0], dtype=torch.float64, requires_grad=True)
for operation in (NumpyCube, NumpyCubeOnce):
    (first,) = torch.autograd.grad(operation.apply(x) ** 2, x, create_graph=True)
    x.grad = None
    try:
        first.backward()
        print(f"{operation.__name__}: {x.grad.item()}, where x**6 has 30 * x**4 =", 30 * x.item() ** 4)
    except RuntimeError as error:
        print(f"{operation.__name__}: RuntimeError,", error)

# %% [markdown]
r"""
## 8. setup_context, torch.func and vmap

`torch.func` (unit 05) asks for the halves in three parts. The forward computes, and gets no `ctx`. `setup_context` gets the inputs as a tuple and the
output, and keeps what the backward needs. (`torch.func.vmap(f)` runs `f` on all rows of a batch at once, unit 05.)
"""


# %% name="square"
class Square(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x**2

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x


class SquareWithRule(Square):
    generate_vmap_rule = True


# %% name="setup_context"
def attempt(compute):
    try:
        return compute().tolist()
    except RuntimeError as error:
        return f"RuntimeError: {str(error).split('. ')[0]}"


points = torch.tensor([1.0, 3.0, 5.0])
for operation in (MyReLU, Square, SquareWithRule):
    print(operation.__name__)
    print("   func.grad:", attempt(lambda: torch.func.grad(lambda x: operation.apply(x).sum())(points)))
    print("   vmap:     ", attempt(lambda: torch.func.vmap(operation.apply)(points)))

# %% [markdown]
r"""
So in new code, write `setup_context`. With `generate_vmap_rule = True`, `vmap` runs your halves on whole batches. They must be code that it can run:
PyTorch's own operations, no NumPy, and no `if` that asks for a value.

A forward without `ctx` looks like a plain function. Can it be called as one?
"""

# %% name="predict_direct"
direct = predict(
    "x is a leaf. Someone calls Square.forward(x) in place of Square.apply(x). Which node hangs on the result?",
    choices=[
        "SquareBackward: it is the same operation",
        "PowBackward0: that of **",
        "none: the result does not require a gradient",
    ],
)
direct

# %% name="reveal_direct" tags=["reveal"]
x = torch.tensor(3.0, requires_grad=True)
node = Square.forward(x).grad_fn
print("Square.forward(x) and Square.apply(x):")
print(node and node.name(), Square.apply(x).grad_fn.name())
direct.reveal({choice: choice.startswith(str(node and node.name())) for choice in direct.choices})

# %% [markdown]
r"""
Called directly, the forward is ordinary code, and your backward is never asked. Where the backward differs on purpose, as in unit 07, the whole
operation is without effect.

With `setup_context`, one more error can meet you: an operation that returns its input as it is, and saves it.
"""


# %% name="returned_as_it_is"
class AsItIs(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * x


class AsView(AsItIs):
    @staticmethod
    def forward(x):
        return x.view_as(x)


try:
    AsItIs.apply(x)
except RuntimeError as error:
    print("AsItIs: RuntimeError:", ". ".join(str(error).split(". ")[:2]))
print("AsView:", torch.autograd.grad(AsView.apply(x), x)[0].item())

# %% [markdown]
r"""
`view_as` makes another tensor over the same memory, and that is enough.

## 9. An old one

The methods of a Function were not always static. You will meet old code that looks like this: it has an `__init__`, it uses `self`, and it is called like a module.
"""


# %% name="legacy"
class OldParabola(torch.autograd.Function):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        self.save_for_backward(x)
        return self.factor * x**2

    def backward(self, grad_output):
        (x,) = self.saved_tensors
        return grad_output * self.factor * 2 * x


x = torch.tensor([2.0, -3.0], requires_grad=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    old = OldParabola(4.0)
print("OldParabola(4.0):   ", caught[0].category.__name__, str(caught[0].message).split(". Inst")[0])
try:
    old(x)
except RuntimeError as error:
    print("OldParabola(4.0)(x):", "RuntimeError:", str(error).split(" (")[0])

# %% [markdown]
r"""
Making the object warns. Calling it is the error, and the error asks for a *static forward method*. Four changes make it new:

1. no `__init__`: what it took becomes an argument of `forward`, and gets a None in the backward;
2. `@staticmethod` before both, and `ctx` in place of `self`;
3. `self.save_for_backward`, `self.saved_tensors` and `self.factor` become those of `ctx`;
4. calls `OldParabola(4.0)(x)` become `Parabola.apply(x, 4.0)`.
"""


# %% name="modernised"
class Parabola(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return factor * x**2

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * ctx.factor * 2 * x, None


Parabola.apply(x, 4.0).sum().backward()
print("x.grad:", x.grad.tolist())

# %% [markdown]
r"""
## 10. When not to write one

What you compose of PyTorch's operations needs no Function: each brings its backward, and most backwards can be differentiated again. Write one if you
have one of these reasons:

- the computation leaves PyTorch: NumPy, a C library, a solver;
- you know a backward that is more exact, faster, or saves less than what autograd would do;
- the backward should *not* be the derivative of the forward (unit 07).

For the first reason there is a sibling: **`torch.library.custom_op`**. `torch.compile` tries to trace what is inside a Function. What is inside a custom
op it leaves alone, and calls it by its name. So you declare the types, and which arguments are changed in place (`mutates_args`, here none). And with `register_fake` you say which shape and dtype come out, for whoever must know it without computing. Here the forward leaves PyTorch. The backward is the same as before:
"""


# %% name="custom_op"
@torch.library.custom_op("course::squared_product", mutates_args=())
def squared_product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.tensor((x.detach().numpy() * y.detach().numpy()) ** 2)


@squared_product.register_fake
def like_the_inputs(x, y):
    return torch.empty_like(x)


def keep_inputs(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


squared_product.register_autograd(SquaredProduct.backward, setup_context=keep_inputs)

x, y = leaves(2.0, 3.0)
print("gradients:", [g.item() for g in torch.autograd.grad(5 * squared_product(x, y), (x, y))])
print("gradcheck:", gradcheck(squared_product, (x, y)), "  gradgradcheck:", gradgradcheck(squared_product, (x, y)))

# %% [markdown]
r"""
## From a message to its cause

| the message says | what it means | where |
|---|---|---|
| returned an incorrect number of gradients | one value for each argument that was handed over; None for what is no tensor; a tuple, no list | [section 2](#2.-One-gradient-for-each-argument) |
| returned a gradient different than None | a gradient for an argument that is no tensor | [section 2](#2.-One-gradient-for-each-argument) |
| expected Variable or None (got list) | one gradient, in a list | [section 2](#2.-One-gradient-for-each-argument) |
| returned an invalid gradient ... expected shape compatible with | a gradient has the shape of its input (unit 01) | [section 2](#2.-One-gradient-for-each-argument) |
| save_for_backward can only save variables | a number, a shape, a tuple: keep it as an attribute of `ctx` | [section 2](#2.-One-gradient-for-each-argument) |
| Use of ... on expanded tensors is deprecated; more than one element of the written-to tensor; in gradgradcheck: a leaf Variable that requires grad is being used in an in-place operation | somebody writes into `grad_output` | [section 4](#4.-Why-the-clone?) |
| has been modified by an inplace operation | what was saved was changed before the backward (unit 04) | [section 5](#5.-What-saving-is-for) |
| Jacobian mismatch | read both numbers; then look at dtype, kinks and inputs | [section 6](#6.-Two-judges) |
| a leaf Variable that requires grad has been used in an in-place operation; Some elements marked as dirty | an operation that works in place: on a leaf, or without returning what it marked | [section 7](#7.-Three-things-to-announce) |
| trying to differentiate twice a function that was marked with @once_differentiable | the backward cannot be differentiated, and says so | [section 7](#7.-Three-things-to-announce) |
| must override the setup_context staticmethod; does not have vmap support; returned as-is as output | `torch.func` and `vmap` ask for more | [section 8](#8.-setup_context,-torch.func-and-vmap) |
| should not be instantiated; Legacy autograd function with non-static forward method | an old Function, or a new one that is called | [section 9](#9.-An-old-one) |
| element 0 of tensors does not require grad; or no message, and the gradient is None | the tensors came in a list | [section 2](#2.-One-gradient-for-each-argument) |
| no message, and the backward is never run | `forward` was called in place of `apply` | [section 8](#8.-setup_context,-torch.func-and-vmap) |

## What you can do now

- You can teach autograd an operation: both halves, one gradient for each argument, None where there is none to give.
- You can show in three ways why `grad_output` must not be written into, and why the graph has no part in it.
- You know what `save_for_backward` does that an attribute does not, and what may be saved if second derivatives are to be right.
- You can put an operation before both judges, and you know what slips through each of them.
- You can make a Function fit for `torch.func` and `vmap`, and bring an old one up to date.

The exercises are in `exercises/06_custom_function.ipynb`.

**The next question.** PyTorch believes whatever a backward returns. So far we wanted that to be the truth. What is it good for, if a backward lies on
purpose? That is unit 07.
"""
