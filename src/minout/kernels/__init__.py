"""Compiled versions of the formulas in maths; the only package that imports numba."""

from minout.kernels._native import native
from minout.kernels.grams import combine, gram
from minout.kernels.left_out import Candidates, Leaving, values_left_out
from minout.kernels.newton import Factor, drop_members, empty_factor, newton
from minout.kernels.pairs import ClassPriors, Divided, Products, pair_scores
from minout.kernels.primal import Rows, newton_primal, no_sums
from minout.kernels.projecting import add_counts, character_grams, project, word_grams
from minout.kernels.records import Far, Order, digests
from minout.kernels.settling import SETTLED, UNSOLVED, Limits, Pools, Problem, Sides, settle_pools
from minout.kernels.threads import in_threads, one_blas_thread
from minout.kernels.training import Lesson, Log, UnitTable, train_unit

activations = native.activations
region_margins = native.region_margins
scores = native.scores

products = native.products
add_multiples = native.add_multiples
decode_columns = native.decode_columns
decode_levels = native.decode_levels

best_first = native.best_first
proposals = native.proposals

pair_values = native.pair_values
discriminant_margins = native.discriminant_margins
far_margins = native.far_margins
far_scores = native.far_scores
far_winners = native.far_winners
