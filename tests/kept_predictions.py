"""What a revealing cell shows when a prediction was kept before it runs; what is stored is without one."""

from __future__ import annotations

import re

from nbformat import NotebookNode

REVEALING = re.compile(r"\b(\w+)\.reveal\(")
NUMBER = re.compile(r"\bis (\S+?)(?:,|$)")
STORED = re.compile(r"(?P<answer>.+) \(no prediction kept: .*\)")


def keeping(cell: NotebookNode) -> str:
    """The cell's code; where it reveals an answer, a prediction is kept first: the second choice, or wrong numbers."""
    revealing = REVEALING.search(cell.source)
    if not revealing:
        return cell.source
    question = revealing[1]
    wrong = [f"{place}/997" for place, _ in enumerate(NUMBER.findall(_answer(cell)), start=1)]
    return f"{question}.keep(*({question}.choices[1:2] or {wrong}))\n{cell.source}"


def as_stored(cell: NotebookNode, outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs; where the last one holds what was predicted against the answer, with what is stored in its place."""
    if not REVEALING.search(cell.source) or not outputs:
        return outputs
    said = outputs[-1].get("data", {}).get("text/plain", "")
    return [*outputs[:-1], cell.outputs[-1]] if _takes_up(said, _answer(cell)) else outputs


def _takes_up(said: str, answer: str) -> bool:
    if answer.startswith("It is: "):
        right = answer.removeprefix("It is: ").removesuffix(".")
        return said.rstrip(".") == f"You predicted: {right}. That is right" or (
            said.startswith("You predicted: ") and said.rstrip(".").endswith(f". It is: {right}")
        )
    lines = [line for line in said.splitlines() if line.startswith("You predicted ")]
    ends = [f". It is {number}." for number in NUMBER.findall(answer)]
    return [line[-len(end) :] for line, end in zip(lines, ends, strict=False)] == ends


def _answer(cell: NotebookNode) -> str:
    return STORED.fullmatch(cell.outputs[-1].data["text/plain"])["answer"]
