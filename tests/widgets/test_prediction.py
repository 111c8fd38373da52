import pytest
import torch

from course_utils import predict

CHOICES = ("24", "36", "they are `the same`")


def numbers(*names):
    return predict("What are they?", numbers=names or ["dz/dx", "dz/dy"])


def choice():
    return predict("Which one?", choices=CHOICES)


def live(guess):
    """The parts of a live prediction: fields, button, and the line below them."""
    _, box, button, line, _ = guess.widget().children
    return box.children, button, line


def test_plain_text_before_a_prediction():
    assert repr(numbers()) == "Predict: What are they?\n  dz/dx = ?\n  dz/dy = ?\nNo prediction kept yet."
    assert "  ( ) 24\n" in repr(choice())


def test_right_numbers_are_said_to_be_right_and_wrong_ones_corrected():
    guess = numbers()
    assert repr(guess.keep(24, "24")) == "You predicted dz/dx = 24, dz/dy = 24. Now run the next cell."
    assert repr(guess.reveal(36, torch.tensor(24.0))) == (
        "You predicted dz/dx = 24. It is 36.\nYou predicted dz/dy = 24, and that is right."
    )


def test_without_a_prediction_the_answer_comes_with_an_invitation():
    assert repr(numbers("dz/dx").reveal(36)).startswith("It is 36 (no prediction kept:")
    assert repr(numbers().reveal(36, 24)).startswith("dz/dx is 36, dz/dy is 24 (no prediction kept:")
    assert repr(choice().reveal("36")).startswith("It is: 36 (no prediction kept:")


@pytest.mark.parametrize(
    ("typed", "actual", "right"),
    [
        ("36", 36, True),
        ("1/3", 1 / 3, True),
        ("0.33", 1 / 3, True),
        (" -1.5 ", -1.5, True),
        ("−2", -2, True),
        ("2.72", 2.718281828, True),
        ("100", 101, False),
        ("0", 0.4, False),
        ("0", 0, True),
        ("36", -36, False),
        ("2.71", 2.718281828, False),
        ("nan", float("nan"), True),
        ("inf", float("inf"), True),
        ("36", float("nan"), False),
        ("1e-3", 0.001, True),
    ],
)
def test_which_numbers_count_as_right(typed, actual, right):
    guess = numbers("a")
    guess.keep(typed)
    assert ("that is right" in repr(guess.reveal(actual))) == right


@pytest.mark.parametrize("typed", ["", "abc", "1/0", "1/2/3", "1,5", "None", "$"])
def test_what_is_not_a_number_is_refused_and_nothing_kept(typed):
    guess = numbers("a")
    with pytest.raises(ValueError, match=r"^a: .*36, -1.5 or 1/3\.$"):
        guess.keep(typed)
    assert "no prediction kept" in repr(guess.reveal(1))


def test_choices():
    guess = choice()
    assert repr(guess.keep("24")) == "You predicted: 24. Now run the next cell."
    assert repr(guess.reveal("24")) == "You predicted: 24. That is right."
    assert repr(guess.reveal("36")) == "You predicted: 24. It is: 36."


def test_the_first_prediction_stays():
    guess = choice()
    guess.keep("24")
    assert "It stays" in repr(guess.keep("36"))
    assert "That is right" in repr(guess.reveal("24"))


def test_revealing_what_is_no_choice_is_an_error():
    with pytest.raises(ValueError, match="'48' is not one of the choices"):
        choice().reveal("48")
    with pytest.raises(ValueError, match=r"1 given, but the question asks for 2.*order: dz/dx, dz/dy"):
        numbers().reveal(36)


@pytest.mark.parametrize("wrong", [{}, {"choices": ["a"], "numbers": ["b"]}, {"choices": []}])
def test_a_question_has_either_choices_or_numbers(wrong):
    with pytest.raises(ValueError, match="give either choices"):
        predict("?", **wrong)


def test_nothing_is_chosen_at_first_and_the_button_asks_for_a_choice():
    (radio,), button, line = live(choice())
    assert radio.value is None
    button.click()
    assert "Choose one" in line.value
    assert not button.disabled


def test_the_button_keeps_the_choice_and_closes_the_question():
    guess = choice()
    (radio,), button, line = live(guess)
    radio.value = "36"
    button.click()
    assert radio.disabled
    assert button.disabled
    assert "You predicted: 36. Now run the next cell." in line.value
    assert "That is right" in repr(guess.reveal("36"))


def test_a_choice_made_before_the_press_that_arrives_behind_it_is_the_one_that_counts():
    guess = choice()
    (radio,), button, line = live(guess)
    radio.value = "36"
    button.click()
    radio.value = "24"
    assert "You predicted: 24. Now run the next cell." in line.value
    assert "You predicted: 24. It is: 36." in repr(guess.reveal("36"))


def test_what_code_has_kept_is_not_changed_by_the_page():
    guess = choice()
    (radio,), _, _ = live(guess)
    guess.keep("36")
    radio.value = "24"
    assert guess.kept() == "You predicted: 36."


def test_a_field_that_holds_no_number_is_named_and_stays_open():
    guess = numbers()
    fields, button, line = live(guess)
    fields[0].value = "24"
    button.click()
    assert "dz/dy: It is empty." in line.value
    assert not fields[0].disabled
    fields[1].value = "1/3"
    button.click()
    assert fields[0].disabled
    assert "dz/dx = 24, dz/dy = 1/3" in line.value


def test_keeping_from_code_closes_the_live_question():
    guess = numbers()
    _, button, _ = live(guess)
    guess.keep(1, 2)
    assert button.disabled


def test_one_bundle_has_text_still_question_and_live_view():
    bundle = choice()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"}
    assert "<li>they are <code>the same</code></li>" in bundle["text/html"]


def test_words_from_outside_are_escaped():
    guess = predict("<i>?</i>", choices=["a < b"])
    guess.keep("a < b")
    assert "<i>" not in guess._repr_mimebundle_()["text/html"]
    assert guess.reveal("a < b")._repr_mimebundle_()["text/html"] == "<p>You predicted: a &lt; b. That is right.</p>"


def test_choices_may_be_numbers():
    guess = predict("How many?", choices=[2, 3])
    guess.keep(2)
    assert "That is right" in repr(guess.reveal("2"))
