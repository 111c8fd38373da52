"""The graph in Graphviz's own language, for those who want to draw it themselves."""

from __future__ import annotations

from .data import Graph
from .wording import result_text


def dot_text(graph: Graph) -> str:
    """A `digraph` in the direction of the forward pass, which Graphviz and others can draw."""
    lines = ["digraph autograd {", "  rankdir=LR;", "  node [shape=box];"]
    for node in graph.nodes:
        tells = [node.label] if node.kind == "leaf" else [node.label, node.name]
        tells += [result_text(result) for result in node.results if node.kind != "leaf" or result.name is None]
        shape = ", peripheries=2" if node.kind == "leaf" else ""
        lines.append(f"  n{node.number} [label={_quoted(tells)}{shape}];")
    lines += [f"  n{edge.target} -> n{edge.source};" for edge in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(lines: list[str]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
