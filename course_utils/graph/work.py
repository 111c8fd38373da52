"""How much torch computes: a count that is the same on every machine, where times are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode


@dataclass
class Work:
    """What torch has computed: `operations`, and how many `numbers` these have written.

    An operation that only looks at stored numbers in another way, such as a transpose, is not counted.
    """

    operations: int = 0
    numbers: int = 0


@contextmanager
def count_work() -> Iterator[Work]:
    """Counts what torch computes inside the `with` block, backward passes included."""
    work = Work()
    with _Counter(work):
        yield work


class _Counter(TorchDispatchMode):
    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def __torch_dispatch__(
        self,
        operation: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        result = operation(*args, **(kwargs or {}))
        if not operation.is_view:
            self._work.operations += 1
            results = result if isinstance(result, tuple | list) else (result,)
            self._work.numbers += sum(one.numel() for one in results if isinstance(one, Tensor))
        return result
