"""Draws a Jacobian as a heat map: a weight at each row, and under the columns what backward makes of them."""

from __future__ import annotations

from course_utils.drawing import language
from course_utils.drawing.canvas import Canvas
from course_utils.drawing.heat import HeatMap, brief
from course_utils.drawing.lettering import fitting_size, shorten
from course_utils.drawing.picture import Picture
from course_utils.widgets.jacobian import Weighted, sentences

WIDTH = 720
_MARGIN = 24
_WEIGHTS, _OUTPUTS, _GRID = 80, 196, 280  # the middles of the two columns on the left, and where the map begins
_TOP = 108
_ROW = 60
_WIDEST = 116


def draw(state: Weighted) -> Picture:
    """The map with all that stands around it."""
    width = min(_WIDEST, (WIDTH - _MARGIN - _GRID) / len(state.inputs))
    canvas = Canvas(WIDTH, _TOP + _ROW * len(state.rows) + 96)
    heat = HeatMap(canvas, _GRID, _TOP, width, _ROW, state.rows)
    _draw_heading(canvas, state)
    heat.draw(_products(state))
    _draw_inputs(canvas, heat, state)
    _draw_rows(canvas, heat, state)
    _draw_sum(canvas, heat, state)
    text = sentences(state)
    return Picture(canvas.svg(), text, text)


def _products(state: Weighted) -> list[list[str]]:
    """Under each number, what its row's weight makes of it."""
    return [
        [f"{_factor(weight)} × {_factor(value)} = {brief(weight * value)}" for value in row]
        for weight, row in zip(state.weights, state.rows, strict=True)
    ]


def _factor(value: float) -> str:
    text = brief(value)
    return f"({text})" if text.startswith("-") else text


def _draw_heading(canvas: Canvas, state: Weighted) -> None:
    canvas.text(_MARGIN, 28, shorten(state.title, 60), size=16, code=True, bold=True)
    canvas.text(_WEIGHTS, _TOP - 34, "weights g", anchor="middle")
    canvas.text(_OUTPUTS, _TOP - 34, "outputs", anchor="middle")
    canvas.text(_GRID, 58, "the Jacobian: a row for each output, a column for each input", ink=language.QUIET_INK)


def _draw_inputs(canvas: Canvas, heat: HeatMap, state: Weighted) -> None:
    for j, (name, value) in enumerate(state.inputs):
        _chip(canvas, (heat.centre(0, j)[0], _TOP - 22), f"{name} = {brief(value)}", language.VALUE, heat.width - 8)


def _draw_rows(canvas: Canvas, heat: HeatMap, state: Weighted) -> None:
    for i, ((name, value), weight) in enumerate(zip(state.outputs, state.weights, strict=True)):
        level = heat.centre(i, 0)[1]
        _chip(canvas, (_WEIGHTS, level), brief(weight), language.GRADIENT, 96)
        _chip(canvas, (_OUTPUTS, level), f"{name} = {brief(value)}", language.VALUE, 124)


def _draw_sum(canvas: Canvas, heat: HeatMap, state: Weighted) -> None:
    level = heat.bottom + 48
    for j, value in enumerate(state.gradient):
        middle = heat.centre(0, j)[0]
        canvas.arrow((middle, heat.bottom + 4), (middle, level - 18), language.GRADIENT)
        _chip(canvas, (middle, level), brief(value), language.GRADIENT, heat.width - 8)
    canvas.text(_GRID - 16, level - 9, "the rows, weighted and added:", anchor="end")
    canvas.text(_GRID - 16, level + 10, "y.backward(g) gives x.grad", anchor="end", bold=True)


def _chip(canvas: Canvas, centre: tuple[float, float], text: str, look: language.Look, room: float) -> None:
    size = fitting_size(text, room - 18, sizes=(13, 12, 11, 10, 9))
    canvas.chip(centre, text, look, size=size)
