"""Settle separators: solve a pool, check all examples, add the worst, until all pass."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.core import pool as pools
from minout.core.pool import Pool, Problem, Start
from minout.errors import NotConverged

IDLE = 30  # a member whose α has been 0 for this many solves is removed from the pool
MARGIN_TOLERANCE = 1e-3  # the tolerance for the margins of the members of a solved pool
ENOUGH = 3
"""From so many separators of a class on, its margins in all of them are bounded by one product."""
WORTH_THREADS = 10_000_000
"""Less work, in multiplications, is not divided: to start a thread takes some of its time."""
NUMBERS = 2**22  # about so many numbers are decoded at a time
NOTHING_KNOWN: Floats = np.empty((0, 0))


class Job(NamedTuple):
    """A separator to settle: its number, its classes, their examples, and its pool."""

    pair: int
    low: int
    high: int
    pool: Pool
    sides: tuple[Ints, Ints]

    @property
    def rows(self) -> int:
        """How many examples its classes have."""
        return len(self.sides[0]) + len(self.sides[1])


class Settled(NamedTuple):
    """A separator that every stored example of its classes was checked against.

    `misfits` are the places at a margin of 0 or less; `least` is the least margin of all others.
    """

    job: Job
    w: Floats
    b: float
    pool: Pool
    misfits: Ints
    least: float


def settle(jobs: Sequence[Job], problem: Problem, bound: float) -> list[Settled]:
    """Settle all jobs.

    The results do not depend on which are settled together, or on the number of threads.
    """
    return [each for some in _batches(jobs, problem) for each in _settled(some, problem, bound)]


def _batches(jobs: Sequence[Job], problem: Problem) -> Iterator[Sequence[Job]]:
    # One, or with codes as many as rows can be decoded together.
    if isinstance(problem.table, np.ndarray) or not jobs:
        yield jobs
        return
    numbers = np.cumsum([job.rows for job in jobs]) * problem.table.shape[1] // NUMBERS
    starts = np.unique(numbers, return_index=True)[1].tolist()
    for start, end in zip(starts, [*starts[1:], len(jobs)], strict=True):
        yield jobs[start:end]


def _settled(jobs: Sequence[Job], problem: Problem, bound: float) -> Iterator[Settled]:
    table, images, geometry = problem.table, problem.images, problem.geometry
    tasks = [_task(job) for job in jobs]
    if isinstance(table, np.ndarray):
        places, columns = None, (table, problem.weights, problem.digests)
    else:  # decode each row once, and number the rows anew
        places, tasks = _renumbered(tasks)
        columns = table[places], problem.weights[places], problem.digests[places]
    rows, weights, digests = columns
    shared = kernels.Shared(
        rows,
        weights,
        digests.view(np.uint64).reshape(-1, 2),
        geometry.origin,
        geometry.K.reshape(-1, len(geometry.origin)),
        _with_bias(geometry.precision),
        problem.lam,
        *images.known(places),
    )
    small, large = pools.SMALL_ROOM / problem.separators, pools.LARGE_ROOM / problem.separators
    limits = kernels.Limits(
        bound, MARGIN_TOLERANCE, IDLE, pools.CHEAP, small, large, ENOUGH, WORTH_THREADS
    )
    found = kernels.settle(shared, limits, tasks)
    if found is None:
        raise NotConverged("a separator did not settle")
    new, pictures, W, results = found
    images.add(new if places is None else places[new], pictures)
    for job, w, (b, where, signs, alpha, idle, start, misfits, least) in zip(
        jobs, W, results, strict=True
    ):
        pool = Pool.restored(job.pool.prior, where, signs, alpha, idle, Start(*start))
        if places is None:
            yield Settled(job, w, b, pool, misfits, least)
        else:
            yield Settled(job, w, b, pool.moved(places), places[misfits], least)


def _task(job: Job) -> kernels.Task:
    pool, (w, b), (side, other_side) = job.pool, job.pool.prior, job.sides
    products, factor, order, u = pool.start
    return kernels.Task(
        job.low,
        job.high,
        w,
        b,
        pool.places,
        pool.signs,
        pool.alpha,
        pool.idle,
        products,
        factor,
        order,
        u,
        side,
        other_side,
    )


def _renumbered(tasks: Sequence[kernels.Task]) -> tuple[Ints, list[kernels.Task]]:
    # The places of all rows, ascending, and the tasks with the numbers of rows among them.
    parts = [part for each in tasks for part in (each.places, each.side, each.other_side)]
    places, numbers = np.unique(np.concatenate(parts), return_inverse=True)
    own = iter(np.split(numbers, np.cumsum([len(part) for part in parts])[:-1]))
    return places, [
        each._replace(places=next(own), side=next(own), other_side=next(own)) for each in tasks
    ]


def _with_bias(precision: Floats | None) -> Floats:
    # The inverse of the metric, with 1 for the bias.
    if precision is None:
        return NOTHING_KNOWN
    P = np.zeros((len(precision) + 1,) * 2)
    P[:-1, :-1] = np.diag(precision) if precision.ndim == 1 else precision
    P[-1, -1] = 1.0
    return P
