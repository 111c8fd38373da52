"""Where `course grade` begins. Loads what it needs, which takes longer than grading ten submissions."""

from __future__ import annotations

import atexit
import gc

gc.disable()  # nearly all that is loaded stays: looking for garbage in it finds none, again and again

from course_utils.checks.catalogue import all_exercises
from course_utils.grading.command import About, grade

all_exercises()
gc.freeze()
gc.enable()
atexit.register(gc.freeze)  # nor is there anything to find when all of it goes

__all__ = ["About", "grade"]
