"""The explorer of a training on two moons: in numbers, as a picture, and live, without a browser."""

import asyncio
import threading
import xml.etree.ElementTree as ElementTree

import pytest

from course_utils import explore_moons
from course_utils.adversarial import adversarial_loss, train

SVG = "{http://www.w3.org/2000/svg}"
STEPS = 40


@pytest.fixture(scope="module")
def run():
    return train(seed=1, strength=1.0, steps=STEPS)


@pytest.fixture
def explorer(run):
    return explore_moons(run, steps=STEPS)


def shown_by(widget, kind: str) -> list:
    """All widgets of a kind inside a container, in order."""
    found = [widget] if type(widget).__name__ == kind else []
    for child in getattr(widget, "children", ()):
        found += shown_by(child, kind)
    return found


def parts_of(explorer):
    """The controls by name, the picture and the words."""
    box = explorer.widget()
    picture, words = shown_by(box, "HTML")
    (strength,), (seed,), (button,), (step,), (play,) = (
        shown_by(box, kind) for kind in ("FloatSlider", "Dropdown", "Button", "IntSlider", "Play")
    )
    return {
        "strength": strength,
        "seed": seed,
        "button": button,
        "step": step,
        "play": play,
        "picture": picture,
        "words": words,
    }


def test_it_begins_at_the_end_of_the_first_run(explorer, run):
    assert explorer.state().moment == run.last
    assert repr(explorer).startswith(
        "Seed 1, lambda rises to 1. After step 40: lambda 1.00. The label head is right for "
    )
    assert repr(explorer).endswith("guessing gives 0.50.")


def test_the_picture_says_what_the_text_says(explorer, run):
    picture = explorer.picture()
    words = [text.text for text in ElementTree.fromstring(picture.svg).iter(SVG + "text")]
    assert {"seed 1, lambda rises to 1", "after step 40", "boundary", "source, upper moon"} <= set(words)
    for value in (run.last.source, run.last.target, run.last.domain):
        assert f"{value:.2f}" in words
        assert f"{value:.2f}" in picture.text
    assert picture.alt == picture.text == repr(explorer)


def test_all_text_lies_inside_the_picture(explorer):
    width, height = explorer.picture().size()
    for text in ElementTree.fromstring(explorer.picture().svg).iter(SVG + "text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height


def test_the_same_moment_gives_the_same_bytes(explorer):
    assert explorer.picture().svg == explorer.picture().svg


def test_training_on_the_source_only_is_called_so():
    assert repr(explore_moons(train(seed=0, strength=0.0, steps=STEPS))).startswith(
        "Seed 0, lambda stays 0: source only. After step 40: lambda 0.00."
    )


def test_the_slider_goes_to_every_moment(explorer):
    parts = parts_of(explorer)
    assert (parts["step"].value, parts["step"].max) == (40, 40)
    before = parts["picture"].value
    parts["step"].value = 10
    assert explorer.state().moment.step == 10
    assert parts["picture"].value == explorer.picture().img() != before
    assert "After step 10: " in parts["words"].value
    assert 'role="status"' in parts["words"].value


def test_set_moves_the_slider(explorer):
    parts = parts_of(explorer)
    explorer.set(place=0)
    assert (parts["step"].value, parts["play"].value) == (0, 0)


def test_a_training_that_was_given_is_not_run_again(run):
    def never(net, batch, factor):
        raise AssertionError("trained again")

    explorer = explore_moons(run, loss=never, steps=STEPS)
    explorer.train(1, 1.0)
    assert explorer.state().run is run


def test_another_one_is_trained_once_with_the_loss_that_was_given(run):
    calls = []

    def counted(net, batch, factor):
        calls.append(factor)
        return adversarial_loss(net, batch, factor)

    explorer = explore_moons(run, loss=counted, steps=STEPS)
    explorer.train(2, 0.5)
    explorer.train(1, 1.0)
    explorer.train(2, 0.5)
    assert len(calls) == STEPS
    assert explorer.state().moment == train(2, 0.5, steps=STEPS).last


def test_who_stops_asking_sees_the_training_as_far_as_it_came(explorer):
    training = explorer.training(3, 1.0)
    for _ in range(4):
        next(training)
    training.close()
    assert [moment.step for moment in explorer.state().run.moments] == [0, 1, 2, 3]
    assert not explorer.has(3, 1.0)


def by_itself(work):
    """Does the work in a thread of its own: in this one, browser tests may have left a loop that runs."""
    raised = []

    def watched():
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=watched)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def test_the_button_trains_where_nothing_else_runs(explorer):
    parts = parts_of(explorer)
    parts["strength"].value, parts["seed"].value = 0.3, 4
    assert explorer.state().run.seed == 1  # moving a control trains nothing
    by_itself(parts["button"].click)
    assert (explorer.state().run.seed, explorer.state().run.strength) == (4, 0.3)
    assert explorer.has(4, 0.3)


def test_in_a_notebook_the_button_stops_what_it_has_started(explorer):
    parts = parts_of(explorer)
    parts["seed"].value = 5

    async def press_twice():
        parts["button"].click()
        await asyncio.sleep(0)
        assert parts["button"].description == "Stop"
        parts["strength"].value = 0.6  # a slow kernel gets this behind the press
        while len(explorer.state().run.moments) < 3 or explorer.state().run.strength != 0.6:
            await asyncio.sleep(0.001)
        parts["strength"].value = 0.7  # and this even later
        while explorer.state().run.strength != 0.7:
            await asyncio.sleep(0.001)
        while len(explorer.state().run.moments) < 3 or explorer.state().run.seed != 5:
            await asyncio.sleep(0.001)
        parts["step"].value = 1  # no hand moves the moments while they are made
        parts["button"].click()
        while parts["button"].description == "Stop":
            await asyncio.sleep(0.001)

    by_itself(lambda: asyncio.run(press_twice()))
    assert explorer.state().run.strength == 0.7
    assert not explorer.has(5, 0.7)
    assert 0 < explorer.state().moment.step < STEPS
    assert "Stopped. Seed 5" in parts["words"].value
    assert parts["step"].max == len(explorer.state().run.moments) - 1


def test_in_a_notebook_a_loss_that_raises_is_told(run):
    def broken(net, batch, factor):
        raise ValueError("a <b> of mine")

    parts = parts_of(explorer := explore_moons(run, loss=broken, steps=STEPS))
    parts["seed"].value = 6

    async def press():
        parts["button"].click()
        await asyncio.sleep(0)
        while parts["button"].description == "Stop":
            await asyncio.sleep(0.001)

    by_itself(lambda: asyncio.run(press()))
    assert "ValueError: a &lt;b&gt; of mine" in parts["words"].value
    assert not explorer.has(6, 1.0)


def test_one_bundle_has_text_still_picture_and_live_view(explorer):
    bundle = explorer._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(explorer)
    assert bundle["text/html"] == explorer.picture().img()


@pytest.mark.parametrize("given", [(), ("seed 1",)])
def test_wrong_calls_say_what_to_do(given):
    with pytest.raises(TypeError, match=r"give one or more runs, as in explore_moons\(train\(seed=1\)\)"):
        explore_moons(*given)


def test_set_refuses_what_is_not_there_and_stays(explorer):
    with pytest.raises(ValueError, match=r"there is no moment 41\. This training has 41, counted from 0"):
        explorer.set(place=41)
    assert explorer.state().place == 40
