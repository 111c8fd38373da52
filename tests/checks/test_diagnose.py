"""Each general pattern speaks where it fits, and nowhere else; what it says is of the evidence that is shown."""

from __future__ import annotations

import math

import pytest
import torch

from course_utils.checks.catalogue import find
from course_utils.checks.checking import examine, usual_seed
from course_utils.checks.diagnose import general_pattern
from course_utils.checks.evidence import Observation, call, numbers_of
from course_utils.checks.exercise import Misconception
from course_utils.checks.plain import plain

X = torch.tensor([[1.5, -2.5, 0.7], [3.1, 4.3, -0.9]], dtype=torch.float64)
Y = torch.tensor([0.3, 1.7, -2.9], dtype=torch.float64)


def right(x, y):
    return x * 2, y.exp()


def raises(x, y):
    return x @ x, y


def divides_by_zero(x, y):
    return x * 2, y / 0


WRONG = {
    "raises": [raises, lambda x: x, lambda x, y: missing],  # noqa: F821 (a name that a learner mistyped)
    "uses_autograd": [lambda x, y: torch.autograd.grad(x, x), lambda x, y: torch.func.grad(torch.sum)(x)],
    "no_function": ["text", (X, Y), None],
    "returns_none": [lambda x, y: None, print],
    "changes_input": [lambda x, y: (x.mul_(2), y.exp()), lambda x, y: (x * 2, y.exp_())],
    "wrong_type": [
        lambda x, y: (x * 2, None),
        lambda x, y: (x * 2, y.exp().tolist()),
        lambda x, y: ("x * 2", y.exp()),
        lambda x, y: {"x": x * 2, "y": y.exp()},
        lambda x, y: (value for value in right(x, y)),
        lambda x, y: right,
        lambda x, y: (x.to_sparse() * 2, y.exp()),
    ],
    "wrong_count": [lambda x, y: x * 2, lambda x, y: (x * 2,), lambda x, y: (x, *right(x, y)), lambda x, y: ()],
    "exchanged": [lambda x, y: right(x, y)[::-1]],
    "wrong_shape": [
        lambda x, y: (x * 2, y.exp()[None]),
        lambda x, y: (x.sum(), y.exp()),
        lambda x, y: (x.mT * 2, y.exp()),
        lambda x, y: (x * 2, 3),
    ],
    "wrong_dtype": [lambda x, y: ((x * 2).float(), y.exp()), lambda x, y: (x * 2, y.exp().numpy().astype("float32"))],
    "not_finite": [divides_by_zero, lambda x, y: (x * 2, y.log())],
    "negated": [lambda x, y: (-x * 2, -y.exp())],
    "constant_factor": [lambda x, y: (x, y.exp() / 2), lambda x, y: (x * -6, y.exp() * -3)],
    None: [lambda x, y: (x, y.exp()), lambda x, y: (x * 0, y * 0), lambda x, y: (x * 2, -y.exp())],
}


@pytest.mark.parametrize(
    ("label", "answer"), [(label, answer) for label, answers in WRONG.items() for answer in answers]
)
def test_each_pattern_speaks_where_it_fits_and_no_other_does(label, answer):
    mine, truth = (call("gradients", one, parts=("of x", "of y"), x=X.clone(), y=Y.clone()) for one in (answer, right))
    found = general_pattern((mine,), (truth,))
    assert (found.label if found else None) == label


def test_a_right_answer_fits_no_pattern():
    truth = (call("gradients", right, x=X.clone(), y=Y.clone()),)
    assert general_pattern(truth, truth) is None


def alone(value: object) -> tuple[Observation, ...]:
    return (Observation("gradient", plain(value)),)


@pytest.mark.parametrize(
    ("mine", "truth", "label"),
    [
        (X.mT, X, "transposed"),
        (-X.mT, X, "wrong_shape"),
        (X[:, :2].mT, X[:, :2], "transposed"),
        (-X, X, "negated"),
        (3 * X, X, "constant_factor"),
        (X + 1e-3, X, None),
        (X.clone().fill_(math.nan), X, "not_finite"),
        (X.log(), X.log() * 2, "constant_factor"),
        ((X,), X, "wrong_type"),
        (X.tolist(), X, "wrong_type"),
        (True, 1.0, "wrong_type"),
        ("a", "b", None),
        (X, None, None),
        (X + 0j, X + 1j, None),
    ],
)
def test_patterns_of_a_single_value(mine, truth, label):
    found = general_pattern(alone(mine), alone(truth))
    assert (found.label if found else None) == label


