"""What a function of one number does at a point: its slopes on both sides, and the one that torch's backward gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from course_utils.drawing.lettering import number

Function = Callable[[Tensor], Tensor]

_STEP = 1e-6
_SAME = 1e-4  # two slopes that differ by less are one, measured over a step of 1e-6
_JUMP = 1e-2  # no slope goes so far in one step
_STEEP = 100.0  # a slope above this over so small a step grows without bound
_LINES = 5


@dataclass(frozen=True)
class Kinked:
    """A function at `x`: its value, its slope on each side (nan where there is none), and torch's slope.

    `jumps` says that it is not continuous at x.
    """

    title: str
    x: float
    value: float
    left: float
    right: float
    torch: float
    jumps: bool

    @property
    def is_kink(self) -> bool:
        """Whether the two sides have slopes, and these differ."""
        return not self.jumps and abs(self.right - self.left) > _SAME  # False with nan

    @property
    def fan(self) -> tuple[float, ...]:
        """Slopes from one side's to the other's, evenly spread: of lines that support the curve at a kink."""
        if not self.is_kink:
            return ()
        return tuple(self.left + share * (self.right - self.left) / (_LINES - 1) for share in range(_LINES))

    @property
    def torch_is_between(self) -> bool:
        """Whether torch's slope lies between those of the two sides, ends included."""
        low, high = sorted((self.left, self.right))
        return low - _SAME <= self.torch <= high + _SAME


@dataclass(frozen=True)
class Kinky:
    """A function of one number, with its title."""

    title: str
    function: Function

    def at(self, x: float) -> Kinked:
        """What it does there. ValueError for a function that does not give one number for each number."""
        before, value, after = self.values([x - _STEP, x, x + _STEP])
        return Kinked(
            self.title,
            x,
            value,
            left=_slope(value - before),
            right=_slope(after - value),
            torch=self._slope_by_torch(x),
            jumps=max(abs(value - before), abs(after - value)) > _JUMP,
        )

    def values(self, xs: Sequence[float]) -> list[float]:
        """Its values, computed in float64."""
        with torch.no_grad():
            given = torch.tensor(xs, dtype=torch.float64)
            found = self.function(given)
        if not isinstance(found, Tensor) or found.shape != given.shape:
            shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise ValueError(
                f"explore_kink: {self.title!r} was given numbers of shape {tuple(given.shape)} and returned {shape}. "
                "It has to give one number for each."
            )
        return found.tolist()

    def _slope_by_torch(self, x: float) -> float:
        with torch.enable_grad():
            leaf = torch.tensor([x], dtype=torch.float64, requires_grad=True)
            output = self.function(leaf)
            if not output.requires_grad:
                return 0.0
            return torch.autograd.grad(output.sum(), leaf, materialize_grads=True)[0].item()


def _slope(rise: float) -> float:
    """A slope over one step, without the noise of the step."""
    slope = rise / _STEP
    return round(slope, 4) + 0.0 if abs(slope) <= _STEEP else math.nan


def sentences(state: Kinked) -> str:
    """What is to be seen, in words."""
    where = f"{state.title} at x = {number(state.x)}: y = {number(state.value)}."
    return f"{where} {_sides(state)} {_choice(state)}"


def _sides(state: Kinked) -> str:
    if state.jumps:
        return "The function jumps here, so no line supports it."
    if math.isnan(state.left) and math.isnan(state.right):
        return "It has no finite slope on either side."
    if math.isnan(state.left) or math.isnan(state.right):
        side, slope = ("right", state.right) if math.isnan(state.left) else ("left", state.left)
        return f"It has a finite slope only on the {side}: {number(slope)}."
    if not state.is_kink:
        return f"The slope is {number(state.left)} on both sides."
    return f"The slope is {number(state.left)} on the left and {number(state.right)} on the right: a kink."


def _choice(state: Kinked) -> str:
    says = f"torch gives {number(state.torch)}"
    if state.is_kink:
        below = "below" if state.left < state.right else "above"
        if state.torch_is_between:
            return f"Near here, each line with a slope between the two stays {below} the curve, or touches it. {says}."
        return f"{says}, which lies outside of the two."
    if math.isnan(state.left) or math.isnan(state.right):
        return f"{says}."
    return f"{says}, too." if state.torch_is_between else f"{says}, which is not its slope."
