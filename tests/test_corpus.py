"""Where each confusion that was met in the field is taken up: in a cell, or as a misconception of an exercise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from course_utils.build.outline import read_course
from course_utils.build.source import read_source
from course_utils.checks.catalogue import all_exercises


@dataclass(frozen=True)
class Cell:
    """A cell of the unit's `lesson` or `exercise` source."""

    kind: str
    name: str


@dataclass(frozen=True)
class Mistake:
    """A misconception that an exercise of the unit names."""

    exercise: str
    label: str


Places = tuple[Cell | Mistake, ...]
# by unit, the number of each case in the collection, what is confused in it, and every place that takes it up
CASES: dict[str, dict[tuple[str, str], Places]] = {
    "01_one_operation": {
        ("a01", "a backward without its local derivative"): (
            Cell("lesson", "scale_wrong"),
            Mistake("square_times_cube", "local_derivative_missing"),
        ),
        ("a03", "two gradients in each other's place"): (
            Cell("lesson", "puzzle"),
            Mistake("square_times_cube", "swapped_partials"),
        ),
        ("a04", "where the 1 at the end comes from, and where those inside"): (
            Cell("lesson", "predict_chain"),
            Cell("lesson", "reveal_chain"),
        ),
        ("a09", "a backward taken for an inverse"): (
            Cell("lesson", "predict_inverse"),
            Cell("lesson", "broadcast_backward"),
            Mistake("choose_addition", "backward_is_inverse"),
        ),
        ("a10", "the gradient of a bias made from the inputs"): (Mistake("bias_backward", "bias_gradient_uses_input"),),
        ("a11", "an addition that shares the gradient out"): (
            Cell("lesson", "operations"),
            Mistake("choose_addition", "addition_splits_gradient"),
        ),
    },
    "02_computation_graph": {
        ("a05", "only additions add up, so a product overwrites"): (
            Cell("lesson", "puzzle"),
            Mistake("mend_overwriting", "only_additions_accumulate"),
            Mistake("engine_backward", "overwrites"),
        ),
        ("a08", "a head gradient handed to another tensor"): (
            Cell("lesson", "predict_head"),
            Cell("lesson", "reveal_head"),
            Cell("exercise", "head_gradient"),
        ),
        ("b19", "one node for a whole formula"): (
            Cell("lesson", "predict_nodes"),
            Cell("lesson", "trace_z"),
            Mistake("predict_nodes", "one_node_per_formula"),
        ),
    },
    "06_custom_function": {
        ("e01", "an old Function, made into an object and called"): (
            Cell("lesson", "legacy"),
            Cell("lesson", "modernised"),
            Cell("exercise", "mend_legacy"),
        ),
        ("e02", "a clone that is said to keep the graph"): (
            Cell("lesson", "puzzle"),
            Cell("lesson", "predict_sister"),
            Cell("lesson", "caller"),
            Cell("lesson", "graph_has_no_part"),
            Mistake("mend_shrink", "still_shared"),
            Mistake("choose_own_tensor", "detach_is_a_copy"),
        ),
        ("e03", "None appended until the error goes away"): (
            Cell("lesson", "count_of_gradients"),
            Mistake("wave", "none_missing"),
            Mistake("mend_legacy", "none_missing"),
        ),
        ("e04", "an intermediate kept, and the second derivative wrong"): (
            Cell("lesson", "four_ways"),
            Cell("lesson", "reveal_second"),
            Mistake("wave", "intermediate_saved"),
            Cell("exercise", "mend_intermediate"),
        ),
        ("e05", "an inner graph kept on a detached copy"): (
            Cell("lesson", "four_ways"),
            Cell("lesson", "reveal_second"),
        ),
        ("e08", "tensors in a list taken for arguments"): (
            Cell("lesson", "predict_list"),
            Cell("exercise", "mend_list"),
        ),
        ("e09", "an output kept on ctx"): (
            Cell("lesson", "reveal_versions"),
            Cell("lesson", "memory"),
            Mistake("sigmoid_for_func", "output_kept_as_an_attribute"),
        ),
        ("e10", "a number saved for backward"): (
            Cell("lesson", "saves_a_number"),
            Mistake("wave", "number_saved_as_a_tensor"),
        ),
        ("e11", "an input changed in place and not marked"): (
            Cell("lesson", "predict_dirty"),
            Cell("exercise", "mend_dirty"),
            Mistake("mend_dirty", "another_tensor_returned"),
        ),
        ("e14", "a Function that torch.func and vmap refuse"): (
            Cell("lesson", "setup_context"),
            Mistake("sigmoid_for_func", "context_in_the_forward"),
            Mistake("sigmoid_for_func", "no_vmap_rule"),
        ),
        ("e15", "keywords handed to apply"): (Cell("lesson", "keywords"),),
        ("e16", "forward called in place of apply"): (
            Cell("lesson", "predict_direct"),
            Mistake("mend_legacy", "forward_called_directly"),
        ),
        ("e19", "an output of whole numbers, and its gradient"): (Cell("lesson", "non_differentiable"),),
        ("e20", "an input returned as it is and saved"): (Cell("lesson", "returned_as_it_is"),),
        ("i07", "gradcheck in single precision"): (Cell("lesson", "asked_wrongly"),),
        ("i09", "gradcheck on an expanded input"): (Cell("lesson", "asked_wrongly"),),
    },
}
UNITS = {unit.name: unit for unit in read_course(Path(__file__).resolve().parents[1])[0].units}


def test_every_unit_of_the_course_has_its_cases():
    assert list(CASES) == list(UNITS)
    assert all(CASES.values())


@pytest.mark.parametrize(
    ("unit", "places"),
    [
        pytest.param(unit, places, id=f"{number}: {words}")
        for unit, cases in CASES.items()
        for (number, words), places in cases.items()
    ],
)
def test_a_case_is_taken_up_where_the_table_says(unit: str, places: Places, root: Path):
    assert places
    assert [place for place in places if not is_there(place, unit, root)] == []


def is_there(place: Cell | Mistake, unit: str, root: Path) -> bool:
    if isinstance(place, Cell):
        source, _ = read_source(root, UNITS[unit], place.kind)
        return place.name in {cell.name for cell in source.cells}
    exercise = all_exercises().get(place.exercise)
    return (
        exercise is not None
        and exercise.unit == unit
        and place.label in {mistake.label for mistake in exercise.misconceptions}
    )
