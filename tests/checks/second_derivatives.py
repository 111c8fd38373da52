"""Unit 09: right answers written differently, and mutants of the solutions that are still right."""

# second_derivatives_square


def as_a_sum(incoming, x):
    return incoming * (x + x)


def with_tensor_methods(incoming, x):
    return x.mul(incoming).mul(2)


def one_message_for_each_factor(incoming, x):
    left, right = incoming * x, incoming * x
    return left + right


RIGHT = {
    "second_derivatives_square": (as_a_sum, with_tensor_methods, one_message_for_each_factor),
}

# By exercise: the change, as `course prove` names it, and why the changed code is still right.
EQUIVALENT: dict[str, dict[str, str]] = {}
