from itertools import combinations

import pytest

from course_utils.drawing import language
from course_utils.drawing.language import contrast

LOOKS = [*language.ROLES, language.AGREE, language.DISAGREE]


def test_contrast_of_known_pairs():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast("#123456", "#123456") == 1


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.word)
def test_text_can_be_read_on_its_fill(look):
    assert contrast(look.ink, look.fill) >= 4.5


@pytest.mark.parametrize("look", language.ROLES, ids=lambda look: look.word)
def test_lines_and_words_can_be_read_on_the_card_and_on_white(look):
    assert contrast(look.ink, language.CARD) >= 4.5
    assert contrast(look.ink, "#ffffff") >= 4.5


@pytest.mark.parametrize("ink", [language.INK, language.QUIET_INK])
def test_text_can_be_read_on_the_card(ink):
    assert contrast(ink, language.CARD) >= 4.5


@pytest.mark.parametrize("page", ["#ffffff", "#111111"], ids=["light", "dark"])
def test_the_edge_of_the_card_is_seen_on_the_page(page):
    assert contrast(language.CARD_EDGE, page) >= 3


@pytest.mark.parametrize(("one", "other"), list(combinations(language.ROLES, 2)), ids=lambda look: look.word)
def test_roles_differ_without_colour(one, other):
    assert (one.shape, one.dash, one.struck) != (other.shape, other.dash, other.struck)
    assert one.word != other.word
