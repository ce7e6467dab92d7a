"""Learn from a stream, one example at a time, and report what each example disturbs."""

from typing import TYPE_CHECKING, Any

from minout._version import __version__
from minout.engine import Audit, Certificate, StepReport
from minout.errors import InvalidInputError, MinoutError
from minout.features import Encoder, Identity, RandomFourier, Scattering
from minout.learner import Learner

if TYPE_CHECKING:
    from minout.classifier import MinoutClassifier

__all__ = [
    "Audit",
    "Certificate",
    "Encoder",
    "Identity",
    "InvalidInputError",
    "Learner",
    "MinoutClassifier",
    "MinoutError",
    "RandomFourier",
    "Scattering",
    "StepReport",
    "__version__",
]


def __getattr__(name: str) -> Any:
    # Import scikit-learn, which imports pandas, only when the classifier is used.
    if name == "MinoutClassifier":
        from minout.classifier import MinoutClassifier

        return MinoutClassifier
    raise AttributeError(f"module 'minout' has no attribute {name!r}")
