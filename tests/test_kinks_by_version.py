"""Lesson 08 says what is true under the PyTorch that runs it: clamp's gradient at its limit, before 2.14 and after.

Where the one is installed, a clamp with the other choice stands in for the other version.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from course_utils.build.source import read_source
from tests.test_corpus import UNITS

CLAMP = Tensor.clamp


class Clamp(torch.autograd.Function):
    """clamp(min=...), with a chosen gradient where x is exactly at the limit."""

    at_limit = 0.0

    @staticmethod
    def forward(ctx: torch.autograd.Function, x: Tensor, low: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.low = low
        return CLAMP(x, min=low)

    @staticmethod
    def backward(ctx: torch.autograd.Function, grad_output: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grad_output * ((x > ctx.low) + Clamp.at_limit * (x == ctx.low)), None


@pytest.fixture(params=[("2.13.0", 1.0), ("2.14.0+cpu", 0.0), ("3.0.1", 0.0)], ids=lambda asked: asked[0])
def gradient_at_limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    version, Clamp.at_limit = request.param
    monkeypatch.setattr(torch, "__version__", version)
    monkeypatch.setattr(Tensor, "clamp", lambda x, **limit: Clamp.apply(x, limit["min"]))
    yield Clamp.at_limit


def printed(root: Path) -> dict[str, str]:
    """What some cells of the lesson print, by name; a prediction that one reveals is made without its widget."""
    source, faults = read_source(root, UNITS["08_kinks"], "lesson")
    assert not faults
    code = {cell.name: cell.source for cell in source.cells if cell.name}
    names: dict[str, object] = {}
    found = {}
    threads = torch.get_num_threads()
    try:
        for name in ("setup", "puzzle", "predict_ways", "reveal_ways", "where_38"):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(code[name], names)
            found[name] = output.getvalue()
    finally:
        torch.set_num_threads(threads)
    return found


def test_the_lesson_is_true_before_and_after_the_change(gradient_at_limit: float, root: Path):
    said = printed(root)
    corner = -38.0 if gradient_at_limit else 0.0
    assert f"[[0.0, 0.0], [0.0, 0.0], [0.0, {corner}]]" in said["puzzle"]
    if gradient_at_limit:
        assert "older than 2.14: the gradients are not the same" in said["puzzle"]
    else:
        assert "2.14 or newer: the gradients are the same" in said["puzzle"]
    (row,) = (line for line in said["reveal_ways"].splitlines() if line.startswith("x.clamp(min=0)"))
    assert float(row.split()[-1]) == gradient_at_limit
    assert "what arrives there from the loss: 38.0" in said["where_38"]


def test_the_installed_version_has_the_gradient_that_the_lesson_says():
    x = torch.tensor(0.0, requires_grad=True)
    (gradient,) = torch.autograd.grad(x.clamp(min=0), x)
    is_2_14 = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 14)
    assert gradient.item() == (0.0 if is_2_14 else 1.0)


def test_no_exercise_depends_on_what_clamp_does_at_its_limit(root: Path):
    source, _ = read_source(root, UNITS["08_kinks"], "exercise")
    assert not [cell.name for cell in source.cells if cell.kind == "code" and "clamp" in cell.source]
