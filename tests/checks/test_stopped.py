"""What is said of an exception that no known mistake explains: where to look, and nothing that need not be so."""

from __future__ import annotations

import pytest
import torch

from course_utils.checks.evidence import call
from course_utils.checks.functions import function
from course_utils.checks.stopped import why_it_stopped

X = torch.tensor([0.5, 2.0])


def takes_one(x):
    return x


def backward(returns):
    """Asks for the gradient through a Function of one argument whose backward returns this."""
    made = function("Odd", lambda ctx, x: x * 2, lambda ctx, g: returns(g))
    return lambda x: torch.autograd.grad(made.apply(x.requires_grad_()).sum(), x)


def saves(what):
    def forward(ctx, x):
        ctx.save_for_backward(what(x))
        return x

    return lambda x: function("Saves", forward, lambda ctx, g: g).apply(x.requires_grad_())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x: takes_one(x, x), "arguments other than it takes"),
        (lambda x: takes_one(), "arguments other than it takes"),
        (lambda x: takes_one(y=x), "arguments other than it takes"),
        (lambda x: torch.exp(), "arguments other than it takes"),
        (saves(lambda x: (x,)), "`save_for_backward` takes tensors, one by one"),
        (backward(lambda g: (g, g)), "another number of values than the forward has arguments"),
        (backward(lambda g: [g]), "neither a tensor nor None"),
        (lambda x: x * (x,), "`saved_tensors` is a tuple"),
        (lambda x: torch.exp((x,)), "a tuple stands where a tensor is needed"),
        (lambda x: x.sum().detach().backward(), "hangs on no tensor that requires one"),
        (lambda x: torch.exp("x"), "a value is of a type that cannot stand where it stands"),
        (lambda x: x @ torch.ones(9), "names the shapes or the rule"),
        (lambda x: {}["x"], "Its last line, below, says why"),
    ],
)
def test_the_words_of_an_exception_say_where_to_look(answer, words):
    assert words in why_it_stopped(call("value", answer, by_hand=False, x=X.clone()))
