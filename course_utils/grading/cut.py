"""Probes cut out of the checks' code: what looks at an answer goes to where submissions run, what is true does not."""

from __future__ import annotations

import functools
import sys

from course_utils.checks.catalogue import find
from course_utils.grading.definitions import PACKAGE, name_of, reached
from course_utils.grading.sandbox import WHOLE


@functools.cache
def probe_of(exercise: str) -> dict[str, object]:
    """What `inside/probe.py` loads: the code that the exercise's probe needs, and nothing that only its truth does."""
    probe = find(exercise).probe
    module = sys.modules[probe.__module__]
    name = name_of(probe, module)
    code = reached(module.__name__, [name], without=[f"{PACKAGE}{one}" for one in WHOLE])
    first = "from __future__ import annotations"
    modules = {
        home: "\n".join([first, *(one.code for one in its if "__future__" not in one.code)])
        for home, its in code.items()
    }
    return {"exercise": exercise, "module": module.__name__, "probe": name, "modules": modules}
