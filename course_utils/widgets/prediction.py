"""Asks for a prediction before a surprise, and holds it against what happened."""

from __future__ import annotations

import contextlib
import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_utils.drawing.lettering import number
from course_utils.widgets.answers import Typed, typed
from course_utils.widgets.status import StatusLine

if TYPE_CHECKING:
    from ipywidgets import RadioButtons, Text, VBox

_NOTHING_KEPT = "no prediction kept: go back and commit to one, it helps"
_NOTHING_YET = "No prediction kept yet."
# ipywidgets gives every choice the height of one line; a longer one would run into the next.
_STYLE = (
    "<style>.course-choices label {display: flex; flex-direction: row-reverse; height: auto; "
    "justify-content: flex-end; white-space: normal; line-height: 1.5; margin-bottom: 4px} "
    ".course-choices input {flex: none; margin-top: 2px}</style>"
)


def predict(question: str, *, choices: Sequence[str] | None = None, numbers: Sequence[str] | None = None) -> Prediction:
    """A question whose answer comes in a later cell: one of `choices`, or a number for each name.

    `guess.keep(...)` keeps a prediction from code; `guess.reveal(*actual)` says how it was.
    """
    if (choices is None) == (numbers is None) or not (choices or numbers):
        raise ValueError(
            "predict: give either choices=[...], the texts to choose from, or numbers=[...], "
            "the names of the numbers to predict."
        )
    return Prediction(question, tuple(map(str, choices or ())), tuple(numbers or ()))


@dataclass(frozen=True)
class Said:
    """A line or two for the reader, as text and as HTML."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        lines = "".join(f"<p>{_marked_up(line)}</p>" for line in self.text.splitlines())
        return {"text/plain": self.text, "text/html": lines}


class Prediction:
    """A question, and what was predicted: the first prediction that is kept, stays."""

    def __init__(self, question: str, choices: tuple[str, ...], numbers: tuple[str, ...]) -> None:
        self.question, self.choices, self.numbers = question, choices, numbers
        self._kept: str | tuple[Typed, ...] | None = None
        self._live: _Live | None = None

    def keep(self, *answer: object) -> Said:
        """Keep a prediction: the text of a choice, or a number for each name, in order."""
        if self._kept is not None:
            return Said(f"{self.kept()} It stays. To predict again, run the question's cell again.")
        self._take(answer)
        return Said(f"{self.kept()} Now run the next cell.")

    def _take(self, answer: Sequence[object]) -> None:
        self._kept = self._one_of(answer) if self.choices else self._one_each(answer)
        if self._live is not None:
            self._live.close()

    def kept(self) -> str:
        """What was predicted, as a sentence."""
        if self._kept is None:
            return _NOTHING_YET
        if isinstance(self._kept, str):
            return f"You predicted: {_sentence(self._kept)}"
        pairs = zip(self.numbers, self._kept, strict=True)
        return f"You predicted {', '.join(f'{name} = {guess.text}' for name, guess in pairs)}."

    def reveal(self, *actual: object) -> Said:
        """How the prediction compares with what is the case.

        For numbers, give the actual ones. For choices, give the right one, or a mapping that says of each whether it is
        true: then the code of a cell computes its answer, and who reads ahead is not told. ValueError unless one is.
        """
        if self.choices:
            if len(actual) == 1 and isinstance(actual[0], Mapping):
                actual = [self._the_true_one(actual[0])]
            return self._reveal_choice(self._one_of(actual))
        return self._reveal_numbers([a.value for a in self._one_each(actual)])

    def _reveal_choice(self, right: str) -> Said:
        if self._kept is None:
            return Said(f"It is: {right} ({_NOTHING_KEPT})")
        if self._kept == right:
            return Said(f"{self.kept()} That is right.")
        return Said(f"{self.kept()} It is: {_sentence(right)}")

    def _reveal_numbers(self, actual: list[float]) -> Said:
        if self._kept is None:
            values = [number(a) for a in actual]
            named = [f"{n} is {v}" for n, v in zip(self.numbers, values, strict=True)]
            told = f"It is {values[0]}" if len(values) == 1 else ", ".join(named)
            return Said(f"{told} ({_NOTHING_KEPT})")
        rows = zip(self.numbers, self._kept, actual, strict=True)
        return Said("\n".join(_compared(name, guess, value) for name, guess, value in rows))

    def _the_true_one(self, claims: Mapping[str, object]) -> str:
        true = [choice for choice in self.choices if claims.get(choice)]
        if len(true) != 1 or set(claims) != set(self.choices):
            raise ValueError(
                f"predict: of {len(self.choices)} choices, each must be said to be true or false, and one be true; "
                f"{len(claims)} are given, of which true: {', '.join(true) or 'none'}."
            )
        return true[0]

    def _one_of(self, answer: Sequence[object]) -> str:
        if len(answer) != 1 or str(answer[0]) not in self.choices:
            given = ", ".join(repr(a) for a in answer) or "nothing"
            listed = ", ".join(repr(choice) for choice in self.choices)
            raise ValueError(f"predict: {given} is not one of the choices. Give one of {listed}.")
        return str(answer[0])

    def _one_each(self, answer: Sequence[object]) -> tuple[Typed, ...]:
        if len(answer) != len(self.numbers):
            raise ValueError(
                f"predict: {len(answer)} given, but the question asks for {len(self.numbers)}. Give them in this "
                f"order: {', '.join(self.numbers)}."
            )
        return tuple(_named(name, a) for name, a in zip(self.numbers, answer, strict=True))

    def widget(self) -> VBox:
        """The live question; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self)
            if self._kept is not None:
                self._live.close()
        return self._live.container

    def __repr__(self) -> str:
        asked = [f"  ( ) {choice}" for choice in self.choices]
        asked += [f"  {name} = ?" for name in self.numbers]
        return "\n".join([f"Predict: {self.question}", *asked, self.kept()])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), "text/plain": repr(self), "text/html": self._still()}

    def _still(self) -> str:
        asked = [*self.choices, *(f"{name} = ?" for name in self.numbers)]
        items = "".join(f"<li>{_marked_up(line)}</li>" for line in asked)
        question = f"<p><strong>Predict.</strong> {_marked_up(self.question)}</p>"
        return f"{question}<ul>{items}</ul><p>{_marked_up(self.kept())}</p>"


