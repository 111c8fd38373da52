"""What a check shows: a verdict with its evidence, as HTML in a notebook and as one line of plain text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import Literal

import numpy as np

from course_utils.checks.diagnose import Diagnosis
from course_utils.checks.evidence import Observation
from course_utils.checks.exercise import Exercise
from course_utils.checks.plain import LIMIT, Array, Plain, agree, dtypes_fit, numbers_agree, shorten, show

Status = Literal["right", "wrong", "not attempted"]

_MARKS: dict[Status, str] = {"right": "✔", "wrong": "✘", "not attempted": "○"}
_COLOURS: dict[Status, str] = {
    "right": "var(--jp-success-color1, #388e3c)",
    "wrong": "var(--jp-error-color1, #d32f2f)",
    "not attempted": "var(--jp-ui-font-color2, #616161)",
}


@dataclass(frozen=True)
class Result:
    """The outcome of one check. `mine` and `expected` are the first observations that differ, if any do.

    `still_open` says that an answer which is not attempted is begun.
    """

    exercise: Exercise
    status: Status
    mine: Observation | None = None
    expected: Observation | None = None
    diagnosis: Diagnosis | None = field(default=None)
    still_open: str = ""

    @property
    def points(self) -> int:
        """The points earned: all of the exercise's or none."""
        return self.exercise.points if self.status == "right" else 0

    def __repr__(self) -> str:
        head = f"{_MARKS[self.status]} {self.exercise.name}: "
        if self.status == "right":
            return f"{head}right, {_points(self.exercise.points)}"
        if self.status == "not attempted":
            as_given = " (it still does what the given code did)" if self.mine else ""
            return f"{head}not attempted yet{as_given}, {_points(self.exercise.points)} to earn"
        return f"{head}{self._difference()}{self._idea()}"

    def _difference(self) -> str:
        if self.mine is None or self.expected is None:
            return "wrong"
        name, mine, expected = closest_difference(self.mine, self.expected, limit=_SHORT)
        inputs = given_text(self.mine)
        where = f" for {inputs}" if inputs else ""
        wanted = f", expected {expected}" if self.exercise.tells_expected else " is not it"
        return f"{name}{where}: yours {mine}{wanted}"

    def _idea(self) -> str:
        return f" [{self.diagnosis.label}]" if self.diagnosis else ""

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def html(self) -> str:
        """The result for a notebook: verdict, evidence, idea, and the hints, of which each opens the next."""
        body = {"right": self._right, "wrong": self._wrong, "not attempted": self._untouched}
        return (
            f'<div style="border-left:4px solid {_COLOURS[self.status]};padding:.3em .9em;margin:.2em 0;'
            f'max-width:60em">{body[self.status]()}</div>'
        )

    def _right(self) -> str:
        thought = f"<div>{paragraphs(self.exercise.when_right)}</div>" if self.exercise.when_right else ""
        return f"{self._heading('Right')}<div>{_points(self.exercise.points)} earned.</div>{thought}"

    def _untouched(self) -> str:
        if self.mine is None:
            begun = f"<div>{paragraphs(self.still_open)}</div>" if self.still_open else ""
            return f"{self._heading('Not attempted yet')}{begun}{hints_html(self.exercise.hints)}"
        thought = f"<div>{paragraphs(self.exercise.when_as_given)}</div>" if self.exercise.when_as_given else ""
        heading = self._heading("Not attempted yet, or changed without effect: it still does what the given code did")
        return f"{heading}{self._table()}{thought}{hints_html(self.exercise.hints)}"

    def _wrong(self) -> str:
        no_idea = _NO_IDEA if self.mine and self.mine.given else _NO_IDEA_OF_A_VALUE
        says = self.diagnosis.says if self.diagnosis else no_idea
        return (
            f"{self._heading('Not right yet')}{self._table()}"
            f'<div style="margin:.5em 0">{paragraphs(says)}</div>'
            f"{self._story()}{hints_html(self.exercise.hints)}"
        )

    def _heading(self, verdict: str) -> str:
        return (
            f'<div><strong style="color:{_COLOURS[self.status]}">{_MARKS[self.status]} {verdict}</strong>'
            f" &middot; {escape(self.exercise.title)}</div>"
        )

    def _table(self) -> str:
        if self.mine is None or self.expected is None:
            return ""
        name, mine, expected = closest_difference(self.mine, self.expected, between_rows=",\n ")
        rows = [(f"with {key}", show(value, between_rows=",\n ")) for key, value in self.mine.given]
        rows.append((f"{name}, yours", mine))
        if self.exercise.tells_expected:
            rows.append(("expected", expected))
        cells = "".join(
            f'<tr><th style="{_CELL};font-weight:normal">{escape(key)}</th>'
            f'<td style="{_CELL}"><pre style="margin:0">{escape(value)}</pre></td></tr>'
            for key, value in rows
        )
        return f'<table style="margin:.4em 0">{cells}</table>'

    def _story(self) -> str:
        if self.mine is None:
            return ""
        parts = (
            ("What your code raised", self.mine.story),
            ("What your code printed", self.mine.printed),
        )
        return "".join(
            f'<div>{title}:</div><pre style="overflow-x:auto;margin:.3em 0">{escape(_tail(text))}</pre>'
            for title, text in parts
            if text.strip()
        )


