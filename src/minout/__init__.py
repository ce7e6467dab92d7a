"""Learn from a stream, one example at a time, and report what each example disturbs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from minout._version import __version__
from minout.errors import InvalidInputError, MinoutError

if TYPE_CHECKING:
    from minout.codecs import Codes, ScalarCodec
    from minout.core import Audit, Certificate, StepReport
    from minout.drift import Drift, DriftMonitor
    from minout.estimator import MinoutClassifier
    from minout.features import Encoder, HashedText, Identity, Projection, Scattering
    from minout.inputs import Schema
    from minout.learner import Learner

__all__ = [
    "Audit",
    "Certificate",
    "Codes",
    "Drift",
    "DriftMonitor",
    "Encoder",
    "HashedText",
    "Identity",
    "InvalidInputError",
    "Learner",
    "MinoutClassifier",
    "MinoutError",
    "Projection",
    "ScalarCodec",
    "Scattering",
    "Schema",
    "StepReport",
    "__version__",
]

_MODULES = {
    "Audit": "minout.core",
    "Certificate": "minout.core",
    "Codes": "minout.codecs",
    "Drift": "minout.drift",
    "DriftMonitor": "minout.drift",
    "Encoder": "minout.features",
    "HashedText": "minout.features",
    "Identity": "minout.features",
    "Learner": "minout.learner",
    "MinoutClassifier": "minout.estimator",
    "Projection": "minout.features",
    "ScalarCodec": "minout.codecs",
    "Scattering": "minout.features",
    "Schema": "minout.inputs",
    "StepReport": "minout.core",
}
"""The modules of names that are imported on first use: NumPy and scikit-learn take time."""

if not TYPE_CHECKING:  # with a `__getattr__`, type checkers would accept any name

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module 'minout' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_MODULES[name]), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
