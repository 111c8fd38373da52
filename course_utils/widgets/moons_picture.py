"""Draws a moment of a training on the two moons: the plane with its boundary, the features, and the way so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from torch import Tensor

from course_utils.adversarial import Domains, Moment
from course_utils.adversarial.plane import Field, feature_plane, field_of
from course_utils.drawing import language
from course_utils.drawing.axes import Axes, Span
from course_utils.drawing.canvas import Canvas, Point
from course_utils.drawing.picture import Picture
from course_utils.widgets.moons import Shown, sentences, share, title

WIDTH = 720
_HEIGHT = 598
_PLANE = (Span(-2.1, 2.1), Span(-1.65, 1.65))
_FEATURES = (Span(-6, 6), Span(-6, 6))  # features lie between -1 and 1 in 32 directions: sqrt(32) is 5.7
_CELLS = (64, 50)
_POINTS = 150  # of each domain: enough to see, and drawn in no time
# the two moons: ink of their points, tint of the ground that the label head gives to them; roles of nothing else
_MOONS = (("upper moon", "#0b6156", "#d8efe9"), ("lower moon", "#6a3a9c", "#eae0f5"))
_CIRCLE = "m-3.6,0a3.6,3.6 0 1,0 7.2,0a3.6,3.6 0 1,0 -7.2,0z"
_TRIANGLE = "m0,-4.4l4.2,7.4h-8.4z"
_SHAPES = (_CIRCLE, _TRIANGLE)
# lines of the plot below: ink, dashes, what they are
_LINES = (
    ("target", language.VALUE.ink, "", "target points, label head"),
    ("domain", language.GRADIENT.ink, "7 4", "all points, domain head"),
    ("source", language.QUIET_INK, "2 3", "source points, label head"),
)


def draw(shown: Shown) -> Picture:
    """The moment as a picture with its text."""
    moment, data = shown.moment, shown.run.domains
    net = moment.networks()
    canvas = Canvas(WIDTH, _HEIGHT, shared_font=True)
    canvas.text(24, 26, title(shown.run), size=16, bold=True)
    canvas.text(WIDTH - 24, 26, f"after step {moment.step}", size=16, anchor="end")
    _draw_plane(canvas, field_of(net, *_grid()), data)
    _draw_features(canvas, *feature_plane(net, data), data)
    _draw_key(canvas)
    _draw_way(canvas, shown)
    text = sentences(shown)
    return Picture(canvas.svg(), text, text)


def _grid() -> tuple[tuple[float, ...], tuple[float, ...]]:
    xs, ys = (
        tuple(span.low + i * span.length / cells for i in range(cells + 1))
        for span, cells in zip(_PLANE, _CELLS, strict=True)
    )
    return xs, ys


def _draw_plane(canvas: Canvas, field: Field, data: Domains) -> None:
    axes = Axes(canvas, 24, 70, 328, 258, *_PLANE)
    canvas.text(24, 54, "the points, and what the label head makes of the plane", size=12, ink=language.QUIET_INK)
    canvas.rect(axes.x, axes.y, axes.width, axes.height, fill=_MOONS[0][2], stroke=language.CARD_EDGE)
    for low, high in _lower(field):
        (left, top), (right, bottom) = axes.at((low[0], high[1])), axes.at((high[0], low[1]))
        canvas.rect(left, top, right - left, bottom - top, fill=_MOONS[1][2])
    _draw_points(axes, data, data.source, data.target)
    with canvas.clipped(axes.x, axes.y, axes.width, axes.height):
        boundary = [(axes.at(start), axes.at(end)) for start, end in field.boundary()]
        canvas.strokes(boundary, stroke=language.INK, width=2.5)


def _lower(field: Field) -> Iterator[tuple[Point, Point]]:
    """Two corners of each strip of the grid that the head gives to the lower moon."""
    for i, (low, high) in enumerate(zip(field.ys, field.ys[1:], strict=False)):
        middles = [
            sum((*field.rows[i][j : j + 2], *field.rows[i + 1][j : j + 2])) > 0 for j in range(len(field.xs) - 1)
        ]
        for is_lower, cells in groupby(range(len(middles)), key=middles.__getitem__):
            if is_lower:
                first, *_, last = [*cells] * 2
                yield (field.xs[first], low), (field.xs[last + 1], high)


def _draw_features(canvas: Canvas, source: Tensor, target: Tensor, data: Domains) -> None:
    axes = Axes(canvas, 368, 70, 328, 258, *_FEATURES)
    canvas.text(368, 54, "the features: across, the distance from the boundary", size=12, ink=language.QUIET_INK)
    for x, tint in ((axes.x, _MOONS[0][2]), (axes.x + axes.width / 2, _MOONS[1][2])):
        canvas.rect(x, axes.y, axes.width / 2, axes.height, fill=tint)
    canvas.rect(axes.x, axes.y, axes.width, axes.height, stroke=language.CARD_EDGE)
    _draw_points(axes, data, source, target)
    middle = axes.x + axes.width / 2
    canvas.line((middle, axes.y), (middle, axes.y + axes.height), stroke=language.INK, width=2.5)


def _draw_points(axes: Axes, data: Domains, source: Tensor, target: Tensor) -> None:
    """Source points filled, target points hollow; what lies outside stands at the edge."""
    for points, labels, hollow in ((source, data.source_labels, False), (target, data.target_labels, True)):
        for label, ((_, ink, _), shape) in enumerate(zip(_MOONS, _SHAPES, strict=True)):
            chosen = points[:_POINTS][labels[:_POINTS] == label].tolist()
            places = [axes.at(_inside(point, axes)) for point in chosen]
            fill, stroke = (language.CARD, ink) if hollow else (ink, language.CARD)
            axes.canvas.stamps(places, shape, fill=fill, stroke=stroke, width=1.4 if hollow else 0.35)


def _inside(point: Sequence[float], axes: Axes) -> Point:
    edges = ((axes.across.wider(-0.01), point[0]), (axes.up.wider(-0.01), point[1]))
    x, y = (min(max(value, span.low), span.high) for span, value in edges)
    return x, y


def _draw_key(canvas: Canvas) -> None:
    """What each mark means."""
    x = 24.0
    for domain, hollow in (("source", False), ("target", True)):
        for (name, ink, _), shape in zip(_MOONS, _SHAPES, strict=True):
            fill, stroke = (language.CARD, ink) if hollow else (ink, language.CARD)
            canvas.stamps([(x + 6, 352)], shape, fill=fill, stroke=stroke, width=1.4 if hollow else 0.35)
            canvas.text(x + 17, 352, f"{domain}, {name}", size=12)
            x += 138
    canvas.line((x, 352), (x + 22, 352), stroke=language.INK, width=2.5)
    canvas.text(x + 28, 352, "boundary", size=12)


def _draw_way(canvas: Canvas, shown: Shown) -> None:
    """Three accuracies over all steps of the training, and where among them this moment stands."""
    moments, here = shown.run.moments, shown.moment
    last = max(moments[-1].step, 1)
    axes = Axes(canvas, 56, 384, 424, 180, Span(0, last), Span(0, 1))
    axes.frame()
    canvas.text(axes.x + axes.width / 2, 584, "step", size=11, ink=language.QUIET_INK, anchor="middle")
    for name, ink, dash, words in _LINES:
        points = [axes.at((moment.step, getattr(moment, name))) for moment in moments]
        canvas.polyline(points, stroke=ink, width=2.2, dash=dash)
        _draw_number(canvas, axes, (name, ink, dash, words), here)
    x, _ = axes.at((here.step, 0))
    canvas.line((x, axes.y), (x, axes.y + axes.height), stroke=language.INK, width=1.5)


def _draw_number(canvas: Canvas, axes: Axes, line: tuple[str, str, str, str], here: Moment) -> None:
    """The accuracy at this moment: a dot on its line, and the number beside the plot, with what it counts."""
    name, ink, dash, words = line
    value = getattr(here, name)
    canvas.circle(axes.at((here.step, value)), 4.5, fill=ink, stroke="#ffffff", width=1.5)
    level = 408 + 46 * [one[0] for one in _LINES].index(name)
    canvas.line((500, level), (530, level), stroke=ink, width=2.2, dash=dash)
    canvas.text(538, level, share(value), size=16, ink=ink, bold=True)
    canvas.text(538, level + 18, words, size=12, ink=language.QUIET_INK)
