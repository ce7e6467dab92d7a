"""Settles separators: solve for a pool, check everybody, add the worst, until nobody is below."""

from collections.abc import Sequence
from typing import NamedTuple

from minout import kernels
from minout._typing import Floats, Ints
from minout.learner._check import Found, check
from minout.learner._reference import Reference
from minout.learner._sketch import Sketch
from minout.rules import Ground, Pool

WORTH_DIVIDING = 1_000_000
"""Jobs of fewer multiplications per check cost more to hand to threads than to do."""


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
    """Settles each job on its own; large ones two at a time. The answers do not depend on that."""
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
            pool.rest()
            return Settled(job, w, b, found)
        pool.join(found.places, found.signs)
    raise ArithmeticError("a separator did not settle")
