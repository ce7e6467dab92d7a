"""Settle separators: solve a pool, check all examples, add the worst, until all pass."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.batch import solve_and_measure
from minout.core.check import MARGIN_TOLERANCE, CheckResult, check, judge, signs_of
from minout.core.pool import Pool, Problem
from minout.core.regions import NO_PLACES
from minout.core.screen import margin_bounds
from minout.errors import NotConverged

WORTH_DIVIDING = 1_000_000
"""Jobs of fewer multiplications per check are not divided between threads."""
BATCH = 256  # the number of small jobs that are settled at a time
NUMBERS = 2**22  # about so many numbers are decoded for the small jobs that are settled at a time
MARGINS = 2**24  # about so many margins of large jobs are bounded at a time
NO_SIGNS: Floats = np.empty(0)


class Job(NamedTuple):
    """A separator to settle: its number, its classes, their examples, and a pool of its own.

    The pool belongs to the job: settling changes it.
    """

    pair: int
    low: int
    high: int
    pool: Pool
    sides: tuple[Ints, Ints]


class Settled(NamedTuple):
    """A separator that every stored example of its classes was checked against."""

    job: Job
    w: Floats
    b: float
    found: CheckResult


def settle(jobs: Sequence[Job], problem: Problem, bound: float) -> list[Settled]:
    """Settle all jobs: small ones in batches, large ones in threads.

    The results do not depend on the batches or on the number of threads.
    """
    small = [job for job in jobs if _is_small(job, problem)]
    settled: dict[int, Settled] = {}
    for batch in _batches(small, problem):
        _settle_small(batch, problem, bound, settled)
    large = [job for job in jobs if job.pair not in settled]
    for each in _settle_large(large, problem, bound):
        settled[each.job.pair] = each
    return [settled[job.pair] for job in jobs]


def _is_small(job: Job, problem: Problem) -> bool:
    n = len(job.sides[0]) + len(job.sides[1])
    return n * problem.table.shape[1] < WORTH_DIVIDING and job.pool.is_small(problem)


def _batches(jobs: Sequence[Job], problem: Problem) -> list[Sequence[Job]]:
    # With codes, batches are smaller: their rows are decoded together.
    if isinstance(problem.table, np.ndarray) or not jobs:
        return [jobs[start : start + BATCH] for start in range(0, len(jobs), BATCH)]
    rows = np.cumsum([sum(len(side) for side in job.sides) for job in jobs])
    number = rows * problem.table.shape[1] // NUMBERS
    starts = np.unique(number, return_index=True)[1].tolist()
    return [jobs[i:j] for i, j in zip(starts, [*starts[1:], len(jobs)], strict=True)]


def _settle_small(
    jobs: Sequence[Job], problem: Problem, bound: float, settled: dict[int, Settled]
) -> None:
    # A job whose pool outgrows this, or cannot be solved here, is left for _settle_large.
    while jobs:
        pools, sides = [job.pool for job in jobs], [job.sides for job in jobs]
        measured = solve_and_measure(pools, sides, problem, bound, MARGIN_TOLERANCE)
        unsettled = []
        for job, one in zip(jobs, measured, strict=True):
            if one is None:
                continue
            if one.is_settled:
                found = CheckResult(NO_PLACES, NO_SIGNS, NO_PLACES, one.least, len(one.margins))
            else:
                places, signs = np.concatenate(job.sides), signs_of(job.sides)
                args = (one.w, one.b, places, signs, one.margins, job.pool, problem, bound)
                try:
                    found = judge(*args)
                except NotConverged:
                    continue
            if not len(found.places):
                if not one.is_settled:
                    job.pool.trim(problem)
                settled[job.pair] = Settled(job, one.w, one.b, found)
                continue
            job.pool.join(found.places, found.signs)
            if job.pool.is_small(problem):
                unsettled.append(job)
        jobs = unsettled


def _settle_large(jobs: Sequence[Job], problem: Problem, bound: float) -> list[Settled]:
    # In rounds. Images are computed between them, because BLAS rounds differently when other rows
    # are multiplied in the same call: results would depend on the timing of the threads.
    settled: list[Settled] = []
    rows = sum(len(side) for job in jobs for side in job.sides)
    for _ in range(rows + 2):  # each round but the last adds at least one example
        if not jobs:
            return settled
        members = [job.pool.places for job in jobs if job.pool.goes_by_alpha(problem)]
        problem.images.of(problem.table, np.concatenate([NO_PLACES, *members]))
        solved = [each for some in _groups(jobs) for each in _solved(some, problem, bound)]
        for job, _w, _b, found in solved:
            if len(found.places):
                job.pool.join(found.places, found.signs)
            else:
                job.pool.trim(problem)
        settled += [each for each in solved if not len(each.found.places)]
        jobs = [each.job for each in solved if len(each.found.places)]
    raise NotConverged("a separator did not settle")


def _groups(jobs: Sequence[Job]) -> list[Sequence[Job]]:
    # Jobs whose bounds on margins are held at the same time.
    rows = np.cumsum([sum(len(side) for side in job.sides) for job in jobs])
    starts = np.unique(rows // MARGINS, return_index=True)[1].tolist()
    return [jobs[i:j] for i, j in zip(starts, [*starts[1:], len(jobs)], strict=True)]


def _solved(jobs: Sequence[Job], problem: Problem, bound: float) -> list[Settled]:
    # Solve each pool, and check all examples of its classes.
    may_go_by_w = problem.geometry.precision is not None

    def solve(job: Job) -> tuple[Floats, float]:
        try:
            job.pool.solve(problem)
        except NotConverged:
            if not may_go_by_w:
                raise
            job.pool.solve(problem, by_w=True)
        return job.pool.weights(problem)

    def checked(n: int) -> Settled:
        job, (w, b) = jobs[n], solutions[n]
        try:
            return Settled(job, w, b, check(w, b, job.sides, bounds[n], job.pool, problem, bound))
        except NotConverged:
            if not may_go_by_w:
                raise
        job.pool.solve(problem, by_w=True)
        w, b = job.pool.weights(problem)
        (own,) = margin_bounds([classes[n]], [job.sides], w[None], np.array([b]), problem)
        return Settled(job, w, b, check(w, b, job.sides, own, job.pool, problem, bound))

    is_worth_it = _are_worth_dividing(jobs, problem)
    solutions = kernels.in_threads(solve, jobs) if is_worth_it else [*map(solve, jobs)]
    W, b = np.array([w for w, _ in solutions]), np.array([b for _, b in solutions])
    classes, sides = [(job.low, job.high) for job in jobs], [job.sides for job in jobs]
    bounds = margin_bounds(classes, sides, W, b, problem)
    numbers = range(len(jobs))
    return kernels.in_threads(checked, numbers) if is_worth_it else [*map(checked, numbers)]


def _are_worth_dividing(jobs: Sequence[Job], problem: Problem) -> bool:
    rows = sum(len(side) for job in jobs for side in job.sides)
    width: int = problem.table.shape[1]
    return rows * width >= WORTH_DIVIDING * len(jobs)
