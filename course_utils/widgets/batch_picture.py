"""Draws which output of a batch depends on which input: a heat map, and under it two answers to compare."""

from __future__ import annotations

from course_utils.drawing import language
from course_utils.drawing.canvas import Canvas
from course_utils.drawing.heat import HeatMap, brief, largest_of
from course_utils.drawing.lettering import fitting_size, shorten, text_width
from course_utils.drawing.picture import Picture
from course_utils.widgets.batch import Mixing, sentences

WIDTH = 720
_MARGIN = 24
_GRID = 232
_TOP = 96
_ROW = 46
_WIDEST = 110
_UNDER = 40  # between the rows under the map


def draw(state: Mixing) -> Picture:
    """The map, the own derivatives and the gradient of the sum under it, and the verdict."""
    samples = len(state.rows)
    width = min(_WIDEST, (WIDTH - _MARGIN - _GRID) / samples)
    canvas = Canvas(WIDTH, _TOP + _ROW * samples + 3 * _UNDER + 16)
    heat = HeatMap(canvas, _GRID, _TOP, width, _ROW, state.rows)
    _draw_heading(canvas, state)
    heat.draw()
    for i in range(samples):
        heat.outline(i, i)
        _draw_names(canvas, heat, state, i)
    _draw_answers(canvas, heat, state)
    text = sentences(state)
    return Picture(canvas.svg(), text, text)


def _draw_heading(canvas: Canvas, state: Mixing) -> None:
    title = shorten(state.title, 60)
    canvas.text(_MARGIN, 28, title, size=fitting_size(title, WIDTH - 48, sizes=(16, 14, 12)), bold=True)
    verdict = "the samples mix" if state.mixes else "in the backward pass no output meets another sample"
    canvas.text(_MARGIN, 52, verdict, size=14)
    canvas.text(_GRID - 14, _TOP - 16, "with respect to:", anchor="end", ink=language.QUIET_INK)


def _draw_names(canvas: Canvas, heat: HeatMap, state: Mixing, i: int) -> None:
    suffix = f", {state.column}" if state.columns > 1 else ""
    canvas.text(heat.centre(0, i)[0], _TOP - 16, f"x[{i}{suffix}]", anchor="middle", bold=True)
    canvas.text(_GRID - 14, heat.centre(i, 0)[1], f"gradient of y[{i}{suffix}]", anchor="end", bold=True)


def _draw_answers(canvas: Canvas, heat: HeatMap, state: Mixing) -> None:
    largest = largest_of([*state.rows, state.summed])
    answers = [("own derivative: the diagonal", state.own), (f"gradient of {_sum_of(state)}: torch", state.summed)]
    for row, (words, values) in enumerate(answers):
        level = heat.bottom + 26 + row * _UNDER
        canvas.text(_GRID - 14, level, words, anchor="end")
        for j, value in enumerate(values):
            text = brief(value, largest)
            size = fitting_size(text, heat.width - 26, sizes=(13, 12, 11, 10, 9))
            canvas.chip((heat.centre(0, j)[0], level), text, language.GRADIENT, size=size)
    for j, agree in enumerate(state.agree):
        _stamp(canvas, agree, heat.centre(0, j)[0], heat.bottom + 26 + 2 * _UNDER)


def _sum_of(state: Mixing) -> str:
    return f"y[:, {state.column}].sum()" if state.columns > 1 else "y.sum()"


def _stamp(canvas: Canvas, agree: bool, middle: float, level: float) -> None:
    """The verdict as a word: outlined if the two agree, filled if they do not."""
    look = language.AGREE if agree else language.DISAGREE
    width = text_width(look.word, 12, bold=True) + 16
    canvas.rect(middle - width / 2, level - 11, width, 22, fill=look.fill, stroke=look.ink, stroke_width=1.5, radius=3)
    canvas.text(middle, level, look.word, size=12, ink=look.ink, anchor="middle", bold=True)
