"""What autograd did, as data: traced from live tensors, recorded while it runs, replayed."""

from .data import Edge, Graph, Node, Place, Result, SavedTensor
from .reasons import NothingToTrace
from .trace import trace
from .values import Snapshot, Statistics, Unreadable

__all__ = [
    "Edge",
    "Graph",
    "Node",
    "NothingToTrace",
    "Place",
    "Result",
    "SavedTensor",
    "Snapshot",
    "Statistics",
    "Unreadable",
    "trace",
]
