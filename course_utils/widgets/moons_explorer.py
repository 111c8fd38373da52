"""The explorer of a training against a domain head: choose lambda and seed, train, and play the training back."""

from __future__ import annotations

import asyncio
import html
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from course_utils.adversarial import Moment, Run, adversarial_loss, moments, two_domains
from course_utils.adversarial.training import STEPS, Loss
from course_utils.drawing.picture import Picture
from course_utils.widgets.moons import Shown, sentences
from course_utils.widgets.moons_picture import draw
from course_utils.widgets.status import StatusLine

if TYPE_CHECKING:
    from ipywidgets import VBox

MOST = 6.0  # of lambda
SEEDS = 10
_MILLISECONDS_A_MOMENT = 250
# ipywidgets holds a second change back until the kernel has answered the first one, and a press overtakes it: such a
# change is waited for a little, and if it comes even later, the training begins anew
_WAIT_SECONDS, _LATE_SECONDS = 0.1, 3.0


def explore_moons(*runs: Run, loss: Loss = adversarial_loss, steps: int = STEPS) -> MoonsExplorer:
    """An explorer of trainings on the two moons, which starts at the end of the first run.

    The runs come from `train(seed, strength)`. Others are made by pressing a button, `steps` steps with this `loss`.
    """
    if not runs or not all(isinstance(run, Run) for run in runs):
        raise TypeError("explore_moons: give one or more runs, as in explore_moons(train(seed=1)).")
    return MoonsExplorer(runs, loss, steps)


class MoonsExplorer:
    """A training at one of its moments: `state()` as data, `picture()` as a picture, `set()` and `train()` to move."""

    def __init__(self, runs: Sequence[Run], loss: Loss, steps: int) -> None:
        self._runs = {(run.seed, run.strength): run for run in runs}
        self._loss, self._steps = loss, steps
        self._shown = Shown(runs[0], len(runs[0].moments) - 1)
        self._live: _Live | None = None

    def state(self) -> Shown:
        """What is shown, as plain values."""
        return self._shown

    def picture(self) -> Picture:
        """What is shown, as a picture with its text."""
        return draw(self._shown)

    def set(self, *, place: int) -> None:
        """Go to another moment of the training, counted from 0; a live explorer follows."""
        count = len(self._shown.run.moments)
        if place not in range(count):
            raise ValueError(f"explore_moons: there is no moment {place!r}. This training has {count}, counted from 0.")
        self._show(Shown(self._shown.run, place))

    def train(self, seed: int, strength: float) -> None:
        """Show the training with this seed and lambda, at its end; it is run if it has not been."""
        for _ in self.training(seed, strength):
            pass

    def training(self, seed: int, strength: float) -> Iterator[Moment]:
        """The same, moment by moment: whoever stops asking has stopped the training, and sees it as far as it came."""
        if (seed, strength) in self._runs:
            run = self._runs[seed, strength]
            self._show(Shown(run, len(run.moments) - 1))
            return
        data, seen = two_domains(seed), ()
        for moment in moments(seed, strength, loss=self._loss, steps=self._steps):
            seen = (*seen, moment)
            self._show(Shown(Run(seed, strength, data, seen), len(seen) - 1))
            yield moment
        self._runs[seed, strength] = self._shown.run

    def has(self, seed: int, strength: float) -> bool:
        """Whether this training has been run to its end."""
        return (seed, strength) in self._runs

    def widget(self) -> VBox:
        """The live controls and picture; made once, and shown as often as you like."""
        if self._live is None:
            self._live = _Live(self)
        return self._live.container

    def _show(self, shown: Shown) -> None:
        self._shown = shown
        if self._live is not None:
            self._live.show()

    def __repr__(self) -> str:
        return sentences(self._shown)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, object]:
        return {**self.widget()._repr_mimebundle_(), **self.picture()._repr_mimebundle_()}


