"""Loading without looking for garbage: nearly all of it stays, and to find nothing takes a third of the time."""

from __future__ import annotations

import atexit
import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """What is loaded meanwhile is taken to stay until the end; nobody looks through it any more, not even then."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        atexit.register(gc.freeze)
