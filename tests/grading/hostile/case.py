"""One submission of the hostile class as data, and what makes it from the real exercise notebook."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from handed import UNIT, HandedIn
from hostile.outside import Outside

from course_utils.checks.catalogue import find

ALL = (
    "square_times_cube",
    "predict_messages",
    "central_difference",
    "mend_quotient",
    "choose_addition",
    "mean_backward",
    "bias_backward",
    "matmul_backward",
    "sum_to_shape",
)
FILE = f"{UNIT}.ipynb"


@dataclass(frozen=True)
class Case:
    """What one person handed in, what it tries, and what is right for it.

    `name` is its folder, which tells whose row is whose. `files` are names in it with their bytes, or with what makes
    the file where bytes are not enough. `lost` has the status of each exercise that earns nothing; every other is
    right, with all its points. An attack that breaks what runs it may end in several ways: `wrong or crashed`. Where
    nothing can be read, all are lost (`unreadable`). `note` is what the row's note has to say, `student` whom the
    row has to name. `slow` costs many seconds.
    """

    name: str
    tries: str
    files: Mapping[str, bytes | Callable[[Path], None]] = field(repr=False)
    lost: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    student: str = ""
    slow: bool = False

    @property
    def statuses(self) -> dict[str, str]:
        """The right status of every exercise; empty where the file tells no unit."""
        return {exercise: self.lost.get(exercise, "right") for exercise in ALL}

    @property
    def points(self) -> dict[str, int]:
        """The right points of every exercise."""
        return {name: find(name).points if status == "right" else 0 for name, status in self.statuses.items()}

    def write(self, folder: Path) -> None:
        """Hand it in: its files in a folder of its name."""
        for name, content in self.files.items():
            path = folder / self.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            else:
                content(path)


Cases = Iterator[Case]


def everything(status: str) -> dict[str, str]:
    """All exercises lost in the same way."""
    return dict.fromkeys(ALL, status)


class Kit:
    """Makes cases: the exercise notebook with answers in it, and what an attack has to know of the outside."""

    def __init__(self, blank: HandedIn, outside: Outside) -> None:
        self._blank = blank
        self.outside = outside
        self.right: Mapping[str, str] = blank.right

    def solved(self, *but: str, **answers: str) -> HandedIn:
        """A right notebook, apart from the answers that are named."""
        return self._blank.copy().solve(*but).answer(**answers)

    def attack(
        self,
        name: str,
        tries: str,
        *,
        own: str = "",
        last: str = "",
        lost: Mapping[str, str] | None = None,
        note: str = "",
        slow: bool = False,
        **answers: str,
    ) -> Case:
        """A right notebook with these answers, and with cells of the learner's own before and after the exercises."""
        notebook = self.solved(**{exercise: self.ready(name, source) for exercise, source in answers.items()})
        if own:
            notebook.insert(self.ready(name, own), after="setup")
        if last:
            notebook.insert(self.ready(name, last), after="sum_to_shape.check")
        return Case(name, tries, {FILE: notebook.content()}, lost or {}, note, slow=slow)

    def ready(self, name: str, source: str) -> str:
        """The source with what it uses of the outside in front."""
        source = textwrap.dedent(source).strip("\n")
        if "OUTSIDE" not in source:
            return source
        known = json.dumps(self.outside.known | {"case": name})
        return f"import json as _json\nOUTSIDE = _json.loads({known!r})\n{_LOOK_FIRST}\n{source}"


# A real attacker looks at nothing first. These do what would hurt the machine only inside walls: where there are
# none, they leave a confession that fails the test, and the machine of whoever runs it lives on.
_LOOK_FIRST = textwrap.dedent(
    """
    def confess():
        import os
        with open(os.path.join(OUTSIDE["confessions"], OUTSIDE["case"]), "w"):
            pass

    def walled():
        import os
        try:
            inside = os.readlink("/proc/self/ns/pid") != OUTSIDE["pid_namespace"]
        except OSError:
            inside = True  # no /proc at all is no place outside
        if not inside:
            confess()
        return inside
    """
).strip()
