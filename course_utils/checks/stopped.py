"""What to say to a learner whose code stopped with an exception that no known mistake explains."""

from __future__ import annotations

import re

from course_utils.checks.evidence import Observation


def why_it_stopped(observation: Observation) -> str:
    """The kind of fault that its exception points to, and where to look."""
    if _TUPLE.search(observation.message):
        return _A_TUPLE
    switched_off = observation.by_hand and "require" in observation.message
    return _WHAT_RAISED.get(observation.value.exception, _RAISED) + _SWITCHED_OFF * switched_off


_TUPLE = re.compile("got tuple|not tuple|tuple indices|'tuple' object|'tuple' and|and 'tuple'")
_A_TUPLE = (
    "Your code stopped because a tuple stands where a tensor is needed. `torch.autograd.grad` and `saved_tensors` give "
    "a tuple, even if there is only one tensor in it."
)
_RAISED = "Your code stopped with an exception. Its last line, below, says why."
_WHAT_RAISED = {
    "TypeError": "Your code stopped with a TypeError. Often this is the number or the order of the arguments: "
    "compare your function's first line with the one that was given.",
    "RuntimeError": "torch refused an operation. Its message, below, names the shapes or the rule.",
}
# torch's words are then "does not require grad" or "requires_grad"
_SWITCHED_OFF = " Autograd is switched off in this check, because the backward is to be written by hand."
