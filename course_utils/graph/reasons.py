"""Why there is no graph behind a tensor, in one line that names the next move."""

from __future__ import annotations

import torch
from torch import Tensor


class NoGraphError(ValueError):
    """There is no graph behind this tensor; the message says why and what to do."""


def no_graph(output: object, name: str, call: str) -> TypeError | NoGraphError:
    """The error that says why no gradient can be computed of `output`."""
    if not isinstance(output, Tensor):
        return TypeError(f"`{call}({name})`: {_not_a_tensor(output)}")
    return NoGraphError(f"`{call}({name})`: {_no_gradient(output, name)}")


def absent(tensor: Tensor) -> str:
    """Why a tensor that was given a name is not in the graph."""
    if not tensor.requires_grad:
        return "it does not require a gradient"
    if tensor.is_leaf:
        return "the output does not depend on it"
    return "the output was not computed from this tensor, though perhaps from what it was made of"


def _not_a_tensor(output: object) -> str:
    kind = type(output).__name__
    if isinstance(output, (int, float, complex)):
        return (
            f"this is a Python {kind}, which remembers nothing of how it was computed. "
            "Pass the tensor itself, before `.item()` or `float()`."
        )
    return f"this is a {kind}. Pass the tensor you would call `.backward()` on, or a list of them."


def _no_gradient(output: Tensor, name: str) -> str:
    if output.is_inference():
        return (
            f"`{name}` was computed in `torch.inference_mode()`, which records nothing. "
            f"Compute `{name}` again outside it."
        )
    if not (output.is_floating_point() or output.is_complex()):
        return (
            f"`{name}` holds {output.dtype}, and only floating point and complex tensors have "
            "gradients. Trace a tensor from before it became whole numbers or booleans."
        )
    if torch._C._functorch.is_functorch_wrapped_tensor(output):
        return (
            f"`{name}` stands inside a `torch.func` transform and is not recorded at its level. "
            "Trace the same computation outside the transform."
        )
    if not torch.is_grad_enabled():
        return (
            f"`{name}` has no `grad_fn`, and recording is switched off here (`torch.no_grad()`). "
            f"Compute `{name}` again where it is on."
        )
    return (
        f"`{name}` has no `grad_fn`, so there is no graph to draw. Create an input with "
        f"`requires_grad=True` before computing `{name}`; if you did, something between it and "
        f"`{name}` cut the graph: `.detach()`, `.data`, `torch.no_grad()`, or a new tensor made "
        "from numbers."
    )
