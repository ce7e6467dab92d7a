"""The arithmetic in C++ (`native/`), and the records that it takes."""

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
from minout.kernels.threads import in_threads, one_blas_thread
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
