"""Submissions that mean no harm: they must get every point, whatever their neighbours do."""

from __future__ import annotations

from hostile.case import FILE, Case, Cases, Kit

OTHER_WORDS = {
    "square_times_cube": "backward = lambda incoming, x, y: [2 * incoming * x * y**3, 3 * incoming * y**2 * x**2]",
    "predict_messages": "gradients = [-24, 12]",
    "central_difference": "def central_difference(f, x, h):\n    return (f(x + h) - f(x - h)) / h / 2",
    "mend_quotient": "def quotient_backward(g, a, b):\n    return g * b**-1, g * a * -(b**-2)",
    "choose_addition": "choice = ' B '",
    "mean_backward": "import torch as t\ndef mean_backward(g, x):\n    return (g / x.numel()).expand(x.shape)",
    "bias_backward": "def bias_backward(g, x, b):\n    return g.clone(), torch.ones(len(x)).double() @ g",
    "matmul_backward": "def matmul_backward(g, x, w):\n    return (w @ g.T).T, torch.einsum('nk,nm->km', x, g)",
    "sum_to_shape": """
def sum_to_shape(g, shape):
    extra = g.dim() - len(shape)
    dims = [d for d in range(g.dim()) if d < extra or shape[d - extra] == 1]
    return g.sum(dims, keepdim=True).reshape(shape) if dims else g
""",
}
OWN_HELPER = """
from dataclasses import dataclass

@dataclass
class Factor:
    base: object
    exponent: int

    def value(self):
        return self.base**self.exponent

    def slope(self):
        return self.exponent * self.base ** (self.exponent - 1)
"""
WITH_HELPER = """
def backward(incoming, x, y):
    square, cube = Factor(x, 2), Factor(y, 3)
    return incoming * square.slope() * cube.value(), incoming * square.value() * cube.slope()
"""
CHATTY = """
import sys, warnings

print("here is my answer")

def mean_backward(incoming, x):
    warnings.warn("harmless")
    print("called with", x)
    sys.stderr.write("noise")
    return torch.ones_like(x) * incoming / x.numel()

print("no line end", end="")
"""
ASKS_THE_CHECK = """
def quotient_backward(incoming, x, y):
    return incoming / y, -incoming * x / y**2

result = check("mend_quotient", quotient_backward)
print("mine is", result)
"""
PROGRESS_IN_A_THREAD = """
import threading, time

def tick(stream_end):
    while True:
        print("still here", end=stream_end)
        time.sleep(0.002)

threading.Thread(target=tick, args=(END,), daemon=True).start()

def matmul_backward(incoming, x, w):
    time.sleep(0.05)
    return incoming @ w.T, x.T @ incoming
"""
MAGICS = """
%matplotlib inline
%timeit -n 1 -r 1 1 + 1
!true
files = !echo here
def bias_backward(incoming, x, b):
    return incoming, incoming.sum(dim=0)
"""
CHANGED_DEFAULTS = """
import random, numpy
torch.manual_seed(0)
random.seed(0)
numpy.random.seed(0)
torch.set_grad_enabled(False)
torch.set_default_dtype(torch.float16)
"""


def cases(kit: Kit) -> Cases:
    """The well-meaning part of the class."""
    sibling = f"# a remark that nobody else should read: {kit.outside.secrets['sibling']}\n"
    notebook = kit.solved(mean_backward=sibling + kit.right["mean_backward"])
    yield Case("good_as_taught", "nothing", {FILE: notebook.content()})
    yield Case("good_other_words", "nothing, in other words", {FILE: kit.solved(**OTHER_WORDS).content()})
    yield kit.attack(
        "good_own_cells", "nothing; helpers in a cell of its own", own=OWN_HELPER, square_times_cube=WITH_HELPER
    )
    yield kit.attack("good_chatty", "nothing; prints and warns", mean_backward=CHATTY)
    yield kit.attack("good_asks_the_check", "nothing; calls the check in its answer", mend_quotient=ASKS_THE_CHECK)
    yield kit.attack("good_magics", "nothing; magics and shell lines", bias_backward=MAGICS)
    yield kit.attack("good_changed_defaults", "nothing; other seeds, dtype, grad mode", own=CHANGED_DEFAULTS)
    for name, end in (("lines", "'\\n'"), ("no_line_ends", "''")):
        source = PROGRESS_IN_A_THREAD.replace("END", end)
        yield kit.attack(f"good_thread_prints_{name}", "a thread that keeps printing", matmul_backward=source)
    yield Case("good_in_two_files", "nothing; hands in twice", _twice(kit), note="the latest of 2")


def _twice(kit: Kit) -> dict[str, bytes]:
    half = kit.solved("sum_to_shape", "matmul_backward")
    return {FILE: half.content(), FILE.replace(".ipynb", " (1).ipynb"): kit.solved().content()}
