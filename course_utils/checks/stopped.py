"""What to say to a learner whose code stopped with an exception that no known mistake explains."""

from __future__ import annotations

import re

from course_utils.checks.evidence import Observation


def why_it_stopped(observation: Observation) -> str:
    """The kind of fault that its exception points to, and where to look."""
    if _TUPLE.search(observation.message):
        return _A_TUPLE
    if not observation.by_hand:
        for words, says in _ASKED.items():
            if words in observation.message:
                return says
    switched_off = observation.by_hand and "require" in observation.message
    return _WHAT_RAISED.get(observation.value.exception, _RAISED) + _SWITCHED_OFF * switched_off


_TUPLE = re.compile("got tuple|not tuple|tuple indices|'tuple' object|'tuple' and|and 'tuple'")
_A_TUPLE = (
    "Your code stopped because a tuple stands where a tensor is needed. `torch.autograd.grad` and `saved_tensors` give "
    "a tuple, even if there is only one tensor in it."
)
_NO_TENSOR = "None stands where a tensor is needed. `.grad` is None as long as no gradient has arrived there."
_ASKED = {
    "implicitly created only for scalar outputs": "A backward pass begins at a single number, or it needs weights: one "
    "for each entry of the output. Here the output has several entries, and no weights are given.",
    "appears to not have been used in the graph": "No path leads from the output to a tensor that you ask for. Was the "
    "output computed from this very tensor, or from another one?",
    "One of the differentiated Tensors does not require grad": "A tensor that you ask for does not require a gradient. "
    "It has to before the output is computed.",
    "can't multiply sequence": "A tuple or a list stands where a tensor is needed. `torch.autograd.grad` returns a "
    "tuple, even of a single gradient.",
    "got NoneType": _NO_TENSOR,
    "'NoneType' object": _NO_TENSOR,
}
_RAISED = "Your code stopped with an exception. Its last line, below, says why."
_WHAT_RAISED = {
    "TypeError": "Your code stopped with a TypeError. Often this is the number or the order of the arguments: "
    "compare your function's first line with the one that was given.",
    "RuntimeError": "torch refused an operation. Its message, below, names the shapes or the rule.",
}
# torch's words are then "does not require grad" or "requires_grad"
_SWITCHED_OFF = " Autograd is switched off in this check, because the backward is to be written by hand."