class _Live:
    """The widgets of one explorer."""

    def __init__(self, explorer: MoonsExplorer) -> None:
        import ipywidgets as widgets

        from course_utils.widgets.controls import help_controls

        self._explorer = explorer
        self._following = False
        self._task: asyncio.Task | None = None
        run = explorer.state().run
        self._strength = widgets.FloatSlider(
            value=run.strength, min=0, max=MOST, step=0.1, readout_format=".1f", **_labelled("lambda", "1 1 300px")
        )
        self._seed = widgets.Dropdown(
            options=[(str(seed), seed) for seed in sorted({*range(SEEDS), run.seed})],
            value=run.seed,
            **_labelled("seed", "0 1 120px"),
        )
        self._button = widgets.Button(description="Train", layout=widgets.Layout(width="120px"))
        self._step = widgets.IntSlider(min=0, **_labelled("moment", "1 1 300px"))
        self._play = widgets.Play(min=0, interval=_MILLISECONDS_A_MOMENT, show_repeat=False)
        widgets.jslink((self._play, "value"), (self._step, "value"))
        self._picture = widgets.HTML(layout=widgets.Layout(width="auto"))
        self._words = StatusLine()
        row = widgets.Layout(flex_flow="row wrap", max_width="720px", align_items="center")
        self.container = widgets.VBox(
            [
                widgets.Box([self._strength, self._seed, self._button], layout=row),
                widgets.Box([self._play, self._step], layout=row),
                self._picture,
                self._words.widget,
            ]
        )
        help_controls(self.container)
        self._button.on_click(self._pressed)
        self._step.observe(self._moved, "value")
        self.show()

    def show(self) -> None:
        """Put the explorer's present state on the screen."""
        shown, picture = self._explorer.state(), self._explorer.picture()
        self._following = True
        try:
            self._step.max = self._play.max = len(shown.run.moments) - 1
            self._step.value = self._play.value = shown.place
        finally:
            self._following = False
        self._picture.value = picture.img()
        if self._task is None:  # meanwhile, forty sentences would be read aloud
            self._words.say(html.escape(picture.text))

    def _moved(self, change: dict) -> None:
        if not self._following and self._task is None:
            self._explorer.set(place=min(change["new"], len(self._explorer.state().run.moments) - 1))

    def _pressed(self, button: object) -> None:
        """Train, or stop training: in a notebook it gives way between two moments, so that the button is heard."""
        if self._task is not None:
            self._task.cancel()
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._explorer.train(*self._chosen())
        else:
            self._task = loop.create_task(self._train())

    def _chosen(self) -> tuple[int, float]:
        return self._seed.value, round(self._strength.value, 3)  # a slider's 0.3 is 0.30000000000000004

    async def _train(self) -> None:
        said, chosen, late = "", None, time.monotonic() + _LATE_SECONDS
        self._button.description = "Stop"
        try:
            await asyncio.sleep(_WAIT_SECONDS)
            while chosen is None or (chosen != self._chosen() and time.monotonic() < late):
                chosen = seed, strength = self._chosen()
                self._words.say(f"Training with seed {seed} and lambda {strength:g} ...")
                for _ in self._explorer.training(seed, strength):
                    await asyncio.sleep(0.001)
                    if chosen != self._chosen() and time.monotonic() < late:
                        break
                else:
                    await asyncio.sleep(_WAIT_SECONDS)
        except asyncio.CancelledError:
            said = "Stopped. "
        except Exception as error:
            said = f"The training ended with {type(error).__name__}: {error} "
        finally:
            self._task = None
            self._button.description = "Train"
            self._words.say(html.escape(f"{said}{self._explorer!r}"))


def _labelled(words: str, flex: str) -> dict[str, object]:
    import ipywidgets as widgets

    layout = widgets.Layout(flex=flex, width="auto", max_width="420px")
    return {"description": words, "style": {"description_width": "initial"}, "layout": layout}
