"""What autograd did, as data: traced from live tensors, recorded while it runs, replayed."""

from .data import Edge, Graph, Node, Place, Result, SavedTensor
from .events import (
    Accumulated,
    ChangedByHook,
    Entered,
    Event,
    Freed,
    GradientMessage,
    Returned,
    Seed,
    Sent,
)
from .reasons import NothingToTrace
from .record import record
from .recording import Origin, Recording, SecondOrder
from .trace import trace
from .values import Snapshot, Statistics, Unreadable

__all__ = [
    "Accumulated",
    "ChangedByHook",
    "Edge",
    "Entered",
    "Event",
    "Freed",
    "GradientMessage",
    "Graph",
    "Node",
    "NothingToTrace",
    "Origin",
    "Place",
    "Recording",
    "Result",
    "Returned",
    "SavedTensor",
    "SecondOrder",
    "Seed",
    "Sent",
    "Snapshot",
    "Statistics",
    "Unreadable",
    "record",
    "trace",
]
