"""Long graphs are walked, recorded and freed without recursion."""

import subprocess
import sys

import torch

from course_utils.graph import record, trace

# Long enough for torch 2.13 to overflow this stack when it frees nodes that were looked at.
LENGTH, STACK = 20_000, 512 * 1024
FREE_A_TRACED_CHAIN = f"""
import threading, gc, torch
from course_utils.graph import trace

def trace_and_free():
    y = x = torch.tensor(3.0, requires_grad=True)
    for _ in range({LENGTH}):
        y = y * 1.0
    assert len(trace(y)) == {LENGTH} + 1
    del y
    gc.collect()
    left = [thing for thing in gc.get_objects() if type(thing).__name__ == "MulBackward0"]
    assert not left, f"{{len(left)}} nodes are still there"

threading.stack_size({STACK})
thread = threading.Thread(target=trace_and_free)
thread.start()
thread.join()
print("freed")
"""


def chain(length: int) -> tuple[torch.Tensor, torch.Tensor]:
    y = x = torch.tensor(1.0, requires_grad=True)
    for _ in range(length):
        y = y.sin()
    return x, y


def test_chain_longer_than_any_recursion_limit():
    x, y = chain(5_000)
    backward = record(y, x=x)
    assert len(backward.graph) == 5_001
    assert len(backward.messages) == 5_000
    assert backward.grad("x").value == x.grad.item()
    assert "more events" in str(backward)


def test_long_traced_graph_is_freed_without_overflowing_the_stack():
    done = subprocess.run([sys.executable, "-c", FREE_A_TRACED_CHAIN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "freed"), done.stderr


def test_parts_of_a_long_graph_outlive_the_whole():
    x, y = chain(3_000)
    half = y.grad_fn
    for _ in range(1_500):
        half = half.next_functions[0][0]
    trace(y)
    del y
    assert half.next_functions[0][0].name() == "SinBackward0"
    assert trace(x.sin()).leaves[0].label == "x"


def test_collector_is_left_as_it_was():
    import gc

    x = torch.tensor(1.0, requires_grad=True)
    gc.disable()
    try:
        record(x.sin())
        assert not gc.isenabled()
    finally:
        gc.enable()
    record(x.sin())
    assert gc.isenabled()
