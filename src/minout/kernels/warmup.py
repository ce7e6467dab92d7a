"""Compile every kernel for every type of argument that minout uses, before they are needed."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from minout.kernels import (
    far,
    grams,
    left_out,
    margins,
    pairs,
    pooling,
    primal,
    projecting,
    rows,
    settling,
    training,
)
from minout.kernels._compiled import kernels, notice
from minout.kernels.best_first import Order, best_first, proposals
from minout.kernels.newton import drop_members, empty_factor, newton
from minout.maths import NgramWeights, SparseRows


class WarmUp(NamedTuple):
    """The number of kernels that are ready, and how many of them had to be compiled."""

    ready: int
    compiled: int


def warm_up(progress: Callable[[int, int], None]) -> WarmUp:
    """Compile every kernel, or load it from the cache; nothing is run.

    Another process compiles one half meanwhile; this one loads what that has put into the cache.
    `progress` is called before each kernel with how many are done, and how many there are.
    """
    first, second = _solving(), _others()
    total = len(first) + len(second)
    code = "from minout.kernels import warmup; print(warmup.compile_others())"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        compiled = _compile(first, lambda done: progress(done, total))
        said = other.communicate()[0].strip()
    compiled += _compile(second, lambda done: progress(len(first) + done, total))
    return WarmUp(total, compiled + int(said or 0))


def compile_others() -> int:
    """Compile the half that the other process compiles; return how many kernels that were."""
    return _compile(_others(), lambda _: None)


def _compile(jobs: Sequence[tuple[Any, ...]], progress: Callable[[int], None]) -> int:
    compiled, notice.is_silent = 0, True  # `progress` shows how far it is
    for done, (kernel, *arguments) in enumerate(jobs):
        progress(done)
        before = _compilations()
        types = (typeof(each) for each in arguments)  # type: ignore[no-untyped-call]
        kernel.compile(tuple(types))
        compiled += _compilations() > before
    return compiled


def _compilations() -> int:
    return sum(sum(kernel.stats.cache_misses.values()) for kernel in kernels)


def cache_folder() -> Path | None:
    """Return the folder that keeps compiled kernels; None if there is none that can be written."""
    stats = getattr(settling.settle_pools, "stats", None)  # None if numba is switched off
    return Path(stats.cache_path) if stats is not None and stats.cache_path else None


# Each kernel that Python code calls, with arguments of the types that it is called with.


def _solving() -> list[tuple[Any, ...]]:
    v, A, cube = np.empty(1), np.empty((1, 1)), np.empty((1, 1, 1))
    A32: Any = A.astype(np.float32)
    ints, words, bools = np.zeros(1, np.int64), np.zeros(1, np.uint64), np.zeros(1, np.bool_)
    pools = settling.Pools(ints, ints, ints, v, v, ints, ints, v, ints, ints)
    sides, limits = settling.Sides(ints, ints, v, v), settling.Limits(0.0, 0.0, 0)
    products, regions = pairs.Products(A, A, A, A), pairs.Divided(ints, ints, ints, v)
    sums = primal.Sums(A, v, bools)
    candidates = left_out.Candidates(A, v, v, v, ints, A)
    leaving = left_out.Leaving(ints[None], A, A, v, v, A, v, A, A)
    jobs: list[tuple[Any, ...]] = [
        (newton, A, v, 0.0, v, empty_factor(1)),
        (drop_members, empty_factor(1), bools),
        (left_out.values_left_out, candidates, leaving, 0.0, v),
        (pairs.pair_scores, products, regions, pairs.ClassPriors(A, A, A, A), v, cube),
    ]
    jobs += [(rows.add_up, each, words[None]) for each in (A, A32, words[None].astype(np.uint8))]
    for table, images in ((A, A), (A32, A32), (A32, A)):
        problem = settling.Problem(table, v, v, images, 0.0)
        jobs += [
            (settling.settle_pools, 0, 0, problem, pools, A, v, sides, limits, ints, v),
            (grams.gram, images, ints, table, ints, v, v, 0, A),
        ]
    for table in (A, A32):
        members = primal.Rows(table, ints, v, v, v)
        jobs += [
            (grams.combine, table, ints, v, v),
            (margins.activations, v, 0.0, table, ints, v, v),
            (primal._newton_primal, members, A, 0.0, v, sums, v),
        ]
    return jobs


def _others() -> list[tuple[Any, ...]]:
    return [*_predicting(), *_features(), *_paper()]


def _predicting() -> list[tuple[Any, ...]]:
    v, A = np.empty(1), np.empty((1, 1))
    v32, A32 = v.astype(np.float32), A.astype(np.float32)
    ints, bools, small = np.zeros(1, np.int64), np.zeros(1, np.bool_), np.zeros((1, 1), np.uint8)
    order, slots = Order(ints, ints), np.zeros(1, np.int32)
    model = far.Far(A, v, ints, v, slots, ints, ints, A, v, ints, A, ints, A, v)
    jobs = list[tuple[Any, ...]]()
    for table in (A, A32):
        x: Any = table[0]
        jobs += [
            (rows.decode_columns, small, 0, v, v, v, table),
            (rows.decode_levels, small, v, v, table),
            (margins.region_margins, A, v, slots, x, v, ints, 0, 0.0, v),
            (margins.scores, A, v, slots, table, v, ints, A),
            (best_first, A, v, slots, table, v, ints, ints, order, 0, ints, bools),
            (proposals, A32, v32, table, v, ints),
            (far.pair_values, v, v, v, 0.0, A, ints, v, table, ints, v, v),
            (far.discriminant_margins, A, v, v, table, ints, ints, ints, v, v),
            (far.far_margins, model, x, v, 0.0, 0, 0.0, v),
            (far.far_scores, model, table, v, v, A),
            (far.far_winners, model, table, v, v, order, ints, v),
        ]
    return jobs


def _features() -> list[tuple[Any, ...]]:
    v, ints = np.empty(1), np.zeros(1, np.int64)
    A32, cube = np.empty((1, 1), np.float32), np.empty((2, 2, 2), np.float32)
    words, points = np.zeros(1, np.uint64), np.zeros(1, np.uint32)
    return [
        (projecting.project, SparseRows(v, words, ints), 0, A32),
        (projecting.add_counts, words, NgramWeights(words, v), 0.0, 0, v),
        (projecting.word_grams, points, words),
        (projecting.character_grams, points, 0, 0, words),
        (pooling.filtered, cube, cube, cube[None]),
        (pooling.moduli, cube, cube),
        (pooling.pooled, cube, A32, A32, A32),
        (pooling.pooled, cube[:, :, :1], A32, A32, A32),
        (pooling.even_out, cube, ints, 0.0),
    ]


def _paper() -> list[tuple[Any, ...]]:
    v, A, ints = np.empty(1), np.empty((1, 1)), np.zeros(1, np.int64)
    bools, grid = np.zeros(1, np.bool_), np.zeros((1, 1), np.bool_)
    unit = training.UnitTable(A, grid, ints)
    lesson = training.Lesson(0, A, bools, 0.0, False, 0.0, 0, 0.0, 0.0, 0, 0)
    log = training.Log(A, grid, ints)
    return [
        (rows.products, A, v, v),
        (rows.add_multiples, A, ints, A, ints, v),
        (training.train_unit, unit, lesson, np.random.default_rng(0), log),
    ]
