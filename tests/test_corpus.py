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
    "05_asking_for_gradients": {
        ("c01", "a leaf that is moved, and whose name then means another tensor"): (
            Cell("lesson", "predict_moved"),
            Cell("lesson", "reveal_moved"),
            Cell("lesson", "moved_nowhere"),
        ),
        ("c03", "an update that replaces the leaf"): (
            Cell("lesson", "updates"),
            Mistake("mend_training", "update_replaces_leaf"),
        ),
        ("c11", "a backward that is thought to replace what is in .grad"): (
            Cell("lesson", "predict_three"),
            Cell("lesson", "reveal_uncleared"),
            Mistake("predict_dot_grad", "backward_overwrites_grad"),
            Mistake("mend_training", "never_cleared"),
        ),
        ("c15", "a zero_grad that is thought to write zeros"): (
            Cell("lesson", "zero_grad"),
            Mistake("mend_training", "zero_grad_writes_zeros"),
        ),
        ("d01", "grad_outputs in the shape of the input"): (Cell("lesson", "outer"),),
        ("d02", "the argument of backward taken for a scale"): (
            Cell("lesson", "predict_weights"),
            Cell("lesson", "jacobian_explorer"),
            Mistake("predict_weights", "gradient_argument_is_a_scale"),
        ),
        ("d03", "a Jacobian filled column by column"): (
            Cell("lesson", "columns_or_rows"),
            Mistake("mend_jacobian", "jacobian_transposed"),
        ),
        ("d04", "a list of outputs that is summed"): (
            Cell("lesson", "predict_list"),
            Cell("exercise", "mend_jacobian"),
            Mistake("for_each_sample", "multiple_outputs_are_summed"),
        ),
        ("d05", "a fresh slice taken for the one that was used"): (
            Cell("lesson", "predict_slice"),
            Cell("lesson", "slice_repaired"),
            Mistake("by_column", "slice_is_the_same_tensor"),
        ),
        ("d07", "several outputs collapsed into one derivative"): (
            Cell("lesson", "position"),
            Mistake("each_output", "output_components_collapsed"),
        ),
        ("d08", "samples that are thought not to mix, and a mean detached alone"): (
            Cell("lesson", "puzzle"),
            Cell("lesson", "predict_detached"),
            Cell("lesson", "batch_explorer"),
            Cell("exercise", "standardise"),
            Mistake("choose_trick", "batch_independence_assumed"),
        ),
        ("d10", "allow_unused for a tensor that requires no gradient"): (
            Cell("lesson", "predict_flag"),
            Mistake("gradient_for_each", "allow_unused_covers_everything"),
        ),
        ("d12", "is_grads_batched for a batch of data"): (
            Cell("lesson", "batched"),
            Mistake("mend_jacobian", "batched_grads_means_batched_data"),
            Mistake("for_each_sample", "batched_grads_means_batched_data"),
        ),
        ("d14", "singular names for outputs and inputs"): (
            Cell("lesson", "wrong_names"),
            Mistake("gradient_for_each", "wrong_keyword_names"),
        ),
        ("h06", "inputs and outputs exchanged"): (
            Cell("lesson", "wrong_names"),
            Mistake("gradient_for_each", "swapped_inputs_outputs"),
        ),
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
