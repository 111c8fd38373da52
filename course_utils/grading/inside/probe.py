"""The probe of the one exercise that a process is for, sent by the grader, and the evidence that it gives."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType

import torch

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import NotAttempted, Observation, as_text, call, observe
from course_utils.checks.exercise import Exercise

NOT_ATTEMPTED = '{"not attempted": true}'
OUT_OF_MEMORY = '\n{"out of memory": true}'  # what was raised is evidence, and its words are not
_NO_MEMORY = ("MemoryError", "RuntimeError: [enforce fail at alloc_cpu")
_loaded: list[Exercise] = []


def load(sent: Mapping[str, object]) -> None:
    """Make the probe ready: `modules` is the code that it needs by module, `module` and `probe` say where it is."""
    sys.meta_path.insert(0, _Sent(sent["modules"]))
    probe = getattr(importlib.import_module(sent["module"]), sent["probe"])
    _loaded[:] = [_without_answers(sent["exercise"], probe)]


def show_evidence(name: str, answer: object, seed: int) -> None:
    """Print the evidence of an answer as text, for the grader to compare."""
    (exercise,) = (one for one in _loaded if one.name == name)
    try:
        evidence = tuple(observe(exercise, answer, seed))
        text = as_text(evidence) + OUT_OF_MEMORY * any(one.message.startswith(_NO_MEMORY) for one in evidence)
    except NotAttempted:
        text = NOT_ATTEMPTED
    sys.stdout.write(f"{text}\n")


def warm_up() -> None:
    """Look at an answer once, so that all that a probe uses is loaded."""

    def probe(answer: object, draw: Draw) -> Iterator[Observation]:
        yield call("value", answer, x=draw.tensor(2, 3))
        yield call("value", answer, by_hand=False, x=draw.tensor(2, 3))

    as_text(tuple(observe(_without_answers("warm_up", probe), lambda x: torch.exp(x) @ x.T, 0)))


def _without_answers(name: str, probe: Callable) -> Exercise:
    return Exercise(name, "", "", 0, probe, None, (), ())


class _Sent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports modules from the text that was sent."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        return importlib.machinery.ModuleSpec(name, self) if name in self._sources else None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._sources[module.__name__], f"<{module.__name__}>", "exec"), vars(module))
