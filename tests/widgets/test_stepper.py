"""What the stepper shows at each step; that it works in a browser is tested in tests/browser."""

from __future__ import annotations

import pytest
import torch

from course_utils import record, step
from course_utils.graph import Diary, draw
from course_utils.graph.growth import growth
from course_utils.graph.text import growth_text
from course_utils.widgets.frames import Frames

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

# torch says once per process that `backward(create_graph=True)` makes a reference cycle
pytestmark = pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")


@pytest.fixture
def recording():
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    return record((x * y) ** 2, x=x, y=y)


@pytest.fixture
def twice():
    x, y = (torch.tensor(value, requires_grad=True) for value in (3.0, 2.0))
    return record((x * x * y) ** 2, create_graph=True, x=x, y=y)


def test_there_is_a_frame_before_the_pass_and_one_for_each_event(recording):
    frames = step(recording).frames
    assert len(frames) == len(recording.events) + 1
    assert [frame.step for frame in frames] == list(range(len(frames)))
    assert frames[-1].step == len(recording.events)
    assert [frame.step for frame in frames[2:4]] == [2, 3]


def test_a_frame_has_a_picture_a_sentence_and_both_in_words(recording):
    frame = step(recording).frames[5]
    assert frame.sentence == "Mul 1 sends to x: incoming × y = 12 × 2 = 24."
    assert frame.picture.alt == (f"Step 5 of 11. {frame.sentence} x.grad not computed yet; y.grad not computed yet.")
    assert frame.picture.text == frame.picture.alt


def test_all_frames_have_the_same_size_and_different_pictures(recording):
    frames = step(recording).frames
    assert len({frame.picture.size() for frame in frames}) == 1
    assert len({frame.picture.svg for frame in frames}) == len(frames)


def test_the_focus_is_inside_the_picture(recording):
    frames = step(recording).frames
    width, height = frames[0].picture.size()
    assert frames[0].focus is None
    assert all(0 < frame.focus[0] < width and 0 < frame.focus[1] < height for frame in frames[1:])


def test_no_frame_is_made_before_it_is_asked_for(recording, monkeypatch):
    made = []
    make = Frames._make
    monkeypatch.setattr(Frames, "_make", lambda self, number: made.append(number) or make(self, number))
    frames = step(recording).frames
    assert made == []
    assert frames[7] is frames[7]
    assert made == [7]


def ask(view, *frames):
    """What the page is sent when it asks for these frames."""
    sent = []
    view.send = sent.append
    view._handle_custom_msg({"frames": [list(frame) for frame in frames]}, [])
    return [answer["frame"] for answer in sent]


def test_the_page_gets_the_frames_it_asks_for(recording):
    view = step(recording).widget()
    assert view.last == 11
    five, six = ask(view, (0, 5), (0, 6))
    assert (five["step"], six["step"]) == (5, 6)
    assert five["sentence"].startswith("Mul 1 sends to x")
    assert five["alt"].startswith("Step 5 of 11.")
    assert five["svg"].startswith("<svg")


def test_a_step_outside_of_the_pass_is_brought_back(recording):
    view = step(recording).widget()
    view.step = 400
    assert view.step == 11
    view.step = -3
    assert view.step == 0


def test_go_moves_the_live_stepper(recording):
    stepper = step(recording)
    stepper.go(-1)
    assert stepper.widget().step == 11
    with pytest.raises(IndexError, match="steps 0 to 11; there is no step 12"):
        stepper.go(12)


def test_it_shows_itself_live_and_as_the_whole_recording_in_one_picture(recording):
    stepper = step(recording)
    bundle = stepper._repr_mimebundle_()
    assert bundle[WIDGET_VIEW]["model_id"] == stepper.widget().model_id
    assert bundle["text/plain"] == str(recording) == repr(stepper)
    assert bundle["text/html"] == draw(recording).img()


def test_a_second_order_pass_has_a_second_variant(recording, twice):
    assert list(step(recording).variants) == ["first order"]
    assert step(recording).widget().variants == ["first order"]
    stepper = step(twice)
    first, second = stepper.variants.values()
    assert len(first) == len(second)
    assert "Pow 9′" in second[-1].picture.svg
    assert "Pow 9′" not in second[0].picture.svg
    assert "Pow 9′" not in first[-1].picture.svg
    assert "This builds new nodes, to differentiate again: Mul 7′" in second[2].sentence
    assert repr(stepper) == f"{twice}\n{growth_text(growth(twice))}"


def test_both_variants_can_be_asked_for(twice):
    view = step(twice).widget()
    first, second = ask(view, (0, 4), (1, 4))
    assert (first["variant"], second["variant"]) == (0, 1)
    assert first["svg"] != second["svg"]
    view.variant = 7
    assert view.variant == 1


def test_a_tensor_is_refused_with_the_next_move():
    x = torch.tensor(3.0, requires_grad=True)
    with pytest.raises(TypeError, match=r"was given a Tensor. Record one first: `step\(record\(y\)\)`"):
        step(x * x)


def test_thousands_of_steps_stay_usable():
    y = torch.tensor(0.5, requires_grad=True)
    for _ in range(1500):
        y = y.sin()
    stepper = step(record(y))
    assert len(stepper.frames) > 4000
    middle = stepper.frames[2000]
    assert middle.picture.svg.count("<text") < 100
    assert middle.sentence.startswith("Sin ")


class Value:
    """A node of somebody's own engine."""

    def __init__(self, value, parents=(), op="", name=None):
        self.value, self.parents, self.op, self.name, self.grad = value, parents, op, name, 0.0


@pytest.fixture
def diary():
    x, y = Value(3.0, name="x"), Value(2.0, name="y")
    p = Value(6.0, (x, y), "*")
    z = Value(36.0, (p,), "**2")
    z.grad = 1.0
    found = Diary(z)
    p.grad = 12.0
    found.note(z)
    x.grad, y.grad = 24.0, 36.0
    found.note(p)
    return found


def test_an_engine_of_ones_own_goes_along_beside(recording, diary):
    frames = step(recording, beside=diary).frames
    # torch's Pow has sent its only message at step 2, its Mul the second of two at step 6
    assert [frame.beside.step for frame in frames] == [0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    assert frames[6].beside.sentence == "Your Mul 1: x.grad goes from 0 to 24, y.grad goes from 0 to 36."
    assert len({frame.beside.picture.size() for frame in frames}) == 1
    assert [frame.step for frame in frames[2:4]] == [2, 3]


def test_both_pictures_are_stored_and_both_stories_told(recording, diary):
    bundle = step(recording, beside=diary)._repr_mimebundle_()
    assert bundle["text/html"].count("<img ") == 2
    assert bundle["text/plain"] == f"{recording}\n{diary}"


def test_the_page_gets_both_pictures_of_a_step(recording, diary):
    view = step(recording, beside=diary).widget()
    (frame,) = ask(view, (0, 6))
    assert frame["beside"]["sentence"].startswith("Your Mul 1")
    assert frame["beside"]["svg"] != frame["svg"]


def test_an_engine_that_stopped_early_or_went_on_is_shown_to_its_end(recording, diary):
    late = diary.turns[-1]
    diary.turns += [late, late, late]
    steps = [frame.beside.step for frame in step(recording, beside=diary).frames]
    assert steps[-2:] == [2, 5]
    del diary.turns[2:]
    assert [frame.beside.step for frame in step(recording, beside=diary).frames][-1] == 1
