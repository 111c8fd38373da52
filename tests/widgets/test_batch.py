"""The batch explorer: which samples depend on which, in numbers, as a picture, and live, without a browser."""

import xml.etree.ElementTree as ElementTree

import pytest
import torch
from torch.nn import functional

from course_utils import explore_batch
from course_utils.widgets.batch import MOST

SVG = "{http://www.w3.org/2000/svg}"
X = torch.tensor([[1.0, 3.0, 0.5], [2.0, -1.0, 1.5], [4.0, 0.5, -2.0]], dtype=torch.float64)


def batch_norm(x):
    return functional.batch_norm(x, None, None, training=True)


def spread(x):
    return (x.var(0, unbiased=False) + 1e-5).sqrt()


def mean_detached(x):
    return (x - x.mean(0).detach()) / spread(x)


def both_detached(x):
    return (x - x.mean(0).detach()) / spread(x).detach()


def layer_norm(x):
    return functional.layer_norm(x, (3,))


def explorer(**more):
    return explore_batch({"batch norm": batch_norm, "mean": mean_detached, "layer norm": layer_norm}, X, **more)


def shown_by(widget, kind: str) -> list:
    """All widgets of a kind inside a container, in order."""
    found = [widget] if type(widget).__name__ == kind else []
    for child in getattr(widget, "children", ()):
        found += shown_by(child, kind)
    return found


def test_the_rows_are_those_of_jacrev():
    for column in range(3):
        jacobian = torch.func.jacrev(batch_norm)(X)[:, column, :, column]
        state = explore_batch(batch_norm, X, column=column).state()
        assert torch.tensor(state.rows).allclose(jacobian.float(), atol=1e-7)
        assert torch.tensor(state.summed).allclose(jacobian.sum(0).float(), atol=1e-7)


@pytest.mark.parametrize(
    ("function", "first_row", "mixes"),
    [
        (batch_norm, (0.229, -0.344, 0.115), True),
        (mean_detached, (0.496, -0.076, 0.382), True),
        (both_detached, (0.802, 0, 0), False),
        (layer_norm, None, False),
        (lambda x: x * x.flip(0), (4, 0, 1), True),
    ],
)
def test_what_mixes_and_what_does_not(function, first_row, mixes):
    state = explore_batch(function, X).state()
    assert state.mixes is mixes
    assert (state.agree == (True,) * 3) is not mixes
    if first_row:
        assert state.rows[0] == pytest.approx(first_row, abs=5e-4)


def test_samples_that_mix_in_another_column_only_do_mix():
    def crossed(x):
        return torch.stack([x[:, 0], x[:, 1] * x[:, 1].sum(), x[:, 2]], dim=1)

    state = explore_batch(crossed, X).state()
    assert state.mixes
    assert state.agree == (True,) * 3
    assert state.rows == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def test_columns_that_mix_within_a_sample_do_not_mix_samples():
    assert not explore_batch(lambda x: x * x.sum(1, keepdim=True), X).state().mixes


def test_a_batch_of_single_numbers_has_no_columns():
    e = explore_batch(lambda x: (x - x.mean()) ** 2, torch.tensor([1.0, 2.0, 4.0]))
    assert "column" not in repr(e)
    assert shown_by(e.widget(), "Dropdown") == []
    assert len(e.state().rows) == 3


def test_what_the_picture_shows_in_words():
    assert repr(explorer()) == (
        "batch norm: derivatives of each output by the inputs x[0] to x[2] in column 0. y[0]: 0.229, -0.344, 0.115; "
        "y[1]: -0.344, 0.515, -0.172; y[2]: 0.115, -0.172, 0.0573. The samples mix. Each sample's own derivative: "
        "0.229, 0.515, 0.0573. Gradient of the sum: 0, 0, 0: DISAGREE."
    )


def words_in(picture):
    return [text.text for text in ElementTree.fromstring(picture.svg).iter(SVG + "text")]


def test_the_picture_stamps_each_sample_and_names_the_sum():
    e = explorer(column=1)
    words = words_in(e.picture())
    assert words.count("DISAGREE") == 3
    assert {"gradient of y[2, 1]", "x[0, 1]", "gradient of y[:, 1].sum(): torch", "the samples mix"} <= set(words)
    e.set(function="layer norm")
    words = words_in(e.picture())
    assert words.count("agree") == 3
    assert "in the backward pass no output meets another sample" in words


@pytest.mark.parametrize("samples", [2, MOST])
def test_all_text_lies_inside_the_picture(samples):
    picture = explore_batch(
        {"a rather long title " * 5: batch_norm}, torch.arange(2.0 * samples).reshape(samples, 2) ** 2
    ).picture()
    width, height = picture.size()
    for text in ElementTree.fromstring(picture.svg).iter(SVG + "text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height


def test_switches_move_the_picture_and_the_words():
    e = explorer()
    (choice,) = shown_by(e.widget(), "RadioButtons")
    (column,) = shown_by(e.widget(), "Dropdown")
    picture, words = shown_by(e.widget(), "HTML")
    before = picture.value
    choice.value = "mean"
    assert e.state().title == "mean"
    assert picture.value == e.picture().img() != before
    column.value = 2
    assert e.state().column == 2
    assert 'role="status"' in words.value
    assert "in column 2" in words.value


def test_set_moves_the_switches():
    e = explorer()
    (choice,) = shown_by(e.widget(), "RadioButtons")
    e.set(function="layer norm", column=1)
    assert choice.value == "layer norm"
    assert shown_by(e.widget(), "Dropdown")[0].value == 1


def test_one_bundle_has_text_still_picture_and_live_view():
    bundle = explorer()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"] == repr(explorer())
    assert bundle["text/html"] == explorer().picture().img()


def test_words_from_outside_are_escaped():
    e = explore_batch({"<b>f</b>": batch_norm}, X)
    assert "<b>" not in e.picture().img()
    assert "<b>" not in shown_by(e.widget(), "HTML")[1].value


@pytest.mark.parametrize(
    ("functions", "x", "more", "error", "message"),
    [
        (batch_norm, [[1.0]], {}, TypeError, "x is a list"),
        ({"f": None}, X, {}, TypeError, "give a function of one tensor"),
        (batch_norm, torch.ones(1, 3), {}, ValueError, r"x has the shape \(1, 3\)"),
        (batch_norm, torch.ones(MOST + 1, 3), {}, ValueError, r"x has the shape \(7, 3\)"),
        (batch_norm, torch.tensor(3.0), {}, ValueError, r"x has the shape \(\)"),
        (lambda x: x.sum(1), X, {}, ValueError, r"the function gave \(3,\) for a batch of shape \(3, 3\)"),
        (lambda x: 3, X, {}, ValueError, "the function gave int"),
        (lambda x: x.detach(), X, {}, ValueError, "has no graph that leads to the batch"),
        (batch_norm, X, {"column": 3}, ValueError, "there is no column 3. This batch has 3"),
    ],
)
def test_wrong_calls_say_what_to_do(functions, x, more, error, message):
    with pytest.raises(error, match=message):
        explore_batch(functions, x, **more)


def test_set_refuses_what_is_not_there_and_stays():
    e = explorer()
    with pytest.raises(ValueError, match=r"there is no 'group norm' here\. Functions: batch norm, mean, layer norm"):
        e.set(function="group norm", column=1)
    with pytest.raises(ValueError, match="there is no column -1"):
        e.set(function="mean", column=-1)
    assert (e.state().title, e.state().column) == ("batch norm", 0)
