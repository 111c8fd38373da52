# %% [markdown]
r"""
# Exercises 02 · The computation graph

These exercises go with the lesson `notebooks/02_computation_graph.ipynb`. Read the lesson first.

In the first seven you work on graphs of plain numbers, as in the lesson. In the last two you write an engine for tensors: with `+`, `*`,
`**`, `@`, `exp`, `relu`, `sum`, and broadcasting. At the end it runs beside PyTorch's. No exercise needs the answer to another one.

A check runs your code on inputs that you have not seen. It never needs a particular way of writing. Hints wait inside its result; each
one opens the next.
"""

# %% name="setup"
import torch

from course_utils import check, progress, record, step
from course_utils.checks.given import in_order, sum_to_shape

torch.set_default_dtype(torch.float64)


# %% [markdown]
r"""
This is the lesson's `Number`, for trying things out. `in_order(result)` is handed out ready made: it returns a list of all nodes behind
`result`, each of them once, parents first. `sum_to_shape` is that of unit 01, exercise 9.
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


# %% [markdown]
r"""
## 1. Predict: how many operations are recorded

```
p = x * y * y * y
q = (x * y) ** 2
r = p * p
```

`x` and `y` are tensors that require a gradient. How many operations has PyTorch recorded behind `p`, behind `q`, and behind `r`? Count
each operation once. Do not count the inputs `x` and `y`.
"""

# %% name="predict_nodes" tags=["answer"]
### BEGIN STUB
# operations = (..., ..., ...)  # behind p, behind q, behind r
### END STUB
### BEGIN SOLUTION
operations = (3, 2, 4)
### END SOLUTION

# %% name="predict_nodes.check" tags=["check"]
check("predict_nodes", operations)

# %% [markdown]
r"""
## 2. Predict: two paths

$u = x + y$ and $L = u\,x$, at $x = 5$ and $y = -2$.

Do it with pencil and paper: what are $\partial L/\partial x$ and $\partial L/\partial y$?
"""

# %% name="predict_two_paths" tags=["answer"]
### BEGIN STUB
# gradients = (..., ...)  # the gradient of x, then the gradient of y
### END STUB
### BEGIN SOLUTION
gradients = (8.0, 5.0)
### END SOLUTION

# %% name="predict_two_paths.check" tags=["check"]
check("predict_two_paths", gradients)

# %% [markdown]
r"""
## 3. Write: the sum over paths

`result` and `x` are nodes of a graph. Each node has `node.parents`, and `node.slopes` with the local derivative for each parent, in the
same order. Return the gradient of `x`: for each path from `result` back to `x`, the product of the local derivatives along it, and then
the sum of these products. A node without parents that is not `x` leads nowhere: it brings 0.
"""


# %% name="sum_over_paths" tags=["answer"]
def sum_over_paths(result, x):
    ### BEGIN SOLUTION
    if result is x:
        return 1.0
    total = 0.0
    for parent, slope in zip(result.parents, result.slopes, strict=True):
        total = total + slope * sum_over_paths(parent, x)
    return total
    ### END SOLUTION


# %% name="sum_over_paths.check" tags=["check"]
check("sum_over_paths", sum_over_paths)

# %% [markdown]
r"""
## 4. Choose: the price of walking every path

A value is multiplied by itself, 20 times in a row:

```
t = x
for _ in range(20):
    t = t * t
```

A function like `sum_over_paths` is called for the last `t`. It calls itself once for each parent of a node, and it does not remember
where it has been. How many calls are there in all?

- **a.** 21: one for each node.
- **b.** 41: one for the result, and one for each arrow of the graph.
- **c.** 441: one for each pair of nodes.
- **d.** 2,097,151: one for each way to arrive at a node.

Answer with one letter in quotation marks.
"""

# %% name="choose_cost" tags=["answer"]
### BEGIN SOLUTION
choice = "d"
### END SOLUTION

# %% name="choose_cost.check" tags=["check"]
check("choose_cost", choice)

# %% [markdown]
r"""
## 5. Mend: a backward that loses messages

