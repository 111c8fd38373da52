"""Autograd switched off around an answer that is to be written by hand, and on again for the judge."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import NoReturn

import torch
import torch.autograd.forward_ad
import torch.autograd.functional
import torch.func


class NotByHand(RuntimeError):  # noqa: N818 (it says what the answer is)
    """Raised where an answer asks autograd for what it should work out itself."""


# every other way to a derivative, Tensor.backward among them, calls one of these
_WAYS = {
    torch.autograd: ("grad", "backward"),
    torch.autograd.forward_ad: ("make_dual",),
    torch.autograd.functional: ("vjp", "jvp", "jacobian", "hessian", "vhp", "hvp"),
    torch.func: ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"),
}
_AUTOGRAD = {(module, name): getattr(module, name) for module, names in _WAYS.items() for name in names}


def _refusal() -> Callable[..., NoReturn]:
    """A function of its own for each name: torch's compiler stumbles over one that has two."""

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise NotByHand("autograd is switched off in this check: the backward is to be written by hand")

    return refuse


_REFUSALS = {name: _refusal() for name in _AUTOGRAD}


@contextlib.contextmanager
def by_hand() -> Iterator[None]:
    """A context in which autograd records nothing and raises NotByHand when it is asked for a derivative."""
    with _in_place_of_autograd(_REFUSALS), torch.inference_mode():
        yield


@contextlib.contextmanager
def autograd() -> Iterator[None]:
    """A context in which autograd works as usual, inside `by_hand()`, inference mode and `no_grad()` too."""
    with _in_place_of_autograd(_AUTOGRAD), torch.inference_mode(False), torch.enable_grad():
        yield


@contextlib.contextmanager
def _in_place_of_autograd(functions: dict[tuple[object, str], object]) -> Iterator[None]:
    before = {(module, name): getattr(module, name) for module, name in functions}
    try:
        _put(functions)
        yield
    finally:
        _put(before)


def _put(functions: dict[tuple[object, str], object]) -> None:
    for (module, name), function in functions.items():
        setattr(module, name, function)
