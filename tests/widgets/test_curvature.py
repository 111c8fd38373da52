"""The curvature explorer: what slope, Hessian and Newton's step say, as a picture, and live, without a browser."""

import math
import xml.etree.ElementTree as ElementTree

import pytest
import torch

from course_utils import explore_curvature
from course_utils.drawing.axes import Span
from course_utils.widgets.curvature import BY_ANGLE, DIRECTIONS, Surface, unit
from course_utils.widgets.curvature_picture import Relief

SVG = "{http://www.w3.org/2000/svg}"


def valley(x):
    return (1 - x[0]) ** 2 + 5 * (x[1] - x[0] ** 2) ** 2


def saddle(x):
    return x[0] ** 2 - x[1] ** 2 + x[0] * x[1]


def bowl(x):
    return x[0] ** 2 + 3 * x[1] ** 2 + x[0] * x[1]


def pieces(x):
    return torch.relu(x[0] + 0.5 * x[1]) + torch.relu(x[1] - x[0])


def explorer(**more):
    functions = {"valley": valley, "saddle": saddle, "pieces": pieces}
    return explore_curvature(functions, **{"at": (-1.0, 0.5), **more})


def shown_by(widget, kind: str) -> list:
    """All widgets of a kind inside a container, in order."""
    found = [widget] if type(widget).__name__ == kind else []
    for child in getattr(widget, "children", ()):
        found += shown_by(child, kind)
    return found


@pytest.mark.parametrize("function", [valley, saddle, bowl, pieces])
@pytest.mark.parametrize("point", [(-1.0, 0.5), (0.3, -1.7)])
def test_gradient_and_hessian_are_those_of_torch_func(function, point):
    x = torch.tensor(point, dtype=torch.float64)
    state = Surface("f", function).at(point)
    assert torch.tensor(state.gradient).allclose(torch.func.grad(function)(x).float())
    assert torch.tensor(state.hessian).allclose(torch.func.hessian(function)(x).float())


@pytest.mark.parametrize("function", [valley, saddle, bowl])
@pytest.mark.parametrize("angle", [0.0, 33.0, -120.0])
def test_slope_and_curvature_are_those_of_the_slice(function, angle):
    surface, h = Surface("f", function), 1e-4
    state = surface.at((0.4, -0.7), angle=angle)
    v = unit(angle)

    def along(t):
        return surface.value((0.4 + t * v[0], -0.7 + t * v[1]))

    assert state.slope == pytest.approx((along(h) - along(-h)) / (2 * h), rel=1e-5)
    assert state.curvature == pytest.approx((along(h) - 2 * along(0) + along(-h)) / h**2, rel=1e-4)
    assert state.parabola(0.01) == pytest.approx(along(0.01), abs=1e-4)


@pytest.mark.parametrize(
    ("function", "landing", "kind"),
    [
        (bowl, (0, 0), "lowest point"),
        (saddle, (0, 0), "saddle point"),
        (lambda x: 1 - bowl(x), (0, 0), "highest point"),
        (pieces, None, ""),
        (lambda x: (x[0] + x[1]) ** 2, None, ""),
        (lambda x: 3 * x[0] - x[1], None, ""),
    ],
)
def test_where_newtons_step_lands(function, landing, kind):
    state = Surface("f", function).at((1.2, -0.4))
    assert (state.newton is None) is (landing is None)
    assert state.newton is None or state.newton == pytest.approx(landing, abs=1e-12)
    assert state.landing == kind


def test_along_the_way_to_newtons_landing_the_parabola_turns_there():
    state = Surface("f", valley).at((-1.0, 0.5), "to where Newton's step lands")
    assert state.turn == pytest.approx(math.dist(state.point, state.newton))


def test_the_named_directions_are_what_they_say():
    surface = Surface("f", valley)
    curvatures = [surface.at((-1.0, 0.5), angle=angle).curvature for angle in range(0, 180, 5)]
    largest, smallest = (
        surface.at((-1.0, 0.5), f"where the curvature is {which}").curvature for which in ("largest", "smallest")
    )
    assert smallest <= min(curvatures) < max(curvatures) <= largest
    downhill = surface.at((-1.0, 0.5), "downhill, against the gradient")
    assert downhill.slope == pytest.approx(-math.hypot(*downhill.gradient))
    assert surface.at((-1.0, 0.5), "along x[1]").slope == pytest.approx(downhill.gradient[1])


@pytest.mark.parametrize(
    ("function", "point", "direction"),
    [
        (pieces, (-1.0, 0.5), "to where Newton's step lands"),
        (pieces, (-1.0, 0.5), "where the curvature is largest"),
        (bowl, (0.0, 0.0), "downhill, against the gradient"),
        (bowl, (0.0, 0.0), "to where Newton's step lands"),
        (lambda x: (x**2).sum(), (1.0, 0.5), "where the curvature is smallest"),
    ],
)
def test_a_direction_that_does_not_exist_gives_way_to_the_angle(function, point, direction):
    state = Surface("f", function).at(point, direction, 33.0)
    assert (state.direction, state.angle) == (BY_ANGLE, 33.0)


def test_what_the_picture_shows_in_words():
    assert repr(explorer(angle=30.0)) == (
        "valley at x = (-1, 0.5): value 5.25, gradient (-14, -5), Hessian rows (52, 20) and (20, 10). Direction by the "
        "angle: 30 degrees, v = (0.866, 0.5). Along v: slope -14.6, curvature 58.8. The parabola has its lowest point "
        "0.249 along v. Newton's step lands at x = (-0.667, 0.333), the lowest point of the model."
    )
    flat = explorer()
    flat.set(function="pieces")
    assert "curvature 0. The parabola is a straight line here. The Hessian has no inverse" in repr(flat)


