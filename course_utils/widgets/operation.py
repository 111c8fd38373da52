"""Runs somebody's forward and backward, which may be wrong in any way, and says what came out."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

from course_utils.drawing.lettering import number, shorten

TOLERANCE = 1e-3
_NUDGE = 1e-3

Numbers = Mapping[str, float]


class OperationError(Exception):
    """What is wrong with the learner's function, in words."""


@dataclass(frozen=True)
class State:
    """One operation at one point: what went in, what came out, and whether the two halves agree.

    `slopes` is what the backward gives for an incoming gradient of 1, `measured` the central
    difference of the forward. `agree` says for each input whether these two are the same, `scales`
    whether its gradient is incoming times slope. None stands where there is no number to show;
    `problems` says why.
    """

    title: str
    output_name: str
    inputs: Numbers
    output: float | None
    incoming: float
    gradients: Mapping[str, float | None]
    slopes: Mapping[str, float | None]
    measured: Mapping[str, float | None]
    agree: Mapping[str, bool | None]
    scales: Mapping[str, bool | None]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operation:
    """A forward and the backward that claims to belong to it."""

    title: str
    forward: Callable[..., object] = field(repr=False)
    backward: Callable[..., object] = field(repr=False)

    def output(self, inputs: Numbers) -> float:
        """What the forward gives, as a plain number. Raises `OperationError`."""
        return _number("forward", _call("forward", self.forward, inputs.values()))

    def gradients(self, incoming: float, inputs: Numbers) -> dict[str, float | None]:
        """What the backward gives for each input; None where it gave None. Raises `OperationError`."""
        given = _call("backward", self.backward, [incoming, *inputs.values()])
        parts = _one_each(given, list(inputs))
        return {
            name: None if part is None else _number("backward", part, f" for {name}")
            for name, part in zip(inputs, parts, strict=True)
        }

    def height(self, inputs: Numbers, **changed: float) -> float:
        """The output with some inputs changed; nan where the forward gives no number."""
        try:
            return self.output({**inputs, **changed})
        except OperationError:
            return math.nan

    def measure(self, name: str, inputs: Numbers) -> float:
        """The slope along one input by nudging it both ways; nan where there is no single slope."""
        step = _NUDGE * max(1.0, abs(inputs[name]))
        slope, gap = self._nudge(name, inputs, step)
        _, nearer_gap = self._nudge(name, inputs, step / 4)
        # Left and right slopes grow together as the step shrinks, except at a kink.
        kink = gap > TOLERANCE * max(1.0, abs(slope)) and nearer_gap > gap / 2
        return math.nan if kink else slope

    def _nudge(self, name: str, inputs: Numbers, step: float) -> tuple[float, float]:
        """The central slope, and how far the slopes to the left and to the right are apart."""
        here = inputs[name]
        low, middle, high = (self.height(inputs, **{name: x}) for x in (here - step, here, here + step))
        return (high - low) / (2 * step), abs((high - middle) - (middle - low)) / step


def evaluate(operation: Operation, inputs: Numbers, incoming: float) -> State:
    """Everything there is to know about the operation at this point. Never raises."""
    problems: list[str] = []
    nothing = dict.fromkeys(inputs)
    output, gradients, slopes = None, nothing, nothing
    try:
        output = operation.output(inputs)
    except OperationError as fault:
        problems.append(str(fault))
    try:
        gradients = operation.gradients(incoming, inputs)
        slopes = operation.gradients(1.0, inputs)
    except OperationError as fault:
        problems.append(str(fault))
    problems += [
        f"backward gave None for {name}: nothing goes back to it."
        for name, gradient in gradients.items()
        if gradient is None and gradients is not nothing
    ]
    # beside an infinite value a difference is a number too, and means nothing
    is_there = output is not None and math.isfinite(output)
    measured = {name: operation.measure(name, inputs) if is_there else math.nan for name in inputs}
    output_name = "z" if "z" not in inputs else "result"
    if output is not None and not math.isfinite(output):
        problems.append(f"{output_name} is {output} here: there is no slope to measure.")
    elif output is not None:
        problems += [
            f"The slope along {name} cannot be measured here: {output_name} has a kink or an end at this point."
            for name, slope in measured.items()
            if not math.isfinite(slope)
        ]
    return State(
        title=operation.title,
        output_name=output_name,
        inputs=dict(inputs),
        output=output,
        incoming=incoming,
        gradients=gradients,
        slopes=slopes,
        measured={n: m if math.isfinite(m) else None for n, m in measured.items()},
        agree={n: _same(slopes[n], measured[n], 1e-5 * _size(output)) for n in inputs},
        scales={n: _same(gradients[n], _times(incoming, slopes[n]), 1e-9) for n in inputs},
        problems=tuple(problems),
    )


