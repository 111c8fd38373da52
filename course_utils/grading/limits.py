"""What an exercise may use up before it is ended."""

from __future__ import annotations

from dataclasses import dataclass

MB = 2**20


@dataclass(frozen=True)
class Limits:
    """Seconds for all cells of one exercise, and of one submission; bytes for each process, for all processes of an
    exercise together, for each file and for the scratch folder; how many processes and threads.
    """

    exercise: float = 30.0
    submission: float = 300.0
    memory: int = 1024 * MB  # beyond what the process has when it starts
    memory_in_all: int = 2048 * MB
    file_size: int = 16 * MB
    scratch: int = 64 * MB
    processes: int = 64

    def of_child(self) -> dict[str, int]:
        """The limits that a child lays upon itself; those of time are for the case that nobody ends it."""
        return {
            "memory": self.memory,
            "seconds": int(self.exercise) + 5,
            "file_size": self.file_size,
            "scratch": self.scratch,
            "processes": self.processes,
        }
