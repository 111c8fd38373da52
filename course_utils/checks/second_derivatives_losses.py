"""Unit 09, second derivatives: the exercises on losses with a gradient inside, and the mistakes they can name."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import leaf_of
from course_utils.checks.recorded import gradients
from course_utils.checks.second_derivatives import gradient_of_sum

UNIT = "09_second_derivatives"

Critic = Callable[[Tensor], Tensor]
Loss = Callable[[Tensor], Tensor]


# mend_penalty --------------------------------------------------------------------------------------------------

_OF_PENALTY = ("penalty", "gradient of W", "x requires a gradient afterwards")
Penalty = Callable[[Critic, Tensor], object]


def _probe_penalty(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_critic(x: Tensor, W: Tensor, incoming: Tensor) -> tuple[object, ...]:  # noqa: N803 (the learner sees it)
        weights = leaf_of(W)
        found = answer(lambda x: (x.flatten(1) @ weights) ** 3, x)
        return found, *gradients(found, [weights], incoming), x.requires_grad

    for samples, channels, width in ((3, 2, 2), (2, 1, 3)):
        given = {
            "x": draw.tensor(samples, channels, width, low=0.2, high=1.2),
            "W": draw.tensor(channels * width, low=0.2, high=1.2),
            "incoming": draw.scalars(1)[0],
        }
        asked = of_critic if callable(answer) else answer
        label = "penalty for critic(x) = (x.flatten(1) @ W)**3, and the gradient that it sends to W"
        yield call(label, asked, by_hand=False, parts=_OF_PENALTY, **given)


def _penalty_one_by_one(critic: Critic, x: Tensor) -> Tensor:
    """Each sample's gradient by torch.func, of that sample alone."""
    each = [torch.func.grad(lambda one: critic(one[None]).sum())(sample) for sample in x]
    lengths = torch.stack([(gradient**2).sum() ** 0.5 for gradient in each])
    return ((lengths - 1) ** 2).mean()


def _penalty(measure: Callable[[Tensor], object], **options: object) -> Penalty:
    """A copy is marked and the gradient taken; `measure` makes the penalty of it."""

    def penalty(critic: Critic, x: Tensor) -> object:
        x = leaf_of(x)
        return measure(gradient_of_sum(critic(x), x, **options))

    return penalty


def _lengths(gradient: Tensor) -> Tensor:
    return gradient.flatten(1).norm(2, dim=1)


def _from_lengths(gradient: Tensor) -> Tensor:
    return ((_lengths(gradient) - 1) ** 2).mean()


def _penalty_of_the_given(critic: Critic, x: Tensor) -> Tensor:
    x.requires_grad_()
    return _from_lengths(gradient_of_sum(critic(x), x))


def _mean_first(critic: Critic, x: Tensor) -> Tensor:
    x = leaf_of(x)
    return _from_lengths(gradient_of_sum(critic(x).mean(), x))


MEND_PENALTY = Exercise(
    name="mend_penalty",
    unit=UNIT,
    title="Mend a gradient penalty",
    points=3,
    probe=_probe_penalty,
    truth=_penalty_one_by_one,
    given=_penalty(lambda g: ((g.norm(2, dim=1) - 1) ** 2).mean(), create_graph=False),
    when_as_given="What is the shape of your norm? And does the penalty have a graph?",
    misconceptions=(
        Misconception(
            "norm_over_wrong_axis",
            _penalty(lambda g: ((g.norm(2, dim=1) - 1) ** 2).mean()),
            "The penalty has a graph now. But your norm goes over one axis alone: over the channels with `dim=1`, over "
            "a row of pixels with `dim=2` or `dim=-1`. What belongs to one sample?",
            also=(
                _penalty(lambda g: ((g.norm(2, dim=-1) - 1) ** 2).mean()),
                _penalty(lambda g: ((g.norm(2, dim=0) - 1) ** 2).mean()),
                _penalty(lambda g: ((g.norm(2, dim=(0, 1)) - 1) ** 2).mean()),
            ),
        ),
        Misconception(
            "inner_gradient_is_a_constant",
            _penalty(_from_lengths, create_graph=False),
            "The value is right. But nothing arrives at W: the inner gradient was not recorded, so the penalty is a "
            "number without a graph.",
            also=(
                _penalty(_from_lengths, create_graph=False, retain_graph=True),
                _penalty(lambda g: _from_lengths(g.detach())),
                _penalty(lambda g: _from_lengths(g).requires_grad_(), create_graph=False),
            ),
        ),
        Misconception(
            "one_norm_for_all",
            _penalty(lambda g: (g.norm(2) - 1) ** 2),
            "This is one length, of the gradients of all samples together. Each sample is to have length 1.",
        ),
        Misconception(
            "mean_before_the_square",
            _penalty(lambda g: (_lengths(g).mean() - 1) ** 2),
            "You take the mean of the lengths first. Lengths of 0 and 2 would cost nothing then.",
        ),
        Misconception(
            "square_of_the_length",
            _penalty(lambda g: (((g**2).flatten(1).sum(1) - 1) ** 2).mean()),
            "You use the square of the length. A root is missing.",
        ),
        Misconception(
            "another_norm",
            _penalty(lambda g: ((g.flatten(1).abs().sum(1) - 1) ** 2).mean()),
            "You add the entries' absolute values. The length of a gradient is the root of the sum of their squares.",
        ),
        Misconception(
            "summed_over_samples",
            _penalty(lambda g: ((_lengths(g) - 1) ** 2).sum()),
            "You add the samples' penalties. Asked for is their mean.",
        ),
        Misconception(
            "one_for_each_sample",
            _penalty(lambda g: (_lengths(g) - 1) ** 2),
            "This is a penalty for each sample. Asked for is their mean, one number.",
        ),
        Misconception(
            "gradient_of_the_mean",
            _mean_first,
            "You ask for the gradient of the mean of the outputs, which divides every sample's gradient by their "
            "number.",
        ),
        Misconception(
            "given_tensor_changed",
            _penalty_of_the_given,
            "The numbers are right, and the caller's x is no longer as it was. On which tensor could you set the flag?",
        ),
    ),
    hints=(
        "Two faults. One is about an axis, the other about what is recorded.",
        "Everything behind the batch belongs to one sample: `flatten(1)` makes one row of it.",
        "The penalty is a loss. Its gradient goes through the inner gradient.",
    ),
    when_right="Now the penalty pulls on the weights, and on each sample by itself.",
)