This backward visits each node once, in the right order. It is right for `L = x * y`, and wrong for `L = a * b + a * c`. Its author
heard that gradients must be added up "at additions", and answered: "There is no addition that uses `a`, so nothing is to be added up."
Is that so? Mend the function. Each node begins with a `grad` of 0.
"""


# %% name="mend_overwriting" tags=["answer"]
def backward_numbers(result):
    result.grad = 1.0
    for node in reversed(in_order(result)):
        for parent, slope in zip(node.parents, node.slopes, strict=True):
            ### BEGIN STUB
            # parent.grad = node.grad * slope
            ### END STUB
            ### BEGIN SOLUTION
            parent.grad = parent.grad + node.grad * slope
            ### END SOLUTION


# %% name="mend_overwriting.check" tags=["check"]
check("mend_overwriting", backward_numbers)

# %% [markdown]
r"""
## 6. Write: a topological order

Return a list of all nodes behind `result`, `result` included. Each node stands in it once, and after all of its parents. Of the many
such orders, any one will do. It must also work for 10,000 operations in a row, so do not let the function call itself. (And write it
yourself, without `in_order`.)

You need `node.parents` only. Nodes can be members of a set and keys of a dictionary.
"""


# %% name="topological_order" tags=["answer"]
def topological_order(result):
    ### BEGIN SOLUTION
    order, placed = [], set()
    stack = [(result, False)]
    while stack:
        node, parents_are_placed = stack.pop()
        if node in placed:
            continue
        if parents_are_placed:
            placed.add(node)
            order.append(node)
        else:
            stack.append((node, True))
            for parent in node.parents:
                stack.append((parent, False))
    return order
    ### END SOLUTION


# %% name="topological_order.check" tags=["check"]
check("topological_order", topological_order)

# %% [markdown]
r"""
## 7. Mend: a gradient that comes in half way

A large computation is split between two machines. This one computes `y` from `x`. The other one computes everything after `y`, up to a
number `L`, and sends back `head`: the gradient of `L` with respect to `y`. (`x` is used nowhere else.) The other machine's first operation is `z = 3 * y`; it was copied
here "to be complete". Mend the one line below it, so that `x.grad` becomes the gradient of `L` with respect to `x`.

In this exercise autograd is switched on.
"""


# %% name="head_gradient" tags=["answer"]
def gradient_of_x(x, head):
    x = x.clone().requires_grad_()
    y = x * x
    z = 3 * y
    ### BEGIN STUB
    # z.backward(head)
    ### END STUB
    ### BEGIN SOLUTION
    y.backward(head)
    ### END SOLUTION
    return x.grad


# %% name="head_gradient.check" tags=["check"]
check("head_gradient", gradient_of_x)

# %% [markdown]
r"""
## 8. Write: the operations of an engine

Now with tensors. A `Value` holds a tensor, and remembers its parents. A local derivative is no longer a single number. So in place of the
slopes stands a function, `pass_back`: it gets the gradient of this Value, and returns a tuple with **one gradient for each parent**, in
their order. It is the backward of unit 01; the inputs need not be passed to it, because it is defined where they are known.

