# %% [markdown]
r"""
# 02 · The computation graph

**How does a gradient find its way from the result to every input?**

Unit 01 was about one operation. Its backward turns the gradient of its output into the gradients of its inputs. A network has thousands of
operations, and many values are used more than once. This lesson is about the way between them: where gradients go, what happens where they
meet, and who has to wait for whom. At the end you know everything that an **engine**, the program that carries gradients back, needs to know.
In the exercises you write one.

You need unit 01: the incoming gradient, the local derivative, the chain rule, the nudge. Allow about an hour; after section 3 is a good place for a pause. Where the lesson asks for a
prediction, make one before you go on. The output that answers a question stays folded until you run its cell.

## A puzzle

$L = a + b$, with $a = x^2$ and $b = a^2$. How fast does $L$ change with $x$, at $x = 2$? The two programs below go back from $L$, one
operation at a time. Every single step is the chain rule of unit 01.
"""

# %% name="setup"
import torch

from course_utils import predict, record, step, trace


# %% name="puzzle"
def program_one(x):
    a = x**2
    b = a**2
    grad_a = 1.0  # L = a + b passes 1 on to a
    grad_x = grad_a * 2 * x  # a = x**2 passes it on to x
    grad_b = 1.0  # L = a + b passes 1 on to b
    grad_a = grad_b * 2 * a  # b = a**2 passes it on to a
    grad_x = grad_a * 2 * x  # a = x**2 passes it on to x
    return a + b, grad_x


def program_two(x):
    a = x**2
    b = a**2
    grad_a = 1.0
    grad_x = grad_a * 2 * x
    grad_b = 1.0
    grad_a += grad_b * 2 * a  # added to what is there
    grad_x += grad_a * 2 * x  # added to what is there
    return a + b, grad_x


def result_at(x):
    return x**2 + (x**2) ** 2


h = 0.001
print("program one: L and its gradient", program_one(2.0))
print("program two: L and its gradient", program_two(2.0))
print("the nudge:            gradient", round((result_at(2.0 + h) - result_at(2.0 - h)) / (2 * h), 3))

# %% [markdown]
r"""
The nudge of unit 01 says 36. Program one loses something. Somebody noticed, and made it program two: nothing is overwritten now, everything
is added up. It is still wrong, in the other direction. What is wrong with each of them? Sections 2 and 3 give the answer.

## 1. Every result points back

To go back from $L$, a program has to know what $L$ was made from. So each result keeps two things when it is computed: the values that it
was made from, its **parents**, and for each parent the local derivative. Here that is a small class for numbers. The method `__add__` is what
Python calls for `+`, `__mul__` for `*`, and `__pow__` for `**`. So `x * y` calls `x.__mul__(y)`: inside, `self` is x and `other` is y.
"""


# %% name="number"
class Number:
    """A number that remembers what it was made from."""

    def __init__(self, data, parents=(), slopes=(), op=""):
        self.data = data
        self.parents = parents
        self.slopes = slopes  # for each parent, the local derivative
        self.op = op  # only for pictures
        self.grad = 0.0

    def __add__(self, other):
        return Number(self.data + other.data, (self, other), (1.0, 1.0), "+")

    def __mul__(self, other):
        return Number(self.data * other.data, (self, other), (other.data, self.data), "*")

    def __pow__(self, n):
        return Number(self.data**n, (self,), (n * self.data ** (n - 1),), "**")


x = Number(2.0)
a = x**2
b = a**2
L = a + b

print("L:", L.data, "made from", [parent.data for parent in L.parents], "with local derivatives", L.slopes)
print("b:", b.data, "made from", [parent.data for parent in b.parents], "with local derivatives", b.slopes)

# %% [markdown]
r"""
Every `Number` points to its parents, these point to theirs, and so on down to $x$, which has none. Points with arrows between them are
called a **graph**, and this one is the **computation graph** of $L$. The points are its **nodes**.

PyTorch does nearly the same; in place of the local derivatives it saves the values from which it can compute them on the way back. If an
input is made with `requires_grad=True`, every operation on it is recorded. `trace` shows what is there.
"""

# %% name="trace_puzzle"
x = torch.tensor(2.0, requires_grad=True)
a = x**2
b = a**2
L = a + b
trace(L)

