"""A graph and a recording told in words, in the order of the backward pass; the text that stands
beside each picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .data import Graph, Node, Place, Result, SavedTensor
from .events import Accumulated, ChangedByHook, ChangedInPlace, Entered, Event, Freed, Returned, Sent
from .growth import Growth
from .recording import Recording
from .values import Snapshot, show

_LONGEST, _FIRST, _LAST = 60, 40, 10
Item = TypeVar("Item")


def graph_text(graph: Graph) -> str:
    """One line a node: what it is, what it knows, and where it sends gradients."""
    roots = ", ".join(map(graph.name_of, graph.roots))
    head = f"Graph of {roots}: {_count(len(graph), 'node')}, {_count(len(graph.edges), 'edge')}"
    lines = shortened(graph.nodes, lambda node: _node_line(graph, node), "nodes")
    missing = [f"  {name} is not in this graph: {reason}" for name, reason in graph.absent]
    return "\n".join([head, *lines, *missing])


def recording_text(recording: Recording) -> str:
    """One line an event, in the order in which they happened."""
    graph = recording.graph
    starts = [f"{graph.name_of(seed.place)} with {seed.gradient}" for seed in recording.seeds]
    head = f"Backward pass from {' and '.join(starts)}: {_count(len(recording), 'event')}"
    numbered = list(enumerate(recording.events, 1))
    width = len(str(len(numbered)))
    lines = shortened(numbered, lambda item: f"  {item[0]:{width}}  {event_text(graph, item[1])}", "events")
    ended = [f"  ended by an error: {recording.error}"] if recording.error else []
    return "\n".join([head, *lines, *ended])


def growth_text(growth: Growth) -> str:
    """One line a node of the second-order graph, in the order in which they are built, with the event that does it."""
    graph, born = growth.recording.graph, growth.born
    built = sorted(born, key=lambda number: (born[number], -number))  # a later node has a smaller number
    width = max((len(str(step)) for step in born.values()), default=0)

    def line(number: int) -> str:
        node = graph.nodes[number]
        return f"  {born[number]:{width}}  {node.label}, {growth.why[number]}: {_node_text(graph, node)}"

    head = f"Second-order graph, and the events that build it: {_count(len(built), 'node')}"
    return "\n".join([head, *shortened(built, line, "nodes")])


def event_text(graph: Graph, event: Event) -> str:
    """What happens, in one line."""
    return _TELL[type(event)](graph, event)


def _entered(graph: Graph, event: Entered) -> str:
    within = "" if event.within is None else f", inside {graph.nodes[event.within].label}"
    received = ", ".join(map(_gradient, event.incoming))
    return f"{graph.nodes[event.node].label} receives {received}{within}"


def _sent(graph: Graph, event: Sent) -> str:
    message = event.message
    source, target = graph.nodes[message.source].label, graph.name_of(message.edge.place)
    if message.gradient is None:
        return f"{source} sends nothing to {target}" + ("" if message.needed else ", not asked for")
    text = f"{source} sends {message.gradient} to {target}"
    return text if event.count == 1 else f"{text}, where the sum is now {event.waiting}"


def _changed(graph: Graph, event: ChangedByHook) -> str:
    where = {
        "incoming": f"the gradient of {graph.name_of(Place(event.node, event.index))}",
        "outgoing": f"what {graph.nodes[event.node].label} sends for input {event.index}",
        ".grad": f"{graph.nodes[event.node].label}.grad",
    }[event.side]
    return f"{event.hook} changes {where} from {_gradient(event.before)} to {_gradient(event.after)}"


def _changed_in_place(graph: Graph, event: ChangedInPlace) -> str:
    writer, change = graph.nodes[event.writer].label, f"from {_gradient(event.before)} to {event.after}"
    if event.node == event.writer:
        return f"{writer} writes in place into the gradient it was given, which goes {change}"
    waiting = graph.name_of(Place(event.node, event.index))
    return f"the gradient that waits at {waiting} is the same tensor, so {writer} has changed it too, {change}"


def _accumulated(graph: Graph, event: Accumulated) -> str:
    grad = f"{graph.name_of(event.place)}.grad"
    if event.before is None:
        return f"{grad} is now {_gradient(event.after)}"
    added = _gradient(event.gradient)
    return f"{grad} goes from {event.before} to {_gradient(event.after)}, {added} added"


def _returned(graph: Graph, event: Returned) -> str:
    return f"the gradient of {graph.name_of(event.place)}, {_gradient(event.gradient)}, is returned"


def _freed(graph: Graph, event: Freed) -> str:
    return f"{graph.nodes[event.node].label} frees what it saved: {', '.join(event.saved)}"


def _gradient(gradient: Snapshot | None) -> str:
    return "nothing" if gradient is None else str(gradient)


_TELL = {
    Entered: _entered,
    Sent: _sent,
    ChangedByHook: _changed,
    ChangedInPlace: _changed_in_place,
    Accumulated: _accumulated,
    Returned: _returned,
    Freed: _freed,
}


def shortened(items: Sequence[Item], line: Callable[[Item], str], what: str) -> list[str]:
    """A line for each item, and of a long list the beginning, the end and what is left out."""
    if len(items) <= _LONGEST:
        return list(map(line, items))
    hidden = len(items) - _FIRST - _LAST
    middle = f"  ... {hidden} more {what} ..."
    return [*map(line, items[:_FIRST]), middle, *map(line, items[-_LAST:])]


def _node_line(graph: Graph, node: Node) -> str:
    return f"  {node.label}: {_node_text(graph, node)}"


def _node_text(graph: Graph, node: Node) -> str:
    return "; ".join([_leaf_text(node.results[0])] if node.kind == "leaf" else _operation_parts(graph, node))


def _leaf_text(leaf: Result) -> str:
    grad = "not computed yet" if leaf.grad is None else str(leaf.grad)
    return f"leaf {_result_text(leaf, None)}; grad {grad}"


def _operation_parts(graph: Graph, node: Node) -> list[str]:
    parts = [f"gives {_result_text(result, result.name)}" for result in node.results]
    settings = [f"{name} {_setting(value)}" for name, value in node.settings if _tells(name)]
    parts += [", ".join(settings)] if settings else []
    saved = [tensor for tensor in node.saved if tensor.state != "empty"]
    parts += [f"{_STATES[tensor.state]} {_saved_text(graph, tensor)}" for tensor in saved]
    if edges := graph.edges_from(node.number):
        parts.append("sends to " + ", ".join(graph.name_of(edge.place) for edge in edges))
    return [*parts, node.note] if node.note else parts


_STATES = {
    "saved": "saved",
    "kept": "keeps",
    "freed": "freed",
    "changed": "saved, then changed in place:",
    "packed": "packed",
    "not read": "saved, not read:",
}


def _result_text(result: Result, name: str | None) -> str:
    if result.shape is None:
        return "something that is no plain tensor"
    obvious = result.value is not None and (result.shape, result.dtype) == ((), "float32")
    kind = "" if obvious else f"{result.dtype} {list(result.shape) if result.shape else 'scalar'}"
    what = " ".join(filter(None, [name, kind]))
    value = None if result.value is None else show(result.value)
    if value is None and not result.shape:
        return f"{what}, value not kept"  # the shape of a number alone would look like all there is to know
    return " = ".join(filter(None, [what, value]))


def _saved_text(graph: Graph, tensor: SavedTensor) -> str:
    source = tensor.variable
    if source is None and tensor.result is not None:
        source = f"result of {graph.name_of(tensor.result)}"
    text = f"{tensor.name} ({source})" if source else tensor.name
    if tensor.state == "changed":
        return f"{text} {tensor.dtype} {list(tensor.shape)}, version {tensor.version} then and {tensor.version_now} now"
    if tensor.value is not None:
        return f"{text} = {show(tensor.value)}"
    return f"{text} {tensor.dtype} {list(tensor.shape)}" if tensor.shape is not None else text


def _tells(setting: str) -> bool:
    return not setting.endswith("strides")  # how numbers lie in memory says nothing of gradients


def _setting(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_setting, value)) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