def sentences(state: State) -> str:
    """What the picture shows, in a few short sentences."""
    at = ", ".join(f"{name} = {number(value)}" for name, value in state.inputs.items())
    said = [f"{state.title} at {at} gives {state.output_name} = {shown(state.output)}."]
    if all(gradient is None for gradient in state.gradients.values()):
        said.append("Nothing goes back.")
    else:
        back = _listed([f"{shown(gradient)} for {name}" for name, gradient in state.gradients.items()])
        said.append(f"An incoming gradient of {number(state.incoming)} goes back as {back}.")
    said += [_verdict(state, name) for name in state.inputs]
    return " ".join([*said, *state.problems])


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def shown(value: float | None) -> str:
    """A number, or a question mark for one that is not there."""
    return "?" if value is None else number(value)


def _verdict(state: State, name: str) -> str:
    slope, measured, agree = state.slopes[name], state.measured[name], state.agree[name]
    if slope is None and measured is None:
        return f"Slope along {name}: unknown."
    word = {True: ": agree", False: ": DISAGREE", None: ""}[agree]
    known = [
        f"{by} {number(value)}" for by, value in (("backward", slope), ("measured", measured)) if value is not None
    ]
    said = f"Slope along {name}: {', '.join(known)}{word}."
    if state.scales[name] is False:
        said += (
            f" {name} is sent {shown(state.gradients[name])}, not {number(state.incoming)} times "
            f"{shown(slope)}: DISAGREE."
        )
    return said


def _call(role: str, function: object, arguments: object) -> object:
    """The function's result; whatever it raises becomes a `OperationError`, whatever it prints is dropped."""
    if not callable(function):
        raise OperationError(f"{role} is not a function yet, but {shorten(repr(function), 40)}.")
    tensors = [torch.tensor(x, dtype=torch.float64) for x in arguments]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return function(*tensors)
    except NotImplementedError:
        raise OperationError(f"{role} is not written yet.") from None
    except (Exception, SystemExit) as error:
        reason = shorten(f"{type(error).__name__}: {error}", 160)
        raise OperationError(f"{role} raised {reason}") from error


def _one_each(given: object, names: list[str]) -> tuple[object, ...]:
    if len(names) == 1 and not isinstance(given, tuple | list):
        return (given,) if given is not None else _refuse("None", names)
    if not isinstance(given, tuple | list):
        return _refuse("None" if given is None else f"one {type(given).__name__}", names)
    if len(given) != len(names):
        return _refuse(f"{len(given)} gradient{'s' * (len(given) != 1)}", names)
    return tuple(given)


def _refuse(what: str, names: list[str]) -> tuple[object, ...]:
    wanted = "one gradient" if len(names) == 1 else f"{len(names)} gradients, in this order"
    raise OperationError(f"backward returned {what}; it must return {wanted}: for {', '.join(names)}.")


def _number(role: str, value: object, where: str = "") -> float:
    """A plain number out of a number or a tensor with one element."""
    if isinstance(value, torch.Tensor):
        if value.numel() != 1:
            shape = tuple(value.shape)
            raise OperationError(f"{role} returned a tensor of shape {shape}{where}, not a single number.")
        value = value.detach().item()
    if isinstance(value, complex):
        raise OperationError(f"{role} returned a complex number{where}: {value:.4g}.")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pass
    what = "None" if value is None else f"{type(value).__name__} {shorten(repr(value), 30)}"
    raise OperationError(f"{role} returned {what}{where}, not a number.")


def _same(one: float | None, other: float | None, absolute: float) -> bool | None:
    """Whether two numbers are the same within the tolerance; None if one of them is missing."""
    if one is None or other is None or math.isnan(other):
        return None
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=absolute)


def _times(incoming: float, slope: float | None) -> float | None:
    return None if slope is None else incoming * slope


def _size(output: float | None) -> float:
    return max(1.0, abs(output)) if output is not None and math.isfinite(output) else 1.0
