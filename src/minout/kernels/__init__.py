"""The arithmetic in C++ (`native/`), and the records that it takes."""

import copyreg
from collections.abc import Callable
from typing import Any

from minout._typing import Ints
from minout.kernels._native import native
from minout.kernels.clusters import centres, nearest
from minout.kernels.records import (
    Candidates,
    ClassPriors,
    Divided,
    Factor,
    Far,
    Leaving,
    Lesson,
    Limits,
    Log,
    Order,
    Products,
    Rows,
    Shared,
    Sums,
    Task,
    UnitTable,
    digests,
    empty_factor,
    no_sums,
)
from minout.kernels.threads import alone, in_threads, is_alone, one_blas_thread
from minout.kernels.whole import product

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

multiply = native.multiply
newton = native.newton
best_step = native.best_step
newton_primal = native.newton_primal
settle = native.settle
Pool = native.Pool
pair_scores = native.pair_scores
values_left_out = native.values_left_out

project = native.project
hash_texts = native.hash_texts
hash_ngrams = native.hash_ngrams

filtered = native.filtered
moduli = native.moduli
pooled = native.pooled
even_out = native.even_out

train_unit = native.train_unit


def pool_of(*values: Ints) -> Pool:
    """Return a pool of its places, signs, α and idle times, to be solved from the start."""
    return Pool(*values)


def _without_start(pool: Pool) -> tuple[Callable[..., Pool], tuple[Any, ...]]:
    return pool_of, (pool.places, pool.signs, pool.alpha, pool.idle)


copyreg.pickle(Pool, _without_start)  # for other processes, whose build may be another one
