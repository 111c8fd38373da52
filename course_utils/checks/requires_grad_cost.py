"""Unit 03, which graphs get built: the exercises on what recording costs, and on what `eval()` leaves on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, choice_of, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.recorded import bytes_of, recording, saved_while

UNIT = "03_requires_grad"


# predict_bytes -------------------------------------------------------------------------------------------------

_CASES = ("only w", "only x", "both in no_grad")


def _probe_bytes(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=_CASES)


def _kept(x_requires: bool, w_requires: bool, mode: Callable[[], object]) -> int:
    def compute() -> Tensor:
        with mode():
            p = x * w
            q = p + x
            r = q.exp()
            return r.sum()

    with recording():
        x = torch.ones(100, 10, dtype=torch.float32, requires_grad=x_requires)
        w = torch.ones(10, dtype=torch.float32, requires_grad=w_requires)
        _, saved = saved_while(compute)
    return bytes_of(saved)


PREDICT_BYTES = Exercise(
    name="predict_bytes",
    unit=UNIT,
    title="Predict what a graph keeps",
    points=3,
    probe=_probe_bytes,
    truth=(
        _kept(False, True, torch.enable_grad),
        _kept(True, False, torch.enable_grad),
        _kept(True, True, torch.no_grad),
    ),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "keeps_the_value_itself",
            (4040, 8000, 0),
            "The first two are in each other's place. For the gradient of w, a product needs the value of which input?",
            also=((4040, 8000, 8040), (4040, 8000, 4040)),
        ),
        Misconception(
            "same_factor_in_both_cases",
            (4040, 4040, 0),
            "You let the product keep the same factor in both cases. For the gradient of w, which value does it need? "
            "And for that of x?",
            also=((8000, 8000, 0), (4040, 4040, 4040), (8000, 8000, 8000)),
        ),
        Misconception(
            "both_factors_are_kept",
            (8040, 8040, 0),
            "You let the product keep both of its inputs. One of them would serve for a gradient that nobody has asked "
            "for.",
            also=((8040, 8040, 8040),),
        ),
        Misconception(
            "every_result_is_kept",
            (16004, 12044, 0),
            "You count the results of all operations. Which of them need a value for their backward at all? An "
            "addition passes the gradient on as it came.",
            also=(
                (16044, 16044, 0),
                (12004, 12004, 0),
                (12000, 8040, 0),
                (12000, 8040, 8040),
                (12000, 12000, 0),
                (12040, 12040, 0),
            ),
        ),
        Misconception(
            "exp_keeps_nothing",
            (4000, 40, 0),
            "This is what the product keeps. exp keeps something, too: its derivative is a value.",
        ),
        Misconception(
            "product_keeps_nothing",
            (4000, 4000, 0),
            "This is what exp keeps. The product keeps something, too: for the gradient of one input it needs the "
            "value of the other.",
        ),
        Misconception(
            "nothing_is_kept",
            (0, 0, 0),
            "Nothing is kept where nothing is recorded. In the first two cases something requires a gradient: what do "
            "exp and the product need for their backward?",
        ),
        Misconception(
            "the_mode_keeps_memory",
            (8000, 4040, 8040),
            "The first two are right. In the third case, count what a computation keeps of which nothing is recorded.",
            also=((8000, 4040, 8000), (8000, 4040, 4040), (8000, 4040, 4000)),
        ),
    ),
    hints=(
        "Go through the four operations. An addition and a sum know how to pass a gradient on without any value.",
        "exp saves its result, as large as x. For each input that requires a gradient, a product saves the *other* "
        "input.",
        "If only w requires a gradient: the product needs x. If only x does: it needs w.",
    ),
    when_right="Whether x or w requires a gradient decides what the product keeps. Frozen layers save memory.",
)


# choose_eval ---------------------------------------------------------------------------------------------------

_Seen = tuple[bool, bool, bool]  # dropout is on, a graph is recorded, the parameters require a gradient
_CLAIMS: dict[str, _Seen] = {
    "a": (False, False, True),
    "b": (False, True, True),
    "c": (True, False, True),
    "d": (False, False, False),
}


def _probe_eval(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


def _true_claim() -> str:
    """The one claim that agrees with a network that is run."""
    with recording():
        network = torch.nn.Sequential(torch.nn.Linear(2, 50), torch.nn.Dropout(0.5))
        network.eval()
        first, second = (network(torch.ones(1, 2)) for _ in range(2))
        flags = all(parameter.requires_grad for parameter in network.parameters())
        seen = (not torch.equal(first, second), first.requires_grad, flags)
    (letter,) = (letter for letter, claim in _CLAIMS.items() if claim == seen)
    return letter


CHOOSE_EVAL = Exercise(
    name="choose_eval",
    unit=UNIT,
    title="What eval() does",
    points=1,
    probe=_probe_eval,
    truth=_true_claim(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "eval_disables_grad",
            "a",
            "In the table of the lesson, look at the row of `eval()`. Does its result require a gradient?",
        ),
        Misconception(
            "eval_is_no_grad",
            "c",
            "This is what `no_grad()` does. `eval()` speaks to the layers.",
        ),
        Misconception(
            "eval_freezes",
            "d",
            "That would be freezing. In the table of the lesson, do the weights get a gradient after `eval()`?",
        ),
    ),
    hints=(
        "Two questions: how do the layers behave, and is anything recorded? `eval()` answers one of them.",
        "The lesson's table of five ways has a row for `eval()`.",
    ),
    when_right="So evaluation usually takes both: eval() for the layers, no_grad() or inference_mode() for the memory.",
)


EXERCISES = (PREDICT_BYTES, CHOOSE_EVAL)
