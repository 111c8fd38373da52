"""What an answer does: exercises probed, their evidence held against a truth, and mistakes named."""

from course_utils.checks.catalogue import catalogue
from course_utils.checks.checking import check, show_evidence
from course_utils.checks.progress import progress

__all__ = ["catalogue", "check", "progress", "show_evidence"]
