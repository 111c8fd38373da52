# %% [markdown]
r"""
# Exercises 07 · A gradient that lies on purpose

These exercises go with the lesson `notebooks/07_gradient_reversal.ipynb`. Read the lesson first.

You write the layer in two ways, say where it turns what, mend programs that turn too much or too little, and train a network against a domain head.
No exercise needs the answer to another one. Hints wait inside the result of a check; each one opens the next.
"""

# %% name="setup"
import math

import torch
from torch import nn
from torch.nn import functional

from course_utils import check, progress
from course_utils.adversarial import reverse, train

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)

# %% [markdown]
r"""
`reverse(x, factor)` is a reversal layer that works. Use it wherever an exercise does not ask you to write one.

## 1. Write: the layer

Write the gradient reversal layer with its factor. Others call it as `Reversal.apply(x, factor)`, with a plain number as the factor. The result has the values of `x`; a gradient that passes is
multiplied by `-factor`.

It is used several times in one network, with different factors, and beside other branches. Write it in two or in three parts, as you like (with `setup_context`, the forward gets no `ctx`).
"""


# %% name="reversal_layer" tags=["answer"]
class Reversal(torch.autograd.Function):
    """Forward: x. Backward: the incoming gradient times -factor."""

    ### BEGIN STUB
    # @staticmethod
    # def forward(ctx, x, factor):
    #     raise NotImplementedError("write your answer here")
    #
    # @staticmethod
    # def backward(ctx, grad_output):
    #     raise NotImplementedError("write your answer here")
    ### END STUB
    ### BEGIN SOLUTION
    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.factor * grad_output, None

    ### END SOLUTION


# %% name="reversal_layer.check" tags=["check"]
check("reversal_layer", Reversal)

# %% [markdown]
r"""
## 2. Write: without a Function

Write a reversal layer without a Function and without a hook, with PyTorch's own operations and `detach`. Its value must be `x` to the last digit, whatever the factor is. (Infinite numbers do not occur.)
"""


# %% name="reverse_by_detach" tags=["answer"]
def reverse_by_detach(x, factor):
    ### BEGIN SOLUTION
    still = x.detach()
    return still + factor * (still - x)
    ### END SOLUTION


# %% name="reverse_by_detach.check" tags=["check"]
check("reverse_by_detach", reverse_by_detach)

# %% [markdown]
r"""
## 3. Predict: who is turned

A network of single numbers. `x = 2.0` is the input. The weights `w = 3.0`, `a = 5.0` and `d = 8.0` require a gradient.

```
h = w * x                     # the feature
q = h + 1
L = a * h + d * reverse(q, 0.5)
L.backward()
```

Which gradients do the three weights get?
"""

# %% name="predict_turned" tags=["answer"]
### BEGIN STUB
# grads = (..., ..., ...)  # w.grad, a.grad, d.grad
### END STUB
### BEGIN SOLUTION
grads = (2.0, 6.0, 7.0)
### END SOLUTION

# %% name="predict_turned.check" tags=["check"]
check("predict_turned", grads)

# %% [markdown]
r"""
## 4. Choose: one loss for two players

One backward pass, and one optimizer, which makes the loss small, for all parameters. The *domain head* shall become better at its own loss. The *features* shall make the label loss small and the domain loss large. `label_loss(h)` and `domain_loss(h)` are
what the two heads lose when they read `h`.

```
a    label_loss(h) - 0.5 * domain_loss(h)
b    label_loss(h) + 0.5 * domain_loss(reverse(h, 1.0))
c    label_loss(h) - 0.5 * domain_loss(reverse(h, 1.0))
d    label_loss(h) + reverse(domain_loss(h), 0.5)
```

Which one does what is wanted? Answer with one letter in quotation marks.
"""

# %% name="choose_loss" tags=["answer"]
### BEGIN SOLUTION
choice = "b"
### END SOLUTION

# %% name="choose_loss.check" tags=["check"]
check("choose_loss", choice)

# %% [markdown]
r"""
## 5. Mend: the schedule

`lambda_at` is to give the factor at one batch of a training: $\frac{2}{1 + e^{-10 p}} - 1$, where the progress $p$ is 0 at the very first batch and rises by the same amount at each batch, so that it would reach 1 at the first batch after the last one. `batch` and `epoch`
count from 0; `batches` is the number of batches in an epoch, `epochs` the number of epochs. Two mistakes are in it.
"""


# %% name="mend_schedule" tags=["answer"]
def lambda_at(batch, epoch, batches, epochs):
    ### BEGIN STUB
    # progress = batch + epoch * batches / epochs / batches
    # return 2 / (1 + math.exp(10 * progress)) - 1
    ### END STUB
    ### BEGIN SOLUTION
    progress = (batch + epoch * batches) / (epochs * batches)
    return 2 / (1 + math.exp(-10 * progress)) - 1
    ### END SOLUTION


