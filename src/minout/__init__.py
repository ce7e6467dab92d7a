"""Learn from a stream, one example at a time, and know what each example disturbs."""

from minout._version import __version__
from minout.errors import InvalidInputError, MinoutError
from minout.features import Encoder, Identity, RandomFourier, Scattering
from minout.learner import Audit, Certificate, Learner, StepReport, UnitReport
from minout.rehearsal import Closed, Conditional, NoRehearsal, Uniform
from minout.rules import GradientRule, MarginRule

__all__ = [
    "Audit",
    "Certificate",
    "Closed",
    "Conditional",
    "Encoder",
    "GradientRule",
    "Identity",
    "InvalidInputError",
    "Learner",
    "MarginRule",
    "MinoutError",
    "NoRehearsal",
    "RandomFourier",
    "Scattering",
    "StepReport",
    "Uniform",
    "UnitReport",
    "__version__",
]
