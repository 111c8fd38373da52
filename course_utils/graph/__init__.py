"""What autograd did, as data: traced from live tensors, recorded while it runs, replayed."""

from .data import Edge, Graph, Node, Place, Result, SavedTensor
from .diary import Diary
from .draw import draw
from .events import (
    Accumulated,
    ChangedByHook,
    ChangedInPlace,
    Entered,
    Event,
    Freed,
    GradientMessage,
    Returned,
    Seed,
    Sent,
)
from .reasons import NoGraphError
from .record import record
from .recording import Origin, Recording, SecondOrder
from .replay import Replay, State, replay
from .trace import trace
from .values import Snapshot, Statistics, Unreadable
from .work import Work, count_work

__all__ = [
    "Accumulated",
    "ChangedByHook",
    "ChangedInPlace",
    "Diary",
    "Edge",
    "Entered",
    "Event",
    "Freed",
    "GradientMessage",
    "Graph",
    "NoGraphError",
    "Node",
    "Origin",
    "Place",
    "Recording",
    "Replay",
    "Result",
    "Returned",
    "SavedTensor",
    "SecondOrder",
    "Seed",
    "Sent",
    "Snapshot",
    "State",
    "Statistics",
    "Unreadable",
    "Work",
    "count_work",
    "draw",
    "record",
    "replay",
    "trace",
]
