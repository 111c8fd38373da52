"""Unit 03, which graphs get built: the functions that stop gradients at the right place, and the mistakes in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import BROKEN, flag, fresh, gradients, recording, saved_while

UNIT = "03_requires_grad"
_DISCOUNT = 0.9


# fixed_target --------------------------------------------------------------------------------------------------


def _probe_target(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = ("loss", "it requires a gradient", "gradient of w", "w.requires_grad afterwards", "grad mode afterwards")

    incoming = draw.tensor()

    def on_a_leaf(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> tuple[object, ...]:
        with recording():
            leaf = fresh(w)
            loss = answer(leaf, now, later, reward)
            enabled = torch.is_grad_enabled()
            torch.set_grad_enabled(True)
            (gradient,) = gradients(loss, [leaf], incoming)
            return loss, flag(loss), gradient, leaf.requires_grad, enabled

    for rows, columns in ((2, 3), (4, 2)):
        asked = on_a_leaf if callable(answer) else answer
        now, later = draw.tensor(rows, columns), draw.tensor(rows, columns)
        yield call(
            "the loss",
            asked,
            parts=parts,
            by_hand=False,
            w=draw.tensor(columns),
            now=now,
            later=later,
            reward=draw.tensor(rows),
        )


class _KnownGradient(torch.autograd.Function):
    """A value and its gradient by formula: 2/m times the sum of each difference times its row of `now`."""

    @staticmethod
    def forward(ctx: object, w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
        difference = now @ w - reward - _DISCOUNT * (later @ w)
        ctx.gradient = 2 / len(reward) * (now.T @ difference)
        return (difference @ difference) / len(reward)

    @staticmethod
    def backward(ctx: object, incoming: Tensor) -> tuple[Tensor | None, ...]:
        return incoming * ctx.gradient, None, None, None


Loss = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def _loss(
    estimate_of: Callable[[Tensor], Tensor] = lambda w: w,
    target_of: Callable[[Tensor], Tensor] = lambda w: w,
    mean: Callable[[Tensor], Tensor] = torch.mean,
) -> Loss:
    """The loss in which estimate and target are computed with what is made of w."""

    def loss(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
        target = reward + _DISCOUNT * (later @ target_of(w))
        return mean((now @ estimate_of(w) - target) ** 2)

    return loss


def _detached_too_late(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    target = reward + _DISCOUNT * (later @ w)
    difference = now @ w - target
    target.detach_()
    return (difference**2).mean()


def _in_no_grad(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    with torch.no_grad():
        return _loss()(w, now, later, reward)


def _with_flag_off(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    w.requires_grad_(False)
    target = reward + _DISCOUNT * (later @ w)
    w.requires_grad_(True)
    loss = ((now @ w - target) ** 2).mean()
    w.requires_grad_(False)
    return loss


def _mode_left_off(w: Tensor, now: Tensor, later: Tensor, reward: Tensor) -> Tensor:
    estimate = now @ w
    torch.set_grad_enabled(False)
    target = reward + _DISCOUNT * (later @ w)
    torch.set_grad_enabled(True)
    loss = ((estimate - target) ** 2).mean()
    torch.set_grad_enabled(False)
    return loss


def _detached(w: Tensor) -> Tensor:
    return w.detach()


FIXED_TARGET = Exercise(
    name="fixed_target",
    unit=UNIT,
    title="A target that stands still",
    points=3,
    probe=_probe_target,
    truth=_KnownGradient.apply,
    misconceptions=(
        Misconception(
            "target_passes_gradient",
            _loss(),
            "The loss is right, and the gradient of w has a second part: it comes through the target. Is the target "
            "cut off, and is it cut off before the difference uses it?",
            also=(_detached_too_late,),
        ),
        Misconception(
            "wrong_side_detached",
            _loss(estimate_of=_detached),
            "The estimate is cut off, and the target is not. Which of the two is to be pulled?",
        ),
        Misconception(
            "nothing_recorded",
            _in_no_grad,
            "The loss requires no gradient: neither the target nor the estimate is recorded. Only the target should be "
            "left out.",
            also=(_loss(_detached, _detached),),
        ),
        Misconception(
            "requires_grad_on_the_loss",
            lambda *inputs: _in_no_grad(*inputs).requires_grad_(),
            "Your loss is a leaf with the flag set. It is joined to nothing, and w gets no gradient.",
        ),
        Misconception(
            "summed",
            _loss(target_of=_detached, mean=torch.sum),
            "Everything stops where it should. But this is the sum of the squared differences, and not their mean.",
        ),
        Misconception(
            "detaches_w_itself",
            _loss(target_of=lambda w: w.detach_()),
            "After your function, w itself requires no gradient. A method with an underscore at the end changes the "
            "tensor that it belongs to.",
        ),
        Misconception(
            "flag_left_off",
            _with_flag_off,
            "The loss and its gradient are right. But w requires no gradient any more, when your function has ended.",
        ),
        Misconception(
            "mode_left_off",
            _mode_left_off,
            "The loss and its gradient are right. But the grad mode is off when your function has ended, and nothing "
            "is recorded from there on.",
        ),
    ),
    hints=(
        "Compute the target on a line of its own. What makes a tensor with the same numbers and no history?",
        "The difference must use the target without history. Detaching it later comes too late.",
        "`((now @ w - target) ** 2).mean()`: here w has to be the one that requires a gradient.",
    ),
    when_right="Targets, labels made by a network, running means: what only serves as a number is detached.",
)


# freeze_body ---------------------------------------------------------------------------------------------------


class Network(nn.Module):
    """The network of the exercise, with weights that a draw gives."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        self.head = nn.Linear(2, 1)
        with torch.no_grad():
            for name, parameter in list(self.named_parameters()):
                place, _, last = name.rpartition(".")
                values = draw.tensor(*parameter.shape, low=0.1, high=0.9)
                setattr(self.get_submodule(place), last, nn.Parameter(values))

    def forward(self, x: Tensor) -> Tensor:
        """One number for each row of x."""
        return self.head(torch.tanh(self.body(x)))


