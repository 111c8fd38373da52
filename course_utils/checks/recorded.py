"""What autograd recorded of an answer that runs on fresh leaves: values, flags, and where gradients arrive."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from course_utils.checks.by_hand import autograd

BROKEN = "backward raises an error"


@contextlib.contextmanager
def recording() -> Iterator[None]:
    """Autograd as usual, whatever the caller's mode is.

    Random numbers go on afterwards as if nothing had been drawn. What an answer warns of is no error, and shown
    nowhere.
    """
    with autograd(), torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fresh(tensor: Tensor) -> Tensor:
    """A leaf with the same values that requires a gradient."""
    return tensor.detach().clone().requires_grad_()


def gradients(result: object, leaves: list[Tensor], incoming: Tensor) -> tuple[Tensor | str | None, ...]:
    """The gradient of each leaf; None where none arrives, and `BROKEN` where torch refuses.

    `.grad` stays as it is. An incoming gradient of another shape than the result brings nothing back.
    """
    if not isinstance(result, Tensor) or not result.requires_grad or result.shape != incoming.shape:
        return (None,) * len(leaves)
    try:
        return torch.autograd.grad(result, leaves, incoming, allow_unused=True)
    except RuntimeError:
        return (BROKEN,) * len(leaves)


def flag(tensor: object) -> bool | None:
    """`requires_grad` of a tensor; None for anything else."""
    return tensor.requires_grad if isinstance(tensor, Tensor) else None


def flags_of(module: nn.Module) -> tuple[bool, ...]:
    """`requires_grad` of each parameter."""
    return tuple(parameter.requires_grad for parameter in module.parameters())


def saved_while(run: Callable[[], object]) -> tuple[object, list[Tensor]]:
    """What `run()` returns, and every tensor that autograd saves meanwhile."""
    saved: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        saved.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        returned = run()
    return returned, saved


def bytes_of(tensors: list[Tensor]) -> int:
    """The bytes of their storages, each counted once."""
    storages = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(storages.values())
