"""Unit 03, which graphs get built: the exercise on freezing a part of a network, and its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import flags_of, fresh, gradients, recording

UNIT = "03_requires_grad"


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
        "modes of the network and its parts",
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
            flags = [flags_of(part) for part in (network.body, network.head)]
            modes = tuple(module.training for module in network.modules())
            return output, *flags, head, to_x, modes

    asked = and_run if callable(answer) else answer
    yield call("freeze(network), then network(x)", asked, parts=parts, by_hand=False, x=draw.tensor(2, 3))


def _both(output: Tensor, weight: Tensor, x: Tensor, incoming: Tensor) -> tuple[object, ...]:
    """The gradients of a weight and of x; None for the weight if it requires none."""
    if weight.requires_grad:
        return gradients(output, [weight, x], incoming)
    return None, *gradients(output, [x], incoming)


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
            lambda network: network.body.eval() and None,
            "All parameters of the body still require a gradient, and the network is in another mode. `eval()` is "
            "about how layers behave.",
            also=(lambda network: network.eval() and None,),
        ),
        Misconception(
            "recording_switched_off",
            lambda network: torch.set_grad_enabled(False) and None,
            "The flags are what they were. What you have switched off is recording, from there on and in the whole "
            "program: nothing gets a gradient any more, neither the head nor x.",
        ),
        Misconception(
            "frozen_and_in_eval",
            lambda network: _frozen(network) or (network.eval() and None),
            "The flags are right. But `eval()` has put the network, or a part of it, into another mode: with dropout "
            "or batch normalization in it, it would not compute what it did.",
            also=(
                lambda network: _frozen(network) or (network.body.eval() and None),
                lambda network: _frozen(network) or (network.head.eval() and None),
            ),
        ),
    ),
    hints=(
        "A flag belongs to a parameter. `network.body.parameters()` goes through those of the body.",
        "The flag is called `requires_grad`, with an s. A parameter is a leaf, so you may change it.",
    ),
    when_right="A frozen part passes gradients on, and saves the memory that its own would have needed.",
)


EXERCISES = (FREEZE_BODY,)
