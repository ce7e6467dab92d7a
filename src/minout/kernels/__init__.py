"""Compiled versions of the formulas in maths; the only package that imports numba."""

from minout.kernels.best_first import Order, best_first, play_offs, proposals
from minout.kernels.bitmaps import (
    Bitmaps,
    all_below,
    ascending_below,
    bits,
    interfered,
    replace,
    write,
)
from minout.kernels.bounds import LEVELS, TOLERANCE, Changes, doubtful
from minout.kernels.codes import (
    decode_centroids,
    decode_columns,
    decode_levels,
    decode_rows,
    nearest_centroids,
)
from minout.kernels.far import (
    ClassScores,
    Corrections,
    Weights,
    discriminant_margins,
    far_margins,
    far_scores,
    far_winners,
    pair_values,
)
from minout.kernels.grams import combine, gram
from minout.kernels.interrupts import restoring_interrupts
from minout.kernels.margins import activations, region_margins, scores
from minout.kernels.newton import Factor, drop_members, empty_factor, newton
from minout.kernels.pairs import ClassPriors, Divided, Products, pair_scores
from minout.kernels.primal import Rows, Sums, newton_primal, no_sums, take_out
from minout.kernels.products import add_multiples, products, products_by_column
from minout.kernels.projecting import add_counts, character_grams, project, word_grams
from minout.kernels.rows import count_wrong_digests, digest
from minout.kernels.settling import (
    SETTLED,
    UNSOLVED,
    Limits,
    Pools,
    Problem,
    Sides,
    settle_pools,
)
from minout.kernels.tally import Sets, Tally, tally
from minout.kernels.threads import in_threads, one_blas_thread
from minout.kernels.training import (
    GradientStep,
    clipped,
    follow,
    follow_and_clip,
    gradient_step,
    least,
    least_of,
)

__all__ = [
    "LEVELS",
    "SETTLED",
    "TOLERANCE",
    "UNSOLVED",
    "Bitmaps",
    "Changes",
    "ClassPriors",
    "ClassScores",
    "Corrections",
    "Divided",
    "Factor",
    "GradientStep",
    "Limits",
    "Order",
    "Pools",
    "Problem",
    "Products",
    "Rows",
    "Sets",
    "Sides",
    "Sums",
    "Tally",
    "Weights",
    "activations",
    "add_counts",
    "add_multiples",
    "all_below",
    "ascending_below",
    "best_first",
    "bits",
    "character_grams",
    "clipped",
    "combine",
    "count_wrong_digests",
    "decode_centroids",
    "decode_columns",
    "decode_levels",
    "decode_rows",
    "digest",
    "discriminant_margins",
    "doubtful",
    "drop_members",
    "empty_factor",
    "far_margins",
    "far_scores",
    "far_winners",
    "follow",
    "follow_and_clip",
    "gradient_step",
    "gram",
    "in_threads",
    "interfered",
    "least",
    "least_of",
    "nearest_centroids",
    "newton",
    "newton_primal",
    "no_sums",
    "one_blas_thread",
    "pair_scores",
    "pair_values",
    "play_offs",
    "products",
    "products_by_column",
    "project",
    "proposals",
    "region_margins",
    "replace",
    "restoring_interrupts",
    "scores",
    "settle_pools",
    "take_out",
    "tally",
    "word_grams",
    "write",
]
