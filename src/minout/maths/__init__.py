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
    LEAST_SHARE,
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
    mirrored,
    plain,
    prior,
    shrinkage,
    stiff,
    stiffness,
    sum_in_blocks,
    units,
)
from minout.maths.interference import interfered, partition
from minout.maths.label_noise import LabelNoise, label_noise, softmax
from minout.maths.leave_one_out import (
    PriorLeftOut,
    Removal,
    inverse,
    moved,
    prior_left_out,
    removal,
    values_by_w,
)
from minout.maths.projection import ENTRIES, NgramWeights, SparseRows
from minout.maths.separator import margins, separator
