"""A function of two numbers at one point: value, gradient, Hessian, and what they say along a direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from course_utils.drawing.heat import brief

Pair = tuple[float, float]
Function = Callable[[Tensor], Tensor]

BY_ANGLE = "by the angle"
_NOTHING = 1e-9  # beside the other numbers, this is rounding noise


@dataclass(frozen=True)
class Curved:
    """A function at a point, and along a direction through it.

    `direction` says how the direction was chosen, `angle` is in degrees, counted from x[0] towards x[1]. `slope` is
    the first derivative along it, `curvature` the second. `newton` is where Newton's step from here lands, and None
    where the Hessian has no inverse.
    """

    title: str
    point: Pair
    value: float
    gradient: Pair
    hessian: tuple[Pair, Pair]
    direction: str
    angle: float
    slope: float
    curvature: float
    newton: Pair | None

    @property
    def along(self) -> Pair:
        """The direction, as a vector of length 1."""
        return unit(self.angle)

    @property
    def turn(self) -> float | None:
        """How far along the direction the parabola has its lowest or highest point; None if it is a straight line."""
        return None if _flat(self.curvature, self.slope) else -self.slope / self.curvature

    @property
    def landing(self) -> str:
        """What Newton's step lands on: the model's lowest, highest or saddle point; "" if there is no step."""
        if self.newton is None:
            return ""
        (a, b), (_, d) = self.hessian
        if a * d - b * b < 0:
            return "saddle point"
        return "lowest point" if a + d > 0 else "highest point"

    def parabola(self, t: float) -> float:
        """The value that slope and curvature promise, `t` along the direction."""
        return self.value + self.slope * t + self.curvature * t * t / 2


@dataclass(frozen=True)
class Surface:
    """A function of a tensor with two entries."""

    title: str
    function: Function = field(repr=False)

    def value(self, point: Pair) -> float:
        """The function there; nan where it gives no number."""
        with torch.no_grad():
            return self._result(torch.tensor(point, dtype=torch.float64)).item()

    def values(self, points: Sequence[Pair]) -> list[float]:
        """The function at many points."""
        stack = torch.tensor(points, dtype=torch.float64)
        try:
            with torch.no_grad():
                return torch.func.vmap(self.function)(stack).reshape(-1).tolist()
        except RuntimeError:  # not every function can be run by vmap
            return [self.value(point) for point in points]

    def at(self, point: Pair, direction: str = BY_ANGLE, angle: float = 0.0) -> Curved:
        """Everything at this point. A direction that does not exist here gives way to the angle."""
        x = torch.tensor(point, dtype=torch.float64, requires_grad=True)
        with torch.inference_mode(False), torch.enable_grad():
            value = self._result(x)
            gradient = _derivative(value, x)
            rows = [_derivative(entry, x) for entry in gradient]
        g = _pair(gradient)
        hessian = (_pair(rows[0]), _pair(rows[1]))
        newton = _newton(point, g, hessian)
        found = _directions(point, g, hessian, newton)
        if direction not in found:
            direction = BY_ANGLE
        angle = found.get(direction, angle)
        v = unit(angle)
        return Curved(
            title=self.title,
            point=point,
            value=value.item(),
            gradient=g,
            hessian=hessian,
            direction=direction,
            angle=angle,
            slope=_dot(g, v),
            curvature=_dot((_dot(hessian[0], v), _dot(hessian[1], v)), v),
            newton=newton,
        )

    def _result(self, x: Tensor) -> Tensor:
        value = self.function(x)
        if not isinstance(value, Tensor) or value.numel() != 1:
            what = f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(
                f"explore_curvature: {self.title} gave {what}. It must give one number for a tensor of two: curvature "
                "belongs to a single number."
            )
        return value


DIRECTIONS = (
    BY_ANGLE,
    "along x[0]",
    "along x[1]",
    "downhill, against the gradient",
    "where the curvature is largest",
    "where the curvature is smallest",
    "to where Newton's step lands",
)


def unit(angle: float) -> Pair:
    """The vector of length 1 at this angle in degrees."""
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def sentences(state: Curved) -> str:
    """What the picture shows, in a few short sentences."""
    v0, v1 = state.along
    here = (
        f"{state.title} at {_named(state.point)}: value {brief(state.value)}, gradient ({_listed(state.gradient)}), "
        f"Hessian rows ({_listed(state.hessian[0])}) and ({_listed(state.hessian[1])})."
    )
    along = (
        f"Direction {state.direction}: {round(state.angle)} degrees, v = ({brief(v0)}, {brief(v1)}). "
        f"Along v: slope {brief(state.slope)}, curvature {brief(state.curvature)}."
    )
    return f"{here} {along} {_about_parabola(state)} {_about_newton(state)}"


def _about_parabola(state: Curved) -> str:
    if state.turn is None:
        return "The parabola is a straight line here."
    kind = "lowest" if state.curvature > 0 else "highest"
    return f"The parabola has its {kind} point {brief(state.turn)} along v."


def _about_newton(state: Curved) -> str:
    if state.newton is None:
        return "The Hessian has no inverse, so there is no Newton step."
    return f"Newton's step lands at {_named(state.newton)}, the {state.landing} of the model."


def _named(point: Pair) -> str:
    return f"x = ({_listed(point)})"


def _listed(pair: Pair) -> str:
    return ", ".join(map(brief, pair))


def _derivative(value: Tensor, x: Tensor) -> Tensor:
    """The gradient, itself recorded; zeros where nothing leads back to `x`."""
    if not value.requires_grad:
        return torch.zeros_like(x)
    return torch.autograd.grad(value, x, create_graph=True, materialize_grads=True)[0]


def _pair(tensor: Tensor) -> Pair:
    first, second = tensor.tolist()
    return first, second


def _dot(one: Pair, other: Pair) -> float:
    return one[0] * other[0] + one[1] * other[1]


def _flat(curvature: float, slope: float) -> bool:
    return not abs(curvature) > _NOTHING * max(1.0, abs(slope))


def _newton(point: Pair, g: Pair, hessian: tuple[Pair, Pair]) -> Pair | None:
    (a, b), (c, d) = hessian
    determinant = a * d - b * c
    if not abs(determinant) > _NOTHING * max(1.0, a * a, b * b, d * d):
        return None
    return point[0] - (d * g[0] - b * g[1]) / determinant, point[1] - (a * g[1] - c * g[0]) / determinant


def _directions(point: Pair, g: Pair, hessian: tuple[Pair, Pair], newton: Pair | None) -> dict[str, float]:
    """The angle of each direction that has a name, of those that exist at this point."""
    (a, b), (_, d) = hessian
    largest = math.degrees(math.atan2(2 * b, a - d)) / 2  # of the two axes at right angles
    vectors = {"downhill, against the gradient": (-g[0], -g[1])}
    if newton is not None:
        vectors["to where Newton's step lands"] = (newton[0] - point[0], newton[1] - point[1])
    named = {"along x[0]": 0.0, "along x[1]": 90.0}
    if math.isfinite(largest) and not _flat(math.hypot(2 * b, a - d), a + d):
        named["where the curvature is largest"] = largest
        named["where the curvature is smallest"] = largest + 90 if largest <= 0 else largest - 90
    for name, (v0, v1) in vectors.items():
        if math.hypot(v0, v1) > _NOTHING and math.isfinite(v0 + v1):
            named[name] = math.degrees(math.atan2(v1, v0))
    return named