# after_training ------------------------------------------------------------------------------------------------

_OF_OUTER = ("outer loss", "gradient of w", "w is as it was")
Trained = Callable[[Loss, Loss, Tensor, float, int], object]


def _inner(w: Tensor) -> Tensor:
    return (w**3).sum() + w[0] * w[1]


def _probe_after_training(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_losses(w: Tensor, target: Tensor, incoming: Tensor, lr: float, steps: int) -> tuple[object, ...]:
        leaf = leaf_of(w)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's, about backward() with create_graph and .grad of what is no leaf
            found = answer(lambda w: _inner(w), lambda w: ((w - target) ** 2).sum(), leaf, lr, steps)
        as_it_was = bool(torch.equal(leaf, w)) and leaf.is_leaf and leaf.grad is None
        return found, *gradients(found, [leaf], incoming), as_it_was

    for steps, lr in ((1, 0.07), (3, 0.03)):
        given = {
            "w": draw.tensor(2),
            "target": draw.tensor(2),
            "incoming": draw.scalars(1)[0],
            "lr": lr,
            "steps": steps,
        }
        asked = of_losses if callable(answer) else answer
        label = "for inner = (w**3).sum() + w[0] * w[1] and outer = ((w - target)**2).sum()"
        yield call(label, asked, by_hand=False, parts=_OF_OUTER, **given)


def _by_torch_func(inner: Loss, outer: Loss, w: Tensor, lr: float, steps: int) -> Tensor:
    for _ in range(steps):
        w = w - lr * torch.func.grad(inner)(w)
    return outer(w)


def _trained(step: Callable[[Loss, Tensor, float], Tensor]) -> Trained:
    """Takes `step` as often as asked, then the outer loss."""

    def after_training(inner: Loss, outer: Loss, w: Tensor, lr: float, steps: int) -> Tensor:
        for _ in range(steps):
            w = step(inner, w, lr)
        return outer(w)

    return after_training


def _stepped(inner: Loss, w: Tensor, lr: float, **options: object) -> Tensor:
    return w - lr * gradient_of_sum(inner(w), w, **options)


def _always_at_the_start(inner: Loss, outer: Loss, w: Tensor, lr: float, steps: int) -> Tensor:
    trained = w
    for _ in range(steps):
        trained = trained - lr * gradient_of_sum(inner(w), w)
    return outer(trained)


def _on_a_copy(inner: Loss, outer: Loss, w: Tensor, lr: float, steps: int) -> Tensor:
    return _trained(_stepped)(inner, outer, leaf_of(w), lr, steps)


def _leaf_after_each(inner: Loss, w: Tensor, lr: float) -> Tensor:
    return _stepped(inner, w, lr).detach().requires_grad_()


def _in_place(inner: Loss, w: Tensor, lr: float) -> Tensor:
    gradient = gradient_of_sum(inner(w), w)
    with torch.no_grad():
        w -= lr * gradient
    return w


def _in_place_and_recorded(inner: Loss, w: Tensor, lr: float) -> Tensor:
    w -= lr * gradient_of_sum(inner(w), w)
    return w


def _copy_changed_in_place(inner: Loss, outer: Loss, w: Tensor, lr: float, steps: int) -> Tensor:
    return _trained(_in_place_and_recorded)(inner, outer, w.clone(), lr, steps)


def _under_no_grad(inner: Loss, w: Tensor, lr: float) -> Tensor:
    gradient = gradient_of_sum(inner(w), w)
    with torch.no_grad():
        return (w - lr * gradient).requires_grad_()


def _under_no_grad_and_unmarked(inner: Loss, w: Tensor, lr: float) -> Tensor:
    gradient = gradient_of_sum(inner(w), w)
    with torch.no_grad():
        return w - lr * gradient


def _from_dot_grad(inner: Loss, w: Tensor, lr: float, *, create_graph: bool = True) -> Tensor:
    inner(w).backward(create_graph=create_graph)
    return w - lr * w.grad


def _only_the_last_recorded(inner: Loss, outer: Loss, w: Tensor, lr: float, steps: int) -> Tensor:
    for step in range(steps):
        w = _stepped(inner, w, lr, create_graph=step == steps - 1)
    return outer(w)


def _once(inner: Loss, outer: Loss, w: Tensor, lr: float, steps: int) -> Tensor:
    return outer(_stepped(inner, w, lr))


AFTER_TRAINING = Exercise(
    name="after_training",
    unit=UNIT,
    title="A loss after some training steps",
    points=3,
    probe=_probe_after_training,
    truth=_by_torch_func,
    misconceptions=(
        Misconception(
            "inner_update_is_first_order",
            _trained(lambda inner, w, lr: _stepped(inner, w, lr, create_graph=False)),
            "The value is right, and the gradient is not: it takes the inner gradients for constants. But they depend "
            "on w. Which argument records that?",
            also=(
                _trained(lambda inner, w, lr: _stepped(inner, w, lr, create_graph=False, retain_graph=True)),
                _trained(lambda inner, w, lr: w - lr * gradient_of_sum(inner(w), w).detach()),
            ),
        ),
        Misconception(
            "only_the_last_step_recorded",
            _only_the_last_recorded,
            "With one step all is right. With more, the gradient goes through the last step as it should, and takes "
            "the gradients of the steps before for constants.",
        ),
        Misconception(
            "start_cut_off",
            _on_a_copy,
            "No gradient arrives at w. Somewhere on the way from w to your result, a copy, a new leaf or a plain "
            "number takes the place of what was computed.",
            also=(
                _trained(_leaf_after_each),
                _trained(_under_no_grad),
                _trained(_under_no_grad_and_unmarked),
                lambda *given: _trained(_stepped)(*given).item(),
            ),
        ),
        Misconception(
            "asks_dot_grad",
            _trained(_from_dot_grad),
            "After the first step, w is no leaf any more, so nothing is left in its .grad. And what `backward` leaves "
            "in the .grad of the start is not yours to fill. Which call returns a gradient?",
            also=(_trained(lambda inner, w, lr: _from_dot_grad(inner, w, lr, create_graph=False)),),
        ),
        Misconception(
            "changed_in_place",
            _trained(_in_place),
            "You change w in place, as an optimizer does. Here the start must stay as it is, since the outer loss "
            "is to be differentiated with respect to it. Each step makes a new tensor.",
            also=(_trained(_in_place_and_recorded),),
        ),
        Misconception(
            "copy_changed_in_place",
            _copy_changed_in_place,
            "You change a copy of w in place. The inner loss was computed from its old numbers, and the backward pass "
            "still needs them. Each step makes a new tensor.",
        ),
        Misconception(
            "gradient_always_at_the_start",
            _always_at_the_start,
            "With one step all is right. With more, every step uses the gradient at the start. Where do you stand "
            "after the first step?",
        ),
        Misconception(
            "one_step_only",
            _once,
            "You take a single step, whatever `steps` is.",
        ),
        Misconception(
            "uphill",
            _trained(lambda inner, w, lr: w + lr * gradient_of_sum(inner(w), w)),
            "The inner steps go uphill: the inner loss grows.",
        ),
        Misconception(
            "never_trained",
            lambda inner, outer, w, lr, steps: outer(w),
            "This is the outer loss at the start, before any training.",
        ),
    ),
    hints=(
        "One step: the gradient of the inner loss, and a new tensor `w - lr * gradient`.",
        "In the next step, the new tensor takes the place of w. The caller's w stays as it is.",
        "The gradient of the result goes through every step, and so through every inner gradient.",
    ),
    when_right="A training loop is a computation, too, and can be differentiated.",
)


EXERCISES = (MEND_PENALTY, AFTER_TRAINING)
