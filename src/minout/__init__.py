"""Learn from a stream, one example at a time, and know what each example disturbs."""

from typing import TYPE_CHECKING, Any

from minout._version import __version__
from minout.errors import InvalidInputError, MinoutError
from minout.features import Encoder, Identity, RandomFourier, Scattering
from minout.learner import Audit, Certificate, Learner, StepReport, UnitReport
from minout.rehearsal import Closed, Conditional, NoRehearsal, Uniform
from minout.rules import GradientRule, MarginRule

if TYPE_CHECKING:
    from minout.classifier import MinoutClassifier

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
    "MinoutClassifier",
    "MinoutError",
    "NoRehearsal",
    "RandomFourier",
    "Scattering",
    "StepReport",
    "Uniform",
    "UnitReport",
    "__version__",
]


def __getattr__(name: str) -> Any:
    # scikit-learn, and pandas with it, is loaded when somebody wants the classifier.
    if name == "MinoutClassifier":
        from minout.classifier import MinoutClassifier

        return MinoutClassifier
    raise AttributeError(f"module 'minout' has no attribute {name!r}")
