"""Settles separators: solve for a pool, check everybody, add the worst, until nobody is below."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.learner._check import MANY, OFF, Found, check, judge
from minout.learner._reference import Reference
from minout.learner._sketch import Sketch
from minout.rules import Ground, Pool, solve_and_look

WORTH_DIVIDING = 1_000_000
"""Jobs of fewer multiplications per check cost more to hand to threads than to do."""
BATCH = 256
"""So many small jobs are settled at a time."""
NOBODY: Ints = np.empty(0, dtype=np.int64)
NOTHING: Floats = np.empty(0)


class Job(NamedTuple):
    """Is a separator to settle: its number, its classes and their examples, and its pool."""

    pair: int
    low: int
    high: int
    pool: Pool
    sides: tuple[Ints, Ints]
    reference: Reference


class Settled(NamedTuple):
    """Is a separator that every stored example of its classes was checked against."""

    job: Job
    w: Floats
    b: float
    found: Found


def settle(
    jobs: Sequence[Job], ground: Ground, bound: float, sketch: Sketch | None
) -> list[Settled]:
    """Settles each job on its own: small ones many at a time, large ones two.

    The answers do not depend on who is settled beside whom, nor on threads.
    """
    small = [job for job in jobs if _is_small(job, ground, sketch)]
    settled: dict[int, Settled] = {}
    for start in range(0, len(small), BATCH):
        _settle_small(small[start : start + BATCH], ground, bound, settled)
    large = [job for job in jobs if job.pair not in settled]
    for each in _settle_large(large, ground, bound, sketch):
        settled[each.job.pair] = each
    return [settled[job.pair] for job in jobs]


def _is_small(job: Job, ground: Ground, sketch: Sketch | None) -> bool:
    n = len(job.sides[0]) + len(job.sides[1])
    unbounded = sketch is None or n < MANY
    few = n * ground.table.shape[1] < WORTH_DIVIDING
    return unbounded and few and job.pool.is_small(ground)


def _settle_small(
    jobs: Sequence[Job], ground: Ground, bound: float, settled: dict[int, Settled]
) -> None:
    # Whose pool outgrows this, or cannot be solved here, is left for the others' way.
    while jobs:
        pools, sides = [job.pool for job in jobs], [job.sides for job in jobs]
        looked = solve_and_look(pools, sides, ground, bound, OFF)
        unsettled = []
        for job, look in zip(jobs, looked, strict=True):
            if look is None:
                continue
            if look.is_settled:
                found = Found(NOBODY, NOTHING, NOBODY, look.least, len(look.margins))
            else:
                found = judge(look.w, look.b, job.sides, look.margins, job.pool, ground, bound)
            if not len(found.places):
                if not look.is_settled:
                    job.pool.rest(ground)
                settled[job.pair] = Settled(job, look.w, look.b, found)
                continue
            job.pool.join(found.places, found.signs)
            if job.pool.is_small(ground):
                unsettled.append(job)
        jobs = unsettled


def _settle_large(
    jobs: Sequence[Job], ground: Ground, bound: float, sketch: Sketch | None
) -> list[Settled]:
    rows = sum(len(side) for job in jobs for side in job.sides)
    if rows * ground.table.shape[1] < WORTH_DIVIDING * len(jobs):
        return [_settle(job, ground, bound, sketch) for job in jobs]
    return kernels.in_threads(lambda job: _settle(job, ground, bound, sketch), jobs)


def _settle(job: Job, ground: Ground, bound: float, sketch: Sketch | None) -> Settled:
    pool, members = job.pool, len(job.sides[0]) + len(job.sides[1])
    for _ in range(members + 2):  # each round but the last adds at least one of them
        pool.solve(ground)
        w, b = pool.weights(ground)
        found = check(w, b, job.sides, pool, ground, bound, job.reference, sketch)
        if not len(found.places):
            pool.rest(ground)
            return Settled(job, w, b, found)
        pool.join(found.places, found.signs)
    raise ArithmeticError("a separator did not settle")