# %% [markdown]
r"""
Each box is a node: one operation, or an input. `Pow` stands for `**`. The number behind the name only tells nodes apart, counted from the
result: `Pow 1` is $b$, and `Pow 2` is $a$. It is not the exponent. A node like `x`, which no operation made, is called a **leaf**. In a box
you see the value that the operation gave, and below it the values that were saved for its backward. The question mark says that no gradient
has been computed yet. The arrows show how the values went, forward. Gradients will take the same ways in the other direction. Note that
$a$ is there once, although two operations use it.

Now another formula: $z = x\,x\,y\,y$. Some texts draw it as one node, with one arrow to $x$ and one to $y$.
"""

# %% name="predict_nodes"
nodes = predict(
    "z = x * x * y * y. How many operations does PyTorch record?",
    choices=[
        "one, for the formula",
        "two, one for x and one for y",
        "three, one for each *",
        "four, one for each letter",
    ],
)
nodes

# %% name="reveal_nodes" tags=["reveal"]
x = torch.tensor(3.0, requires_grad=True)
y = torch.tensor(5.0, requires_grad=True)
z = x * x * y * y

recorded = [node.name for node in trace(z).nodes if node.kind == "operation"]
print("What trace finds behind z:")
print(recorded)
nodes.reveal(dict(zip(nodes.choices, [len(recorded) == count for count in (1, 2, 3, 4)], strict=True)))

# %% name="trace_z" tags=["reveal"]
trace(z)

# %% [markdown]
r"""
Autograd never sees a formula. Python computes `((x * x) * y) * y`: three multiplications, one after the other, and each is recorded when it
is carried out. So $x$ is reached by two arrows, and $y$ by two.

## 2. Along a path multiply, over paths add

A **path** leads from the result back to an input, along the arrows. If two arrows lead from one node to the same parent, as in $x \cdot x$,
they make two paths. Unit 01 had a path through two operations: the local derivatives
along it were multiplied. This function follows every path from a node back to `x`, and returns one product for each.
"""


# %% name="path_products"
def path_products(node, x, product=1.0):
    if node is x:
        return [product]
    found = []
    for parent, slope in zip(node.parents, node.slopes, strict=True):
        found = found + path_products(parent, x, product * slope)
    return found


x = Number(2.0)
a = x**2
b = a**2
L = a + b

# %% name="predict_paths"
paths = predict(
    "In the puzzle, two paths lead from L to x: one over a, and one over b and then a. What is the product of each?",
    numbers=["over a", "over b and a"],
)
paths

# %% name="reveal_paths" tags=["reveal"]
products = path_products(L, x)
print("From L to x:")
print("products:", products, " sum:", sum(products))
paths.reveal(*products)

# %% [markdown]
r"""
The sum is what the nudge measured. Why a sum? Take the two uses of $a$ apart: give each of them an $x$ of its own, and nudge these one at a
time.
"""


# %% name="nudge_each_path"
def two_uses(x_first, x_second):
    return x_first**2 + (x_second**2) ** 2  # a for the addition, and another a for b = a**2


first = two_uses(2.0 + h, 2.0) - two_uses(2.0 - h, 2.0)
second = two_uses(2.0, 2.0 + h) - two_uses(2.0, 2.0 - h)
both = two_uses(2.0 + h, 2.0 + h) - two_uses(2.0 - h, 2.0 - h)
for name, change in (("the first use", first), ("the second use", second), ("both", both)):
    print(f"{name:15} moves: {change / (2 * h):.3f}")

# %% [markdown]
r"""
A small step of $x$ changes $L$ along both paths at once, and the two changes add up. So here is the whole law:

> **The gradient of an input is the sum, over all paths from the result to it, of the product of the local derivatives along each path.**

Look at the two programs again. Program one keeps only its last path. Program two gives 40. Which path does it count twice?

<details><summary>Answer</summary>

The one over $a$: 4 and 4 and 32. The second time that it passes a gradient on from $a$ to $x$, the first gradient of $a$ is still in it.

</details>

Why not take the law as it stands, and write an engine that walks all paths? Let $w = z \cdot z$, with $z = x\,x\,y\,y$.
"""

# %% name="predict_number_of_paths"
many = predict("How many paths lead from w to x?", choices=["1", "2", "3", "4"])
many

# %% name="reveal_number_of_paths" tags=["reveal"]
x, y = Number(3.0), Number(5.0)
z = x * x * y * y
w = z * z
products = path_products(w, x)
print("From w to x:")
print("products:", products, " sum:", sum(products))
many.reveal(str(len(products)))

