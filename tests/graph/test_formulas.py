"""Each formula is computed and compared with what torch sent; the words are compared with the maths."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from course_utils.graph import record, replay
from course_utils.graph.derivation import derive
from course_utils.graph.events import Sent
from course_utils.graph.expression import Expression
from course_utils.graph.formulas import _RULES, argument, formula


def tensor(*shape, start=0.3):
    """Distinct float64 numbers, away from zero and from each other's opposite."""
    count = torch.Size(shape).numel()
    numbers = start + torch.arange(count, dtype=torch.float64) * 0.37
    return numbers.reshape(shape).requires_grad_()


def signed(*shape):
    values = tensor(*shape).detach()
    values.view(-1)[::2] *= -1
    return values.requires_grad_()


OPERATIONS = {
    "AddBackward0": lambda: torch.add(tensor(3), tensor(3, start=1.1), alpha=2.5),
    "SubBackward0": lambda: torch.sub(tensor(3), tensor(3, start=1.1), alpha=2.5),
    "RsubBackward1": lambda: 1 - tensor(3),
    "MulBackward0": lambda: tensor(3) * tensor(3, start=1.1),
    "DivBackward0": lambda: tensor(3) / tensor(3, start=1.1),
    "PowBackward0": lambda: tensor(3) ** 3,
    "PowBackward1": lambda: tensor(3) ** tensor(3, start=1.1),
    "PowBackward2": lambda: 2.5 ** tensor(3),
    "ExpBackward0": lambda: tensor(3).exp(),
    "LogBackward0": lambda: tensor(3).log(),
    "SqrtBackward0": lambda: tensor(3).sqrt(),
    "ReciprocalBackward0": lambda: tensor(3).reciprocal(),
    "SinBackward0": lambda: tensor(3).sin(),
    "CosBackward0": lambda: tensor(3).cos(),
    "SinhBackward0": lambda: tensor(3).sinh(),
    "CoshBackward0": lambda: tensor(3).cosh(),
    "TanhBackward0": lambda: tensor(3).tanh(),
    "SigmoidBackward0": lambda: tensor(3).sigmoid(),
    "ReluBackward0": lambda: signed(4).relu(),
    "NegBackward0": lambda: -tensor(3),
    "AbsBackward0": lambda: signed(4).abs(),
    "SumBackward0": lambda: tensor(2, 3).sum(),
    "SumBackward1": lambda: tensor(2, 3, 2).sum((0, 2)),
    "MeanBackward0": lambda: tensor(2, 3).mean(),
    "MmBackward0": lambda: tensor(2, 3) @ tensor(3, 4, start=1.1),
    "MvBackward0": lambda: tensor(2, 3) @ tensor(3, start=1.1),
    "BmmBackward0": lambda: torch.bmm(tensor(2, 2, 3), tensor(2, 3, 2, start=1.1)),
    "DotBackward0": lambda: tensor(3).dot(tensor(3, start=1.1)),
    "AddmmBackward0": lambda: torch.addmm(tensor(4), tensor(2, 3), tensor(3, 4, start=1.1), beta=2.5, alpha=1.5),
    "TBackward0": lambda: tensor(2, 3).t(),
    "TransposeBackward0": lambda: tensor(2, 3, 4).transpose(0, 2),
    "ViewBackward0": lambda: tensor(2, 3).view(6),
    "UnsafeViewBackward0": lambda: tensor(2, 3).t().reshape(6),
    "ExpandBackward0": lambda: tensor(1, 3).expand(4, 3),
    "UnsqueezeBackward0": lambda: tensor(3).unsqueeze(0),
    "SqueezeBackward0": lambda: tensor(1, 3, 1).squeeze(),
    "SqueezeBackward1": lambda: tensor(1, 3).squeeze(0),
    "CloneBackward0": lambda: tensor(3).clone(),
    "MseLossBackward0": lambda: F.mse_loss(tensor(3), tensor(3, start=1.1)),
}
MADE_BY_THE_ENGINE = {"CopyBackwards", "ReshapeAliasBackward0"}


def derivations(output):
    """Each message of the first node, with how it is derived."""
    torch.manual_seed(0)
    recording = record(output, torch.rand_like(output) + 0.5)
    for state in replay(recording):
        if isinstance(state.event, Sent) and state.event.message.source == 0:
            message = state.event.message
            yield message, derive(recording.graph, message, state.incoming[0]), recording.graph.nodes[0]


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_formula_gives_what_torch_sends(name):
    found = list(derivations(OPERATIONS[name]()))
    assert found
    for message, derivation, node in found:
        assert node.name == name
        if formula(node, message.edge.position) is None:
            continue  # the table has no formula for this input, and says so by an empty text
        sent = torch.tensor(message.value, dtype=torch.float64)
        torch.testing.assert_close(derivation.computed.sum_to_size(sent.shape), sent)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_formula_in_the_table_is_computed_by_a_test(name):
    tested = {message.edge.position for message, _, _ in derivations(OPERATIONS[name]())}
    formulas = {position for position, text in enumerate(_RULES[name].values()) if text}
    assert formulas <= tested