class _Live:
    """The widgets of one prediction."""

    def __init__(self, prediction: Prediction) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._prediction = prediction
        self._fields = (
            [_radio(prediction.choices)] if prediction.choices else [_field(name) for name in prediction.numbers]
        )
        self._button = widgets.Button(description="Keep my prediction", layout=widgets.Layout(width="max-content"))
        self._button.on_click(self._pressed)
        self._kept_by_button = False
        for field in self._fields:
            field.observe(self._arrived, "value")
        self._line = StatusLine()
        question = f"<strong>Predict.</strong> {_marked_up(prediction.question)}"
        self.container = widgets.VBox(
            [
                widgets.HTML(f'{_STYLE}<div class="course-question" style="line-height: 1.5">{question}</div>'),
                widgets.Box(self._fields, layout=widgets.Layout(flex_flow="row wrap")),
                self._button,
                self._line.widget,
            ],
            layout=widgets.Layout(max_width="720px"),
        )
        help_controls(self.container)

    def close(self) -> None:
        """Show what was kept, and take no more."""
        self._say(f"{self._prediction.kept()} Now run the next cell.")
        for control in (*self._fields, self._button):
            control.disabled = True

    def _pressed(self, button: object) -> None:
        answer = [field.value for field in self._fields]
        if answer == [None]:
            self._say("Choose one of the answers first.")
            return
        try:
            self._prediction.keep(*answer)
        except ValueError as error:
            self._say(str(error))
        else:
            self._kept_by_button = True

    def _arrived(self, change: object) -> None:
        # ipywidgets holds a second change back until the kernel has answered the first one; a press overtakes it
        if self._kept_by_button:
            with contextlib.suppress(ValueError):
                self._prediction._take([field.value for field in self._fields])

    def _say(self, text: str) -> None:
        self._line.say(_marked_up(text))


def _radio(choices: tuple[str, ...]) -> RadioButtons:
    import ipywidgets as widgets

    layout = widgets.Layout(width="auto", max_width="100%")
    radio = widgets.RadioButtons(options=choices, value=None, layout=layout)
    radio.add_class("course-choices")
    return radio


def _field(name: str) -> Text:
    import ipywidgets as widgets

    return widgets.Text(
        description=f"{name} =",
        placeholder="a number",
        continuous_update=False,  # else the button may arrive before the last letters
        style={"description_width": "initial"},
        layout=widgets.Layout(width="220px", margin="2px 16px 2px 2px"),
    )


def _named(name: str, answer: object) -> Typed:
    try:
        return typed(answer)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _compared(name: str, guess: Typed, actual: float) -> str:
    if guess.matches(actual):
        exact = guess.text == number(actual)
        return f"You predicted {name} = {guess.text}, and that is right" + (
            "." if exact else f": it is {number(actual)}."
        )
    return f"You predicted {name} = {guess.text}. It is {number(actual)}."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _marked_up(text: str) -> str:
    """The text as HTML, with `code` between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))