# %% [markdown]
r"""
Two ways from $w$ to $z$, and for each of them two ways from $z$ to $x$. What happens when this goes on? Below, a number is multiplied by
itself again and again.
"""

# %% name="paths_double"
t = x = Number(1.0)
for operations in range(1, 17):
    t = t * t
    if operations in (1, 2, 3, 4, 8, 16):
        print(f"{operations:2} operations: {len(path_products(t, x)):6,} paths")

# %% [markdown]
r"""
Each operation doubles the number of paths. With 16 operations there are 65,536, and a network has thousands of operations. The law is right, and nobody
can compute with it path by path.

## 3. Once per node, and in which order

There is a way out. All paths that arrive at a node go on in the same way from there. So add them up **at the node**, and go on **once**:
$1 \cdot 4 + 8 \cdot 4$ is $(1 + 8) \cdot 4$. What a node sends to a parent, its own gradient times the local derivative, we call a
**message**. Messages that arrive are added up in `grad`.
"""


# %% name="pass_on"
def pass_on(node):
    """Send one message to each parent."""
    for parent, slope in zip(node.parents, node.slopes, strict=True):
        parent.grad += node.grad * slope


def puzzle():
    """The graph of the puzzle, with the gradient of L set to 1."""
    x = Number(2.0)
    a = x**2
    b = a**2
    L = a + b
    L.grad = 1.0
    return L, b, a, x


# %% [markdown]
r"""
`puzzle()` makes the graph anew each time, because `grad` keeps what has been added to it.

In which order do the nodes pass on? First attempt: straight ahead. A node passes on, then its parents do, and so on.
"""


# %% name="straight_ahead"
def straight_ahead(node):
    pass_on(node)
    for parent in node.parents:
        straight_ahead(parent)


L, b, a, x = puzzle()
straight_ahead(L)
print("straight ahead:", x.grad)

# %% [markdown]
r"""
This is program two. It reaches $a$ twice, so $a$ passes on twice. The first time it has received 1 and passes that on. The second time it has
received 1 and 8, and passes on 9: the 1 goes to $x$ once more. (If it passed on only what is new, the 8, the result would be right. But that is
walking every path again.)

So each node must pass on exactly once. Is that enough?
"""

# %% name="predict_once"
once = predict(
    "L, a and b pass on exactly once, in this order: L, a, b. Which gradient does x end with?",
    numbers=["x.grad"],
)
once

# %% name="reveal_once" tags=["reveal"]
L, b, a, x = puzzle()
for node in (L, a, b):
    pass_on(node)
print("In the order L, a, b:")
print("x.grad", x.grad, "  a.grad", a.grad)
once.reveal(x.grad)

# %% [markdown]
r"""
In the end $a$ has received all of its 9. But it passed on before the message from $b$ came, and so that message never reached $x$. The other
order:
"""

# %% name="right_order"
L, b, a, x = puzzle()
for node in (L, b, a):
    pass_on(node)
print("L, b, a:  x.grad", x.grad, "  a.grad", a.grad)

# %% [markdown]
r"""
So the rule has two halves: **a node passes on once, and only when every message to it has arrived.** All nodes that use it must come
before it.

An order in which every node stands *after* its parents is called a **topological order**. The order of computing is one: nothing can be
computed before its parents. Backward, we go through it in reverse. This function finds such an order: first the parents, then the node.
"""


# %% name="parents_first"
def parents_first(node, order):
    if node not in order:
        for parent in node.parents:
            parents_first(parent, order)
        order.append(node)
    return order


def backward(result):
    result.grad = 1.0
    for node in reversed(parents_first(result, [])):
        pass_on(node)


L, b, a, x = puzzle()
backward(L)
print("the puzzle:", x.grad)

x, y = Number(3.0), Number(5.0)
z = x * x * y * y
w = z * z
backward(w)
print("w:         ", x.grad, y.grad)

# %% name="against_torch"
xt = torch.tensor(3.0, requires_grad=True)
yt = torch.tensor(5.0, requires_grad=True)
zt = xt * xt * yt * yt
(zt * zt).backward()
print("PyTorch:   ", xt.grad.item(), yt.grad.item())

