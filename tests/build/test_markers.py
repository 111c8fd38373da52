"""What takes the place of a solution, and which markers are refused."""

from __future__ import annotations

from textwrap import dedent

import pytest

from course_utils.build.markers import MarkerError, marker_faults, with_solution, with_stub


def text(source):
    return dedent(source).strip("\n")


IN_FUNCTION = text("""
    def f(x):
        \"\"\"Twice x.\"\"\"
        ### BEGIN SOLUTION
        y = x + x
        return y
        ### END SOLUTION
""")

MEND = text("""
    ### BEGIN STUB
    # def f(x):
    #     # comment
    #     return x

    #     return 0
    ### END STUB

    ### BEGIN SOLUTION
    def f(x):
        return 2 * x
    ### END SOLUTION
    print(f)
""")


def test_in_a_function_the_stub_raises():
    assert with_stub(IN_FUNCTION) == text("""
        def f(x):
            \"\"\"Twice x.\"\"\"
            raise NotImplementedError("write your answer here")
    """)


def test_the_solution_stays_between_its_markers():
    assert with_solution(IN_FUNCTION) == IN_FUNCTION


def test_at_top_level_each_assigned_name_is_open():
    source = text("""
        given = 1
        ### BEGIN SOLUTION
        first, (second, *rest) = 1, (2, 3)
        third: int = 3
        first += [i for i in range(3)][0]
        if first:
            fourth = 4
        rest[0] = 5
        ### END SOLUTION
        after = 2
    """)
    names = ("first", "second", "rest", "third", "fourth")
    assert with_stub(source).splitlines() == [
        "given = 1",
        *(f"{name} = ...  # your answer here" for name in names),
        "after = 2",
    ]


def test_a_stub_block_is_uncommented_for_learners_and_gone_from_the_solution():
    assert with_stub(MEND) == "def f(x):\n    # comment\n    return x\n\n    return 0\nprint(f)"
    assert with_solution(MEND) == text("""
        ### BEGIN SOLUTION
        def f(x):
            return 2 * x
        ### END SOLUTION
        print(f)
    """)


def test_a_stub_keeps_its_place_inside_a_function():
    source = text("""
        class A:
            def f(self):
                ### BEGIN STUB
                # return self.
                #     wrong
                ### END STUB
                ### BEGIN SOLUTION
                return self.right
                ### END SOLUTION
    """)
    assert with_stub(source).splitlines()[2:] == ["        return self.", "            wrong"]


def test_two_solutions_in_one_cell():
    source = IN_FUNCTION + "\n" + IN_FUNCTION.replace("f(", "g(")
    assert with_stub(source).count("raise NotImplementedError") == 2
    assert "def g(x)" in with_stub(source)


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("### BEGIN SOLUTION\nx = 1", 1, "is never closed"),
        ("x = 1\n### END SOLUTION", 2, "`### END SOLUTION` without"),
        ("### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION", 2, "inside the SOLUTION"),
        ("### BEGIN STUB\n### END SOLUTION\n### END STUB", 2, "`### END SOLUTION` without"),
        ("### BEGIN STUB\n# x\n### END STUB\ny = 1", 1, "just before"),
        ("### BEGIN STUB\n# x\n### END STUB", 1, "just before"),
        ("# BEGIN SOLUTION\nx = 1", 1, "write the marker `### BEGIN SOLUTION`"),
        ("x = 1  ### end solution", 1, "write the marker `### END SOLUTION`"),
    ],
)
def test_markers_that_do_not_pair_up(source, line, said):
    fault = marker_faults(source)[0]
    assert fault.line == line
    assert said in str(fault)
    with pytest.raises(MarkerError):
        with_stub(source)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("### BEGIN SOLUTION\ndef f():\n    pass\n### END SOLUTION", "defines `f`"),
        ("### BEGIN SOLUTION\nx = 1\nclass A:\n    pass\n### END SOLUTION", "defines `A`"),
        ("### BEGIN SOLUTION\nprint(1)\n### END SOLUTION", "assigns nothing"),
        ("def f():\n    pass\n    ### BEGIN SOLUTION\n    ### END SOLUTION", "is empty"),
        ("if 1:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION", "needs its own stub"),
        ("### BEGIN STUB\nx = 1\n### END STUB\n### BEGIN SOLUTION\nx = 2\n### END SOLUTION", "is commented out"),
    ],
)
def test_solutions_that_no_stub_can_replace(source, said):
    assert marker_faults(source) == []
    with pytest.raises(MarkerError, match=said):
        with_stub(source)
