"""Whatever an answer does is evidence: what it returns, raises, prints, changes, or leaves to autograd."""

from __future__ import annotations

import sys

import pytest
import torch
from torch.func import vjp

from course_utils.checks.catalogue import find
from course_utils.checks.checking import check, examine, show_evidence
from course_utils.checks.evidence import NotAttempted, call, choice_of, gather, numbers_of
from course_utils.checks.exercise import Later
from course_utils.checks.plain import Array, Other, Raised

X = torch.tensor([1.5, -2.5], dtype=torch.float64)


def seen(answer: object, **style: object):
    return call("value", answer, x=X.clone(), **style)


def raising(error: BaseException):
    def answer(x):
        raise error

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        ...,
        raising(NotImplementedError("write your answer here")),
        raising(NotImplementedError),
        lambda x: ...,
        lambda x: (x, ...),
        lambda x: (x, [x, [...]]),
    ],
)
def test_a_stub_is_not_attempted(answer):
    with pytest.raises(NotAttempted):
        seen(answer)


@pytest.mark.parametrize("answer", [..., (..., ...), [1, ...], ((1, (2, ...)), 3)], ids=repr)
def test_dots_at_any_depth_are_not_attempted(answer):
    with pytest.raises(NotAttempted):
        numbers_of("prediction", answer)


def test_a_choice_of_dots_is_not_attempted():
    with pytest.raises(NotAttempted):
        choice_of("choice", ...)


class Quarrelsome:
    """Nothing can be asked of it."""

    __hash__ = None

    def __eq__(self, other):
        raise ValueError("do not compare me")

    def __repr__(self):
        raise ValueError("do not show me")

    @property
    def __class__(self):
        raise ValueError("do not ask what I am")


class WithoutTextError(NotImplementedError):
    def __str__(self):
        raise ValueError("no text")


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (ValueError("q"), "ValueError"),
        (SystemExit(2), "SystemExit"),
        (NotImplementedError("torch has not got this"), "NotImplementedError"),
        (WithoutTextError("a"), "WithoutTextError"),
        (RecursionError(), "RecursionError"),
    ],
)
def test_an_exception_is_evidence_and_told_in_full(error, name):
    found = seen(raising(error))
    assert found.value == Raised(name)
    assert f"{name}" in found.story
    assert "raise error" in found.story
    assert "course_utils" not in found.story


def test_an_interrupt_is_the_learners_own():
    with pytest.raises(KeyboardInterrupt):
        seen(raising(KeyboardInterrupt()))


@pytest.mark.parametrize(
    "change",
    [lambda x: x.mul_(2), lambda x: x.resize_(1), lambda x: x.zero_(), lambda x: x.t_() if x.dim() > 1 else x.neg_()],
)
def test_an_input_changed_in_place_is_noticed(change):
    found = seen(change)
    assert found.changed == ("x",)
    assert found.given == (("x", Array((2,), "float64", (1.5, -2.5))),)


def test_a_copy_may_be_changed():
    assert seen(lambda x: x.clone().mul_(2)).changed == ()


def test_what_is_printed_is_kept_for_the_learner_and_does_not_come_out(capsys):
    def talk(x):
        print("hello")
        print("warning", file=sys.stderr)
        return x

    assert seen(talk).printed == "hello\nwarning\n"
    assert capsys.readouterr() == ("", "")


def test_an_answer_that_closes_its_output_loses_nothing():
    def close(x):
        print("hello")
        sys.stdout.close()

    assert seen(close).printed == "hello\n"


def forward(x):
    return (x**3).sum()


def by_grad(x):
    x = x.clone().requires_grad_()
    return torch.autograd.grad(forward(x), x)[0]


def by_backward(x):
    with torch.enable_grad():
        x = x.clone().requires_grad_()
        forward(x).backward()
    return x.grad


def by_leaving_inference_mode(x):
    with torch.inference_mode(False), torch.enable_grad():
        return by_backward(x)


