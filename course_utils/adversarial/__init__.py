"""Two moons in two domains, three small networks, and their training against each other, kept as data."""

from course_utils.adversarial.judge import fresh_domain_accuracy
from course_utils.adversarial.moons import Domains, two_domains
from course_utils.adversarial.networks import Networks
from course_utils.adversarial.reversal import Reversal, factor_at, reverse
from course_utils.adversarial.training import Batch, Moment, Run, adversarial_loss, moments, train

__all__ = [
    "Batch",
    "Domains",
    "Moment",
    "Networks",
    "Reversal",
    "Run",
    "adversarial_loss",
    "factor_at",
    "fresh_domain_accuracy",
    "moments",
    "reverse",
    "train",
    "two_domains",
]
