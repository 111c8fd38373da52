"""Writes the picture that the README shows: `python docs/pictures.py`, in the course's environment."""

from __future__ import annotations

from pathlib import Path

import torch

from course_utils import record, step

HERE = Path(__file__).parent


def pictures() -> dict[Path, str]:
    """Every picture's SVG, by the file that it belongs in."""
    x = torch.tensor(2.0, requires_grad=True)
    y = torch.tensor(3.0, requires_grad=True)
    product = x * y
    z = product**2
    frames = step(record(z, x=x, y=y, product=product, z=z)).frames
    half_way = next(frame for frame in frames if frame.sentence.startswith("Mul 1 sends to y"))
    return {HERE / "backward_pass.svg": half_way.picture.svg + "\n"}


if __name__ == "__main__":
    for file, svg in pictures().items():
        file.write_text(svg, encoding="utf-8", newline="\n")