def _probe_freeze(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = (
        "output",
        "flags of the body's parameters",
        "flags of the head's",
        "gradient of head.weight",
        "gradient of x",
        "network.training",
    )
    with recording():
        network = Network(draw)
    incoming = draw.tensor(2, 1)

    def and_run(x: Tensor) -> tuple[object, ...]:
        with recording():
            answer(network)
            leaf = fresh(x)
            output = network(leaf)
            head, to_x = _both(output, network.head.weight, leaf, incoming)
            flags = [_flags_of(part) for part in (network.body, network.head)]
            return output, *flags, head, to_x, network.training

    asked = and_run if callable(answer) else answer
    yield call("freeze(network), then network(x)", asked, parts=parts, by_hand=False, x=draw.tensor(2, 3))


def _both(output: Tensor, weight: Tensor, x: Tensor, incoming: Tensor) -> tuple[object, ...]:
    """The gradients of a weight and of x; None for the weight if it requires none."""
    if weight.requires_grad:
        return gradients(output, [weight, x], incoming)
    return None, *gradients(output, [x], incoming)


def _flags_of(module: nn.Module) -> tuple[bool, ...]:
    return tuple(parameter.requires_grad for parameter in module.parameters())


def _frozen(network: Network) -> None:
    network.body.requires_grad_(False)


def _set_on_parameters(name: str) -> Callable[[Network], None]:
    def freeze(network: Network) -> None:
        for parameter in network.body.parameters():
            setattr(parameter, name, False)

    return freeze


def _flag_on_the_module(network: Network) -> None:
    network.body.requires_grad = False


def _detached_and_dropped(network: Network) -> None:
    for parameter in network.body.parameters():
        parameter.detach()


def _wrapped_anew(network: Network) -> None:
    for layer in (network.body[0], network.body[2]):
        layer.weight = nn.Parameter(layer.weight.detach())
        layer.bias = nn.Parameter(layer.bias.detach())


def _first_layer(network: Network) -> None:
    network.body[0].requires_grad_(False)


def _only(part: str) -> Callable[[Network], None]:
    def freeze(network: Network) -> None:
        for name, parameter in network.body.named_parameters():
            if name.endswith(part):
                parameter.requires_grad_(False)

    return freeze


def _cut_behind(network: Network) -> None:
    network.body.register_forward_hook(lambda module, inputs, output: output.detach())


def _run_in_no_grad(network: Network) -> None:
    forward = network.body.forward
    network.body.forward = torch.no_grad()(forward)


def _frozen_and_cut(network: Network) -> None:
    _frozen(network)
    _cut_behind(network)


FREEZE_BODY = Exercise(
    name="freeze_body",
    unit=UNIT,
    title="Freeze the body, train the head",
    points=3,
    probe=_probe_freeze,
    truth=_frozen,
    misconceptions=(
        Misconception(
            "flag_without_effect",
            _set_on_parameters("require_grad"),
            "Nothing has changed: all parameters of the body still require a gradient. Is the name of the flag right, "
            "is it the flag of a parameter, and does the call change the parameter itself?",
            also=(_flag_on_the_module, _detached_and_dropped, _wrapped_anew, _set_on_parameters("grad_required")),
        ),
        Misconception(
            "everything_frozen",
            lambda network: network.requires_grad_(False) and None,
            "The head is frozen as well. Only the body should be.",
        ),
        Misconception(
            "head_frozen",
            lambda network: network.head.requires_grad_(False) and None,
            "The head is frozen, and the body is not.",
        ),
        Misconception(
            "part_of_the_body_frozen",
            _first_layer,
            "Some parameters of the body still require a gradient. It has two layers, each with a weight and a bias.",
            also=(_only("weight"), _only("bias"), lambda network: network.body[2].requires_grad_(False) and None),
        ),
        Misconception(
            "cut_behind_the_body",
            _cut_behind,
            "The parameters of the body get no gradient now, and neither does x: the graph is cut. To freeze is to "
            "turn flags off, and the gradient still goes through.",
            also=(_run_in_no_grad, _frozen_and_cut),
        ),
        Misconception(
            "eval_is_no_freezing",
            lambda network: network.body.eval() and network.eval() and None,
            "All parameters of the body still require a gradient, and the network is in another mode. `eval()` is "
            "about how layers behave.",
        ),
    ),
    hints=(
        "A flag belongs to a parameter. `network.body.parameters()` goes through those of the body.",
        "The flag is called `requires_grad`, with an s. A parameter is a leaf, so you may change it.",
    ),
    when_right="A frozen part passes gradients on, and saves the memory that its own would have needed.",
)


# use_network ---------------------------------------------------------------------------------------------------


def _probe_use(answer: object, draw: Draw) -> Iterator[Observation]:
    parts = (
        "result",
        "it requires a gradient",
        "gradient of w, when w * result is used in training",
        "tensors saved meanwhile",
        "network.training afterwards",
        "flags of the parameters afterwards",
        "grad mode afterwards",
    )
    w, incoming = draw.tensor(3, 2), draw.tensor(3, 2)
    for training in (True, False):
        with recording():
            network = _normalizing(draw).train(training)

        def and_look(x: Tensor, training: bool, network: nn.Module = network) -> tuple[object, ...]:
            with recording():
                result, saved = saved_while(lambda: answer(network, x))
                enabled = torch.is_grad_enabled()
                torch.set_grad_enabled(True)
                modes = tuple(module.training for module in network.modules())
                later = _used_later(result, w, incoming)
                return result, flag(result), later, len(saved), modes, _flags_of(network), enabled

        asked = and_look if callable(answer) else answer
        yield call("use(network, x)", asked, parts=parts, by_hand=False, x=draw.tensor(3, 2), training=training)


def _normalizing(draw: Draw) -> nn.Module:
    """A network that behaves in training otherwise than in use: batch normalization with a past."""
    network = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).double()
    with torch.no_grad():
        for values in (*network.parameters(), network[1].running_mean, network[1].running_var):
            values.copy_(draw.tensor(*values.shape))
        network[1].running_var.abs_()
    return network


