"""What submissions are going to load, as far as their text tells: it is loaded once, before any of them runs.

Where the text tells too little, an exercise loads it by itself, and that takes a moment longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import course_utils

GRADIENTS = "gradients"  # for a gradient that is handed to `backward` or `grad`, torch loads SymPy
EVERYTHING = (GRADIENTS, *course_utils.__all__)
_ASKED_FOR = re.compile(r"\.backward\b|\bgrad\b|gradcheck|\bfunc\b|jacobian|hessian|[jv][jv]p|hvp|vhp")
_IMPORT = re.compile(r"from course_utils import \(?([\w\s,]+)|course_utils\.(\w+)")


def ahead(texts: Iterable[str]) -> tuple[str, ...]:
    """Those of `EVERYTHING` that code with these texts is likely to need."""
    found: set[str] = set()
    for text in set(texts):
        found.update(name for names in _IMPORT.findall(text) for name in re.findall(r"\w+", " ".join(names)))
        if _ASKED_FOR.search(text):
            found.add(GRADIENTS)
    return tuple(name for name in EVERYTHING if name in found)
