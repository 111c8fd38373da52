"""Reads what a live node saved for its derivative, without running anybody's code."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial

import torch
from torch import Tensor
from torch._C._autograd import SavedTensor as RawSavedTensor
from torch.autograd.graph import Node as LiveNode

from .data import Place, SavedTensor, Setting
from .values import LARGEST_KEPT, dtype_name, plain_value

Identify = Callable[[Tensor], tuple["Place | None", "str | None"]]
"""Says which place in the graph a tensor comes from, and what it is called."""

# Reading a packed tensor runs its hook (checkpointing computes a whole forward pass), so without
# this attribute, which older torch does not have, nothing is read.
CAN_SEE_HOOKS = hasattr(RawSavedTensor, "unpack_hook")
_RAW, _SAVED = "_raw_saved_", "_saved_"
_LARGEST_COUNT = 2**63


def is_custom(node: LiveNode) -> bool:
    """Whether the node comes from a `torch.autograd.Function` written in Python."""
    return isinstance(node, torch._C._FunctionBase)


def read_saved(node: LiveNode, identify: Identify) -> tuple[SavedTensor, ...]:
    """The tensors that `node` saved, in the order of their names."""
    if is_custom(node):
        return (*_saved_by_custom(node, identify), *_kept_on_ctx(node, identify))
    found: list[SavedTensor] = []
    for name in _names(type(node))[0]:
        read = partial(getattr, node, _SAVED + name)
        try:
            raw = getattr(node, _RAW + name)
            if isinstance(raw, RawSavedTensor):
                found.append(_read(name, raw, read, identify))
            else:
                found.extend(_read_list(name, raw, read, identify))
        except RuntimeError:  # a freed list of tensors cannot even be counted
            found.append(SavedTensor(name, "freed"))
    return tuple(found)


def read_settings(node: LiveNode) -> tuple[tuple[str, Setting], ...]:
    """The plain arguments that `node` remembers: an exponent, a dimension, sizes."""
    if is_custom(node):
        return tuple(
            (f"ctx.{name}", plain_setting(value)) for name, value in vars(node).items() if not isinstance(value, Tensor)
        )
    names = _names(type(node))[1]
    return tuple((name, plain_setting(getattr(node, _SAVED + name))) for name in names)


@cache
def _names(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What nodes of this kind save: tensors, and settings; the generated classes tell."""
    attributes = dir(kind)
    tensors = [name.removeprefix(_RAW) for name in attributes if name.startswith(_RAW)]
    everything = [name.removeprefix(_SAVED) for name in attributes if name.startswith(_SAVED)]
    return tuple(tensors), tuple(name for name in everything if name not in tensors)


def _read(name: str, raw: RawSavedTensor, read: Callable[[], Tensor | None], identify: Identify) -> SavedTensor:
    if not CAN_SEE_HOOKS:
        return SavedTensor(name, "not read")
    if raw.unpack_hook is not None:
        return SavedTensor(name, "packed")
    try:
        tensor = read()
    except RuntimeError as error:
        return _explain(name, raw.data, str(error), identify)
    return _describe(name, tensor, identify)


def _read_list(name: str, raws: tuple, read: Callable[[], tuple], identify: Identify) -> list[SavedTensor]:
    return [
        _read(f"{name}[{index}]", raw, lambda index=index: read()[index], identify) for index, raw in enumerate(raws)
    ]


def _saved_by_custom(node: LiveNode, identify: Identify) -> list[SavedTensor]:
    try:
        raws = node._raw_saved_tensors
    except RuntimeError:
        return [SavedTensor("saved_tensors", "freed")]
    return [_read(f"saved_tensors[{index}]", raw, partial(_unpack, raw), identify) for index, raw in enumerate(raws)]


def _unpack(raw: RawSavedTensor) -> Tensor | None:
    """The tensor; before torch had `unpack`, without a look whether it was changed in place."""
    return raw.unpack() if hasattr(raw, "unpack") else raw.data


def _kept_on_ctx(node: LiveNode, identify: Identify) -> list[SavedTensor]:
    return [
        _describe(f"ctx.{name}", value, identify, "kept")
        for name, value in vars(node).items()
        if isinstance(value, Tensor)
    ]


def _describe(name: str, tensor: Tensor | None, identify: Identify, state: str = "saved") -> SavedTensor:
    if tensor is None:
        return SavedTensor(name, "empty")
    result, variable = identify(tensor)
    return SavedTensor(
        name,
        state,
        shape=tuple(tensor.shape),
        dtype=dtype_name(tensor.dtype),
        version=None if tensor.is_inference() else tensor._version,
        value=plain_value(tensor) if tensor.numel() <= LARGEST_KEPT else None,
        result=result,
        variable=variable,
    )


def _explain(name: str, data: Tensor | None, error: str, identify: Identify) -> SavedTensor:
    """What can be said of a saved tensor that torch refuses to hand out."""
    if data is None:
        return SavedTensor(name, "freed")
    if "inplace" not in error:  # a custom Function's own result, which only its node can unpack
        return _describe(name, data, identify)
    version = re.search(r"expected version (\d+)", error)
    result, variable = identify(data)  # known where a leaf was saved, which stays itself
    return SavedTensor(
        name,
        "changed",
        shape=tuple(data.shape),
        dtype=dtype_name(data.dtype),
        version=int(version[1]) if version else None,
        result=result,
        variable=variable,
        version_now=data._version,
    )


def plain_setting(value: object) -> Setting:
    """`value` if it is plain, else its type in angle brackets: a repr could run anybody's code."""
    if isinstance(value, bool) or value is None or type(value) in (float, complex, str):
        return value
    if type(value) is int:  # dimensions counted from the end come as unsigned 64-bit numbers
        return value if value < _LARGEST_COUNT else value - 2 * _LARGEST_COUNT
    if isinstance(value, (tuple, list)):
        return tuple(map(plain_setting, value))
    if isinstance(value, (torch.dtype, torch.device, torch.layout, torch.memory_format)):
        return str(value)
    return f"<{type(value).__name__}>"