def _used_later(result: object, w: Tensor, incoming: Tensor) -> object:
    """The gradient of w where the result is multiplied by it."""
    leaf = fresh(w)
    if not isinstance(result, Tensor):
        return None
    try:
        product = leaf * result
    except RuntimeError:  # torch does not save an inference tensor
        return BROKEN
    return gradients(product, [leaf], incoming)[0]


Use = Callable[[nn.Module, Tensor], Tensor]


def _normalized(network: nn.Module, x: Tensor) -> Tensor:
    """By formula, from the running mean and variance: no layer is run."""
    linear, norm = network
    y = x @ linear.weight.T.detach() + linear.bias.detach()
    y = (y - norm.running_mean) / torch.sqrt(norm.running_var + norm.eps)
    return y * norm.weight.detach() + norm.bias.detach()


def _evaluated(mode: Callable[[], object], back: Callable[[nn.Module, bool], object] = nn.Module.train) -> Use:
    """In eval, inside a mode, and then back to training or not."""

    def use(network: nn.Module, x: Tensor) -> Tensor:
        before = network.training
        network.eval()
        with mode():
            result = network(x)
        back(network, before)
        return result

    return use


def _mode_not_touched(network: nn.Module, x: Tensor) -> Tensor:
    with torch.no_grad():
        return network(x)


