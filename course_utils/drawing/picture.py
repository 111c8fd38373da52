"""A picture that shows in trusted, untrusted and exported notebooks, and says in words what it shows."""

from __future__ import annotations

import base64
import html
import re
from dataclasses import dataclass, field

_ROOT_SIZE = re.compile(r'<svg\b[^>]*?\swidth="([\d.]+)(px|pt)?"[^>]*?\sheight="([\d.]+)(px|pt)?"')
SMALLEST = 0.8
"""The smallest share of its size at which a picture can still be read."""
_PIXELS = {None: 1.0, "px": 1.0, "pt": 96 / 72}


@dataclass(frozen=True)
class Picture:
    """An SVG document with `text` for terminals and diffs, and `alt` for who cannot see the image."""

    svg: str = field(repr=False)
    text: str
    alt: str

    def size(self) -> tuple[float, float]:
        """Width and height in pixels, as the SVG's own root element gives them."""
        found = _ROOT_SIZE.search(self.svg)
        if found is None:
            raise ValueError(
                "Picture: the <svg> element has no width and height in px or pt. Give it both, "
                "so that the page keeps the right space."
            )
        return float(found[1]) * _PIXELS[found[2]], float(found[3]) * _PIXELS[found[4]]

    def img(self) -> str:
        """An `<img>` element: inline SVG would lose its tags in a notebook that is not trusted.

        It shrinks with the page, but not so far that its text is too small: then it moves in a frame of its own.
        """
        width, height = self.size()
        data = base64.b64encode(self.svg.encode()).decode()
        narrowest = SMALLEST * width
        return (
            '<div style="overflow-x: auto">'
            f'<img alt="{html.escape(self.alt)}" width="{width:g}" height="{height:g}" '
            f'style="max-width: 100%; min-width: {narrowest:.0f}px; height: auto" '
            f'src="data:image/svg+xml;base64,{data}"></div>'
        )

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.img()}
