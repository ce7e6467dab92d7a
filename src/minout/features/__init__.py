"""Feature maps: fixed functions from examples to the rows that a learner stores."""

from minout.features.checks import (
    LARGEST,
    batch_size,
    check_array,
    dense_if_narrow,
    is_sparse,
    refuse_masked,
)
from minout.features.feature_map import FeatureMap
from minout.features.named import Encoder, Identity, UnknownMap, name_of, named, takes_rows
from minout.features.projection import Projection
from minout.features.scattering import Scattering
from minout.features.text import HashedText
