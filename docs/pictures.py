"""Writes the pictures that the README shows: `python docs/pictures.py`, in the course's environment."""

from __future__ import annotations

from pathlib import Path

from course_utils.widgets import explore

HERE = Path(__file__).parent


def pictures() -> dict[Path, str]:
    """Every picture's SVG, by the file that it belongs in."""
    square = (
        lambda x, y: (x * y) ** 2,
        lambda incoming, x, y: (incoming * 2 * x * y**2, incoming * 2 * x**2 * y),
    )
    explorer = explore({"(x * y)**2": square}, x=2.0, y=3.0, incoming=5.0)
    return {HERE / "one_operation.svg": explorer.picture().svg + "\n"}


if __name__ == "__main__":
    for file, svg in pictures().items():
        file.write_text(svg, encoding="utf-8", newline="\n")
