"""Learn from a stream, one example at a time, and know what each example disturbs."""

from minout._version import __version__
from minout.errors import InvalidInputError, MinoutError
from minout.learner import Learner, StepReport, UnitReport
from minout.rehearsal import Closed, Conditional, NoRehearsal, Uniform
from minout.rules import GradientRule

__all__ = [
    "Closed",
    "Conditional",
    "GradientRule",
    "InvalidInputError",
    "Learner",
    "MinoutError",
    "NoRehearsal",
    "StepReport",
    "Uniform",
    "UnitReport",
    "__version__",
]
