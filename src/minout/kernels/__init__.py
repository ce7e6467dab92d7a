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
from minout.kernels.grams import combine, gram
from minout.kernels.left_out import Candidates, Leaving, values_left_out
from minout.kernels.margins import activations, region_margins, scores
from minout.kernels.newton import Factor, drop_members, empty_factor, newton
from minout.kernels.pairs import ClassPriors, Divided, Products, pair_scores
from minout.kernels.primal import Rows, newton_primal, no_sums
from minout.kernels.records import Lesson, Limits, Log, Shared, Task, UnitTable
from minout.kernels.rows import (
    add_multiples,
    decode_columns,
    decode_levels,
    digests,
    products,
)
from minout.kernels.threads import in_threads, one_blas_thread

project = native.project
hash_texts = native.hash_texts

filtered = native.filtered
moduli = native.moduli
pooled = native.pooled
even_out = native.even_out

train_unit = native.train_unit

multiply = native.multiply
settle = native.settle
kept_members = native.kept_members
