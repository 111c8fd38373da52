"""Submissions aimed at the grader itself: code that is costly to read, evidence that is costly to judge and show."""

from __future__ import annotations

from hostile.case import FILE, Case, Cases, Kit, everything

# prints these in place of evidence, labelled as the grader expects it
FORGE = """
import json, sys
import course_utils.checks

def array(shape, *numbers, dtype="float64"):
    return json.dumps({"shape": shape, "dtype": dtype, "numbers": numbers})

value = VALUE

def forged(name, answer, *rest, **more):
    for _ in range(3):
        sys.stdout.write('{"saw": "gradients", "value": ' + value + "}\\n")

for module in list(sys.modules.values()):
    if getattr(module, "__name__", "").startswith("course_utils") and hasattr(module, "show_evidence"):
        module.show_evidence = forged

def backward(incoming, x, y):
    return incoming, incoming
"""
VALUES = {
    "dimensions": ("array([1] * 5000, '1')", "5000 dimensions"),
    "nested": ("'[' * 900 + ']' * 900", "900 nested lists"),
    "deeply_nested": ("'[' * 200_000 + ']' * 200_000", "200 000 nested lists"),
    "huge_number": ("'9' * 1_000_000", "a number of a million digits"),
    "huge_text": ("json.dumps('<b>' * 1_000_000)", "3 MB of text"),
    "many_numbers": ("array([100_000], *['1'] * 100_000)", "100 000 numbers"),
    "empty_shape": ("array([0, 10**11])", "no numbers in a large shape"),
    "long_digits": ("array([], '1' * 100_000)", "a number with 100 000 digits"),
    "not_finite": ("'[' + array([], 'nan') + ',' + array([], '1e999j') + ']'", "NaN, infinite, complex"),
    "odd_dtype": ("'[' + array([], '1', dtype='<script>') + ', 1]'", "a type called <script>"),
    "no_number": ("array([], '=1+1')", "a number that is a formula"),
    "odd_exception": (
        "json.dumps({'raised': '=cmd \\u202e <script>alert(1)</script> \\0'})",
        "an exception called <script>",
    ),
    "changed": ("'1, \"changed\": 5'", "fields of wrong types"),
}

SHELL_LINES = "!ls\n" * 3000
MAGICS = "%time 1\n" * 300 + "x = 1\n" * 5000
BRACKETS = "x = " + "(" * 50_000
MINUSES = "x = " + "-" * 100_000 + "1"
SUM = "x = " + "+".join(["1"] * 50_000)
NUL = "x = 1\0"
MUCH_CODE = "x = [1, 2, 3]\n" * 300_000
HALF = "s = '\ud800'\ndef sum_to_shape(incoming, shape):\n    return incoming"


def cases(kit: Kit) -> Cases:
    """The grader reads, judges and reports all of them, and takes no long time for any."""
    for name, (value, tries) in VALUES.items():
        yield kit.attack(
            f"evidence_{name}",
            f"prints evidence: {tries}",
            lost={"square_times_cube": "wrong"},
            square_times_cube=FORGE.replace("VALUE", f"({value})"),
        )
    yield from _sources(kit)
    yield from _errors(kit)


def _sources(kit: Kit) -> Cases:
    for name, tries, source in (
        ("shell_lines", "3000 shell lines in an answer", SHELL_LINES),
        ("magics", "300 magics before 5000 lines", MAGICS),
    ):  # which IPython itself takes a minute to read
        yield kit.attack(f"code_{name}", tries, lost={"sum_to_shape": "timeout"}, sum_to_shape=source, slow=True)
    for name, tries, source in (
        ("brackets", "50 000 open brackets", BRACKETS),
        ("minuses", "100 000 minus signs", MINUSES),
        ("nul", "a NUL in the code", NUL),
    ):
        # Python's parser says of some that it has no memory
        yield kit.attack(f"code_{name}", tries, lost={"sum_to_shape": "crashed or memory"}, sum_to_shape=source)
    right = kit.right["sum_to_shape"]
    yield kit.attack("code_sum", "a sum of 50 000 terms in a cell of its own", own=SUM)
    yield kit.attack("code_half_sign", "half a sign in the code", lost={"sum_to_shape": "wrong"}, sum_to_shape=HALF)
    cells = kit.solved()
    for _ in range(300):
        cells.insert("pass", before="sum_to_shape")
    yield Case("code_300_cells", "300 cells of its own", {FILE: cells.content()}, slow=True)
    much = kit.solved(sum_to_shape=f"{MUCH_CODE}{right}").content()
    yield Case("code_4_mb", "4 MB of code in a cell", {FILE: much}, everything("unreadable"), "of code")


def _errors(kit: Kit) -> Cases:
    """What an answer's exception says stands in the gradebook, on pages and in files for other programs."""
    for name, tries, words in (
        (
            "html",
            "HTML and script in an exception",
            repr("</code><script>alert(1)</script><img src=x onerror=alert(1)>"),
        ),
        ("formula", "a formula in an exception", repr("=cmd|' /C calc'!A0")),
        ("control", "colours and a bell in an exception", repr("\x1b[2J\x1b]0;owned\x07 \u202e")),
        ("long", "an exception of 5 MB", "'x' * 5_000_000"),
        ("lines", "an exception of many lines", repr("\r\n=1+1\n\t,;\"'\n")),
        ("markup", "the terminal's own markup in an exception", repr("[bold]x[/link] [/] [red")),
    ):
        yield kit.attack(
            f"error_{name}",
            tries,
            lost={"sum_to_shape": "crashed", "choose_addition": "wrong"},
            sum_to_shape=f"words = {words}\nraise type(words, (Exception,), {{}})(words)",
            choose_addition=f"choice = {words}",
        )