# %% name="mend_schedule.check" tags=["check"]
check("mend_schedule", lambda_at)

# %% [markdown]
r"""
## 6. Mend: a network that turns too much

`TwoHeads()(x, factor)` gives what the label head and the domain head say of `x`. Gradients from the domain head are to be multiplied by `-factor` on their way into the features. Everything else is to be as without a layer. As it is, the label head suffers,
and the schedule has no effect. Mend the class. Leave the names and sizes of its three layers as they are.
"""


# %% name="mend_two_heads" tags=["answer"]
class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(2, 3)
        self.label = nn.Linear(3, 1)
        self.domain = nn.Linear(3, 1)

    ### BEGIN STUB
    # def turned(self, h, factor=1.0):
    #     return reverse(h, factor)
    #
    # def forward(self, x, factor=1.0):
    #     h = self.turned(torch.tanh(self.features(x)))
    #     return self.label(h), self.domain(h)
    ### END STUB
    ### BEGIN SOLUTION
    def forward(self, x, factor):
        h = torch.tanh(self.features(x))
        return self.label(h), self.domain(reverse(h, factor))

    ### END SOLUTION


# %% name="mend_two_heads.check" tags=["check"]
check("mend_two_heads", TwoHeads)

# %% [markdown]
r"""
## 7. Mend: a hook

Somebody turns gradients with a hook. `both_heads(h, label, domain, factor)` gets the features and two functions, and returns `label(h)` and `domain(h)`. What `domain` sends back to `h` is to be multiplied by `-factor`, and nothing else. It must also work where
nothing is recorded. Mend it, and keep to hooks: `reverse` is not to be used here.
"""


# %% name="mend_hook" tags=["answer"]
def both_heads(h, label, domain, factor):
    ### BEGIN STUB
    # h.register_hook(lambda grad: -factor * grad)
    # return label(h), domain(h)
    ### END STUB
    ### BEGIN SOLUTION
    own = h.view_as(h)
    if own.requires_grad:
        own.register_hook(lambda grad: -factor * grad)
    return label(h), domain(own)
    ### END SOLUTION


# %% name="mend_hook.check" tags=["check"]
check("mend_hook", both_heads)

# %% [markdown]
r"""
## 8. Predict: once, twice, three times

`x = 2.0`, and $z = r(x)^4$, where `r(x)` is `reverse(x, 0.5)`. Each derivative is computed by autograd from the one before, with `create_graph=True`:

```
z = reverse(x, 0.5) ** 4
(first,) = torch.autograd.grad(z, x, create_graph=True)
(second,) = torch.autograd.grad(first, x, create_graph=True)
(third,) = torch.autograd.grad(second, x)
```

(Without the layer: $4x^3 = 32$, $12x^2 = 48$, $24x = 48$.) What are the three?
"""

# %% name="predict_derivatives" tags=["answer"]
### BEGIN STUB
# derivatives = (..., ..., ...)  # first, second, third
### END STUB
### BEGIN SOLUTION
derivatives = (-16.0, 12.0, -6.0)
### END SOLUTION

# %% name="predict_derivatives.check" tags=["check"]
check("predict_derivatives", derivatives)

# %% [markdown]
r"""
## 9. Write: train against the domain head

Write the loss of domain-adversarial training. `net.features`, `net.label` and `net.domain` are the three networks of the lesson. `batch.source` and `batch.target` are 64 points each, `batch.labels` are the labels of the source points, and `batch.domains` is 0 for each
source point and then 1 for each target point. The loss is the sum of two means, each by `functional.binary_cross_entropy_with_logits(logits, wanted)`: that of the label head on the source, and that of the domain head on all points. The gradients of the
domain head reach the features multiplied by `-factor`.

The check looks at the loss and its gradients, and then trains with it, which takes a few seconds: with three seeds, 1,000 steps each. More than 0.85 of the target points must be named right with at least two of the three.
(Training on the source only comes to about 0.7.) The cell behind the check trains one network for you to look at.
"""


# %% name="moons_loss" tags=["answer"]
def moons_loss(net, batch, factor):
    ### BEGIN SOLUTION
    source, target = net.features(batch.source), net.features(batch.target)
    label_loss = functional.binary_cross_entropy_with_logits(net.label(source), batch.labels)
    turned = reverse(torch.cat([source, target]), factor)
    domain_loss = functional.binary_cross_entropy_with_logits(net.domain(turned), batch.domains)
    return label_loss + domain_loss
    ### END SOLUTION


# %% name="moons_loss.check" tags=["check"]
check("moons_loss", moons_loss)

# %% name="look_at_it"
from course_utils import explore_moons


def trained():
    try:
        return explore_moons(train(seed=6, loss=moons_loss), loss=moons_loss).picture()
    except NotImplementedError:
        return "Exercise 9 is still open."


trained()

# %% [markdown]
r"""
## Where you stand
"""

# %% name="progress" tags=["personal"]
progress()
