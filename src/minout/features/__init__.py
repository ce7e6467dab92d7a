"""Feature maps: fixed functions from examples to the rows that a learner stores."""

from minout.features._checks import (
    LARGEST,
    batch_size,
    dense_if_narrow,
    is_sparse,
    largest_absolute,
    refuse_masked,
)
from minout.features.encoder import Encoder, UnknownMap
from minout.features.feature_map import FeatureMap
from minout.features.identity import Identity
from minout.features.named import named, takes_rows
from minout.features.projection import Projection
from minout.features.scattering import Scattering
from minout.features.text import HashedText

__all__ = [
    "LARGEST",
    "Encoder",
    "FeatureMap",
    "HashedText",
    "Identity",
    "Projection",
    "Scattering",
    "UnknownMap",
    "batch_size",
    "dense_if_narrow",
    "is_sparse",
    "largest_absolute",
    "named",
    "refuse_masked",
    "takes_rows",
]
