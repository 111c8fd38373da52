# %% [markdown]
r"""
# Exercises 04 · The recorded graph

These exercises go with the lesson `notebooks/04_grad_fn.ipynb`. Read the lesson first. In all of them autograd is switched on.

A check runs your code on inputs that you have not seen. It never needs a particular way of writing. Hints wait inside its result; each
one opens the next. No exercise needs the answer to another one.
"""

# %% name="setup"
import torch

from course_utils import check, progress

torch.set_default_dtype(torch.float64)

# %% [markdown]
r"""
## 1. Predict: which graphs can be gone through twice

`x` and `y` are tensors with two entries each, and both require a gradient. After each line, `t.sum().backward()` is called twice, with nothing
in between.

```
a.   t = (5 - x) + x
b.   t = x / 2
c.   t = x * y + 1
d.   t = x.tanh()
e.   t = x[0] + x[1]
```

For each line: 1 if the second call works, 0 if it raises an error.
"""

# %% name="predict_second_pass" tags=["answer"]
### BEGIN STUB
# works = (..., ..., ..., ..., ...)  # a, b, c, d, e
### END STUB
### BEGIN SOLUTION
works = (1, 0, 0, 0, 1)
### END SOLUTION

# %% name="predict_second_pass.check" tags=["check"]
check("predict_second_pass", works)

# %% [markdown]
r"""
## 2. Write: walk to the leaves

Return a list of the leaves that `result` depends on: every tensor in whose `.grad` a backward pass from `result` would add something. Each
of them stands in the list once; the order does not matter. `result` itself is no leaf. Walk the graph from `result.grad_fn`, and leave every `.grad` as it is. It
must also work for 1,500 operations in a row.
"""


