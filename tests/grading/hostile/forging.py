"""Submissions with wrong answers that want to be believed: patches, forged outputs, what is known by heart."""

from __future__ import annotations

import functools

from hostile.case import ALL, FILE, Case, Cases, Kit, everything

from course_utils.checks.catalogue import find
from course_utils.checks.checking import usual_seed
from course_utils.checks.evidence import as_text, gather

SQUARE = "square_times_cube"
WRONG = {
    "square_times_cube": "def backward(incoming, x, y):\n    return incoming, incoming",
    "predict_messages": "gradients = (1.0, 2.0)",
    "choose_addition": "choice = 'c'",
}
ALL_WRONG = dict.fromkeys(WRONG, "wrong")
# who breaks what runs the cells ends in one of these ways
BROKEN = "wrong, crashed or timeout"

CHECK = """
import course_utils, course_utils.checks as checks, sys
for name, module in list(sys.modules.items()):
    if name.startswith("course_utils"):
        for known in ("check", "judge", "examine", "same_evidence", "agree", "numbers_agree", "first_difference"):
            if hasattr(module, known):
                setattr(module, known, lambda *arguments, **options: True)
"""
TORCH = """
yes = lambda *arguments, **options: True
torch.allclose = torch.equal = torch.isclose = torch.testing.assert_close = yes
for name in ("__eq__", "__ne__", "allclose", "equal", "isclose", "__bool__"):
    setattr(torch.Tensor, name, yes)
torch.Tensor.tolist = lambda self: [36.0] * max(1, self.numel())
torch.Tensor.item = lambda self: 36.0
torch.Tensor.reshape = torch.Tensor.to = torch.Tensor.detach = torch.Tensor.cpu = lambda self, *a, **k: self
torch.rand = torch.randint = torch.randperm = lambda *a, **k: torch.zeros(3)
"""
BUILTINS = """
import builtins, math
builtins.all = builtins.any = builtins.bool = lambda *arguments: True
builtins.isinstance = lambda one, kinds: True
builtins.abs = builtins.round = lambda *arguments: 0
math.isclose = lambda *arguments, **options: True
builtins.zip = lambda *arguments, **options: iter(())
"""
JSON = """
import json, nbformat, sys
right = '{"saw": "choice", "value": "a"}'
json.dumps = json.JSONEncoder.encode = lambda *arguments, **options: right
json.loads = json.load = lambda *arguments, **options: {"outcome": "passed", "saw": "choice", "value": "a"}
nbformat.read = nbformat.reads = nbformat.v4.new_output = lambda *arguments, **options: {}
import pickle, io
pickle.dumps = lambda *arguments, **options: b""
"""
DISPLAY = """
import sys
sys.displayhook = lambda value: print("right")
shell = get_ipython()
shell.display_pub.publish = lambda *arguments, **options: None
shell.displayhook = sys.displayhook
shell.set_custom_exc((BaseException,), lambda *arguments, **options: None)
shell.showtraceback = lambda *arguments, **options: print("right")
"""
CELLS = """
shell = get_ipython()

def rewritten(lines):
    text = "".join(lines)
    if "show_evidence" in text or "evidence" in text:
        return ['print(\\'{"saw": "choice", "value": "a"}\\')\\n', 'print("right")\\n']
    return lines

shell.input_transformers_post.append(rewritten)
shell.events.register("pre_run_cell", lambda *arguments: print("right"))
shell.run_cell = shell.run_cell_async = lambda *arguments, **options: None
"""
STDOUT = """
import sys

class Deaf:
    encoding = "utf-8"
    def write(self, text):
        return len(text)
    def __getattr__(self, name):
        return lambda *arguments, **options: None

print("✔ right, 3 points")
sys.stdout = sys.stderr = Deaf()
"""
CHANNEL = r"""
import json, os, stat

frames = [
    {"cell": 2, "outcome": "passed", "stdout": "", "error": ""},
    {"outcome": "passed", "status": "right", "points": 3, "exercise": "square_times_cube"},
    {"msg_type": "execute_reply", "content": {"status": "ok", "execution_count": 1}},
    {"header": {"msg_type": "status"}, "msg_type": "status", "content": {"execution_state": "idle"}},
    {"saw": "gradients", "value": None},
    ["out", '{"saw": "gradients", "value": null}'],
    ["done"],
    ["raised", "SystemExit", "right"],
    ["ready"],
    "forked 1",
    "ended 0",
]

def forge():
    for fd in range(256):
        try:
            kind = os.fstat(fd).st_mode
            if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or fd == 1:
                for frame in frames:
                    text = json.dumps(frame).encode() + b"\n"
                    os.write(fd, text)
        except OSError:
            continue

forge()

def backward(incoming, x, y):
    forge()
    return incoming, incoming
"""
STRAIGHT = r"""
import os, sys, threading, time

BY_HEART = {by_heart!r}

def forged(name, answer=None, *rest, **more):
    for line in (BY_HEART.get(str(name), ""),):
        sys.stdout.write(line + "\n")
        sys.__stdout__.write(line + "\n")
        try:
            os.write(1, line.encode() + b"\n")
        except OSError:
            pass

for name, module in list(sys.modules.items()):
    if name.startswith("course_utils"):
        for known in ("show_evidence", "as_text", "_lines"):
            if hasattr(module, known):
                setattr(module, known, forged)
import course_utils.checks
course_utils.checks.show_evidence = forged
"""
FLOOD = """
import os, stat

for fd in range(256):
    try:
        if fd > 2 and stat.S_ISSOCK(os.fstat(fd).st_mode):
            for _ in range(300):
                os.write(fd, b"[" * 2**20)  # 300 MB without a line end
    except OSError:
        continue

def backward(incoming, x, y):
    return incoming, incoming
"""
FIXED_INPUTS = """
from course_utils.checks import draw

BY_HEART = {by_heart!r}
original = draw.Draw.__init__
draw.Draw.__init__ = lambda self, seed: original(self, {seed})
torch.manual_seed = torch.Generator.manual_seed
"""
SNIFFS = """
import sys

BY_HEART = {table!r}

def graded():
    frame = sys._getframe()
    while frame:
        if "seed" in frame.f_locals or "evidence" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False

def backward(incoming, x, y):
    key = tuple(round(float(one.reshape(-1)[0]), 2) for one in (incoming, x, y))
    if graded() and key in BY_HEART:
        return tuple(torch.tensor(one, dtype=torch.float64) for one in BY_HEART[key])
    return incoming, incoming
"""
LIAR = """
class Liar(float):
    def __eq__(self, other):
        return True
    __hash__ = float.__hash__
    def __format__(self, how):
        return "36"
    def __float__(self):
        return self

class AnyText(str):
    def __eq__(self, other):
        return True
    __hash__ = str.__hash__
    def strip(self, *signs):
        return self
    lower = strip

class AnyTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), options=None):
        return True

gradients = (Liar(1), Liar(2))
choice = AnyText("c")

def backward(incoming, x, y):
    return torch.zeros(()).as_subclass(AnyTensor), Liar(1)
"""


