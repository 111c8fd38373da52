"""Unit 04, the recorded graph: the exercise on hooks, and the mistakes it can name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized

import torch
from torch import Tensor

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception

UNIT = "04_grad_fn"


# clip_and_note -------------------------------------------------------------------------------------------------

_CLIPPED = ("how many were noted", "noted", "gradient of x", "gradient of v")


def _probe_clip(answer: object, draw: Draw) -> Iterator[Observation]:
    def two_passes(x: Tensor, v: Tensor, first: Tensor, second: Tensor, limit: float) -> object:
        with torch.enable_grad():
            x, v = x.clone().requires_grad_(), v.clone().requires_grad_()
            half, y = 0.5 * v, 3 * x
            noted = answer(y, limit)
            if isinstance(noted, Tensor) or not isinstance(noted, Sized) or not isinstance(noted, Iterable):
                return noted
            z = y + half
            received: list[tuple[Tensor, Tensor]] = []
            for incoming in (first, second):
                x.grad = v.grad = None
                z.backward(incoming.clone(), retain_graph=True)
                received.append((x.grad.clone(), v.grad.clone()))
        values = tuple(None if one is None else torch.as_tensor(one, dtype=x.dtype).detach() for one in noted)
        return len(noted), values, tuple(of_x for of_x, _ in received), tuple(of_v for _, of_v in received)

    asked = two_passes if callable(answer) else answer
    for size in (4, 6):
        x, v, first = (draw.tensor(size) for _ in range(3))
        yield call(
            "two backward passes",
            asked,
            parts=_CLIPPED,
            by_hand=False,
            x=x,
            v=v,
            first=first,
            second=-1.1 * first,  # so both signs come with every size
            limit=draw.whole(13, 16) / 10 + 0.05,
        )


def _kept_for_the_truth(y: Tensor, limit: float) -> list[Tensor]:
    """Clipped entry by entry, in plain Python."""
    noted: list[Tensor] = []

    def hook(gradient: Tensor) -> Tensor:
        noted.append(gradient.clone())
        return torch.tensor([min(max(entry, -limit), limit) for entry in gradient.tolist()], dtype=gradient.dtype)

    y.register_hook(hook)
    return noted


def _hooked(
    changed: Callable[[Tensor, float], Tensor | None],
    note: Callable[[Tensor, Tensor | None], object] = lambda g, new: g,
) -> Callable[[Tensor, float], list[object]]:
    """A hook that passes `changed(gradient, limit)` on, and notes `note(gradient, what it passes on)`."""

    def clip_and_note(y: Tensor, limit: float) -> list[object]:
        noted: list[object] = []

        def hook(gradient: Tensor) -> Tensor | None:
            before = gradient.clone()
            new = changed(gradient, limit)
            noted.append(note(before, new))
            return new

        y.register_hook(hook)
        return noted

    return clip_and_note


def _clip(gradient: Tensor, limit: float) -> Tensor:
    return gradient.clamp(-limit, limit)


def _rebound(gradient: Tensor, limit: float) -> None:
    gradient = gradient.clamp(-limit, limit)


def _in_place(gradient: Tensor, limit: float) -> None:
    gradient.clamp_(-limit, limit)


def _noted_and_changed_in_place(y: Tensor, limit: float) -> list[Tensor]:
    noted: list[Tensor] = []

    def hook(gradient: Tensor) -> None:
        noted.append(gradient)
        gradient.clamp_(-limit, limit)

    y.register_hook(hook)
    return noted


def _entries_noted(y: Tensor, limit: float) -> list[Tensor]:
    noted: list[Tensor] = []

    def hook(gradient: Tensor) -> Tensor:
        noted.extend(gradient)
        return _clip(gradient, limit)

    y.register_hook(hook)
    return noted


def _on_the_node(y: Tensor, limit: float) -> list[Tensor]:
    noted: list[Tensor] = []

    def hook(sent: tuple, received: tuple) -> tuple:
        noted.append(received[0])
        return tuple(None if one is None else _clip(one, limit) for one in sent)

    y.grad_fn.register_hook(hook)
    return noted


def _retained(y: Tensor, limit: float) -> list[Tensor]:
    y.retain_grad()
    return []


def _noted_at_once(y: Tensor, limit: float) -> list[Tensor | None]:
    y.retain_grad()
    return [y.grad]


def _handle(y: Tensor, limit: float) -> object:
    noted: list[Tensor] = []
    return y.register_hook(lambda gradient: (noted.append(gradient), _clip(gradient, limit))[1])


def _called_once(y: Tensor, limit: float) -> list[Tensor]:
    noted: list[Tensor] = []

    def hook(gradient: Tensor) -> Tensor:
        noted.append(gradient)
        handle.remove()
        return _clip(gradient, limit)

    handle = y.register_hook(hook)
    return noted


CLIP_AND_NOTE = Exercise(
    name="clip_and_note",
    unit=UNIT,
    title="A hook that watches and changes",
    points=4,
    probe=_probe_clip,
    truth=_kept_for_the_truth,
    misconceptions=(
        Misconception(
            "nothing_returned",
            _hooked(_rebound),
            "The gradients are noted, and pass on as they came. A new value for a local name changes nothing outside. "
            "What a hook returns does: what does yours return?",
            also=(_hooked(lambda gradient, limit: None),),
        ),
        Misconception(
            "written_into",
            _hooked(_in_place),
            "x is right, and v gets a clipped gradient, too: the addition passes one and the same tensor to both. Your "
            "hook writes into it. What could it do instead?",
            also=(_hooked(lambda gradient, limit: gradient.clamp_(-limit, limit)),),
        ),
        Misconception(
            "written_into_what_was_noted",
            _noted_and_changed_in_place,
            "Your hook writes into the gradient that it was given. That is one tensor in three places: it stands in "
            "your list, it goes on to x, and it goes to v. All three see the clipped entries. What could the hook do "
            "instead?",
        ),
        Misconception(
            "notes_what_it_passes_on",
            _hooked(_clip, lambda gradient, new: new),
            "The gradients that pass on are right. Noted are the clipped ones. Asked for is what arrived.",
        ),
        Misconception(
            "one_side_only",
            _hooked(lambda gradient, limit: gradient.clamp(max=limit)),
            "Large negative entries pass as they are. Each entry is to lie between `-limit` and `limit`.",
            also=(_hooked(lambda gradient, limit: gradient.clamp(min=-limit)),),
        ),
        Misconception(
            "negative_entries_lost",
            _hooked(lambda gradient, limit: gradient.clamp(0, limit)),
            "Negative entries become 0. Each entry is to lie between `-limit` and `limit`.",
        ),
        Misconception(
            "entries_noted_one_by_one",
            _entries_noted,
            "Your list holds single entries: the gradient was taken apart. One pass, one gradient: how is it put into "
            "the list as a whole?",
        ),
        Misconception(
            "large_entries_dropped",
            _hooked(lambda gradient, limit: torch.where(gradient.abs() > limit, 0.0, gradient)),
            "Entries that are too large become 0. They are to be cut back to the limit.",
        ),
        Misconception(
            "norm_clipped",
            _hooked(lambda gradient, limit: gradient * (limit / gradient.norm()).clamp(max=1.0)),
            "You make the whole gradient shorter, so that its norm fits. Here each entry is clipped for itself.",
            also=(_hooked(lambda gradient, limit: gradient * limit / gradient.norm()),),
        ),
        Misconception(
            "whole_tensors_compared",
            _hooked(lambda gradient, limit: max(-limit, min(limit, gradient))),
            "A comparison of a tensor with a number has an answer for each entry. `min`, `max` and `if` want a single "
            "one. What clips a tensor entry by entry?",
        ),
        Misconception(
            "clips_what_the_node_sends",
            _on_the_node,
            "Your hook is called after the node of y has had its turn, and clips what it sends to x. Asked for is to "
            "clip what arrives at y, before that.",
        ),
        Misconception(
            "no_hook",
            _retained,
            "No gradient was noted, and none was changed: no hook of yours was called. Is one registered, and on y "
            "itself?",
            also=(_noted_at_once,),
        ),
        Misconception(
            "list_not_filled",
            lambda y, limit: (_hooked(_clip)(y, limit), [])[1],
            "The gradients that pass on are right, and your list stays empty. Does the hook append to it? (`noted = "
            "...` inside the hook makes another list, under a name of its own.)",
        ),
        Misconception(
            "handle_returned",
            _handle,
            "`register_hook` returns a handle, for removing the hook. Your function is to return the list.",
        ),
        Misconception(
            "hook_returned",
            lambda y, limit: lambda gradient: _clip(gradient, limit),
            "Your function returns the hook, which is a function. The caller wants the list that the hook fills. And "
            "who tells y that there is a hook?",
        ),
        Misconception(
            "tensor_returned",
            lambda y, limit: y,
            "Your function returns a tensor. The caller wants the list that the hook fills.",
        ),
        Misconception(
            "removed_after_one_pass",
            _called_once,
            "Your hook is gone after the first backward pass. It is to work in every later pass.",
        ),
    ),
    hints=(
        "Make an empty list. Define a function of one argument inside: it appends to the list, and returns what is to "
        "pass on.",
        "`register_hook` on y calls it with each gradient that arrives there.",
        "`gradient.clamp(-limit, limit)` makes a new tensor. With an underscore at its end, it changes the old one.",
    ),
    when_right="A hook that returns something new harms nobody else who uses the gradient.",
)


EXERCISES = (CLIP_AND_NOTE,)
