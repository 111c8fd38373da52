"""Looks in on hooks that others have registered, without changing what they do or their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils.hooks import RemovableHandle

UNSEEN_HOOK = "a hook on the tensor"
"""What a hook is called of which only the effect is seen, because its tensor is out of reach."""

Hook = Callable[..., None]
Register = Callable[[Hook], RemovableHandle]
Probe = Callable[["str | None", bool, tuple], None]
"""Called with the hook that has just run (None before the first), whether it was the last one, and
what torch passes to hooks of this kind."""


class Probes:
    """Hooks of ours that only look; `remove` takes them all off again."""

    def __init__(self) -> None:
        self._handles: list[RemovableHandle] = []

    def add(self, register: Register, probe: Probe) -> None:
        """Calls `probe` before the first and after every hook that is there already."""
        first = register(lambda *seen: probe(None, not others, seen))
        self._handles.append(first)
        hooks = first.hooks_dict_ref()
        others = [key for key in hooks if key != first.id]
        for key in others:
            # taken out and put back, so that it comes after our first probe and before the next;
            # torch follows the order of insertion and does not see `move_to_end`
            hook = hooks.pop(key)
            hooks[key] = hook
            self._handles.append(register(_after(probe, hook_name(hook), key == others[-1])))

    def remove(self) -> None:
        """Takes every probe off."""
        while self._handles:
            self._handles.pop().remove()


def hook_name(hook: Any) -> str:
    """What to call a hook: its function's name, without saying where it was defined."""
    name = getattr(hook, "__name__", None)
    return name if isinstance(name, str) else type(hook).__name__


def _after(probe: Probe, name: str, last: bool) -> Hook:
    return lambda *seen: probe(name, last, seen)
