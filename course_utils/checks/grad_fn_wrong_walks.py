"""Unit 04, the recorded graph: walks to the leaves as learners write them, and where they go wrong."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from course_utils.graph.walk import walk

Follow = Callable[[tuple], list]


def without_memory(follow: Follow, deepest: int = 10**9) -> Callable[[Tensor], list[Tensor]]:
    """Goes along those of a node's pairs that `follow` picks, at most `deepest` arrows far; forgets where it was."""

    def leaves_behind(result: Tensor) -> list[Tensor]:
        found, waiting = [], [(result.grad_fn, 0)]
        while waiting:
            node, depth = waiting.pop()
            if hasattr(node, "variable"):
                found.append(node.variable)
            elif depth < deepest:
                waiting += [(following, depth + 1) for following, _ in follow(node.next_functions)]
        return found

    return leaves_behind


def present(pairs: tuple) -> list:
    """The pairs that hold a node."""
    return [pair for pair in pairs if pair[0] is not None]


def waiting_twice(result: Tensor) -> list[Tensor]:
    """Remembers where it was, and not what is waiting."""
    seen, waiting = [], [result.grad_fn]
    while waiting:
        node = waiting.pop()
        seen.append(node)
        waiting += [following for following, _ in present(node.next_functions) if following not in seen]
    return [node.variable for node in seen if hasattr(node, "variable")]


def recursive(result: Tensor) -> list[Tensor]:
    """Right, and calls itself once for each operation in a row."""
    found, seen = [], set()

    def visit(node: object) -> None:
        if node is None or node in seen:
            return
        seen.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(result.grad_fn)
    return found


def straight_on(result: Tensor) -> list[Tensor]:
    """Follows the first pair to one leaf."""
    node = result.grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    return [node.variable]


def none_kept(result: Tensor) -> list[Tensor]:
    """Goes on from None as from a node."""
    nodes = [result.grad_fn]
    for node in nodes:
        for following, _ in node.next_functions:
            if following not in nodes:
                nodes.append(following)
    return [node.variable for node in nodes if hasattr(node, "variable")]


def none_on_the_way(result: Tensor) -> list[Tensor]:
    """The same, without a memory."""
    return without_memory(list)(result)


def nodes_themselves(result: Tensor) -> list[object]:
    """The nodes of the leaves in place of the leaves."""
    return [node for node in walk([result]).nodes if hasattr(node, "variable")]


def every_node(result: Tensor) -> list[object]:
    """All nodes there are."""
    return walk([result]).nodes


def detached_leaves(result: Tensor) -> list[Tensor]:
    """New tensors with the leaves' numbers."""
    return [node.variable.detach() for node in walk([result]).nodes if hasattr(node, "variable")]


def by_a_backward_pass(result: Tensor) -> list[Tensor]:
    """Asks who has got a gradient."""
    result.sum().backward()
    found = [node.variable for node in walk([result]).nodes if hasattr(node, "variable")]
    return [leaf for leaf in found if leaf.grad is not None]


def by_backward_of_the_result(result: Tensor) -> list[Tensor]:
    """The same, for a result of any shape."""
    result.backward()
    return [node.variable for node in walk([result]).nodes if hasattr(node, "variable")]


def asked_with_in(result: Tensor) -> list[Tensor]:
    """Looks a leaf up in the list of leaves by `in`."""
    found: list[Tensor] = []
    for node in walk([result]).nodes:
        if hasattr(node, "variable") and node.variable not in found:
            found.append(node.variable)
    return found