def _flags_left_off(network: nn.Module, x: Tensor) -> Tensor:
    network.requires_grad_(False)
    return _evaluated(torch.enable_grad)(network, x)


def _grad_mode_left_off(network: nn.Module, x: Tensor) -> Tensor:
    torch.set_grad_enabled(False)
    return _evaluated(torch.no_grad)(network, x)


USE_NETWORK = Exercise(
    name="use_network",
    unit=UNIT,
    title="Use a network for something else",
    points=3,
    probe=_probe_use,
    truth=_normalized,
    misconceptions=(
        Misconception(
            "eval_disables_grad",
            _evaluated(torch.enable_grad),
            "The layers behave as in use, and the network is recorded all the same. `eval()` does not switch recording "
            "off.",
        ),
        Misconception(
            "no_grad_is_eval",
            _mode_not_touched,
            "Nothing is recorded, but while the network is in training, its batch normalization behaves as in "
            "training. Which method changes how layers behave?",
        ),
        Misconception(
            "left_in_eval",
            _evaluated(torch.no_grad, lambda network, before: None),
            "The result is right. But a network that was in training is in eval afterwards, and the training would "
            "go on with other layers.",
        ),
        Misconception(
            "always_back_to_training",
            _evaluated(torch.no_grad, lambda network, before: network.train()),
            "A network that was in eval is in training afterwards. In which mode was it when your function began?",
        ),
        Misconception(
            "inference_mode_is_just_no_grad",
            _evaluated(torch.inference_mode),
            "The values are right, and the result is an inference tensor: a training that needs to save it raises an "
            "error. Which mode gives ordinary tensors?",
        ),
        Misconception(
            "recorded_and_thrown_away",
            lambda network, x: _evaluated(torch.enable_grad)(network, x).detach(),
            "The result is right. But a graph was recorded and then thrown away, and while the network ran, its saved "
            "tensors took up memory.",
        ),
        Misconception(
            "parameters_left_frozen",
            _flags_left_off,
            "The parameters of the network require no gradient afterwards. The next training step would change "
            "nothing.",
        ),
        Misconception(
            "grad_mode_left_off",
            _grad_mode_left_off,
            "Grad mode is off when your function has ended, and nothing is recorded from there on. A `with` block ends "
            "by itself.",
        ),
    ),
    hints=(
        "Two switches: one for the layers, one for the recording. In the lesson's table, which ways are they?",
        "Keep `network.training` in a variable before you change the mode. `network.train(flag)` takes True or False.",
        "The result is to be used in training: of the two modes that record nothing, one gives ordinary tensors.",
    ),
    when_right="Layers, recording, and leaving things as they were: three separate duties.",
)


EXERCISES = (FIXED_TARGET, FREEZE_BODY, USE_NETWORK)