_NO_IDEA_OF_A_VALUE = (
    "This answer fits no mistake that is known here. Has it the form that the question asks for? If it has, work it "
    "out once more; each hint goes one step further."
)
_STRESSED = re.compile(r"(?<![\w*)])\*(\w+)\*(?![\w*(])")  # not the stars of 2*x*y or x**2
_MOST_TEXT = 4000  # signs of what an answer printed or raised, counted from the end
_SHORT = 4  # more numbers than these make one line of text unreadable
_CELL = "text-align:left;vertical-align:top;padding:.1em 1.2em .1em 0"
_NO_IDEA = (
    "The evidence fits no mistake that is known here. Take the inputs above, compute the value by hand, and follow "
    "your code line by line until it parts from you."
)


def _tail(text: str) -> str:
    """The end of the text, in signs that can be sent to a browser."""
    text = text.strip()
    cut = text if len(text) <= _MOST_TEXT else f"…\n{text[-_MOST_TEXT:]}"
    return cut.encode("utf-8", "backslashreplace").decode("utf-8")


def closest_difference(mine: Observation, expected: Observation, **style: object) -> tuple[str, str, str]:
    """What differs, as narrowly as it can be named: (name, yours, expected), each as text; `style` goes to `show`."""
    if mine.changed != expected.changed:
        return "inputs afterwards", f"changed: {', '.join(mine.changed)}", "unchanged"
    one, other = mine.value, expected.value
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        names = expected.parts or tuple(f"value {i + 1}" for i in range(len(other)))
        for name, a, b in zip(names, one, other, strict=True):
            if not agree(a, b):
                return name, *_told_apart(a, b, style)
    elif isinstance(other, tuple) and len(other) == len(expected.parts):
        return expected.label, show(one, **style), _part_by_part(other, expected.parts, style)
    return expected.label, *_told_apart(one, other, style)


def _part_by_part(values: tuple[Plain, ...], names: tuple[str, ...], style: dict[str, object]) -> str:
    """Each value with its name, on lines of their own where rows may break."""
    line_end = ",\n" if "\n" in style.get("between_rows", "") else ", "
    return line_end.join(f"{name}: {show(value, **style)}" for name, value in zip(names, values, strict=True))


def _told_apart(mine: Plain, expected: Plain, style: dict[str, object]) -> tuple[str, str]:
    """Both values as text; with shape or dtype where that is the difference."""
    texts = show(mine, **style), show(expected, **style)
    if isinstance(mine, Array) and isinstance(expected, Array):
        if mine.shape != expected.shape:
            return f"{texts[0]} of shape {mine.shape}", f"{texts[1]} of shape {expected.shape}"
        if not dtypes_fit(mine, expected):
            return f"{texts[0]} of dtype {mine.dtype}", f"{texts[1]} of dtype {expected.dtype}"
        if len(mine.numbers) > style.get("limit", LIMIT):
            return _first_entry(mine, expected)
    return (f"{texts[0]} (not the same in the later digits)", texts[1]) if texts[0] == texts[1] else texts


def _first_entry(mine: Array, expected: Array) -> tuple[str, str]:
    """The first entry that differs, where the arrays are too large to be shown whole."""
    pairs = zip(mine.numbers, expected.numbers, strict=True)
    place, (one, other) = next((i, pair) for i, pair in enumerate(pairs) if not numbers_agree(*pair))
    index = ", ".join(str(i) for i in np.unravel_index(place, expected.shape))
    return f"{shorten(one)} at [{index}]", shorten(other)


def given_text(seen: Observation) -> str:
    """The inputs of an observation in one line: `incoming = 5, x = 2, y = 3`."""
    return ", ".join(f"{name} = {show(value, limit=_SHORT)}" for name, value in seen.given)


def hints_html(hints: tuple[str, ...]) -> str:
    """The hints as closed details, each inside the one before: they open one at a time."""
    inner = ""
    for number in range(len(hints), 0, -1):
        inner = (
            f'<details style="margin:.3em 0"><summary>Hint {number} of {len(hints)}</summary>'
            f'<div style="margin:.2em 1em">{paragraphs(hints[number - 1])}{inner}</div></details>'
        )
    return inner


def paragraphs(text: str) -> str:
    """Text with `code` in backticks, and *stress* between stars, as HTML."""
    pieces = map(escape, text.split("`"))
    return "".join(
        f"<code>{piece}</code>" if i % 2 else _STRESSED.sub(r"<em>\1</em>", piece) for i, piece in enumerate(pieces)
    )


def _points(count: int) -> str:
    return f"{count} point" if count == 1 else f"{count} points"