# %% [markdown]
r"""
That is an engine. It has no idea what `+` or `*` is: it knows parents, local derivatives, and an order. And it adds up at **every** node.
You may read that adding up belongs to additions, and that a multiplication should set the gradient of its inputs. But what matters is
not which operation sends a message. It is that several messages can arrive.

## 4. Operate it

Below is PyTorch's own backward pass for the puzzle, recorded while it ran. The buttons, or the arrow keys, go through it one event at a time. Say
what you expect before each step:

1. Which node passes on first? What does it send, and to whom?
2. When the first message arrives at $a$: does $a$ pass it on at once?
3. What does $a$ receive in the end, and what does it send to $x$?
4. How many messages are sent before the one that reaches $x$?
"""

# %% name="stepper"
x = torch.tensor(2.0, requires_grad=True)
a = x**2
b = a**2
L = a + b
backward_pass = record(L)
step(backward_pass)

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. The addition. It sends 1 to $a$, and 1 to $b$.
2. No. It waits: a second message is still to come. First $b$ passes on.
3. Its sum is 9. It sends 36 to $x$.
4. Three: two from the addition, and one from $b$. There is one message for each arrow of the graph.

When a node has passed on, PyTorch frees what the node had kept for its backward. Unit 04 is about that.

</details>

Now the engine of this lesson beside PyTorch's. A `Diary` keeps the gradients as they are after each node's turn. It is given the result, and
then each value under its name. Go through the steps again:
on the right, or below, this lesson's engine goes along.
"""

# %% name="side_by_side"
from course_utils.graph import Diary

L, b, a, x = puzzle()
diary = Diary(L, L=L, b=b, a=a, x=x)
for node in (L, b, a):
    pass_on(node)
    diary.note(node)
step(backward_pass, beside=diary)

# %% [markdown]
r"""
Change the order in this cell to `(L, a, b)`, and run it again. At which step do the two engines part? Then write `(L, a, b, a)`: that is
program two.

<details><summary>What you could see</summary>

With `(L, a, b)` they part at this engine's second turn. PyTorch's second node is $b$. Here it is $a$, and it sends $x$ a gradient that is not
complete. With `(L, a, b, a)`, $a$ sends a second time, and what it sent before is contained in it once more.

</details>

## 5. One backward, however many inputs

The nudge needs no graph and no engine. Why not train networks with it? Count. Below, $L$ is the sum of the squares of $n$ inputs. To
nudge in the cheapest way, to one side only, one computes $L$ once as it is, and once more for each input.
"""


# %% name="sum_of_squares"
def sum_of_squares(inputs):
    total = inputs[0] ** 2
    for value in inputs[1:]:
        total = total + value**2
    return total


# %% name="predict_cost"
cost = predict(
    "With 100 inputs there are 199 operations: 100 squares and 99 additions. How many operations does it take to nudge every input to one side? "
    "And how many messages does one backward pass send?",
    numbers=["operations", "messages"],
)
cost

# %% name="reveal_cost" tags=["reveal"]
print("inputs  operations   to nudge them all   messages of one backward")
for n in (1, 10, 100):
    inputs = [Number(float(i + 1)) for i in range(n)]
    order = parents_first(sum_of_squares(inputs), [])
    operations = sum(len(node.parents) > 0 for node in order)
    messages = sum(len(node.parents) for node in order)
    print(f"{n:6} {operations:11} {(n + 1) * operations:19,} {messages:26}")
cost.reveal((n + 1) * operations, messages)

# %% [markdown]
r"""
Nudging costs one forward for each input. The backward pass costs one message for each arrow of the graph, and gives **all** gradients at once.
With twice the inputs, the backward pass costs twice as much, and the nudging four times as much. With a million parameters only one of the two is possible. This is the
reason why gradients travel backward.

It works because there is one result. For the gradients of a hundred results, one would need a hundred backward passes.

## 6. Ten thousand operations in a row

A network that reads a long text word by word makes chains of many thousand operations. Does our engine go along?
"""


# %% name="chain"
def chain(x, length):
    y = x
    for _ in range(length):
        y = y + x
    return y


# %% name="predict_deep"
deep = predict(
    "y = x, and then 10,000 times y = y + x. What does backward(y) do?",
    choices=["it gives 10001.0", "it gives 10000.0", "it raises an error", "it never ends"],
)
deep

# %% name="reveal_deep" tags=["reveal"]
x = Number(1.0)
print("backward(chain(x, 10_000)):")
try:
    backward(chain(x, 10_000))
    seen = f"it gives {x.grad}"
except RecursionError as error:
    seen = "it raises an error"
    print(type(error).__name__)
deep.reveal(seen)

# %% [markdown]
r"""
`parents_first` calls itself for each parent. Python usually allows 1,000 calls inside each other, and here each node of the chain is one more.
Graphs must be walked with a loop.

