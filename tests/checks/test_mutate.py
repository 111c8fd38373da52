"""Each kind of change is made, in the marked lines only, and code that never ends is stopped."""

from __future__ import annotations

import ast

import pytest

from course_utils.checks.mutate import mutants
from course_utils.checks.solutions import NeverEnds, Solution, step_budget


def changes(body: str, arguments: str = "x, y") -> dict[str, str]:
    """What was changed -> the body afterwards, of a function whose whole body is the solution."""
    source = f"def f({arguments}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    lines = source.count("\n")
    return {
        mutant.change: "\n".join(ast.unparse(node) for node in ast.parse(mutant.source).body[0].body)
        for mutant in mutants(source, 2, lines)
    }


@pytest.mark.parametrize(
    ("body", "change", "after"),
    [
        ("return x + y", "`x + y`: Add made Sub", "return x - y"),
        ("return x - y", "`x - y`: Sub made Mult", "return x * y"),
        ("return x - y", "`x - y`: operands exchanged", "return y - x"),
        ("return x * y", "`x * y`: Mult made Div", "return x / y"),
        ("return x / y", "`x / y`: Div made Mult", "return x * y"),
        ("return x ** y", "`x ** y`: Pow made Mult", "return x * y"),
        ("return x @ y", "`x @ y`: operands exchanged", "return y @ x"),
        ("return x @ y", "`x @ y`: MatMult made Mult", "return x * y"),
        ("return x % y", "`x % y`: Mod made FloorDiv", "return x // y"),
        ("return x // y", "`x // y`: FloorDiv made Div", "return x / y"),
        ("return x * y", "`x * y`: right operand dropped", "return x"),
        ("return x * y", "`x * y`: left operand dropped", "return y"),
        ("return -x", "`-x`: sign dropped", "return x"),
        ("return x", "`return x`: sign changed", "return -x"),
        ("return x", "`x`: `y` instead", "return y"),
        ("return x < y", "`x < y`: Lt made LtE", "return x <= y"),
        ("return x == y", "`x == y`: Eq made NotEq", "return x != y"),
        ("return x * 2", "`2`: 3 instead", "return x * 3"),
        ("return x * 2", "`2`: -2 instead", "return x * -2"),
        ("return x * True", "`True`: False instead", "return x * False"),
        ("return x['a']", "`'a'`: text changed", "return x['b']"),
        ("return (x, y)", "`(x, y)`: order reversed", "return (y, x)"),
        ("return x.sum(0)", "`x.sum(0)`: call dropped", "return x"),
        ("return x.sum(0)", "`x.sum(0)`: argument `0` dropped", "return x.sum()"),
        ("return f(x, y)", "`f(x, y)`: arguments reversed", "return f(y, x)"),
        ("return f(x, k=1)", "`f(x, k=1)`: `k` dropped", "return f(x)"),
        ("return x.T", "`x.T`: transpose dropped", "return x"),
        ("return x.mT", "`x.mT`: transpose dropped", "return x"),
        ("x = y\nreturn x", "`x = y`: statement dropped", "pass\nreturn x"),
    ],
)
def test_each_kind_of_change_is_made(body: str, change: str, after: str):
    assert changes(body)[change] == after


def test_each_member_of_a_tuple_changes_its_sign():
    bodies = {mutant.source for mutant in mutants("def f(x, y):\n    return x, y", 2, 2)}
    assert {"def f(x, y):\n    return (-x, y)", "def f(x, y):\n    return (x, -y)"} <= bodies


def test_no_mutant_is_the_code_itself_and_none_comes_twice():
    source = "def f(x):\n    return x * 1 + 1"
    sources = [mutant.source for mutant in mutants(source, 2, 2)]
    assert ast.unparse(ast.parse(source)) not in sources
    assert len(sources) == len(set(sources))


def test_nothing_outside_the_marked_lines_is_changed():
    source = "def forward(x):\n    return x + 1\n\ndef backward(x):\n    a = x * 2\n    return a"
    found = list(mutants(source, 5, 5))
    assert found
    for mutant in found:
        assert "return x + 1" in mutant.source
        assert mutant.source.endswith("return a")


def solution(source: str) -> Solution:
    return Solution("f", source, 1, source.count("\n") + 1, "f", {})


@pytest.mark.parametrize(
    "body",
    ["while True: pass", "while x:\n        x = x + 1", "try:\n        while True: x += 1\n    except Exception: pass"],
)
def test_code_that_never_ends_is_stopped(body: str):
    answer = solution(f"def f(x):\n    {body}").answer()
    with pytest.raises(NeverEnds), step_budget():
        answer(1)


def test_code_that_ends_is_left_alone():
    answer = solution("def f(x):\n    while x < 100: x += 1\n    return x").answer()
    with step_budget():
        assert answer(1) == 100
