"""Feature maps: fixed functions from examples to the rows that a learner stores."""

from minout.features._checks import LARGEST, largest_absolute, refuse_masked
from minout.features.encoder import Encoder
from minout.features.feature_map import FeatureMap
from minout.features.identity import Identity
from minout.features.named import named
from minout.features.random_fourier import RandomFourier
from minout.features.scattering import Scattering

__all__ = [
    "LARGEST",
    "Encoder",
    "FeatureMap",
    "Identity",
    "RandomFourier",
    "Scattering",
    "largest_absolute",
    "named",
    "refuse_masked",
]
