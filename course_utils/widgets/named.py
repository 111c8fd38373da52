"""Functions by title: what explorers with several functions to choose from are given."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Function = Callable[..., object]


def functions_by_title(functions: Function | Mapping[str, Function], explorer: str) -> dict[str, Function]:
    """The functions by their titles; one alone goes by its own name. TypeError, in the explorer's name, for others."""
    if callable(functions):
        name = getattr(functions, "__name__", type(functions).__name__)
        return {"the function" if name == "<lambda>" else name: functions}
    if not isinstance(functions, Mapping) or not functions or not all(map(callable, functions.values())):
        raise TypeError(
            f"{explorer}: give a function of one tensor, or a mapping from titles to such functions, as in "
            "{'x**2': torch.square}."
        )
    return {str(title): function for title, function in functions.items()}
