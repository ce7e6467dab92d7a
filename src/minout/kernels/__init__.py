"""Compiled versions of the formulas in maths; the only package that imports numba."""

from minout.kernels._native import native
from minout.kernels.best_first import Order, best_first, proposals
from minout.kernels.far import (
    Far,
    discriminant_margins,
    far_margins,
    far_scores,
    far_winners,
    pair_values,
)
from minout.kernels.margins import activations, region_margins, scores
from minout.kernels.projecting import add_counts, character_grams, project, word_grams
from minout.kernels.records import (
    SETTLED,
    UNSOLVED,
    Candidates,
    ClassPriors,
    Divided,
    Factor,
    Leaving,
    Limits,
    Pools,
    Problem,
    Products,
    Rows,
    Sides,
    Sums,
    empty_factor,
    no_sums,
)
from minout.kernels.rows import (
    add_multiples,
    decode_columns,
    decode_levels,
    digests,
    products,
)
from minout.kernels.threads import in_threads, one_blas_thread
from minout.kernels.training import Lesson, Log, UnitTable, train_unit

newton = native.newton
drop_members = native.drop_members
best_step = native.best_step
gram = native.gram
combine = native.combine
settle_pools = native.settle_pools
newton_primal = native.newton_primal
pair_scores = native.pair_scores
values_left_out = native.values_left_out
