"""Unit 03, which graphs get built: the exercise on using a network beside its training, and its mistakes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import BROKEN, flag, flags_of, fresh, gradients, recording, saved_while

UNIT = "03_requires_grad"


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
    for training, grad_mode in ((True, True), (False, True), (True, False)):
        with recording():
            network = _normalizing(draw).train(training)
            network[0].bias.requires_grad_(training)

        def and_look(x: Tensor, training: bool, grad_mode: bool, network: nn.Module = network) -> object:
            with recording():
                x.requires_grad_(not training)
                with torch.set_grad_enabled(grad_mode):
                    result, saved, enabled = *saved_while(lambda: answer(network, x)), torch.is_grad_enabled()
                torch.set_grad_enabled(True)
                if result is None:
                    return None
                modes = tuple(module.training for module in network.modules())
                later = _used_later(result, w, incoming)
                return result, flag(result), later, len(saved), modes, flags_of(network), enabled

        asked = and_look if callable(answer) else answer
        yield call(
            "use(network, x)",
            asked,
            parts=parts,
            by_hand=False,
            x=draw.tensor(3, 2),
            training=training,
            grad_mode=grad_mode,
        )


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
    x = x.detach()
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


def _in_training(network: nn.Module, x: Tensor) -> Tensor:
    before = network.training
    network.train()
    result = _mode_not_touched(network, x)
    network.train(before)
    return result


def _outermost_only(network: nn.Module, x: Tensor) -> Tensor:
    before, network.training = network.training, False
    with torch.no_grad():
        result = network(x)
    network.training = before
    return result


def _flags_left_off(network: nn.Module, x: Tensor) -> Tensor:
    network.requires_grad_(False)
    return _evaluated(contextlib.nullcontext)(network, x)


def _frozen_for_a_while(network: nn.Module, x: Tensor) -> Tensor:
    network.requires_grad_(False)
    result = _evaluated(contextlib.nullcontext)(network, x)
    network.requires_grad_(True)
    return result


def _grad_mode_always_on(network: nn.Module, x: Tensor) -> Tensor:
    result = _grad_mode_left_off(network, x)
    torch.set_grad_enabled(True)
    return result


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
            _evaluated(contextlib.nullcontext),
            "The layers behave as in use, and the network is recorded all the same. `eval()` does not switch recording "
            "off. A mode does, for what stands inside its `with` block.",
            also=(_evaluated(contextlib.nullcontext, lambda network, before: None),),
        ),
        Misconception(
            "no_grad_is_eval",
            _mode_not_touched,
            "Nothing is recorded. But the batch normalization in the network behaves as in training. Which method "
            "changes how layers behave?",
            also=(_outermost_only, _in_training),
        ),
        Misconception(
            "nothing_switched",
            lambda network, x: network(x),
            "This is the network as it stands: recorded, and with layers that may behave as in training. Two things "
            "are to be switched, and one of them back.",
            also=(lambda network, x: network(x).detach(),),
        ),
        Misconception(
            "left_in_eval",
            _evaluated(torch.no_grad, lambda network, before: None),
            "The result is right. But a network that was in training is in eval afterwards, and the training would "
            "go on with other layers.",
        ),
        Misconception(
            "back_on_the_outside_only",
            _evaluated(torch.no_grad, lambda network, before: setattr(network, "training", before)),
            "The result is right. But the layers inside are in eval afterwards: `network.training = ...` sets the flag "
            "of the outermost module, and `eval()` had set all of them. Which method speaks to every layer?",
        ),
        Misconception(
            "flag_on_the_result",
            lambda network, x: _evaluated(torch.no_grad)(network, x).requires_grad_(),
            "All is right but one thing: your result has its flag turned on. In the later training it is an input, "
            "given numbers, and nobody needs its gradient.",
        ),
        Misconception(
            "no_tensor",
            lambda network, x: _evaluated(torch.no_grad)(network, x).numpy(),
            "The numbers are right. But what you return is no tensor, and the later training needs one.",
            also=(lambda network, x: _evaluated(torch.no_grad)(network, x).tolist(),),
        ),
        Misconception(
            "always_back_to_training",
            _evaluated(torch.no_grad, lambda network, before: network.train()),
            "A network that was in eval is in training afterwards. In which mode was it when your function began?",
        ),
        Misconception(
            "left_in_the_other_mode",
            _evaluated(torch.no_grad, lambda network, before: network.train(not before)),
            "Afterwards the network is in the other mode than before. `train(True)` is training, `train(False)` is "
            "evaluation: what does it have to get?",
        ),
        Misconception(
            "inference_mode_is_just_no_grad",
            _evaluated(torch.inference_mode),
            "The values are right, and the result is an inference tensor: a training that needs to save it raises an "
            "error. Which mode gives ordinary tensors?",
        ),
        Misconception(
            "recorded_and_thrown_away",
            lambda network, x: _evaluated(contextlib.nullcontext)(network, x).detach(),
            "The result is right. But a graph was recorded and then thrown away, and while the network ran, its saved "
            "tensors took up memory.",
            also=(lambda network, x: _evaluated(contextlib.nullcontext)(network, x.detach()).detach(),),
        ),
        Misconception(
            "frozen_for_a_while",
            _frozen_for_a_while,
            "You freeze the parameters for a while. But a parameter that was frozen before is not afterwards. And if x "
            "requires a gradient, the network is recorded all the same.",
        ),
        Misconception(
            "grad_mode_always_on",
            _grad_mode_always_on,
            "Afterwards grad mode is enabled, whatever it was when your function began. Here it was called inside "
            "`no_grad`. A `with` block puts back what was there before.",
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


EXERCISES = (USE_NETWORK,)
