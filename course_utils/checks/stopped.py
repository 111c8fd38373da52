"""What to say to a learner whose code stopped with an exception that no known mistake explains."""

from __future__ import annotations

import re

from course_utils.checks.evidence import Observation


def why_it_stopped(observation: Observation) -> str:
    """The kind of fault that its exception points to, and where to look."""
    for words, says in _KNOWN:
        if words.search(observation.message):
            return says
    if observation.by_hand and "require" in observation.message:
        return _WHAT_RAISED.get(observation.value.exception, _RAISED) + _SWITCHED_OFF
    for words, says in () if observation.by_hand else _ASKED.items():
        if words in observation.message:
            return says
    if _CUT.search(observation.message):
        return _IS_CUT
    return _WHAT_RAISED.get(observation.value.exception, _RAISED)


_KNOWN = tuple(
    (re.compile(words), says)
    for words, says in (
        (
            "can only save variables",
            "`save_for_backward` takes tensors, one by one. The message, below, says which of its arguments is none, "
            "and what stands there instead.",
        ),
        (
            "incorrect number of gradients",
            "Your backward returned another number of values than the forward has arguments. A tuple counts its "
            "members; a list or a generator counts as a single value.",
        ),
        (
            "expected Variable or None",
            "Your backward returned something that is neither a tensor nor None. The message, below, names it. (A list "
            "or a generator is no tuple: it counts as a single value.)",
        ),
        (
            "gradient different than None",
            "Your backward returned a gradient for an argument that is no tensor. Nothing can receive it. What is to "
            "be returned in its place?",
        ),
        (
            "marked with @once_differentiable",
            "`once_differentiable` announces that there is no second derivative. Here one is asked for.",
        ),
        (
            "got tuple|not tuple|tuple indices|'tuple' object|'tuple' and|and 'tuple'",
            "Your code stopped because a tuple stands where a tensor is needed. `torch.autograd.grad` and "
            "`saved_tensors` give a tuple, even if there is only one tensor in it.",
        ),
        (
            "can be converted to an index",
            "Something that is no whole number is used as one. This happens where a tensor is multiplied by a tuple, "
            "and `saved_tensors` is a tuple, even if there is only one tensor in it.",
        ),
        (
            r"takes .* but .* given|missing .*argument|unexpected keyword|too many positional",
            "Something was called with arguments other than it takes. The message, below, says which are missing or "
            "too many. Compare the call with the first line of what is called.",
        ),
    )
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
_CUT = re.compile("does not require grad and does not have a grad_fn")
_IS_CUT = (
    "A gradient was asked of a result that hangs on no tensor that requires one. Either none does, or the way to it is "
    "cut: by `detach`, `.data`, `no_grad`, NumPy, a tensor made of plain numbers, or a gradient that was taken without "
    "`create_graph`."
)
_RAISED = "Your code stopped with an exception. Its last line, below, says why."
_WHAT_RAISED = {
    "TypeError": "Your code stopped with a TypeError: a value is of a type that cannot stand where it stands. The "
    "message, below, names the type, and the line above it the place.",
    "RuntimeError": "torch refused an operation. Its message, below, names the shapes or the rule.",
}
# torch's words are then "does not require grad" or "requires_grad"
_SWITCHED_OFF = " Autograd is switched off in this check, because the backward is to be written by hand."