def test_a_pattern_has_to_fit_every_observation():
    assert general_pattern((*alone(-X), *alone(X)), (*alone(X), *alone(X))) is None
    assert general_pattern((*alone(2 * X), *alone(3 * X)), (*alone(X), *alone(X))) is None


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (print, "printed something and returned None"),
        (lambda *inputs: None, "does every path through it end in `return`?"),
    ],
)
def test_printing_the_result_is_told_from_forgetting_it(make_exercise, answer, words):
    assert words in examine(make_exercise(), answer, 1).diagnosis.says


def test_the_evidence_shown_is_that_of_which_the_diagnosis_speaks(make_exercise):
    def probe(answer, draw):
        for size in (1, 2):
            yield call("value", answer, x=draw.tensor(size))

    def fails_later(x):
        return -x if len(x) == 1 else x @ torch.ones(9)

    exercise = make_exercise(probe=probe, truth=lambda x: 2 * x, misconceptions=())
    result = examine(exercise, fails_later, usual_seed(exercise))
    assert result.diagnosis.label == "raises"
    assert result.mine.given[0][1].shape == (2,)
    assert "What your code raised" in result.html()


def test_a_misconception_comes_before_any_pattern(make_exercise):
    result = examine(make_exercise(), lambda incoming, x, y: (incoming * x, incoming * y), 1)
    assert result.diagnosis.label == "swapped"


def test_a_misconception_in_one_of_two_gradients_is_named(make_exercise):
    result = examine(make_exercise(), lambda incoming, x, y: (y, incoming * x), 1)
    assert result.diagnosis.label == "incoming_ignored"


def test_an_exception_alone_is_not_taken_for_a_misconception():
    def fixed_size(incoming, x, w):
        return (incoming @ w.T).reshape(3, 3), x.T @ incoming

    assert examine(find("matmul_backward"), fixed_size, 1).diagnosis.label == "raises"


def test_exceptions_that_say_something_else_are_not_those_of_a_misconception(make_exercise):
    def adds_none(incoming, x, y):
        return incoming + None

    def calls_wrongly(incoming, x, y):
        return torch.exp()

    exercise = make_exercise(misconceptions=(Misconception("adds_none", adds_none, "What is None?"),))
    assert examine(exercise, lambda incoming, x, y: x + None, 1).diagnosis.label == "adds_none"
    assert examine(exercise, calls_wrongly, 1).diagnosis.label == "raises"


@pytest.mark.parametrize("by_hand", [True, False])
@pytest.mark.parametrize(
    ("answer", "speaks_of_it"), [(lambda x: (x * x).retain_grad(), True), (lambda x: x @ torch.ones(9), False)]
)
def test_autograd_is_said_to_be_off_where_it_is_and_torch_asks_for_it(answer, speaks_of_it, by_hand):
    mine = (call("value", answer, x=X.clone(), by_hand=by_hand),)
    says = general_pattern(mine, (call("value", lambda x: x, x=X.clone()),)).says
    assert ("Autograd is switched off" in says) == (speaks_of_it and by_hand)


@pytest.mark.parametrize("answer", [(4.0, 6.0), (-2.0, -3.0), (3.0, 2.0), (0.2, 0.3)])
def test_no_pattern_gives_away_what_is_to_be_predicted(make_exercise, answer):
    def probe(answer, draw):
        yield numbers_of("prediction", answer, parts=("gradient of x", "gradient of y"))

    told, untold = (
        make_exercise(probe=probe, truth=(2.0, 3.0), misconceptions=(), tells_expected=tells) for tells in (True, False)
    )
    assert examine(told, answer, 1).diagnosis.label in ("constant_factor", "negated", "exchanged")
    assert examine(untold, answer, 1).diagnosis is None