PyTorch's engine does it by counting. For each node it counts **how many messages are to come**. When a message arrives, it counts
down. At 0 the node is ready to pass on. No sorted list is needed.
"""


# %% name="count_messages"
def count_messages(result):
    """For each node behind the result, how many messages it will receive."""
    missing = {result: 0}
    found = [result]
    for node in found:  # the list grows while we go through it
        for parent in node.parents:
            if parent not in missing:
                missing[parent] = 0
                found.append(parent)
            missing[parent] += 1
    return missing


def backward_by_counting(result):
    missing = count_messages(result)
    result.grad = 1.0
    ready = [result]
    while ready:
        node = ready.pop()
        pass_on(node)
        for parent in node.parents:
            missing[parent] -= 1
            if missing[parent] == 0:
                ready.append(parent)


x = Number(1.0)
backward_by_counting(chain(x, 10_000))
xt = torch.tensor(1.0, requires_grad=True)
chain(xt, 10_000).backward()
print("by counting:", x.grad, "  PyTorch:", xt.grad.item())

# %% [markdown]
r"""
## 7. A gradient can come in half way

A backward pass need not begin at the end. If every path from $L$ to $x$ goes through $y$, the way back can be cut in two at $y$. The part after
$y$ tells $\partial L/\partial y$; this gradient at the cut is called the **head gradient**. The part before $y$ needs nothing else from $L$. (In
the puzzle, a cut at $b$ would not do: the path over $a$ goes round it. Beginning at $b$ gives only the 32 of its own path.)

In PyTorch, `y.backward(head)` begins at $y$ with the incoming gradient `head`. Here $y = x\,x$ and $z = 3\,y$, and $L$ is the sum of the entries of
$z$. So the head gradient at $y$ is 3 for each entry.
"""

# %% name="head"
x = torch.tensor([1.0, 5.0], requires_grad=True)
y = x * x
z = 3 * y
head = torch.tensor([3.0, 3.0])  # how L changes with y
z.sum().backward()
print("from L to x in one go:", x.grad.tolist())

# %% name="predict_head"
half = predict(
    "The same computation, but the backward pass begins with z.backward(head) in place of y.backward(head). What is x.grad?",
    choices=["[6.0, 30.0]", "[18.0, 90.0]", "an error, because head does not belong to z"],
)
half


# %% name="reveal_head" tags=["reveal"]
def anew():
    x = torch.tensor([1.0, 5.0], requires_grad=True)
    y = x * x
    return x, y, 3 * y


x, y, z = anew()
y.backward(head)
print("y.backward(head):", x.grad.tolist())

x, y, z = anew()
z.backward(head)
print("z.backward(head):", x.grad.tolist())
half.reveal(str(x.grad.tolist()))

# %% [markdown]
r"""
The two tensors have the same shape, so PyTorch cannot notice. The factor 3 lies between $z$ and $y$, and it is in `head` already. It counts
twice. **The argument of `t.backward(...)` is the gradient of the result with respect to `t` itself.**

## 8. From numbers to tensors

What changes when nodes hold tensors? The graph does not: parents, messages, waiting, order are the same. Only a local derivative is no
longer one number that a message is multiplied by. In its place stands the backward of unit 01: a function that takes the incoming
gradient and returns one gradient for each parent, in the shape of that parent. With broadcasting, it sums what was copied.

## What you can do now

- You can draw the graph of a computation, and say how many operations are in it: each once, however often its result is used.
- You can compute a gradient as a sum over paths, and say why no engine does it that way.
- You can say **when** a node may pass its gradient on, and name what goes wrong when it does so too early, too often, or when a message
  replaces another.
- You can say why one backward pass is enough for any number of inputs, and why it needs no recursion.

In the exercises, `exercises/02_computation_graph.ipynb`, you put all of it together: an engine for tensors that gives the same gradients
as PyTorch's.

**The next question.** PyTorch recorded all this because we wrote `requires_grad=True`. Recording costs memory. Who decides what is recorded, and
where does it stop? That is unit 03.
"""
