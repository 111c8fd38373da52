# %% [markdown]
r"""
# 08 · Kinks

**What does a derivative mean where there is none?**

ReLU, the largest of several numbers, the absolute value, rounding: networks are full of functions that have no derivative at some points. Autograd gives a
number there all the same. In this lesson you find out which number, who has chosen it, when it matters, and how a single bad point turns every gradient
into `nan`.

You need units 01 to 05, and from unit 06 how a custom Function is written (for section 7). Allow an hour; after section 3 is a good place for a pause. (When you
come back, run the cells above with Run All Above Selected Cell.) Make each prediction before you go on. The output that answers a question stays folded until you run its cell.

## A puzzle

Two networks have the same weights and the same input. One uses `torch.relu(h)`, the other `h.clamp(min=0)`. Both compute $\max(h, 0)$, so all values and the loss agree. Do the gradients?
"""

# %% name="setup"
import torch
from torch.nn import functional

from course_utils import explore_kink, predict

torch.set_num_threads(1)  # the trainings of section 7 are small

# %% name="puzzle"
x = torch.tensor([[3.0, 2.0, 1.0], [1.0, 0.0, 2.0], [4.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
w1 = torch.tensor([[1.0, 2.0], [0.0, 1.0], [4.0, 0.0]], requires_grad=True)
w2 = torch.tensor([[-1.0, 1.0], [-2.0, 3.0]], requires_grad=True)


def loss_with(bend):
    return ((bend(x @ w1) @ w2 - 1) ** 2).sum()


losses, gradients = {}, {}
for name, bend in (("relu", torch.relu), ("clamp", lambda h: h.clamp(min=0))):
    losses[name] = loss_with(bend)
    (gradients[name],) = torch.autograd.grad(losses[name], w1)

difference = gradients["relu"] - gradients["clamp"]
is_2_14 = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 14)
print("the losses:", losses["relu"].item(), losses["clamp"].item())
print("the gradients of w1, relu's minus clamp's:", difference.tolist())
print("PyTorch here is", "2.14 or newer:" if is_2_14 else "older than 2.14:", end=" ")
print("the gradients are the same" if difference.count_nonzero() == 0 else "the gradients are not the same")

# %% [markdown]
r"""
What you see depends on your version of PyTorch. Up to 2.13 one corner differs, by 38, and all else agrees to the last digit. From 2.14 on there is no difference. Nobody made a mistake in either
version. Section 2 finds the place where the 38 comes from.

## 1. A point with two slopes

At $x = 0$ the graph of ReLU has a **kink**: a point where a curve turns suddenly. The slope on its left is 0, the slope on its right is 1. Unit 01 used the nudge as an independent
judge. What does the judge say here?
"""

# %% name="predict_nudge"
nudged = predict(
    "`(relu(0 + h) - relu(0 - h)) / (2 * h)`, the nudge to both sides, with h = 0.001. What does it give?",
    choices=["0", "1", "1/2", "another number for each h"],
)
nudged

# %% name="reveal_nudge" tags=["reveal"]
print("Nudged at 0:")
both = []
for h in (0.1, 0.001, 0.00001):
    up = torch.relu(torch.tensor(h, dtype=torch.float64)).item()
    down = torch.relu(torch.tensor(-h, dtype=torch.float64)).item()
    both.append((up - down) / (2 * h))
    print(f"h = {h:g}: to the right {up / h:g}, to the left {down / -h + 0.0:g}, to both sides {both[-1]:g}")
same = len(set(both)) == 1
claims = {"0": same and both[0] == 0, "1": same and both[0] == 1, "1/2": same and both[0] == 0.5}
nudged.reveal({choice: claims.get(choice, not same) for choice in nudged.choices})

# %% [markdown]
r"""
A smaller step does not help: there are two slopes, and the nudge to both sides gives their mean. **At a kink the judge has no answer.** This is why `gradcheck` (unit 06) must stay away from
kinks.

Is any number as good as another? Draw a straight line through the point. If it stays below the curve, or touches it, the line **supports** the curve, and its slope is called a **subgradient**. For ReLU at 0 these are all slopes from 0
to 1. A subgradient still says something true: "to the right the curve rises at least so fast, to the left it falls at most so fast". A slope of 2 or of -1 would say something false.

### Operate it

Below is a curve with a point on it. Dotted lines support the curve at a kink. The dashed line has the slope that torch's backward gives. Move the point with the slider
(click it, and use the arrow keys).

1. `relu`: move the point from -0.1 over 0 to 0.1. Where are the dotted lines? Which of them is torch's?
2. `abs` at 0: which slopes are possible, and which does torch take?
3. `min(x, 0)` at 0: on which side of the curve are the lines now?
4. `relu(x) - relu(-x)` at 0: is there a kink? What does torch say?
5. `round` at 0.5 and at 0.4. What does torch say anywhere?
"""

# %% name="kink_explorer"
explore_kink(
    {
        "relu": torch.relu,
        "abs": torch.abs,
        "maximum(x, 0)": lambda x: torch.maximum(x, torch.zeros_like(x)),
        "min(x, 0)": lambda x: -torch.relu(-x),
        "leaky_relu(x, 0.3)": lambda x: functional.leaky_relu(x, 0.3),
        "relu(x) - relu(-x)": lambda x: torch.relu(x) - torch.relu(-x),
        "round": torch.round,
        "sqrt": torch.sqrt,
    },
    x=-0.5,
)

# %% [markdown]
r"""
<details><summary>What you could see</summary>

1. Only at 0 itself. torch takes the lowest of them, slope 0.
2. All from -1 to 1. torch takes 0, in the middle.
3. Above it: this curve bends the other way. The slopes between the two sides are the possible ones here too.
4. No: the function is $x$ itself, with slope 1 on both sides. torch says 0 there, which is **not** its slope. Section 3.
5. 0 everywhere, also where the function jumps. Section 6.

</details>

## 2. Each operation picks one

Who decides? Each operation has its own formula, written down by its author. There are many ways to write $\max(x, 0)$.
"""

# %% name="predict_ways"
ways = predict(
    "What are the gradients at 0 of `torch.maximum(x, zero)` and of `torch.where(x >= 0, x, 0)`?",
    numbers=["maximum", "where"],
)
ways

# %% name="reveal_ways" tags=["reveal"]
zero = torch.tensor(0.0)
WAYS = {
    "torch.relu(x)": torch.relu,
    "where(x > 0, x, 0)": lambda x: torch.where(x > 0, x, zero),
    "where(x >= 0, x, 0)": lambda x: torch.where(x >= 0, x, zero),
    "maximum(x, 0)": lambda x: torch.maximum(x, zero),
    "fmax(x, 0)": lambda x: torch.fmax(x, zero),
    "(x + abs(x)) / 2": lambda x: (x + x.abs()) / 2,
    "x * (x > 0)": lambda x: x * (x > 0),
    "hardtanh(x, 0, 9)": lambda x: functional.hardtanh(x, 0.0, 9.0),
    "x.clamp(min=0)": lambda x: x.clamp(min=0),
}


def gradient_at(function, value=0.0):
    x = torch.tensor(value, requires_grad=True)
    return torch.autograd.grad(function(x), x)[0].item()


at_zero = {name: gradient_at(function) for name, function in WAYS.items()}
print("max(x, 0):            value at 0   gradient at 0")
for name, function in WAYS.items():
    print(f"{name:22} {function(zero).item():8g} {at_zero[name]:14g}")
ways.reveal(at_zero["maximum(x, 0)"], at_zero["where(x >= 0, x, 0)"])

# %% [markdown]
r"""
All nine compute the same values (`hardtanh` as far as its upper limit, 9). At 0 they give 0, 1/2 or 1: `where` passes on what the chosen branch gets, `maximum` shares between two equal numbers, ReLU's author chose 0. **Each of these is a subgradient, so each is
right. They are different rights.** None of them is a property of the mathematical function; it belongs to the way in which you wrote it down.

The last row is the story of the puzzle. For years `clamp` let the gradient through at its limits: 1 at 0. PyTorch 2.14 changed that to 0 (and what `fmax` does with two equal numbers, from
1 to 1/2), so your table may say either. A program whose result depends on this number is not defined by what it computes, and that is worth knowing before an update.

Now find the 38. A network meets a kink where a pre-activation is exactly 0.
"""

# %% name="where_38"
h = (x @ w1).detach()
print("the pre-activations:", h.tolist())
sample, unit = (h == 0).nonzero()[0].tolist()
print(f"exactly 0: sample {sample}, hidden unit {unit}")

bent = torch.relu(h).requires_grad_()
(arriving,) = torch.autograd.grad(((bent @ w2 - 1) ** 2).sum(), bent)
print("what arrives there from the loss:", arriving[sample, unit].item())
print("times the sample's inputs:", (arriving[sample, unit] * x[sample]).tolist())

# %% [markdown]
r"""
One number in eight is exactly 0, because all weights and inputs are small whole numbers. 38 arrives there. ReLU multiplies it by 0; the older `clamp` by 1, and passes it on to the weights: 38 times the inputs of that
sample. Relu's minus clamp's is therefore -38 in the last corner.

## 3. The chain rule does not survive

With real derivatives, the chain rule lets you compute the slope of a whole from the slopes of its parts. With choices at kinks it does not.
"""

# %% name="predict_identity"
identity = predict(
    "`relu(x) - relu(-x)` equals x for every x. What gradient does autograd give at x = 0?",
    choices=["1, as for x itself", "0", "2"],
)
identity

# %% name="reveal_identity" tags=["reveal"]
print("relu(x) - relu(-x), at three places:")
for value in (-1.0, 0.0, 1.0):
    print(f"x = {value:4}: gradient {gradient_at(lambda x: torch.relu(x) - torch.relu(-x), value):g}")
got = gradient_at(lambda x: torch.relu(x) - torch.relu(-x))
identity.reveal({"1, as for x itself": got == 1, "0": got == 0, "2": got == 2})

# %% [markdown]
r"""
Each ReLU picks 0 for itself: that is a subgradient of each. Their difference gives 0, and the slope of the whole is 1. So 0 is not even a possible slope here. (With a choice of 1 in both, the result would be
2. With 1/2 it would come out right; but then `relu(x) - relu(relu(x))`, which is 0 everywhere, would get 1/2 - 1/4.) Autograd multiplies and adds the local choices; it never looks at the whole.

### Ties

The largest of several numbers has a kink wherever two of them are equal.
"""

# %% name="predict_ties"
ties = predict(
    "t = [2, 5, 5, 1]. Which gradients do `t.max()` and `t.max(dim=0).values` give?",
    choices=[
        "both [0, 1, 0, 0]",
        "both [0, 0.5, 0.5, 0]",
        "[0, 0.5, 0.5, 0] and [0, 1, 0, 0]",
        "both [0, 1, 1, 0]",
    ],
)
ties


# %% name="reveal_ties" tags=["reveal"]
def shares(function):
    t = torch.tensor([2.0, 5.0, 5.0, 1.0], requires_grad=True)
    return torch.autograd.grad(function(t), t)[0].tolist()


print("Gradients at [2, 5, 5, 1]:")
for name, function in (
    ("t.max()", lambda t: t.max()),
    ("t.amax(dim=0)", lambda t: t.amax(dim=0)),
    ("t.max(dim=0).values", lambda t: t.max(dim=0).values),
    ("t.topk(1).values", lambda t: t.topk(1).values.sum()),
    ("t[t.argmax()]", lambda t: t[t.argmax()]),
):
    print(f"{name:20} {shares(function)}")
whole, along = shares(lambda t: t.max()), shares(lambda t: t.max(dim=0).values)
first, half = [0, 1, 0, 0], [0, 0.5, 0.5, 0]
claims = [whole == along == first, whole == along == half, (whole, along) == (half, first), whole == [0, 1, 1, 0]]
ties.reveal(dict(zip(ties.choices, claims, strict=True)))

# %% [markdown]
r"""
Those that look for **the value** only (`max()`, `amax`) share the gradient among equals. Those that also find **a place** (`max(dim)`, `topk`, an index) send all of it to that
place. Both are subgradients.

## 4. Where the slope is infinite

A kink has two finite slopes. Worse are places where a slope grows without bound. The slope of $\sqrt{x}$ is $1/(2\sqrt{x})$.
"""

# %% name="predict_length"
length = predict(
    "z = (0, 0). What does autograd give for the gradient of its length, written as `(z**2).sum().sqrt()`?",
    choices=["[0, 0]", "[inf, inf]", "[nan, nan]"],
)
length


# %% name="reveal_length" tags=["reveal"]
def of_zeros(function, n=2):
    z = torch.zeros(n, requires_grad=True)
    return torch.autograd.grad(function(z), z)[0].tolist()


print("At a tensor of zeros:")
print("sqrt of one number:      ", of_zeros(lambda z: z.sqrt().sum(), 1))
by_hand = of_zeros(lambda z: (z**2).sum().sqrt())
print("(z**2).sum().sqrt():     ", by_hand)
print("z.norm():                ", of_zeros(lambda z: z.norm()))
print("z.var().sqrt():          ", of_zeros(lambda z: z.var().sqrt()))
print("z.std():                 ", of_zeros(lambda z: z.std()))
length.reveal(str(by_hand).replace(".0", ""))

# %% [markdown]
r"""
The root sends $\infty$ back, and the square multiplies it by its own slope, $2z = 0$. **$0 \cdot \infty$ is `nan`: not a number.** And `nan` plus or times anything is `nan` again, so one such place spoils every weight behind it.

`norm` and `std` compute the same values, and their authors have chosen a subgradient, 0. So prefer the named operation. Pairs that cancel on paper have the same trouble: $\cos(\arccos x)$ is $x$, but
"""

# %% name="arccos"
for value in (0.5, 1.0):
    print(f"cos(acos(x)) at {value}: gradient {gradient_at(lambda x: torch.cos(torch.acos(x)), value):.4g}")

# %% [markdown]
r"""
Where no named operation exists, people add a small number. It matters where.
"""

# %% name="epsilon"
eps = 1e-8
for name, function in (
    ("sqrt(x) + eps", lambda x: x.sqrt() + eps),
    ("sqrt(x + eps)", lambda x: (x + eps).sqrt()),
):
    print(f"{name}: value at 0 {function(torch.tensor(0.0)).item():g}, gradient {gradient_at(function):g}")

# %% [markdown]
r"""
Outside the root, `eps` changes the value and not the slope. **Inside the root** the slope is bounded: $1/(2\sqrt{\varepsilon})$. That may still be large. A larger `eps` makes it smaller, and
moves the values further away.

## 5. A branch that was not taken

The usual protection is a condition: compute the root only where $x > 0$, and take 0 elsewhere.
"""

# %% name="predict_where"
protected = predict(
    "x = [0, 4]. What is the gradient of `torch.where(x > 0, x.sqrt(), zero).sum()`?",
    choices=["[0, 0.25]", "[nan, 0.25]", "[inf, 0.25]"],
)
protected


# %% name="reveal_where" tags=["reveal"]
def gradient_of(function, values):
    x = torch.tensor(values, requires_grad=True)
    return torch.autograd.grad(function(x).sum(), x)[0].tolist()


def once(x):
    return torch.where(x > 0, x.sqrt(), zero)


def twice(x):
    safe = torch.where(x > 0, x, 1.0)  # nothing dangerous goes into the root
    return torch.where(x > 0, safe.sqrt(), zero)


print("x = [0, 4]:")
found = gradient_of(once, [0.0, 4.0])
print("values:      ", once(torch.tensor([0.0, 4.0])).tolist())
print("one where:   ", found)
print("double where:", gradient_of(twice, [0.0, 4.0]))
words = str(found).replace("0.0,", "0,")
protected.reveal({choice: choice == words for choice in protected.choices})

# %% [markdown]
r"""
`where` computes **both** branches, and chooses afterwards. On the way back it sends 0 into the branch that was not chosen. There the 0 meets $\infty$. So the condition protects the value and not the gradient.

**Make the input of the dangerous operation safe, before it.** Then choose the result with a second `where`. This is the double where. The same holds for masks: leave the bad entries out before you compute with them, not after.
"""

# %% name="masks"
target = torch.tensor([1.0, float("nan")])
good = ~target.isnan()
print("masked after: ", gradient_of(lambda x: ((x - target) ** 2)[good], [3.0, 5.0]))
print("masked before:", gradient_of(lambda x: (x[good] - target[good]) ** 2, [3.0, 5.0]))

# %% [markdown]
r"""
An attention layer hides entries by setting their scores to $-\infty$ before a softmax. If a whole row is hidden, the softmax computes $-\infty - (-\infty)$, which is `nan`, in the values already.
"""

# %% name="masked_softmax"
mask = torch.tensor([[True, False], [False, False]])  # nothing may be seen by the second row


def attend(values, hide):
    weights = torch.softmax(torch.zeros(2, 2).masked_fill(~mask, hide), dim=1)
    return (weights * mask) @ values


for hide in (-float("inf"), -1e9):
    values = torch.ones(2, 1, requires_grad=True)
    output = attend(values, hide)
    (gradient,) = torch.autograd.grad(output.sum(), values)
    print(
        f"hidden by {hide:g}: output {output.flatten().tolist()}, gradient of the values {gradient.flatten().tolist()}"
    )

# %% [markdown]
r"""
A large negative number keeps the row finite, and the mask afterwards makes it 0.

## 6. Where the slope is 0, and useless

`round`, `sign` and `floor` are flat almost everywhere. Their gradient is 0, and this is correct. But with it nothing in front of a rounding can learn. The **straight-through estimator** lies on
purpose: forward it rounds, backward it passes the gradient on as if nothing had been rounded.
"""

# %% name="predict_straight"
straight = predict(
    "At x = 1.6: which gradient does `x + (x.round() - x).detach()` give?",
    choices=["0: rounding is flat", "1", "-1", "none: it is detached"],
)
straight

# %% name="reveal_straight" tags=["reveal"]
WRITTEN = {
    "x.round()": lambda x: x.round(),
    "x + (x.round() - x).detach()": lambda x: x + (x.round() - x).detach(),
    "(x.round() - x) + x.detach()": lambda x: (x.round() - x) + x.detach(),
}
print("At x = 1.6:")
for name, function in WRITTEN.items():
    print(f"{name:30} value {function(torch.tensor(1.6)).item():g}, gradient {gradient_at(function, 1.6):g}")
got = gradient_at(WRITTEN["x + (x.round() - x).detach()"], 1.6)
straight.reveal(dict(zip(straight.choices, [got == 0, got == 1, got == -1, False], strict=True)))

# %% [markdown]
r"""
The values of all three are the rounded number. `detach` decides which part the gradient sees: in the second line only the bare $x$. In the third it is the other way round, so the gradient has the wrong sign. And `x.round().detach()` alone would have none.

Is the lie of use? Here is a number to be found, behind a rounding: $p$ should become such that the rounded $4p$ is 3.
"""


# %% name="learning_through_round"
def learn(rounded, steps=60):
    p = torch.tensor(0.2, requires_grad=True)
    for _ in range(steps):
        (gradient,) = torch.autograd.grad((rounded(4 * p) - 3) ** 2, p)
        with torch.no_grad():
            p -= 0.005 * gradient
    return p.item(), rounded(4 * p).item()


for name in ("x.round()", "x + (x.round() - x).detach()"):
    p, value = learn(WRITTEN[name])
    print(f"{name:30} p = {p:.3f}, rounded 4p = {value:g}")

# %% [markdown]
r"""
## 7. Does it matter?

In the puzzle one pre-activation in eight was exactly 0. How many are it in a network with ordinary numbers? The network below has two hidden layers and learns in which quarters of the plane a point lies. It is trained in three precisions (float16 and
bfloat16 have fewer digits, so more different numbers are rounded to the same). Its ReLU is a custom Function that takes its slope at 0 from you.
"""


# %% name="bent"
class Bend(torch.autograd.Function):
    """relu, with a slope of your choice at exactly 0"""

    @staticmethod
    def forward(ctx, x, slope_at_zero):
        ctx.save_for_backward(x)
        ctx.slope = slope_at_zero
        return torch.relu(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        slope = torch.where(x > 0, 1.0, torch.where(x == 0, ctx.slope, 0.0))
        return grad_output * slope.to(grad_output.dtype), None


def train(slope, dtype, seed, steps=200, width=32):
    """The share of right answers, how many pre-activations were exactly 0, of how many, and all weights at the end."""
    random = torch.Generator().manual_seed(seed)
    X = torch.randn(200, 2, generator=random)
    target = (X[:, :1] * X[:, 1:] > 0).to(dtype)
    layers = []
    for n, m in ((2, width), (width, width), (width, 1)):
        w = (torch.randn(n, m, generator=random) * (2 / n) ** 0.5).to(dtype)
        layers.append((w.requires_grad_(), torch.zeros(m, dtype=dtype, requires_grad=True)))
    parameters = [parameter for layer in layers for parameter in layer]
    X, zeros, count = X.to(dtype), 0, 0
    for _ in range(steps):
        hidden = X
        for w, b in layers[:-1]:
            before = hidden @ w + b
            zeros, count = zeros + (before == 0).sum().item(), count + before.numel()
            hidden = Bend.apply(before, slope)
        output = hidden @ layers[-1][0] + layers[-1][1]
        gradients = torch.autograd.grad(((output - target) ** 2).mean(), parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= 0.1 * gradient
    right = ((output > 0.5) == (target > 0.5)).float().mean().item()
    return right, zeros, count, torch.cat([parameter.detach().flatten() for parameter in parameters])


# %% name="predict_matters"
matters = predict(
    "Two trainings in float32, equal in all but the slope at 0: it is 0 in one and 1 in the other. How do the trained weights compare?",
    choices=["the same to the last bit", "slightly different", "one of the two trainings fails"],
)
matters

# %% name="reveal_matters" tags=["reveal"]
print("precision   exactly 0                weights the same?   right answers differ")
same_weights = {}
for dtype in (torch.float32, torch.float16, torch.bfloat16):
    runs = [[train(slope, dtype, seed) for slope in (0.0, 0.5, 1.0)] for seed in range(2)]
    share = sum(zeros for three in runs for _, zeros, _, _ in three) / sum(n for three in runs for _, _, n, _ in three)
    same_weights[dtype] = all(torch.equal(three[0][3], other[3]) for three in runs for other in three[1:])
    spread = max(max(run[0] for run in three) - min(run[0] for run in three) for three in runs)
    told = "none" if share == 0 else "fewer than 1 in 1,000" if share < 1e-3 else "1 in 1,000 or more"
    answers = "not at all" if same_weights[dtype] else "by less than 5%" if spread < 0.05 else "by 5% or more"
    print(f"{str(dtype).removeprefix('torch.'):11} {told:24} {same_weights[dtype]!s:19} {answers}")
claims = [same_weights[torch.float32], not same_weights[torch.float32], False]
matters.reveal(dict(zip(matters.choices, claims, strict=True)))

# %% [markdown]
r"""
In float32 not one pre-activation was exactly 0, so the choice was never asked for. With fewer digits zeros do occur, a few of very many, and the weights end differently. How many answers are right hardly changes. (Bertoin and others asked this in 2021 at a large
scale, and found that the choice can matter in low precision. This little network is no proof for yours.)

So zeros are rare by chance. They are **not** rare where something makes them: whole-number data as in the puzzle, inputs that are mostly 0, a layer without bias behind a dead one, padding, masks, weights that start at 0. There the choice is asked for at every step.

## When you meet it

| what you see | look at |
|---|---|
| two ways to write the same function differ in a gradient | [section 2](#2.-Each-operation-picks-one): is something exactly 0, or at a limit? |
| `gradcheck` fails at some inputs only | [section 1](#1.-A-point-with-two-slopes): a kink within its step |
| a gradient of `max` that is shared, or is not | [section 3](#3.-The-chain-rule-does-not-survive): ties |
| `inf` in a gradient | [section 4](#4.-Where-the-slope-is-infinite): a root, or another infinite slope |
| `nan` in a gradient, while all values are finite | [section 4](#4.-Where-the-slope-is-infinite) and [section 5](#5.-A-branch-that-was-not-taken): 0 times infinity |
| `nan` in the values too | [section 5](#5.-A-branch-that-was-not-taken): a row that is masked as a whole |
| a gradient that is 0 everywhere | [section 6](#6.-Where-the-slope-is-0,-and-useless): rounding, `sign`, `floor` |

## What you can do now

- You can say what a gradient means at a kink: one slope out of many, chosen by the operation, not by the function.
- You can look up that choice by running it, for your version of PyTorch, and find the place where it made a difference.
- You can say why the chain rule may give a slope that the whole does not have.
- You can keep `nan` out of a backward pass: named operations, `eps` inside the root, the double where, masks before the computation.
- You can pass a gradient through a rounding, and say which part must be detached.

The exercises are in `exercises/08_kinks.ipynb`.

**The next question.** A backward pass computes slopes with ordinary operations. So it can be differentiated too. What is the gradient of a gradient? That is unit 09.
"""
