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
    "03_requires_grad": {
        ("c04", "torch.tensor([a, b]) taken for a recorded operation"): (
            Cell("lesson", "puzzle"),
            Cell("lesson", "reveal_cut"),
            Cell("exercise", "mend_rotation"),
        ),
        ("c05", "loss.requires_grad = True taken for a repair"): (
            Cell("lesson", "puzzle"),
            Cell("lesson", "reveal_puzzle"),
            Mistake("mend_rotation", "requires_grad_on_the_result"),
            Mistake("fixed_target", "requires_grad_on_the_loss"),
        ),
        ("c07", "whole numbers that should require a gradient"): (
            Cell("lesson", "flag_errors"),
            Cell("lesson", "reveal_cut"),
            Mistake("predict_flags", "argmax_is_differentiable"),
        ),
        ("c08", "eval() taken for no_grad()"): (
            Cell("lesson", "reveal_ways"),
            Mistake("choose_eval", "eval_disables_grad"),
            Mistake("use_network", "eval_disables_grad"),
            Mistake("use_network", "no_grad_is_eval"),
        ),
        ("c09", "inference_mode taken for a faster no_grad"): (
            Cell("lesson", "reveal_inference"),
            Mistake("use_network", "inference_mode_is_just_no_grad"),
        ),
        ("c13", "a parameter that should respect detach"): (
            Cell("lesson", "parameter"),
            Mistake("predict_leaves", "parameter_keeps_history"),
            Mistake("freeze_body", "flag_without_effect"),
        ),
        ("c14", "a method without underscore whose result is thrown away"): (
            Cell("lesson", "without_effect"),
            Mistake("freeze_body", "flag_without_effect"),
        ),
        ("c17", "the flag written as require_grad"): (
            Cell("lesson", "misspelt"),
            Mistake("freeze_body", "flag_without_effect"),
        ),
        ("b10", "detach taken for a copy"): (
            Cell("lesson", "reveal_shared"),
            Cell("exercise", "mend_plot"),
            Mistake("mend_plot", "data_shares_storage"),
        ),
        ("b16", "a detach that should act on earlier uses"): (
            Cell("lesson", "reveal_late"),
            Mistake("fixed_target", "target_passes_gradient"),
        ),
        ("g10", "argmax in the way of a gradient"): (
            Cell("lesson", "find_the_cut"),
            Cell("lesson", "mean_position"),
            Cell("exercise", "mend_position"),
            Mistake("mend_position", "flag_on_the_index"),
        ),
    },
    "04_grad_fn": {
        ("b01", "backward called twice on one graph"): (
            Cell("lesson", "puzzle"),
            Cell("lesson", "reveal_triple"),
            Cell("lesson", "before_the_loop"),
            Mistake("predict_second_pass", "backward_clears_the_graph"),
            Mistake("predict_second_pass", "nodes_are_enough"),
        ),
        ("b03", "retain_graph in place of cutting the history"): (
            Cell("lesson", "predict_repairs"),
            Cell("lesson", "reveal_repairs"),
            Mistake("mend_history", "history_kept"),
        ),
        ("b04", "an optimizer's step between forward and backward"): (
            Cell("lesson", "step_between"),
            Cell("exercise", "mend_step_between"),
        ),
        ("b05", "every change in place taken for an error"): (
            Cell("lesson", "predict_harmless"),
            Cell("lesson", "three_ways"),
            Mistake("mend_capped", "graph_cut"),
        ),
        ("b06", "a result that was saved, and is overwritten"): (
            Cell("lesson", "reveal_harmless"),
            Cell("lesson", "three_ways"),
            Mistake("mend_capped", "change_hidden"),
            Mistake("choose_changed", "input_of_exp_saved"),
        ),
        ("b09", "a leaf changed in place"): (
            Cell("lesson", "leaves"),
            Cell("exercise", "mend_update"),
        ),
        ("b12", "one of several views of one operation changed"): (Cell("lesson", "views"),),
        ("b13", "a name that means another tensor after relu_"): (Cell("lesson", "name_moves_on"),),
        ("b14", "an overwritten entry that keeps its gradient"): (
            Cell("lesson", "overwritten"),
            Mistake("predict_overwritten", "overwritten_entry_keeps_gradient"),
        ),
        ("b15", "a running total that holds all graphs"): (
            Cell("lesson", "running_total"),
            Mistake("mend_history", "total_holds_the_graphs"),
        ),
        ("i02", "a hook on a layer, and an in-place layer behind it"): (Cell("lesson", "module_hook"),),
        ("i03", "a hook that returns nothing"): (
            Cell("lesson", "predict_hook"),
            Mistake("clip_and_note", "nothing_returned"),
        ),
        ("i05", "hooks and torch.autograd.grad"): (
            Cell("lesson", "node_hooks"),
            Mistake("clip_and_note", "clips_what_the_node_sends"),
        ),
        ("i06", "a hook from before a change in place"): (Cell("lesson", "name_moves_on"),),
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
            Cell("lesson", "inner_graph"),
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
    "07_gradient_reversal": {
        ("f03", "a returned input that is said to skip the backward"): (
            Cell("lesson", "predict_returned"),
            Cell("lesson", "reveal_returned"),
        ),
        ("f04", "a negative lambda, and a minus in the backward"): (
            Cell("lesson", "silent_mistakes"),
            Cell("lesson", "reveal_mistake"),
            Mistake("mend_schedule", "negative_factor"),
            Mistake("mend_two_heads", "two_minus_signs"),
        ),
        ("f05", "a minus in the loss, and the layer too"): (
            Cell("lesson", "minus_in_the_loss"),
            Mistake("choose_loss", "minus_in_loss_and_reversal"),
            Mistake("moons_loss", "minus_in_loss_and_reversal"),
        ),
        ("f06", "a minus in the loss taken for the layer"): (
            Cell("lesson", "minus_in_the_loss"),
            Mistake("choose_loss", "minus_loss_equals_reversal"),
        ),
        ("f07", "a value that is negated with its gradient"): (
            Cell("lesson", "ways"),
            Cell("lesson", "reveal_ways"),
            Mistake("reversal_layer", "value_turned"),
            Mistake("reverse_by_detach", "value_turned"),
            Mistake("reverse_by_detach", "mirrored"),
        ),
        ("f09", "a lambda that is not handed on"): (
            Cell("lesson", "predict_mistake"),
            Mistake("mend_two_heads", "lambda_not_forwarded"),
        ),
        ("f10", "a progress that is not divided"): (
            Cell("lesson", "reveal_mistake"),
            Mistake("mend_schedule", "progress_not_normalised"),
        ),
        ("f11", "a layer that is thought to turn the head, or set on the loss"): (
            Cell("lesson", "predict_between"),
            Cell("lesson", "reveal_between"),
            Mistake("predict_turned", "reversal_affects_later_layers"),
            Mistake("choose_loss", "layer_on_the_loss"),
            Mistake("moons_loss", "layer_on_the_loss"),
        ),
    },
    "08_kinks": {
        ("g01", "clamp taken for relu, down to the gradient"): (
            Cell("lesson", "puzzle"),
            Cell("lesson", "where_38"),
            Cell("lesson", "reveal_ways"),
            Mistake("predict_kinks", "relu_equals_maximum"),
        ),
        ("g04", "how max, max(dim) and amax treat equal numbers"): (
            Cell("lesson", "reveal_ties"),
            Mistake("max_backward", "all_to_one_place"),
        ),
        ("g05", "a norm taken for the root of a sum of squares"): (
            Cell("lesson", "reveal_length"),
            Cell("exercise", "mend_lengths"),
        ),
        ("g06", "a small number outside the root"): (
            Cell("lesson", "epsilon"),
            Mistake("mend_lengths", "eps_outside_sqrt"),
        ),
        ("g07", "a where that is to keep nan out"): (
            Cell("lesson", "reveal_where"),
            Cell("exercise", "mend_entropy"),
        ),
        ("g08", "bad entries left out after the computation"): (
            Cell("lesson", "masks"),
            Cell("exercise", "mend_missing"),
        ),
        ("g09", "the wrong part of a straight-through line detached"): (
            Cell("lesson", "reveal_straight"),
            Mistake("straight_sign", "ste_detach_wrong_part"),
            Mistake("straight_sign", "everything_detached"),
        ),
        ("g11", "the spread of equal numbers"): (Cell("lesson", "reveal_length"),),
        ("g14", "the chain rule at kinks"): (
            Cell("lesson", "reveal_identity"),
            Mistake("choose_identity", "chain_rule_holds_at_kinks"),
        ),
        ("g16", "inverse functions that do not cancel"): (Cell("lesson", "arccos"),),
        ("g17", "a softmax over a row that is masked as a whole"): (
            Cell("lesson", "masked_softmax"),
            Mistake("mend_attention", "finite_and_not_masked"),
        ),
    },
    "09_second_derivatives": {
        ("h01", "a first gradient that is a constant, or depends on the weights alone"): (
            Cell("lesson", "puzzle"),
            Cell("lesson", "what_the_gradient_depends_on"),
            Cell("lesson", "second_for_any"),
            Mistake("mend_order", "unused_only"),
            Mistake("mend_order", "constant_only"),
        ),
        ("h02", "curvature looked for in a relu network"): (
            Cell("lesson", "activations"),
            Cell("lesson", "curvature_explorer"),
            Mistake("choose_curvature", "relu_net_has_curvature"),
        ),
        ("h05", "a second derivative asked of the function again"): (
            Cell("lesson", "asked_the_same"),
            Mistake("mixed_partial", "second_derivative_from_output"),
            Mistake("heat_residual", "second_derivative_from_output"),
        ),
        ("h07", "the sums of a Hessian's rows taken for its diagonal"): (
            Cell("lesson", "predict_row_sums"),
            Cell("lesson", "laplacian"),
            Mistake("heat_residual", "rows_added"),
            Mistake("hessian_times", "v_ignored"),
        ),
        ("h09", "a sample's norm taken over the channels alone"): (
            Cell("lesson", "penalty_axes"),
            Mistake("mend_penalty", "norm_over_wrong_axis"),
        ),
        ("h11", "an inner update whose gradient is a constant"): (
            Cell("lesson", "predict_inner"),
            Cell("lesson", "reveal_inner"),
            Mistake("after_training", "inner_update_is_first_order"),
        ),
        ("h12", "one tensor in two roles of a nested derivative"): (
            Cell("lesson", "nested"),
            Cell("exercise", "mend_nested"),
            Mistake("mend_nested", "y_cut_off"),
        ),
        ("h13", "no_grad that forward mode does not notice"): (Cell("lesson", "stopped"),),
        ("h14", "a Hessian of a function with several outputs"): (Cell("lesson", "hessian_of_a_vector"),),
        ("h16", "a mixed derivative by columns, and a column forgotten"): (
            Cell("lesson", "mixed_by_columns"),
            Cell("lesson", "predict_column"),
            Cell("lesson", "slices"),
            Mistake("mixed_partial", "first_column_forgotten"),
            Mistake("mixed_partial", "slice_is_the_same_tensor"),
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
