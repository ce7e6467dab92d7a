"""Settle separators: solve a pool, check all examples, add the worst, until all pass."""

from collections.abc import Iterator
from functools import partial
from math import isqrt
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Digests, Floats, Ints
from minout.core import pool as pools
from minout.core.images import Images
from minout.core.pool import Problem
from minout.core.table import RowTable
from minout.core.work import HERE, Work
from minout.errors import NotConverged
from minout.kernels import Pool, Task

IDLE = 30  # a member whose α has been 0 for this many solves is removed from the pool
MARGIN_TOLERANCE = 1e-3  # the tolerance for the margins of the members of a solved pool
ENOUGH = 3
"""From so many separators of a class on, its margins in all of them are bounded by one product."""
WORTH_THREADS = 10_000_000
"""Less work, in multiplications, is not divided: to start a thread takes some of its time."""
NUMBERS = 2**22  # about so many numbers are decoded at a time


class Settled(NamedTuple):
    """A separator that every stored example of its classes was checked against.

    `misfits` are the places at a margin of 0 or less; `least` is the least margin of all others.
    """

    task: Task
    w: Floats
    b: float
    pool: Pool
    misfits: Ints
    least: float


def settle(tasks: list[Task], problem: Problem, bound: float, work: Work = HERE) -> list[Settled]:
    """Settle all separators.

    The results do not depend on which are settled together, on the number of threads, or on who
    does the work; except that what only saves time, images and the start of the next solve, stays
    with those who computed it.
    """
    if work.parts == 1:
        batches = _batches(tasks, problem)
        return [each for some in batches for each in _settled(some, problem, bound)]
    tiles = _tiles(tasks, work.parts)
    compact = problem.images.moved(np.arange(len(problem.table))).apart()
    shared = problem.table, problem.weights, problem.digests, compact
    tile = partial(settle_tile, problem.lam, problem.separators, bound)
    given = [[tasks[n] for n in numbers] for numbers in tiles]
    found: dict[int, Settled] = {}
    for numbers, results in zip(tiles, work.each(tile, shared, given, "pairs"), strict=True):
        for n, result in zip(numbers, results, strict=True):
            found[n] = Settled(tasks[n], *result)
    return [found[n] for n in range(len(tasks))]


def settle_tile(
    lam: float,
    separators: int,
    bound: float,
    table: RowTable,
    weights: Floats,
    digests: Digests,
    images: Images,
    tasks: list[Task],
) -> list[tuple[Floats, float, Pool, Ints, float]]:
    """Settle some separators; return the fields of `Settled` after the first.

    What has images already saves time; those that it needs are added, for the next tile.
    """
    problem = Problem(table, weights, digests, images.geometry, images, lam, separators)
    return [each[1:] for each in settle(tasks, problem, bound)]


def _tiles(tasks: list[Task], parts: int) -> list[list[int]]:
    # Divide tasks, by number, into about so many tiles of about as many rows each. Those between
    # two blocks of regions are near each other: a tile then takes the rows of few regions.
    regions = np.unique([each[1:3] for each in tasks])
    blocks = isqrt(2 * parts) + 1
    block = {c: n * blocks // len(regions) for n, c in enumerate(regions.tolist())}
    key = [(block[each.high], block[each.low], each.high, each.low) for each in tasks]
    order = sorted(range(len(tasks)), key=key.__getitem__)
    rows = np.cumsum([tasks[n].rows for n in order])
    tile = (rows - rows[0]) * parts // max(int(rows[-1]), 1)
    ends = np.flatnonzero(np.diff(tile)) + 1
    return [part.tolist() for part in np.split(np.array(order), ends)]


def _batches(tasks: list[Task], problem: Problem) -> Iterator[list[Task]]:
    # One, or with codes as many as rows can be decoded together.
    if isinstance(problem.table, np.ndarray) or not tasks:
        yield tasks
        return
    numbers = np.cumsum([task.rows for task in tasks]) * problem.table.shape[1] // NUMBERS
    starts = np.unique(numbers, return_index=True)[1].tolist()
    for start, end in zip(starts, [*starts[1:], len(tasks)], strict=True):
        yield tasks[start:end]


def _settled(tasks: list[Task], problem: Problem, bound: float) -> Iterator[Settled]:
    table, images, geometry = problem.table, problem.images, problem.geometry
    given, d, precision = tasks, len(geometry.origin), geometry.precision
    if isinstance(table, np.ndarray):
        places, columns = None, (table, problem.weights, problem.digests)
    else:  # decode each row once, and number the rows anew
        places, given = _renumbered(tasks, len(table))
        columns = table[places], problem.weights[places], problem.digests[places]
    rows, weights, digests = columns
    shared = kernels.Shared(
        rows,
        weights,
        digests.view(np.uint64).reshape(-1, 2),
        geometry.origin,
        geometry.K.reshape(-1, d),
        np.empty((0, d)) if precision is None else precision.reshape(-1, d),
        problem.lam,
        *images.known(places),
    )
    small, large = pools.SMALL_ROOM / problem.separators, pools.LARGE_ROOM / problem.separators
    worth = np.inf if kernels.is_alone() else WORTH_THREADS
    limits = kernels.Limits(bound, MARGIN_TOLERANCE, IDLE, pools.CHEAP, small, large, ENOUGH, worth)
    found = kernels.settle(shared, limits, given)
    if found is None:
        raise NotConverged("a separator did not settle")
    new, pictures, W, results = found
    images.add(new if places is None else places[new], pictures)
    for task, w, (b, pool, misfits, least) in zip(tasks, W, results, strict=True):
        if places is None:
            yield Settled(task, w, b, pool, misfits, least)
        else:
            yield Settled(task, w, b, pool.moved(places), places[misfits], least)


def _renumbered(tasks: list[Task], end: int) -> tuple[Ints, list[Task]]:
    # The places of all rows, ascending, and the tasks with the numbers of rows among them.
    parts = [part for each in tasks for part in (each.pool.places, each.side, each.other_side)]
    places, number = np.unique(np.concatenate(parts)), np.zeros(end, dtype=np.int64)
    number[places] = np.arange(len(places))
    return places, [
        each._replace(
            pool=each.pool.moved(number),
            side=number[each.side],
            other_side=number[each.other_side],
        )
        for each in tasks
    ]
