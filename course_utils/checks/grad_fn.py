"""Unit 04, the recorded graph: the exercises on what nodes save and where they lead, and the mistakes they can name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor

from course_utils.checks import grad_fn_wrong_walks as wrong
from course_utils.checks.by_hand import autograd
from course_utils.checks.draw import Draw
from course_utils.checks.evidence import Observation, call, numbers_of
from course_utils.checks.exercise import Exercise, Misconception
from course_utils.checks.graphs import run
from course_utils.checks.plain import agree, plain
from course_utils.graph.walk import walk

UNIT = "04_grad_fn"


# predict_second_pass -------------------------------------------------------------------------------------------

_LINES = (
    "t = (5 - x) + x",
    "t = x / 2",
    "t = x * y + 1",
    "t = x.tanh()",
    "t = x[0] + x[1]",
)


def _probe_second_pass(answer: object, draw: Draw) -> Iterator[Observation]:
    yield numbers_of("prediction", answer, parts=tuple(f"line {letter}" for letter in "abcde"))


def _works_twice(line: str) -> int:
    with autograd():
        x, y = (torch.tensor(value, requires_grad=True) for value in ([0.5, -2.0], [3.0, 0.7]))
        result = run(line, x=x, y=y)["t"].sum()
        result.backward()
        try:
            result.backward()
        except RuntimeError:
            return 0
        return 1


PREDICT_SECOND_PASS = Exercise(
    name="predict_second_pass",
    unit=UNIT,
    title="Which graphs can be gone through twice",
    points=2,
    probe=_probe_second_pass,
    truth=tuple(map(_works_twice, _LINES)),
    tells_expected=False,
    misconceptions=(
        Misconception(
            "constants_not_saved",
            (1, 1, 0, 0, 1),
            "All is right but b. Is the derivative of x / 2 known without any number from the forward? Where does its "
            "node find the 2?",
        ),
        Misconception(
            "last_node_only",
            (1, 0, 1, 0, 1),
            "All is right but c. Its last operation is an addition, which saves nothing. The second pass has to go "
            "further back than that.",
        ),
        Misconception(
            "results_not_saved",
            (1, 0, 0, 1, 1),
            "All is right but d. The slope of tanh differs from place to place. From which number can its node compute "
            "it? It may be one that the forward has just made.",
        ),
        Misconception(
            "index_saves_values",
            (1, 0, 0, 0, 0),
            "All is right but e. The node of x[0] puts a gradient in its place and zeros around it. Does it need any "
            "value of x for that?",
        ),
        Misconception(
            "backward_clears_the_graph",
            (0, 0, 0, 0, 0),
            "You say of a line that its second pass fails, and it works. `backward` takes away what the nodes have "
            "saved, nothing else. In which lines has no node anything to save?",
        ),
        Misconception(
            "nodes_are_enough",
            (1, 1, 1, 1, 1),
            "The nodes and arrows stay, that is right. But you say of more than one line that its second pass works, "
            "and a node in it has lost what it had saved. Look for multiplications, divisions, and curved functions.",
        ),
        Misconception(
            "one_and_zero_exchanged",
            (0, 1, 1, 1, 0),
            "Some second passes work of which you say that they fail, and some fail of which you say that they work. 1 "
            "stands for one that works. If you meant that: which nodes have to keep a number for their backward?",
        ),
    ),
    hints=(
        "Take each line apart into its operations. For each of them: to turn the incoming gradient into a message, "
        "does its backward need a number?",
        "One such operation anywhere in the graph is enough to make the second pass fail.",
        "A constant factor is such a number, too.",
    ),
    when_right="What decides is never that a graph was used, only what its nodes had to save.",
)


# leaves_behind -------------------------------------------------------------------------------------------------

_PROGRAMS = (
    "p = x * y; L = (p + 1) ** 2",
    "t = x * x; L = t * c + t * y + x",
    "L = u * u",
    "L = (x.detach() * y + u.tanh()) * 3",
    "first, second = x.unbind(); L = second * y[0]",
    "a = x * 2; a[0] = u[1]; L = a.sum()",
)
_LONG = 1_500  # more calls inside each other than Python allows
_NAMES = ("x", "y", "u", "c")
_PARTS = (
    *(f"how often {name} is in the list" for name in _NAMES),
    "other tensors in the list",
    "members that are no tensors",
    "leaves whose .grad has changed",
)


def _probe_leaves(answer: object, draw: Draw) -> Iterator[Observation]:
    def of_program(program: str) -> tuple[int, ...] | None:
        known = _leaves(draw)
        return _counted(answer(run(program, **known)["L"]), known)

    def of_chain(operations: int) -> tuple[int, ...] | None:
        known = _leaves(draw)
        result = known["x"] + known["u"]
        for _ in range(operations):
            result = result + known["y"]
        return _counted(answer(result), known)

    asked = of_program if callable(answer) else answer
    seen = [call("list", asked, parts=_PARTS, by_hand=False, program=program) for program in _PROGRAMS]
    yield from seen
    right = [plain(_each_once(program, _leaves(draw))) for program in _PROGRAMS]
    faulty = [one for one, counts in zip(seen, right, strict=True) if not agree(one.value, counts)]
    # a long chain takes its time; what is wrong in a small graph stands for it
    yield faulty[0] if faulty else call("list", of_chain, parts=_PARTS, by_hand=False, operations=_LONG)


def _leaves(draw: Draw) -> dict[str, Tensor]:
    """Three leaves that require a gradient, and a constant."""
    return {name: draw.tensor(2).requires_grad_(name != "c") for name in _NAMES}


def _each_once(program: str, known: dict[str, Tensor]) -> tuple[int, ...]:
    """What is seen of a right list, from autograd alone: 1 for each leaf that gets a gradient from the result."""
    wanted = [tensor for tensor in known.values() if tensor.requires_grad]
    with autograd():
        gradients = iter(torch.autograd.grad(run(program, **known)["L"].sum(), wanted, allow_unused=True))
    return *(int(tensor.requires_grad and next(gradients) is not None) for tensor in known.values()), 0, 0, 0


def _counted(found: Iterable[object] | None, known: dict[str, Tensor]) -> tuple[int, ...] | None:
    """How often each known tensor is in the list, other members, and what got a `.grad`; None for no list."""
    if found is None:
        return None
    found = list(found)
    counts = [sum(member is tensor for member in found) for tensor in known.values()]
    tensors = sum(isinstance(member, Tensor) for member in found)
    changed = sum(tensor.grad is not None for tensor in known.values())
    return *counts, tensors - sum(counts), len(found) - tensors, changed


def _by_the_walk(result: Tensor) -> list[Tensor]:
    return [node.variable for node in walk([result]).nodes if node.name().endswith("AccumulateGrad")]


LEAVES_BEHIND = Exercise(
    name="leaves_behind",
    unit=UNIT,
    title="Walk to the leaves",
    points=4,
    probe=_probe_leaves,
    truth=_by_the_walk,
    misconceptions=(
        Misconception(
            "none_not_skipped",
            wrong.none_kept,
            "You come to a None in `next_functions`, and go on from it as if it were a node. What does None stand for "
            "there?",
            also=(wrong.none_on_the_way,),
        ),
        Misconception(
            "nothing_found",
            lambda result: [],
            "Your list is empty. By what do you know a node that stands for a leaf, and do you ever come to one?",
        ),
        Misconception(
            "leaves_repeated",
            wrong.without_memory(wrong.present),
            "A leaf stands in your list more than once. Several arrows can lead to one node. How can you know that you "
            "have been there, or that the node is waiting already?",
            also=(wrong.waiting_twice,),
        ),
        Misconception(
            "first_input_only",
            wrong.without_memory(lambda pairs: wrong.present(pairs[:1])),
            "You follow the first pair of each node. An operation with two inputs has two.",
            also=(wrong.straight_on,),
        ),
        Misconception(
            "direct_inputs_only",
            wrong.without_memory(wrong.present, deepest=1),
            "You look at the nodes right behind the result. The leaves may be further away: each node has "
            "`next_functions` of its own.",
        ),
        Misconception(
            "nodes_not_tensors",
            wrong.nodes_themselves,
            "Your list holds nodes. Asked for are the leaves themselves, which are tensors. How does an AccumulateGrad "
            "lead to its leaf?",
            also=(wrong.every_node,),
        ),
        Misconception(
            "other_tensors",
            wrong.detached_leaves,
            "Your list holds tensors that are none of the leaves. `detach()` and `clone()` make new ones: no gradient "
            "is ever added to their `.grad`.",
        ),
        Misconception(
            "backward_was_run",
            wrong.by_a_backward_pass,
            "Your list is right. But you run a backward pass, and it adds to the `.grad` of every leaf: whoever reads "
            "a gradient there finds yours in it. The nodes alone lead to the leaves.",
        ),
        Misconception(
            "backward_without_a_number",
            wrong.by_backward_of_the_result,
            "You run a backward pass, and torch refuses: `result` has more than one entry. Where it can run, it adds "
            "to the `.grad` of the leaves. The nodes alone lead to the leaves.",
        ),
        Misconception(
            "compared_by_their_numbers",
            wrong.asked_with_in,
            "`in` compares a tensor with each member of your list by `==`. For tensors that compares numbers, entry by "
            "entry: two leaves with the same numbers would count as one, and here torch does not know what to make of "
            "several answers. Nodes can be compared: how often do you come to one and the same node?",
        ),
        Misconception(
            "calls_too_deep",
            wrong.recursive,
            "Your leaves are right. But for 1,500 operations in a row, your function calls itself 1,500 times, and "
            "Python allows about 1,000 calls inside each other. Which list of your own could remember where to go on?",
        ),
    ),
    hints=(
        "Begin with a list that holds `result.grad_fn`, and go through it while it grows, as the lesson does.",
        "Which nodes are the ends? They are the only ones that have an attribute `variable`.",
        "Keep what you have met in a set: looking something up in a long list takes long.",
    ),
    when_right="This is how optimizers and drawing tools find out what a result depends on.",
)


EXERCISES = (PREDICT_SECOND_PASS, LEAVES_BEHIND)