`__add__` is complete. It defines `pass_back` inside, and uses `sum_to_shape`, because either side may have been broadcast. Write the other
operations in the same way. `n` is a whole number. In `self @ other` both have two dimensions. `sum` adds up all entries.
"""


# %% name="operations" tags=["answer"]
class Value:
    """A tensor that remembers what it was made from."""

    def __init__(self, data, parents=(), pass_back=lambda incoming: ()):
        self.data = data
        self.parents = parents
        self.pass_back = pass_back
        self.grad = None  # nothing has arrived yet

    def __add__(self, other):
        def pass_back(incoming):
            return sum_to_shape(incoming, self.data.shape), sum_to_shape(incoming, other.data.shape)

        return Value(self.data + other.data, (self, other), pass_back)

    ### BEGIN STUB
    # def __mul__(self, other):
    #     raise NotImplementedError("write your answer here")
    #
    # def __pow__(self, n):
    #     raise NotImplementedError("write your answer here")
    #
    # def __matmul__(self, other):
    #     raise NotImplementedError("write your answer here")
    #
    # def exp(self):
    #     raise NotImplementedError("write your answer here")
    #
    # def relu(self):
    #     raise NotImplementedError("write your answer here")
    #
    # def sum(self):
    #     raise NotImplementedError("write your answer here")
    ### END STUB
    ### BEGIN SOLUTION
    def __mul__(self, other):
        def pass_back(incoming):
            return (
                sum_to_shape(incoming * other.data, self.data.shape),
                sum_to_shape(incoming * self.data, other.data.shape),
            )

        return Value(self.data * other.data, (self, other), pass_back)

    def __pow__(self, n):
        def pass_back(incoming):
            return (incoming * n * self.data ** (n - 1),)

        return Value(self.data**n, (self,), pass_back)

    def __matmul__(self, other):
        def pass_back(incoming):
            return incoming @ other.data.T, self.data.T @ incoming

        return Value(self.data @ other.data, (self, other), pass_back)

    def exp(self):
        data = self.data.exp()

        def pass_back(incoming):
            return (incoming * data,)

        return Value(data, (self,), pass_back)

    def relu(self):
        def pass_back(incoming):
            return (incoming * (self.data > 0),)

        return Value(self.data.clamp(min=0), (self,), pass_back)

    def sum(self):
        def pass_back(incoming):
            return (incoming.expand(self.data.shape),)

        return Value(self.data.sum(), (self,), pass_back)

    ### END SOLUTION


# %% name="operations.check" tags=["check"]
check("operations", Value)

# %% [markdown]
r"""
## 9. Write: the backward pass

The last part. Give `result.grad` the incoming gradient, and let every Value behind `result` end with its gradient in `grad`. At the
beginning every `grad` is None. Nothing is returned.

You may use `in_order`, or your own order from exercise 6. The check brings Values of its own, with `data`, `parents`, `pass_back` and
`grad`. It compares your gradients with those of `torch.autograd` on random expressions, and on a chain of 2,000 operations.
"""


# %% name="engine_backward" tags=["answer"]
def backward(result, incoming):
    ### BEGIN SOLUTION
    result.grad = incoming
    for node in reversed(in_order(result)):
        for parent, gradient in zip(node.parents, node.pass_back(node.grad), strict=True):
            if parent.grad is None:
                parent.grad = gradient
            else:
                parent.grad = parent.grad + gradient
    ### END SOLUTION


# %% name="engine_backward.check" tags=["check"]
check("engine_backward", backward)

# %% [markdown]
r"""
## Your engine beside PyTorch's

The next cells use your `Value` and your `backward`. When exercises 8 and 9 are solved, run them again. Until then, the first one shows
PyTorch's pass alone. Afterwards it shows yours beside it, one operation after the other.
"""

# %% name="stepped"
from course_utils.checks.given import diary_of


def expression(x, y):
    u = x * y + x
    return u.exp() * u


x = torch.tensor(2.0, requires_grad=True)
y = torch.tensor(-0.75, requires_grad=True)
L = expression(x, y)
mine = diary_of(expression, Value, backward, x=x.detach(), y=y.detach())
step(record(L), beside=mine, direction="down")

# %% [markdown]
r"""
And the same computation twice, once with your engine, once with PyTorch's: a small neural network with two layers, a bias that is broadcast,
and a squared error.
"""

# %% name="beside"
from course_utils.checks.given import beside_torch

start = {
    "inputs": torch.tensor([[0.5, -1.0], [1.5, 2.0], [-0.7, 0.3]]),
    "weights": torch.tensor([[1.0, -0.5, 0.3], [0.8, 0.4, -1.2]]),
    "bias": torch.tensor([0.1, 0.2, -0.3]),
    "last": torch.tensor([[0.6], [-1.1], [0.9]]),
    "minus_target": torch.tensor([[-1.0], [0.5], [-2.0]]),
}


def loss(inputs, weights, bias, last, minus_target):
    hidden = (inputs @ weights + bias).relu()
    return ((hidden @ last + minus_target) ** 2).sum()


beside_torch(loss, Value, backward, start)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
