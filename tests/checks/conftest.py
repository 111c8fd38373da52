"""A small exercise, z = x * y, that tests can plant with the probe, truth or misconceptions that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.oracle import vector_jacobian_product

MISCONCEPTIONS = (
    Misconception("swapped", lambda incoming, x, y: (incoming * x, incoming * y), "Each `in` the other's place."),
    Misconception("incoming_ignored", lambda incoming, x, y: (y, x), "Where does `incoming` come in?"),
    Misconception("incoming_added", lambda incoming, x, y: (incoming + y, incoming + x), "A factor, or a summand?"),
)


def probe(answer: object, draw: Draw) -> Iterator[Observation]:
    incoming, x, y = draw.scalars(3)
    yield call("gradients", answer, parts=("gradient of x", "gradient of y"), incoming=incoming, x=x, y=y)


@pytest.fixture
def make_exercise() -> Callable[..., Exercise]:
    """The exercise `product` of the unit `77_planted`, but for what is given."""

    def make_exercise(**changed: object) -> Exercise:
        usual = {
            "name": "product",
            "unit": "77_planted",
            "title": "The backward of x * y",
            "points": 2,
            "probe": probe,
            "truth": lambda incoming, x, y: vector_jacobian_product(lambda x, y: x * y, incoming, x, y),
            "misconceptions": MISCONCEPTIONS,
            "hints": ("First", "Second", "Third"),
        }
        return Exercise(**{**usual, **changed})

    return make_exercise
