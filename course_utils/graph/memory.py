"""What long graphs ask of the memory manager: to be freed in pieces, and built without pauses.

From torch 2.13 on, a node that Python has looked at keeps its Python side for life, and torch frees
such nodes recursively: a chain of some 50,000 would end the process when its last tensor goes.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from torch.autograd.graph import Node as LiveNode

_LONGEST_RUN = 1_000  # stacks are small in threads and on Windows
_KEY = "course_utils.graph"
_released: deque[LiveNode] = deque()


class _Anchor:
    """Belongs to one node and holds the next; when the first is freed the second waits its turn."""

    __slots__ = ("node",)

    def __init__(self, node: LiveNode) -> None:
        self.node = node

    # the default outlives this module's names when the interpreter shuts down
    def __del__(self, wait=_released.append) -> None:
        wait(self.node)


def release_in_pieces(nodes: list[LiveNode], following: list[tuple]) -> None:
    """Anchors the graph so that no run of nodes longer than a thousand is freed in one go.

    `nodes` are in the engine's order: every edge leads to a later one.
    """
    if len(nodes) <= _LONGEST_RUN:
        return
    runs = dict.fromkeys(nodes, 1)
    for node, edges in zip(nodes, following, strict=True):
        run = runs[node] + 1
        for target, _ in edges:
            if target is None or run <= runs[target]:
                continue
            if run > _LONGEST_RUN:
                node.metadata.setdefault(_KEY, []).append(_Anchor(target))
                runs[target] = 1
            else:
                runs[target] = run


@contextmanager
def no_collections() -> Iterator[None]:
    """Pauses the cyclic garbage collector, which takes half the time when so many objects are made
    that are all still in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _free_released(phase: str, _: dict) -> None:
    while phase == "stop" and _released:
        _released.popleft()


gc.callbacks.append(_free_released)