def words_in(picture):
    return [text.text for text in ElementTree.fromstring(picture.svg).iter(SVG + "text")]


def test_the_picture_has_the_numbers_and_the_level_lines():
    words = words_in(explorer(angle=30.0).picture())
    assert {"valley", "slope -14.6: the tangent", "curvature 58.8: the parabola", "Newton: lowest point"} <= set(words)
    relief = Relief.of(Surface("f", bowl), Span(-2, 2), Span(-2, 2))
    assert len({level.value for level in relief.levels}) > 4
    for level in relief.levels:
        assert [Surface("f", bowl).value(p) for p in level.points] == pytest.approx(
            [level.value] * len(level.points), rel=0.05
        )


@pytest.mark.parametrize(
    "function", [lambda x: x.sum() * 0 + 1, lambda x: torch.log(x[0] + x[1]), lambda x: 1e6 * valley(x), pieces]
)
def test_flat_undefined_and_steep_functions_are_drawn_too(function):
    picture = explore_curvature(function, at=(1.0, 0.5)).picture()
    width, height = picture.size()
    for text in ElementTree.fromstring(picture.svg).iter(SVG + "text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
    assert "nan" not in "".join(words_in(picture))


def test_a_function_that_vmap_cannot_run_is_drawn_point_by_point():
    def branching(x):
        return x[0] ** 2 if float(x[0].detach()) > 0 else x[1] ** 2 + 0 * x[0]

    assert explore_curvature(branching, at=(1.0, 0.5)).state().hessian == ((2.0, 0.0), (0.0, 0.0))


def test_the_controls_move_the_picture_and_the_words():
    e = explorer()
    function, direction = shown_by(e.widget(), "Dropdown")
    first, second, angle = shown_by(e.widget(), "FloatSlider")
    picture, words = shown_by(e.widget(), "HTML")
    before = picture.value
    first.value = 0.5
    assert e.state().point == (0.5, 0.5)
    assert picture.value == e.picture().img() != before
    second.value = 1.0
    angle.value = 90.0
    assert (e.state().angle, e.state().slope) == (90.0, pytest.approx(e.state().gradient[1]))
    direction.value = "downhill, against the gradient"
    assert e.state().slope < 0
    assert angle.value == round(e.state().angle)
    first.value = 0.8  # the direction follows the point
    assert e.state().direction == "downhill, against the gradient"
    angle.value = angle.value + 10
    assert direction.value == BY_ANGLE
    function.value = "saddle"
    assert e.state().title == "saddle"
    assert 'role="status"' in words.value
    assert "saddle at x = (0.8, 1)" in words.value


def test_set_moves_the_controls():
    e = explorer()
    function, direction = shown_by(e.widget(), "Dropdown")
    first, second, angle = shown_by(e.widget(), "FloatSlider")
    e.set(function="saddle", at=(1.0, -1.5), direction="along x[1]")
    assert (function.value, first.value, second.value) == ("saddle", 1.0, -1.5)
    assert (direction.value, angle.value) == ("along x[1]", 90.0)
    e.set(angle=200.0)
    assert (direction.value, angle.value) == (BY_ANGLE, -160.0)


def test_a_single_function_needs_no_choice():
    assert len(shown_by(explore_curvature(bowl, at=(1.0, 0.5)).widget(), "Dropdown")) == 1


def test_one_bundle_has_text_still_picture_and_live_view():
    bundle = explorer()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(explorer())
    assert bundle["text/html"] == explorer().picture().img()


def test_words_from_outside_are_escaped():
    e = explore_curvature({"<b>f</b>": bowl}, at=(1.0, 0.5))
    assert "<b>" not in e.picture().img()
    assert "<b>" not in shown_by(e.widget(), "HTML")[1].value


def test_parameters_of_a_network_are_left_alone():
    network = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).double()
    explore_curvature(network, at=(1.0, 0.5)).picture()
    assert all(parameter.grad is None for parameter in network.parameters())


@pytest.mark.parametrize(
    ("functions", "more", "error", "message"),
    [
        ({"f": None}, {}, TypeError, "give a function of one tensor"),
        (lambda x: x**2, {}, ValueError, r"the function gave a tensor of shape \(2,\)"),
        (lambda x: 3, {}, ValueError, "the function gave int"),
        (bowl, {"at": (1.0,)}, ValueError, "Give it two numbers, such as at="),
        (bowl, {"at": 3.0}, ValueError, "at is 3.0"),
        (bowl, {"at": (5.0, 0.0)}, ValueError, r"x\[0\] goes from -2 to 2 here, and 5 is outside"),
        (bowl, {"across": (2, -2)}, ValueError, "Give it the lower end"),
        (bowl, {"direction": "up"}, ValueError, "there is no direction 'up' here"),
        (bowl, {"angle": math.nan}, ValueError, "Give it in degrees"),
    ],
)
def test_wrong_calls_say_what_to_do(functions, more, error, message):
    with pytest.raises(error, match=message):
        explore_curvature(functions, **{"at": (1.0, 0.5), **more})


def test_set_refuses_what_is_not_there_and_stays():
    e = explorer()
    with pytest.raises(ValueError, match=r"there is no 'bowl' here\. Functions: valley, saddle, pieces"):
        e.set(function="bowl", at=(0.0, 0.0))
    with pytest.raises(ValueError, match="is outside"):
        e.set(function="saddle", at=(3.0, 0.0))
    assert (e.state().title, e.state().point) == ("valley", (-1.0, 0.5))
    assert set(DIRECTIONS) >= {e.state().direction}
