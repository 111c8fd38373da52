"""Pictures to operate: each shows itself live, and as a still picture with text where it cannot."""

from course_utils.widgets.batch_explorer import BatchExplorer, explore_batch
from course_utils.widgets.curvature_explorer import CurvatureExplorer, explore_curvature
from course_utils.widgets.explorer import OneOperationExplorer, explore
from course_utils.widgets.jacobian_explorer import JacobianExplorer, explore_jacobian
from course_utils.widgets.kink_explorer import KinkExplorer, explore_kink
from course_utils.widgets.moons_explorer import MoonsExplorer, explore_moons
from course_utils.widgets.prediction import Prediction, predict
from course_utils.widgets.stepper import Stepper, step
from course_utils.widgets.switches import RecordingSwitches, switches

__all__ = [
    "BatchExplorer",
    "CurvatureExplorer",
    "JacobianExplorer",
    "KinkExplorer",
    "MoonsExplorer",
    "OneOperationExplorer",
    "Prediction",
    "RecordingSwitches",
    "Stepper",
    "explore",
    "explore_batch",
    "explore_curvature",
    "explore_jacobian",
    "explore_kink",
    "explore_moons",
    "predict",
    "step",
    "switches",
]
