"""Unit 02, the computation graph: the exercises on nodes and paths, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, choice_of, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.graphs import Number, by_autograd, run
from course_utils.checks.oracle import vector_jacobian_product
from course_utils.graph import trace

UNIT = "02_computation_graph"


# predict_nodes -------------------------------------------------------------------------------------------------

_COUNTS = ("operations behind p", "operations behind q", "operations behind r")


def _probe_nodes(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=_COUNTS)


def _nodes() -> tuple[int, ...]:
    with autograd():
        x = torch.tensor(3.0, requires_grad=True)
        y = torch.tensor(4.0, requires_grad=True)
        results = run("p = x * y * y * y; q = (x * y) ** 2; r = p * p", x=x, y=y)
        graphs = [trace(results[name]) for name in "pqr"]
    return tuple(sum(node.kind == "operation" for node in graph.nodes) for graph in graphs)


PREDICT_NODES = Exercise(
    name="predict_nodes",
    unit=UNIT,
    title="How many operations autograd records",
    points=2,
    probe=_probe_nodes,
    truth=_nodes(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "one_node_per_formula",
            (1, 1, 1),
            "You count one node for each formula. Autograd never sees a formula. Python hands it one operation at a "
            "time. Which comes first in `x * y * y * y`, and what is done with its result?",
            also=((1, 1, 2),),
        ),
        Misconception(
            "shared_node_counted_twice",
            (3, 2, 7),
            "For r you count the operations behind p twice, because p stands twice in p * p. Are they computed twice?",
        ),
        Misconception(
            "last_operation_only",
            (3, 2, 1),
            "p and q are right. r = p * p is one operation, and p itself was made by operations too. All of them are "
            "behind r.",
        ),
        Misconception(
            "power_taken_apart",
            (3, 3, 4),
            "`** 2` is one operation for PyTorch. It is not taken apart into multiplications. So which operations are "
            "there in (x * y) ** 2?",
        ),
        Misconception(
            "inputs_counted",
            (5, 4, 6),
            "You count x and y too. They are nodes of the graph, but no operation made them.",
        ),
        Misconception(
            "letters_counted",
            (4, 2, 4),
            "In p there are four factors. How many times does Python multiply, to bring four factors together?",
            also=((4, 3, 5), (4, 2, 5)),
        ),
    ),
    hints=(
        "Write each line with one operation a line: `t = x * y`, then what?",
        "Count the lines. For r, start from the lines of p, and add what r itself needs.",
    ),
    when_right="One node for each operation that Python carried out, and each of them once, however often it is used.",
)


# predict_two_paths ---------------------------------------------------------------------------------------------


def _probe_two_paths(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=("gradient of x", "gradient of y"))


def _two_paths() -> tuple[float, ...]:
    x, y, one = (torch.tensor(value, dtype=torch.float64) for value in (5.0, -2.0, 1.0))
    gradients = vector_jacobian_product(lambda x, y: (x + y) * x, one, x, y)
    return tuple(gradient.item() for gradient in gradients)


PREDICT_TWO_PATHS = Exercise(
    name="predict_two_paths",
    unit=UNIT,
    title="Predict the gradients over two paths",
    points=2,
    probe=_probe_two_paths,
    truth=_two_paths(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "direct_path_only",
            (3.0, 5.0),
            "The gradient of y is right. For x you followed one path, from L straight to x. Which other path leads "
            "from L to x?",
        ),
        Misconception(
            "path_through_u_only",
            (5.0, 5.0),
            "The gradient of y is right. For x you followed one path, from L over u to x. x also stands in L itself.",
        ),
        Misconception(
            "paths_multiplied",
            (15.0, 5.0),
            "You multiply what the two paths bring. Along one path the factors multiply. Where two paths meet, a "
            "small step of x moves L in two ways: what becomes of the two changes?",
        ),
        Misconception(
            "paths_averaged",
            (4.0, 5.0),
            "You take the mean of the two paths. A small step of x moves L along both of them at once. Do the two "
            "changes average, or add?",
        ),
        Misconception(
            "y_gets_the_value_of_u",
            (8.0, 3.0),
            "The gradient of x is right. For y: L = u * x sends u the gradient x, and x the gradient u. Which of the "
            "two goes on to y?",
        ),
        Misconception(
            "incoming_ignored",
            (8.0, 1.0),
            "The gradient of x is right. 1 is how much u changes with y. How much does L change with u?",
        ),
        Misconception("swapped", (5.0, 8.0), "Both numbers are right, each in the other's place. x comes first."),
    ),
    hints=(
        "L = u * x is a multiplication: it sends x to u, and u to x. What is u here?",
        "u = x + y passes on what it gets, to both. So x gets one message from L and one from u.",
    ),
    when_right="Two messages arrive at x, and they add up. At y there is one.",
)


# sum_over_paths ------------------------------------------------------------------------------------------------

_PROGRAMS = (
    "L = x * y",
    "a = x ** 2; b = a ** 3; L = a + b",
    "a = x * y; b = a * x; L = b * a",
    "a = x + y; b = a * a; L = b * b + y * y",
)


def _numbers_behind(program: str, x: float, y: float) -> tuple[Number, Number]:
    leaf = Number(x)
    return run(program, x=leaf, y=Number(y))["L"], leaf


def _probe_paths(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_program(program: str, x: float, y: float) -> object:
        return answer(*_numbers_behind(program, x, y))

    for program in _PROGRAMS:
        x, y = (value.item() for value in draw.scalars(2))
        asked = of_program if callable(answer) else answer
        yield call("sum over the paths to x", asked, program=program, x=x, y=y)


def _path_sum(result: Number, x: Number) -> float:
    return next(gradient.item() for node, gradient in by_autograd(result) if node is x)


def _over_paths(
    at_target: float, along: Callable[[float, float], float], together: Callable[[list[float]], float]
) -> Callable[[Number, Number], float]:
    """A way to walk all paths: what counts at the end, along an arrow, and where paths come together."""

    def walk(node: Number, x: Number) -> float:
        if node is x:
            return at_target
        return together(
            [along(slope, walk(parent, x)) for parent, slope in zip(node.parents, node.slopes, strict=True)]
        )

    return walk


def _product(numbers: list[float]) -> float:
    return torch.tensor(numbers, dtype=torch.float64).prod().item()


def _first_path(node: Number, x: Number) -> float:
    """Follows the arrows, and is content with the first way that arrives."""
    if node is x:
        return 1.0
    found = (slope * _first_path(parent, x) for parent, slope in zip(node.parents, node.slopes, strict=True))
    return next((product for product in found if product), 0.0)


def _last_path(node: Number, x: Number) -> float:
    total = 1.0 if node is x else 0.0
    for parent, slope in zip(node.parents, node.slopes, strict=True):
        total = slope * _last_path(parent, x) or total
    return total


def _set_of_parents(node: Number, x: Number) -> float:
    """Visits each parent once, although a product may use one value twice."""
    if node is x:
        return 1.0
    slopes = dict(zip(node.parents, node.slopes, strict=True))
    return sum(slope * _set_of_parents(parent, x) for parent, slope in slopes.items())


SUM_OVER_PATHS = Exercise(
    name="sum_over_paths",
    unit=UNIT,
    title="A gradient as a sum over paths",
    points=3,
    probe=_probe_paths,
    truth=_path_sum,
    misconceptions=(
        Misconception(
            "paths_counted",
            _over_paths(1.0, lambda slope, rest: rest, sum),
            "This is the number of paths. Each path brings the product of the local derivatives along it.",
        ),
        Misconception(
            "slopes_added_along_the_path",
            _over_paths(0.0, lambda slope, rest: slope + rest, sum),
            "You add the local derivatives along a path. A small step becomes larger by one factor, and larger again "
            "by the next. How do factors combine?",
        ),
        Misconception(
            "paths_multiplied",
            _over_paths(1.0, lambda slope, rest: slope * rest, _product),
            "You multiply what comes from different parents. Along a path the factors multiply. Where several paths "
            "meet, their products add.",
        ),
        Misconception(
            "first_path_only",
            _first_path,
            "You stop at the first path that reaches x. There may be others.",
        ),
        Misconception(
            "last_path_only",
            _last_path,
            "One path seems to replace the other. What each path brings belongs into one sum.",
        ),
        Misconception(
            "same_parent_once",
            _set_of_parents,
            "In `a * a`, a is a parent twice, and two paths lead through it. You seem to follow one of them.",
        ),
        Misconception(
            "nothing_at_the_end",
            _over_paths(0.0, lambda slope, rest: slope * rest, sum),
            "A path that has reached x brings nothing in your code. The product of no factors at all is not 0.",
        ),
    ),
    hints=(
        "Let the function call itself. From a node, go on to each of its parents.",
        "If the node is x itself, the path is complete. The product of no factors is 1.",
        "Otherwise: for each parent, the local derivative times what the function returns for that parent. Add these.",
    ),
    when_right="Correct for every graph, and hopeless for a deep one: the next exercise counts the calls.",
)


# choose_cost ---------------------------------------------------------------------------------------------------

_SQUARINGS = 20
_CLAIMS: dict[str, Callable[[int], int]] = {
    "a": lambda n: n + 1,
    "b": lambda n: 2 * n + 1,
    "c": lambda n: (n + 1) ** 2,
    "d": lambda n: 2 ** (n + 1) - 1,
}


def _probe_cost(answer: object, draw: Draw) -> Iterator[Observation]:
    yield choice_of("choice", answer)


def _calls(node: Number) -> int:
    return 1 + sum(map(_calls, node.parents))


def _true_cost() -> str:
    """The one claim that agrees with calls that are really made, for few squarings; they tell the claims apart."""
    counted = {}
    node = Number(1.0)
    for n in range(1, 8):
        node = node * node
        counted[n] = _calls(node)
    (letter,) = (letter for letter, claim in _CLAIMS.items() if all(claim(n) == counted[n] for n in counted))
    return letter


CHOOSE_COST = Exercise(
    name="choose_cost",
    unit=UNIT,
    title="What it costs to walk every path",
    points=1,
    probe=_probe_cost,
    truth=_true_cost(),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "once_per_node",
            "a",
            "There are 21 nodes. But the function does not remember where it has been. How often does it arrive at "
            "the node before the last?",
        ),
        Misconception(
            "once_per_arrow",
            "b",
            "There are 40 arrows. Each call makes two more calls, also when it stands at a node where another call "
            "has been. How many calls are there for two multiplications, and how many for three?",
        ),
        Misconception(
            "once_per_pair",
            "c",
            "Count by hand for one, two and three multiplications. By which factor does the number of calls grow?",
        ),
    ),
    hints=(
        "Count for one multiplication: the call for the result, and two calls for x. That makes 3.",
        "For two multiplications: one call for the result, and then twice as many as before.",
    ),
    when_right="Twenty operations, two million calls. One more operation doubles them.",
)


EXERCISES = (PREDICT_NODES, PREDICT_TWO_PATHS, SUM_OVER_PATHS, CHOOSE_COST)