WAYS = {
    "grad": by_grad,
    "backward": by_backward,
    "inference_mode(False)": by_leaving_inference_mode,
    "functional.vjp": lambda x: torch.autograd.functional.vjp(forward, x)[1],
    "functional.jacobian": lambda x: torch.autograd.functional.jacobian(forward, x),
    "func.grad": lambda x: torch.func.grad(forward)(x),
    "func.vjp": lambda x: torch.func.vjp(forward, x)[1](torch.tensor(1.0, dtype=x.dtype))[0],
    "func.jvp": lambda x: torch.func.jvp(forward, (x,), (x,))[1],
    "func.jacrev": lambda x: torch.func.jacrev(forward)(x),
    "func.jacfwd": lambda x: torch.func.jacfwd(forward)(x),
    "vjp by name": lambda x: vjp(forward, x)[1](torch.tensor(1.0, dtype=x.dtype))[0],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_autograd_refuses_where_the_backward_is_to_be_written_by_hand(way):
    found = seen(way)
    assert found.value == Raised("NotByHand")
    assert "autograd is switched off in this check" in found.story


# torch's own forward mode uses what torch has deprecated
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_autograd_works_where_it_may_and_again_after_a_check(way):
    seen(way)
    assert isinstance(seen(way, by_hand=False).value, Array)
    assert torch.allclose(by_grad(X), 3 * X**2)


def test_a_value_in_place_of_a_function_is_named():
    assert seen("text").value == Other("str in place of a function")
    assert seen(None).value == Other("NoneType in place of a function")


def test_numbers_are_alike_in_a_tuple_a_list_an_array_and_tensors():
    expected = numbers_of("prediction", (1, 2)).value
    for answer in ([1.0, 2.0], torch.tensor([1, 2]), (torch.tensor(1.0), 2), torch.tensor([1.0, 2.0]).numpy()):
        assert numbers_of("prediction", answer).value == expected


@pytest.mark.parametrize("answer", ["b", "B", " b ", "b.", "(b)", "b)", "b\n", "**b**", "'b'"], ids=repr)
def test_a_choice_is_read_as_a_person_would(answer):
    assert choice_of("choice", answer).value == "b"


@pytest.mark.parametrize("name", ["bias_backward", "predict_messages", "choose_addition", "mean_backward"])
def test_no_answer_makes_a_check_fail(name):
    endless: list[object] = []
    endless.append(endless)
    values = [
        "", None, {}, torch, object, Quarrelsome(), endless, 10**400, "\ud800\n", type("A\nB", (), {})(),
        torch.ones(2).to_sparse(), torch.empty(1, device="meta"), torch.ones(1).expand(10**12), torch.ones(3).bool(),
        torch.zeros(10**5, 0), torch.ones(2, dtype=torch.complex64), torch.ones(2).half(), float("nan"), b"b",
        lambda: 1,
    ]  # fmt: skip
    for value in [
        *values,
        *((lambda *inputs, value=value: value) for value in values),
        lambda *inputs: (i for i in ()),
    ]:
        result = check(name, value)
        assert result.status == "wrong"
        assert "\n" not in repr(result)
        assert len(repr(result)) < 600
        assert result.html().encode("utf-8")


def test_a_check_works_wherever_the_notebook_stands(make_exercise):
    right = make_exercise().misconceptions[1]
    for state in (torch.no_grad(), torch.inference_mode(), torch.device("meta")):
        with state:
            assert examine(make_exercise(), lambda incoming, x, y: (incoming * y, incoming * x), 1).status == "right"
            assert examine(make_exercise(), right.witness, 1).diagnosis.label == right.label


def test_the_graders_evidence_is_one_line_for_each_observation_and_no_verdict(capsys):
    show_evidence("choose_addition", "A.", 1)
    assert capsys.readouterr().out == '{"saw": "choice", "value": "a"}\n'


def test_the_graders_evidence_of_a_stub_says_so(capsys):
    show_evidence("mean_backward", ..., 1)
    assert capsys.readouterr().out == '{"not attempted": true}\n'


def test_what_an_answer_prints_is_no_evidence(capsys):
    def forge(incoming, x):
        print('{"saw": "gradient of x", "value": null}')

    show_evidence("mean_backward", forge, 1)
    assert capsys.readouterr().out == '{"saw": "gradient of x", "value": null}\n' * 2  # what it returned, twice


def test_a_truth_that_is_computed_later_is_computed_once():
    asked = []
    later = Later(lambda: asked.append("computed") or 12.0)
    exercise = find("predict_messages")
    assert not asked
    assert gather(exercise, later, 1) == gather(exercise, later, 2) == gather(exercise, 12.0, 1)
    assert asked == ["computed"]
