"""What the common nodes send back, as formulas in the names that torch gives their operands."""

from __future__ import annotations

from functools import cache

from .data import Node
from .expression import Expression

# For each node, by torch's own name, its inputs in their order and what it sends to each.
# `incoming` is the gradient that arrives, `result` what the operation gave; the other names are the
# saved tensors and settings that torch keeps on the node (derivatives.yaml in its sources).
_RULES: dict[str, dict[str, str]] = {
    "AddBackward0": {"self": "incoming", "other": "incoming * alpha"},
    "SubBackward0": {"self": "incoming", "other": "-incoming * alpha"},
    "RsubBackward1": {"self": "-incoming * alpha"},
    "MulBackward0": {"self": "incoming * other", "other": "incoming * self"},
    "DivBackward0": {"self": "incoming / other", "other": "-incoming * self / other**2"},
    "PowBackward0": {"self": "incoming * exponent * self**(exponent - 1)"},
    "PowBackward1": {
        "self": "incoming * exponent * self**(exponent - 1)",
        "exponent": "incoming * result * log(self)",
    },
    "PowBackward2": {"exponent": "incoming * result * log(self)"},
    "ExpBackward0": {"self": "incoming * result"},
    "LogBackward0": {"self": "incoming / self"},
    "SqrtBackward0": {"self": "incoming / (2 * result)"},
    "ReciprocalBackward0": {"self": "-incoming * result**2"},
    "SinBackward0": {"self": "incoming * cos(self)"},
    "CosBackward0": {"self": "-incoming * sin(self)"},
    "SinhBackward0": {"self": "incoming * cosh(self)"},
    "CoshBackward0": {"self": "incoming * sinh(self)"},
    "TanhBackward0": {"self": "incoming * (1 - result**2)"},
    "SigmoidBackward0": {"self": "incoming * result * (1 - result)"},
    "ReluBackward0": {"self": "incoming * ones_where(result > 0)"},
    "NegBackward0": {"self": "-incoming"},
    "AbsBackward0": {"self": "incoming * sign(self)"},
    "SumBackward0": {"self": "spread(incoming, self_sym_sizes)"},
    "SumBackward1": {"self": "spread(incoming, self_sym_sizes, dim, keepdim)"},
    "MeanBackward0": {"self": "spread(incoming / self_sym_numel, self_sym_sizes)"},
    "MmBackward0": {"self": "incoming @ mat2.T", "mat2": "self.T @ incoming"},
    "MvBackward0": {"self": "", "vec": "self.T @ incoming"},
    "BmmBackward0": {"self": "incoming @ mat2.mT", "mat2": "self.mT @ incoming"},
    "DotBackward0": {"self": "incoming * tensor", "tensor": "incoming * self"},
    "AddmmBackward0": {
        "self": "incoming * beta",
        "mat1": "incoming @ mat2.T * alpha",
        "mat2": "mat1.T @ incoming * alpha",
    },
    "TBackward0": {"self": "incoming.T"},
    "TransposeBackward0": {"self": "transpose(incoming, dim0, dim1)"},
    "ViewBackward0": {"self": "reshape(incoming, self_sym_sizes)"},
    "UnsafeViewBackward0": {"self": "reshape(incoming, self_sym_sizes)"},
    "ReshapeAliasBackward0": {"self": "reshape(incoming, self_sym_sizes)"},
    "ExpandBackward0": {"self": "incoming"},
    "UnsqueezeBackward0": {"self": "reshape(incoming, input_sizes)"},
    "SqueezeBackward0": {"self": "reshape(incoming, self_sym_sizes)"},
    "SqueezeBackward1": {"self": "reshape(incoming, self_sym_sizes)"},
    "CloneBackward0": {"self": "incoming"},
    "CopyBackwards": {"self": "incoming"},
    "MseLossBackward0": {
        "self": "incoming * 2 * (self - target) / count",
        "target": "-incoming * 2 * (self - target) / count",
    },
}
# a rule that holds for one value of a setting only
_HOLDS_IF = {"MseLossBackward0": ("reduction", 1)}


@cache
def _expression(source: str) -> Expression:
    return Expression(source)


def formula(node: Node, position: int) -> Expression | None:
    """What the node sends to its input at `position`; None for a node that is not in the table."""
    rule = list(_RULES.get(node.name, {}).values())
    if node.kind != "operation" or position >= len(rule) or not rule[position]:
        return None
    setting, value = _HOLDS_IF.get(node.name, (None, None))
    if setting and dict(node.settings).get(setting) != value:
        return None
    return _expression(rule[position])


def argument(node: Node, position: int) -> str | None:
    """What torch calls the operation's input at `position`; None if the table does not know."""
    names = list(_RULES.get(node.name, {}))
    return names[position] if node.kind == "operation" and position < len(names) else None
