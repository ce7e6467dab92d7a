"""The equations in plain NumPy: the specification that everything else must agree with."""

from minout.maths.clusters import centres, nearest
from minout.maths.expansion import (
    NO_EXPANSION,
    Expansion,
    by_column,
    expanded,
    expansion,
    filling,
    slopes,
)
from minout.maths.geometry import (
    NOISE,
    RIDGE,
    TINY,
    Blocks,
    Geometry,
    Moments,
    Prior,
    images,
    in_blocks,
    metric,
    metric_of_few,
    plain,
    prior,
    sum_in_blocks,
)
from minout.maths.interference import Partition, interfered, partition
from minout.maths.label_noise import LabelNoise, label_noise
from minout.maths.leave_one_out import margins_left_out, margins_left_out_by_w
from minout.maths.projection import ENTRIES, SparseRows
from minout.maths.separator import Separator, margins, separator

__all__ = [
    "ENTRIES",
    "NOISE",
    "NO_EXPANSION",
    "RIDGE",
    "TINY",
    "Blocks",
    "Expansion",
    "Geometry",
    "LabelNoise",
    "Moments",
    "Partition",
    "Prior",
    "Separator",
    "SparseRows",
    "by_column",
    "centres",
    "expanded",
    "expansion",
    "filling",
    "images",
    "in_blocks",
    "interfered",
    "label_noise",
    "margins",
    "margins_left_out",
    "margins_left_out_by_w",
    "metric",
    "metric_of_few",
    "nearest",
    "partition",
    "plain",
    "prior",
    "separator",
    "slopes",
    "sum_in_blocks",
]
