"""What an instructor may want to look at in person: code that does what no exercise asks for. It costs no points."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence

from course_utils.grading.merge import MergedCell
from course_utils.grading.names import parsed
from course_utils.grading.run import CellRecord

GRADER = "looks into the grader's code"
FORGES = "writes evidence by itself"
REPLACES = "replaces functions of torch, Python or the notebook"
NETWORK = "uses the network"
PROGRAMS = "starts or ends processes"
INSIDE = "looks at the process that it runs in"
FILES = "looks for files of the grader or the system"
GARBLED = "sent something in place of the kernel"
ENDED = "a cell of their own ended the kernel or ran into a limit, and was left out"
MEMORY = "used up the memory"

_MODULES = {
    **dict.fromkeys(("socket", "socketserver", "urllib", "http", "requests", "ftplib", "smtplib", "ssl"), NETWORK),
    **dict.fromkeys(("subprocess", "multiprocessing", "signal", "atexit", "pty"), PROGRAMS),
    **dict.fromkeys(("ctypes", "gc", "inspect", "faulthandler", "psutil", "resource", "cffi", "mmap"), INSIDE),
    **dict.fromkeys(("nbval", "nbformat", "pytest", "_pytest", "nbclient"), GRADER),
}
_ATTRIBUTES = {
    **dict.fromkeys(("_exit", "fork", "forkpty", "kill", "killpg", "setsid", "abort", "system", "popen"), PROGRAMS),
    **dict.fromkeys(("_getframe", "_current_frames", "settrace", "setprofile", "f_back", "f_locals"), INSIDE),
    **dict.fromkeys(("set_custom_exc", "displayhook", "display_pub", "run_cell", "input_transformers_post"), REPLACES),
    **dict.fromkeys(("environ", "getenv"), FILES),
    "show_evidence": GRADER,
}
_TEXTS = {
    '"saw"': FORGES,
    "show_evidence": GRADER,
    "/proc": FILES,
    "/etc": FILES,
    "solutions": FILES,
    "gradebook": FILES,
    "grading.sqlite": FILES,
}
_ALLOWED = {"course_utils.checks", "course_utils.checks.given"}
_OTHERS = ("torch", "builtins", "json", "nbformat", "sys", "os", "course_utils", "IPython", "numpy", "np")


def suspicions(cells: Sequence[MergedCell], records: Sequence[CellRecord]) -> str:
    """What is odd about the cells that ran for one exercise, in a line; empty if nothing is."""
    found: dict[str, None] = {}
    for cell, record in zip(cells, records, strict=False):
        if cell.role in ("answer", "extra"):
            found |= dict.fromkeys((*_read(cell.source), *_happened(record, cell.role)))
        elif record.garbled:
            found[GARBLED] = None
    return "; ".join(found)


def _happened(record: CellRecord, role: str) -> Iterator[str]:
    if record.garbled:
        yield GARBLED
    if record.outcome == "left out":
        yield ENDED
    if record.outcome == "memory":
        yield MEMORY
    if '{"saw":' in record.stdout:
        yield FORGES


@functools.lru_cache(maxsize=4096)
def _read(source: str) -> tuple[str, ...]:
    """What the text of a cell gives away. It is a hint and no proof: there are other ways to write everything."""
    tree = parsed(source)
    nodes: Iterable[ast.AST] = () if tree is None else ast.walk(tree)
    return tuple(dict.fromkeys(what for node in nodes for what in _of(node)))


def _of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _of_import(node)
    elif isinstance(node, ast.Attribute):
        yield from filter(None, [_ATTRIBUTES.get(node.attr)])
        if isinstance(node.ctx, ast.Store | ast.Del) and _root(node) in _OTHERS:
            yield REPLACES
    elif isinstance(node, ast.Name) and node.id in ("show_evidence", "__builtins__"):
        yield GRADER if node.id == "show_evidence" else REPLACES
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
        if node.args and _root(node.args[0]) in _OTHERS:
            yield REPLACES
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from (what for text, what in _TEXTS.items() if text in node.value)


def _of_import(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    module = getattr(node, "module", None)
    for alias in node.names:
        name = f"{module}.{alias.name}" if module else alias.name
        ours = name.startswith(("course_utils.checks", "course_utils.grading"))
        if ours and (alias.name == "show_evidence" or not {name, module} & _ALLOWED):
            yield GRADER
        yield from filter(None, [_MODULES.get(name.partition(".")[0]), _ATTRIBUTES.get(alias.name)])


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
