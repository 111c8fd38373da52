import base64
import re

import pytest

from course_utils.drawing.picture import Picture

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><text>é</text></svg>'


def test_html_holds_an_img_that_holds_the_svg():
    html = Picture(SVG, text="a line", alt="a line")._repr_mimebundle_()["text/html"]
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)[1]
    assert html.startswith('<div style="overflow-x: auto"><img ')
    assert base64.b64decode(data).decode() == SVG


def test_alt_is_escaped_and_size_is_given():
    html = Picture(SVG, text="", alt='z < "1" & y').img()
    assert 'alt="z &lt; &quot;1&quot; &amp; y"' in html
    assert 'width="30" height="20"' in html


def test_a_picture_shrinks_to_four_fifths_and_then_moves_in_its_frame():
    html = Picture(SVG.replace("30", "900"), text="", alt="").img()
    assert "max-width: 100%; min-width: 720px; height: auto" in html
    assert html.startswith('<div style="overflow-x: auto">') and html.endswith("></div>")


def test_repr_and_plain_text_are_the_text():
    picture = Picture(SVG, text="x = 2", alt="")
    assert repr(picture) == picture._repr_mimebundle_()["text/plain"] == "x = 2"


def test_points_are_turned_into_pixels():
    svg = '<?xml version="1.0"?>\n<svg a="1" width="72pt" height="36.6pt" viewBox="0 0 1 1"></svg>'
    assert Picture(svg, "", "").size() == pytest.approx((96, 48.8))


def test_svg_without_a_size_says_what_to_do():
    with pytest.raises(ValueError, match="no width and height"):
        Picture("<svg></svg>", "", "").img()