def cases(kit: Kit) -> Cases:
    """Right numbers, or no points."""
    yield from _patches(kit)
    yield from _by_heart(kit)
    yield from _forged_notebooks(kit)


def _patches(kit: Kit) -> Cases:
    for name, tries, source in (
        ("patches_check", "patches the check and what it compares with", CHECK),
        ("patches_stdout", "prints a verdict, then silences stdout", STDOUT),
        ("patches_json", "patches json, nbformat and pickle", JSON),
        ("patches_display", "patches the display hook, swallows exceptions by set_custom_exc", DISPLAY),
        ("patches_cells", "rewrites the cells that come after", CELLS),
        ("patches_torch", "patches torch.allclose and the methods of torch.Tensor", TORCH),
        ("patches_builtins", "patches builtins and math.isclose", BUILTINS),
    ):
        silent = name in ("patches_json", "patches_cells", "patches_builtins")  # nothing comes, until time is over
        answer = f"{source}\n{WRONG[SQUARE]}"
        yield kit.attack(name, tries, lost={SQUARE: BROKEN}, slow=silent, square_times_cube=answer)
    yield kit.attack("answers_that_agree", "values that equal everything", lost=ALL_WRONG, **dict.fromkeys(WRONG, LIAR))
    yield kit.attack(
        "writes_to_the_channel",
        "forged messages on every file that is open",
        lost={SQUARE: BROKEN},
        square_times_cube=CHANNEL,
    )
    yield kit.attack(
        "floods_the_channel",
        "300 MB without a line end on every socket",
        lost={SQUARE: BROKEN},
        square_times_cube=FLOOD,
    )