def test_every_rule_has_its_operation():
    assert set(_RULES) - MADE_BY_THE_ENGINE == set(OPERATIONS)


def test_a_copy_of_a_gradient_says_so():
    x = tensor()
    recording = record(x * x, create_graph=True, with_respect_to=[x])
    assert formula(recording.graph.nodes[0], 0).source == "incoming * other"


def told(output, position=0, **named):
    recording = record(output, **named)
    for state in replay(recording):
        if isinstance(state.event, Sent) and state.event.message.source == 0:
            message = state.event.message
            if message.edge.position == position:
                return derive(recording.graph, message, state.incoming[0]).equation(message)
    raise AssertionError("nothing was sent there")


def scalar(value):
    return torch.tensor(value, dtype=torch.float64, requires_grad=True)


def test_a_formula_is_told_with_names_and_with_numbers():
    x, y = scalar(3.0), scalar(-2.0)
    assert told(x * y, x=x, y=y) == "incoming × y = 1 × (-2) = -2"
    assert told(x**2, x=x) == "incoming × exponent × x^(exponent − 1) = 1 × 2 × 3^(2 − 1) = 6"
    assert told(x / y, 1, x=x, y=y) == "−incoming × x / y² = −1 × 3 / (-2)² = -0.75"


def test_a_factor_of_one_is_left_out():
    x, y = scalar(3.0), scalar(2.0)
    assert told(x + y, 1) == "incoming = 1"


def test_a_large_operand_is_not_written_out():
    a, b = tensor(4, 5), tensor(5, 3)
    recording = record(a @ b, torch.ones(4, 3, dtype=torch.float64), a=a, b=b)
    message = recording.messages_to("a")[0]
    derivation = derive(recording.graph, message, (recording.events[0].incoming[0],))
    assert derivation.numbers is None
    assert derivation.equation(message).startswith("incoming @ bᵀ = 4×5, norm ")


def test_what_was_broadcast_is_summed_and_said():
    x, b = tensor(2, 3), tensor(3, start=1.1)
    recording = record(x + b, torch.ones(2, 3, dtype=torch.float64), x=x, b=b)
    message = recording.messages_to("b")[0]
    derivation = derive(recording.graph, message, recording.events[0].incoming)
    assert derivation.equation(message) == "incoming, summed over what was broadcast = [2, 2, 2]"


def test_a_message_that_a_hook_changed_is_not_explained_by_the_formula():
    x = scalar(3.0)
    product = x * 2
    product.grad_fn.register_hook(lambda outgoing, incoming: tuple(g if g is None else g * 10 for g in outgoing))
    recording = record(product)
    (message,) = recording.messages_to("x")
    assert message.value == 20
    assert derive(recording.graph, message, recording.events[0].incoming) is None


def test_an_unknown_node_has_no_formula():
    x = tensor(3)
    recording = record(x.softmax(0), torch.ones(3, dtype=torch.float64))
    assert derive(recording.graph, recording.messages[0], recording.events[0].incoming) is None


def test_complex_gradients_are_not_told_with_real_rules():
    z = torch.tensor(1 + 2j, requires_grad=True)
    recording = record(z * (2 - 1j), torch.tensor(1 + 0j))
    assert derive(recording.graph, recording.messages[0], recording.events[0].incoming) is None


def test_the_sum_of_squares_is_not_told_as_their_mean():
    recording = record(F.mse_loss(tensor(3), tensor(3, start=1.1), reduction="sum"))
    assert derive(recording.graph, recording.messages[0], recording.events[0].incoming) is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("a * (b - c)", "1 × (2 − 3)"),
        ("a - (b - c)", "1 − (2 − 3)"),
        ("a - b - c", "1 − 2 − 3"),
        ("a / (b * c)", "1 / (2 × 3)"),
        ("(a * b) ** 2", "(1 × 2)²"),
        ("a ** (b - c)", "1^(2 − 3)"),
        ("(a ** b) ** c", "(1^2)^3"),
        ("-(a + b)", "−(1 + 2)"),
        ("(-a) ** 2", "(−1)²"),
        ("a.T @ b", "1ᵀ @ 2"),
        ("(a + b).T", "(1 + 2)ᵀ"),
        ("a * cos(b - c)", "1 × cos(2 − 3)"),
        ("a * ones_where(b > 0)", "1 × [2 > 0]"),
        ("a * spread(b - c, d)", "1 × ((2 − 3) for each element)"),
    ],
)
def test_brackets_stand_where_they_are_needed(source, words):
    assert Expression(source).told({"a": "1", "b": "2", "c": "3"}.__getitem__) == words


def test_the_argument_that_a_position_stands_for_is_known():
    x, y = scalar(3.0), scalar(2.0)
    node = record(x / y).graph.nodes[0]
    assert (argument(node, 0), argument(node, 1), argument(node, 2)) == ("self", "other", None)