# %% name="leaves_behind" tags=["answer"]
def leaves_behind(result):
    ### BEGIN SOLUTION
    leaves, seen, waiting = [], set(), [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        waiting.extend(following for following, _ in node.next_functions)
    return leaves
    ### END SOLUTION


# %% name="leaves_behind.check" tags=["check"]
check("leaves_behind", leaves_behind)

# %% [markdown]
r"""
## 3. Mend: a loop that drags its history along

A small recurrent network: `h` goes from each iteration to the next. The function returns the gradient of `w` for each iteration, and the mean
of the losses. It got `retain_graph=True` because of an error message, and now it runs slower and slower, and the memory grows.

Mend it. Each gradient is to belong to its own iteration: `h` comes in from the last one as a given number. And nothing that the function returns may
hold on to a graph.
"""


# %% name="mend_history" tags=["answer"]
def train(w, inputs):
    h = torch.ones_like(inputs[0])
    gradients, total = [], 0.0
    for x in inputs:
        ### BEGIN STUB
        # h = torch.tanh(w * h + x)
        # loss = (h - 0.5) ** 2
        # w.grad = None
        # loss.backward(retain_graph=True)
        # gradients.append(w.grad)
        # total = total + loss
        ### END STUB
        ### BEGIN SOLUTION
        h = torch.tanh(w * h.detach() + x)
        loss = (h - 0.5) ** 2
        w.grad = None
        loss.backward()
        gradients.append(w.grad)
        total = total + loss.item()
        ### END SOLUTION
    return gradients, total / len(inputs)


# %% name="mend_history.check" tags=["check"]
check("mend_history", train)

# %% [markdown]
r"""
## 4. Mend: a step between forward and backward

`w` and `v` are the parameters of `optimizer`. Two losses are made from their product, and the function should take **one** step with the gradients of both
losses, added up, at the values that `w` and `v` have when it is called. As it stands, it raises an error.
"""


# %% name="mend_step_between" tags=["answer"]
def update(w, v, optimizer):
    product = w * v
    first = product.sum()
    second = (product**2).sum()
    optimizer.zero_grad()
    ### BEGIN STUB
    # first.backward(retain_graph=True)
    # optimizer.step()
    # second.backward()
    # optimizer.step()
    ### END STUB
    ### BEGIN SOLUTION
    (first + second).backward()
    optimizer.step()
    ### END SOLUTION


# %% name="mend_step_between.check" tags=["check"]
check("mend_step_between", update)

# %% [markdown]
r"""
## 5. Choose: read a message about a changed tensor

This program stops in its last line:

```
1   x = torch.tensor([0.3, -0.8, 1.1], requires_grad=True)
2   a = x * 2
3   a += 1
4   b = a.exp()
5   a *= 3
6   c = b * a
7   b -= 0.5
8   c.sum().backward()
```

> RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: [torch.DoubleTensor [3]], which is output
> 0 of Sub, is at version 1; expected version 0 instead.

Which line has to be mended?

- **a.** Line 3. It changes `a` in place.
- **b.** Line 5. It changes `a` in place, although line 4 has used it.
- **c.** Line 7. It changes `b` in place.
- **d.** Line 8. It needs `retain_graph=True`.

Answer with one letter in quotation marks.
"""

# %% name="choose_changed" tags=["answer"]
### BEGIN SOLUTION
choice = "c"
### END SOLUTION

# %% name="choose_changed.check" tags=["check"]
check("choose_changed", choice)

# %% [markdown]
r"""
## 6. Mend: a value that the backward still needs

The function should return the sigmoid of `a`, entry by entry, but nowhere more than `limit`. Where `limit` stands, the result does not depend
on `a`. Its forward is right. Its backward raises an error. Mend it, and leave `a` as it is.
"""


# %% name="mend_capped" tags=["answer"]
def capped(a, limit):
    ### BEGIN STUB
    # s = torch.sigmoid(a)
    # s[s > limit] = limit
    ### END STUB
    ### BEGIN SOLUTION
    s = torch.sigmoid(a).clone()
    s[s > limit] = limit
    ### END SOLUTION
    return s


# %% name="mend_capped.check" tags=["check"]
check("mend_capped", capped)

# %% [markdown]
r"""
## 7. Predict: the gradients after an assignment

```
x = torch.tensor([2.0, 3.0, 4.0], requires_grad=True)
v = torch.tensor(5.0, requires_grad=True)
a = x * x
a[1] = v * x[0]
L = 7 * a[0] + 3 * a[1] + a[2]
L.backward()
```

Which gradients do `x[0]`, `x[1]`, `x[2]` and `v` get?
"""

# %% name="predict_overwritten" tags=["answer"]
### BEGIN STUB
# gradients = (..., ..., ..., ...)  # x.grad[0], x.grad[1], x.grad[2], v.grad
### END STUB
### BEGIN SOLUTION
gradients = (43.0, 0.0, 8.0, 6.0)
### END SOLUTION

# %% name="predict_overwritten.check" tags=["check"]
check("predict_overwritten", gradients)

# %% [markdown]
r"""
## 8. Mend: change a leaf

`w` is a leaf that requires a gradient, and `w.grad` holds one. This function should take one step of gradient descent, in the tensor `w` itself. It
raises an error.

Mend it. Afterwards, `w` must be a leaf that requires a gradient, as before; `w.grad` stays; recording goes on in the rest of the program. And if some
earlier graph still needs the old values of `w`, its backward must be able to notice that they have changed.
"""


# %% name="mend_update" tags=["answer"]
def sgd_step(w, lr):
    ### BEGIN STUB
    # w -= lr * w.grad
    ### END STUB
    ### BEGIN SOLUTION
    with torch.no_grad():
        w -= lr * w.grad
    ### END SOLUTION


# %% name="mend_update.check" tags=["check"]
check("mend_update", sgd_step)

# %% [markdown]
r"""
## 9. Write: a hook that watches and changes

`y` is a tensor in the middle of a graph. After `noted = clip_and_note(y, limit)`, each later backward pass is to do two things when the gradient
of `y` arrives: append it to the list `noted`, as it arrived; and pass it on with every entry clipped, so that it lies between `-limit` and `limit`.
(`t.clamp(low, high)` returns such a tensor.) Nobody else's gradient may be changed by that. Return the list, which is empty at first.
"""


# %% name="clip_and_note" tags=["answer"]
def clip_and_note(y, limit):
    ### BEGIN SOLUTION
    noted = []

    def hook(gradient):
        noted.append(gradient)
        return gradient.clamp(-limit, limit)

    y.register_hook(hook)
    return noted
    ### END SOLUTION


# %% name="clip_and_note.check" tags=["check"]
check("clip_and_note", clip_and_note)

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