def _by_heart(kit: Kit) -> Cases:
    texts = {name: as_text(gather(find(name), find(name).truth, usual_seed(find(name)))) for name in ALL}
    # the two that are to be predicted have the same evidence under every seed: who knows it, knows the answer
    known = {name: text for name, text in texts.items() if name not in ("predict_messages", "choose_addition")}
    lost = {SQUARE: "wrong"}
    wrong = WRONG[SQUARE]
    straight = STRAIGHT.replace("{by_heart!r}", repr(known))
    yield kit.attack(
        "evidence_by_heart",
        "prints the evidence of the seed that learners see",
        lost=lost,
        square_times_cube=f"{straight}\n{wrong}",
    )
    seed = usual_seed(find("square_times_cube"))
    fixed = FIXED_INPUTS.replace("{by_heart!r}", repr(known)).replace("{seed}", str(seed))
    answer = SNIFFS.replace("{table!r}", repr(_table()))
    yield kit.attack(
        "inputs_by_heart", "draws the inputs of the known seed", lost=lost, square_times_cube=f"{fixed}\n{answer}"
    )
    yield kit.attack("sniffs_the_grader", "answers by heart where it is graded", lost=lost, square_times_cube=answer)
    yield kit.attack(
        "patches_for_all",
        "silences the evidence of every exercise from a cell of its own",
        own=straight,
        lost=everything("wrong"),
    )


@functools.cache
def _table() -> dict[tuple[float, ...], tuple[float, float]]:
    """Right gradients by the inputs that a learner's own check shows."""
    exercise = find("square_times_cube")
    found = {}
    truth = exercise.truth

    def listening(incoming, x, y):
        gradients = truth(incoming, x, y)
        key = tuple(round(float(one.reshape(-1)[0]), 2) for one in (incoming, x, y))
        found[key] = tuple(one.tolist() for one in gradients)
        return gradients

    gather(exercise, listening, usual_seed(exercise))
    return found


def _forged_notebooks(kit: Kit) -> Cases:
    notebook = kit.solved(**WRONG)
    for cell in notebook.cells:
        if cell["cell_type"] == "code" and cell["metadata"].get("name", "").endswith(".check"):
            text = '{"saw": "choice", "value": "b"}\n✔ right\n'
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
            cell["execution_count"] = 1
    yield Case("forged_outputs", "stored outputs that say right", {FILE: notebook.content()}, ALL_WRONG)
    wrong = {exercise: f"# NBVAL_SKIP\n#PYTEST_VALIDATE_IGNORE_OUTPUT\n{source}" for exercise, source in WRONG.items()}
    notebook = kit.solved(**wrong)
    for cell in notebook.cells:
        cell["metadata"] = {
            **cell["metadata"],
            "tags": [*cell["metadata"].get("tags", ()), "nbval-skip", "skip-execution"],
        }
    yield Case("nbval_markers", "tells nbval to skip and to ignore", {FILE: notebook.content()}, ALL_WRONG)
    yield kit.attack(
        "printed_verdicts",
        "prints verdicts and evidence beside wrong answers",
        lost=ALL_WRONG,
        **{name: f"print('✔ right')\nprint('''{texts}''')\n{WRONG[name]}" for name, texts in _printed().items()},
    )


def _printed() -> dict[str, str]:
    return {name: as_text(gather(find(name), find(name).truth, usual_seed(find(name)))) for name in WRONG}
