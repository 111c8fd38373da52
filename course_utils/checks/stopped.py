"""What to say to a learner whose code stopped with an exception that no known mistake explains."""

from __future__ import annotations

import re

from course_utils.checks.evidence import Observation


def why_it_stopped(observation: Observation) -> str:
    """The kind of fault that its exception points to, and where to look."""
    if _TUPLE.search(observation.message):
        return _A_TUPLE
    switched_off = observation.by_hand and "require" in observation.message
    return _what_raised(observation) + _SWITCHED_OFF * switched_off


def _what_raised(seen: Observation) -> str:
    if seen.value.exception == "TypeError" and "argument" in seen.message:
        return _ARGUMENTS
    return _REFUSED if seen.value.exception == "RuntimeError" else _RAISED


_TUPLE = re.compile("got tuple|not tuple|tuple indices|'tuple' object|'tuple' and|and 'tuple'")
_A_TUPLE = (
    "Your code stopped because a tuple stands where a tensor is needed. `torch.autograd.grad` and `saved_tensors` give "
    "a tuple, even if there is only one tensor in it."
)
_RAISED = "Your code stopped with an exception. Its last line, below, says why."
_REFUSED = "torch refused an operation. Its message, below, names the shapes or the rule."
_ARGUMENTS = (
    "Your code stopped with a TypeError about arguments. Often this is their number or their order: compare the first "
    "line of the function that the message names with the way it is called."
)
# torch's words are then "does not require grad" or "requires_grad"
_SWITCHED_OFF = " Autograd is switched off in this check, because the backward is to be written by hand."
