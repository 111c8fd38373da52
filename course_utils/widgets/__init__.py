"""Pictures to operate: each shows itself live, and as a still picture with text where it cannot."""

from course_utils.widgets.explorer import OneOperationExplorer, explore
from course_utils.widgets.prediction import Prediction, predict
from course_utils.widgets.stepper import Stepper, step
from course_utils.widgets.switches import RecordingSwitches, switches

__all__ = [
    "OneOperationExplorer",
    "Prediction",
    "RecordingSwitches",
    "Stepper",
    "explore",
    "predict",
    "step",
    "switches",
]
