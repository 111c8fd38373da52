"""Unit 07, gradient reversal: the exercises on turning one of two branches, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from course_utils.adversarial import reverse
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import recording

UNIT = "07_gradient_reversal"


# mend_two_heads ------------------------------------------------------------------------------------------------

_NAMES = ("features", "label", "domain")


def _probe_two_heads(answer: object, draw: Draw) -> Iterator[Observation]:
    weights = {"features": draw.tensor(3, 2), "label": draw.tensor(1, 3), "domain": draw.tensor(1, 3)}

    def made() -> nn.Module:
        net = answer().double()
        with torch.no_grad():
            for name in _NAMES:
                getattr(net, name).weight.copy_(weights[name])
                getattr(net, name).bias.fill_(0.1)
        return net

    def values(x: Tensor, factor: float) -> tuple[Tensor, ...]:
        with torch.no_grad():
            return made()(x, factor)

    def from_one(place: int) -> Callable[[Tensor, float], tuple[Tensor | None, ...]]:
        def gradients(x: Tensor, factor: float) -> tuple[Tensor | None, ...]:
            with recording():
                net = made()
                own = [net.features.weight, getattr(net, _NAMES[1 + place]).weight]
                return torch.autograd.grad(net(x, factor)[place].sum(), own, allow_unused=True)

        return gradients

    def asked(compute: Callable[..., object]) -> object:
        return compute if callable(answer) else answer

    x = draw.tensor(2, 2, low=0.1, high=0.9)
    factor = draw.tensor(1, low=0.1, high=0.9).abs().item()
    yield call("values", asked(values), parts=("label", "domain"), by_hand=False, x=x, factor=factor)
    for place, name in enumerate(_NAMES[1:]):
        parts = ("features.weight", f"{name}.weight")
        label = f"gradients from the {name} head"
        yield call(label, asked(from_one(place)), parts=parts, by_hand=False, x=x, factor=factor)
    parts = ("features.weight", "domain.weight")
    label = "gradients from the domain head"
    yield call(label, asked(from_one(1)), parts=parts, by_hand=False, x=x, factor=0.0)


class _Layers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features, self.label, self.domain = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)


def _two_heads(read: Callable[[_Layers, Tensor, float], tuple[Tensor, Tensor]]) -> Callable[[], nn.Module]:
    """The network with another forward, which gets the layers, the features and the factor."""

    class TwoHeads(_Layers):
        def forward(self, x: Tensor, factor: float) -> tuple[Tensor, Tensor]:
            return read(self, torch.tanh(self.features(x)), factor)

    return TwoHeads


def _with_mixed_gradient(net: _Layers, h: Tensor, factor: float) -> tuple[Tensor, Tensor]:
    """The truth: the domain head reads features whose one recorded part has the factor -factor."""
    still = h.detach()
    return net.label(h), net.domain(still - factor * (h - still))


def _both_dropped(net: _Layers, h: Tensor, factor: float) -> tuple[Tensor, Tensor]:
    turned = reverse(h, 1.0)
    return net.label(turned), net.domain(turned)


def _both_turned(net: _Layers, h: Tensor, factor: float) -> tuple[Tensor, Tensor]:
    turned = reverse(h, factor)
    return net.label(turned), net.domain(turned)


MEND_TWO_HEADS = Exercise(
    name="mend_two_heads",
    unit=UNIT,
    title="Mend a network that turns too much",
    points=3,
    probe=_probe_two_heads,
    truth=_two_heads(_with_mixed_gradient),
    given=_two_heads(_both_dropped),
    misconceptions=(
        Misconception(
            "lambda_not_forwarded",
            _two_heads(lambda net, h, factor: (net.label(h), net.domain(reverse(h, 1.0)))),
            "The label head is left alone now. The factor of the domain head is 1, whatever was asked for: where is it "
            "lost on its way?",
        ),
        Misconception(
            "label_head_turned",
            _two_heads(_both_turned),
            "The factor arrives now. What the label head sends back is turned as well: both read the same tensor.",
            also=(_two_heads(lambda net, h, factor: (net.label(reverse(h, factor)), net.domain(h))),),
        ),
        Misconception(
            "head_turned",
            _two_heads(lambda net, h, factor: (net.label(h), reverse(net.domain(h), factor))),
            "Behind the head, the layer turns the head's own weights as well. Where does it stand if it is to turn the "
            "features alone?",
            also=(_two_heads(lambda net, h, factor: (net.label(h), -factor * net.domain(h))),),
        ),
        Misconception(
            "features_cut_off",
            _two_heads(lambda net, h, factor: (net.label(h), net.domain(h.detach()))),
            "Nothing comes from the domain head to the features. They are to be turned, not cut off.",
            also=(_two_heads(lambda net, h, factor: (net.label(h), net.domain(reverse(h.detach(), factor)))),),
        ),
        Misconception(
            "two_minus_signs",
            _two_heads(lambda net, h, factor: (net.label(h), net.domain(reverse(h, -factor)))),
            "The features help the domain head. `reverse` has a minus of its own.",
        ),
        Misconception(
            "not_turned",
            _two_heads(lambda net, h, factor: (net.label(h), net.domain(h))),
            "Now nothing is turned any more. The domain head is to read features that have passed the layer.",
        ),
        Misconception(
            "heads_exchanged",
            _two_heads(lambda net, h, factor: (net.domain(reverse(h, factor)), net.label(h))),
            "The caller expects first what the label head says, and then what the domain head says.",
        ),
        Misconception(
            "curve_lost",
            _two_heads(lambda net, h, factor: (net.label(torch.atanh(h)), net.domain(reverse(torch.atanh(h), factor)))),
            "The layer is in its place. The features are what has gone through `tanh`, as before.",
        ),
        Misconception(
            "input_turned",
            _two_heads(lambda net, h, factor: (net.label(h), net.domain(factor * h))),
            "The value is changed on its way to the domain head. The layer changes only what comes back.",
            also=(_two_heads(lambda net, h, factor: (net.label(h), net.domain(-factor * h))),),
        ),
    ),
    hints=(
        "Two heads read the features. Which of them is to read the tensor that has passed the layer?",
        "A default value hides that an argument is not handed on. Without defaults, Python would have told you.",
    ),
    when_right="One call of the layer, for one branch, with the factor that was asked for.",
)


# mend_hook -----------------------------------------------------------------------------------------------------


def _probe_hook(answer: object, draw: Draw) -> Iterator[Observation]:
    slopes = draw.tensor(2)

    def label(h: Tensor) -> Tensor:
        return slopes * h**2

    def domain_with(scale: Tensor, shift: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda h: scale * (h + shift) ** 2  # the addition sends h and the shift one and the same tensor

    def gradients(
        incoming: Tensor, h: Tensor, scale: Tensor, shift: Tensor, factor: float
    ) -> tuple[Tensor | None, ...]:
        with recording():
            leaves = [one.clone().requires_grad_() for one in (h, scale, shift)]
            both = answer(leaves[0] * 1, label, domain_with(*leaves[1:]), factor)
            return *both, *torch.autograd.grad(torch.stack([*both]), leaves, incoming, allow_unused=True)

    def twice(
        incoming: Tensor, h: Tensor, scale: Tensor, shift: Tensor, factor: float, other: float
    ) -> tuple[Tensor, ...]:
        with recording():
            leaf = h.clone().requires_grad_()
            features = leaf * 1
            pairs = [answer(features, label, domain_with(scale, shift), one) for one in (factor, other)]
            return tuple(torch.autograd.grad(pair[1], leaf, incoming, retain_graph=True)[0] for pair in pairs)

    def unrecorded(h: Tensor, scale: Tensor, shift: Tensor, factor: float) -> tuple[Tensor, ...]:
        with torch.no_grad():
            return answer(h, label, domain_with(scale, shift), factor)

    def asked(compute: Callable[..., object]) -> object:
        return compute if callable(answer) else answer

    factor, other = draw.tensor(2, low=0.1, high=0.9).abs().tolist()
    given = {"h": draw.tensor(2), "scale": draw.tensor(2), "shift": draw.tensor(2, low=3, high=5)}
    parts = ("label(h)", "domain(h)", "gradient of h", "gradient of the domain head's scale", "and of its shift")
    incoming = draw.tensor(2, 2)
    yield call("both heads", asked(gradients), parts=parts, by_hand=False, incoming=incoming, **given, factor=factor)
    label_of = "gradient of h from the domain head, after two calls with the same h"
    incoming, parts = draw.tensor(2), ("with factor", "with other")
    both = {"factor": factor, "other": other}
    yield call(label_of, asked(twice), parts=parts, by_hand=False, incoming=incoming, **given, **both)
    parts = ("label(h)", "domain(h)")
    yield call("where nothing is recorded", asked(unrecorded), parts=parts, by_hand=False, **given, factor=factor)


Head = Callable[[Tensor], Tensor]
BothHeads = Callable[[Tensor, Head, Head, float], tuple[Tensor, Tensor]]


def _hooked(
    own: Callable[[Tensor], Tensor], hook: Callable[[Tensor, float], object] | None = None, *, always: bool = False
) -> BothHeads:
    """The function, with another tensor for the domain head to read, and another hook on it."""

    def both_heads(h: Tensor, label: Head, domain: Head, factor: float) -> tuple[Tensor, Tensor]:
        read = own(h)
        if always or read.requires_grad:
            read.register_hook(lambda grad: hook(grad, factor) if hook else -factor * grad)
        return label(h), domain(read)

    return both_heads


def _on_the_result(h: Tensor, label: Head, domain: Head, factor: float) -> tuple[Tensor, Tensor]:
    result = domain(h)
    if result.requires_grad:
        result.register_hook(lambda grad: -factor * grad)
    return label(h), result


def _on_the_result_always(h: Tensor, label: Head, domain: Head, factor: float) -> tuple[Tensor, Tensor]:
    result = domain(h)
    result.register_hook(lambda grad: -factor * grad)
    return label(h), result


def _label_side(h: Tensor, label: Head, domain: Head, factor: float) -> tuple[Tensor, Tensor]:
    return _hooked(lambda h: h.view_as(h))(h, domain, label, factor)[::-1]


def _label_side_always(h: Tensor, label: Head, domain: Head, factor: float) -> tuple[Tensor, Tensor]:
    return _hooked(lambda h: h.view_as(h), always=True)(h, domain, label, factor)[::-1]


def _forgets_to_return(grad: Tensor, factor: float) -> None:
    _ = -factor * grad


def _with_mixed_features(h: Tensor, label: Head, domain: Head, factor: float) -> tuple[Tensor, Tensor]:
    """The truth, without a hook."""
    still = h.detach()
    return label(h), domain(still - factor * (h - still))


MEND_HOOK = Exercise(
    name="mend_hook",
    unit=UNIT,
    title="Mend a hook that turns too much",
    points=3,
    probe=_probe_hook,
    truth=_with_mixed_features,
    given=_hooked(lambda h: h, always=True),
    when_as_given="A second name, as in `own = h`, makes no second tensor.",
    misconceptions=(
        Misconception(
            "hook_on_the_features",
            _hooked(lambda h: h),
            "The hook hangs on h, where the messages of both heads have been added up. The domain head has to read a "
            "tensor of its own: a second name for h is none.",
        ),
        Misconception(
            "no_check_of_recording",
            _hooked(lambda h: h.view_as(h), always=True),
            "The gradients are right. Where nothing is recorded, a tensor takes no hook. What can you ask it first?",
            also=(_hooked(lambda h: h * 1, always=True), _hooked(torch.clone, always=True)),
        ),
        Misconception(
            "hook_on_the_result",
            _on_the_result,
            "The hook hangs behind the domain head. So the head's own weight is turned as well.",
            also=(_on_the_result_always,),
        ),
        Misconception(
            "copy_cut_off",
            _hooked(torch.detach),
            "The domain head reads a detached tensor. A tensor of its own is right, but it has to hang on h.",
        ),
        Misconception(
            "other_head_turned",
            _label_side,
            "It is the label head that reads the tensor with the hook. Which of the two is to be turned?",
            also=(_label_side_always,),
        ),
        Misconception(
            "writes_into_the_gradient",
            _hooked(lambda h: h.view_as(h), lambda grad, factor: grad.mul_(-factor)),
            "The gradient of h is right. Your hook writes into the gradient that it was given, and this one goes to "
            "the domain head's weight as well. Make a new tensor.",
        ),
        Misconception(
            "value_turned",
            lambda h, label, domain, factor: (label(h), domain(-factor * h)),
            "The domain head reads other numbers than the features. Only what comes back is to be changed.",
        ),
        Misconception(
            "hook_returns_nothing",
            _hooked(lambda h: h.view_as(h), _forgets_to_return),
            "Nothing is turned. A hook that returns nothing leaves the gradient as it is (unit 04).",
        ),
        Misconception(
            "not_turned",
            _hooked(lambda h: h.view_as(h), lambda grad, factor: factor * grad),
            "The size is right. Where is the minus?",
        ),
        Misconception(
            "factor_ignored",
            _hooked(lambda h: h.view_as(h), lambda grad, factor: -grad),
            "The sign is right. Your hook does not ask for the factor.",
        ),
    ),
    hints=(
        "A hook on a tensor sees the sum of everything that arrives there. Through which tensor does the domain head "
        "alone send something back?",
        "`h.view_as(h)` is another tensor, with h behind it. Let the domain head read that one.",
        "Under no_grad, `register_hook` raises. `requires_grad` of the tensor says whether it would.",
    ),
    when_right="What counts is the tensor that the hook hangs on. The reversal layer makes one by itself.",
)


EXERCISES = (MEND_TWO_HEADS, MEND_HOOK)
