"""The records that kernels take and return; `native/` has a structure for each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints, Words


class UnitTable(NamedTuple):
    """One unit at every row: a (k, ≥ n), and the index, clipped (k, ≥ n) and counters (≥ n,)."""

    a: Floats
    clipped: Bools
    counters: Ints


class Lesson(NamedTuple):
    """What to learn, row `new` beside the stored rows 0 … new - 1, and how.

    products (≥ n, ≥ n) holds x_r·x_i + 1; positive (n,) says which rows belong to the unit; `mean`
    averages the rehearsal losses; a `budget` below 0 is none.
    """

    new: int
    products: Floats
    positive: Bools
    learning_rate: float
    mean: bool
    stop_loss: float
    max_steps: int
    threshold: float
    grid: float
    policy: int
    budget: int


class Log(NamedTuple):
    """What was done: weight changes (k, n) by neuron and row, and which rows were ever in a set.

    The sets (3, new): Ŝ, those that a step could disturb, those rehearsed. `sums` adds up over the
    steps: the sizes of the three, how many were in the second but not rehearsed, and steps in which
    a row that was not rehearsed entered or left S1.
    """

    changes: Floats
    sets: Bools
    sums: Ints


class Shared(NamedTuple):
    """What separators share: rows (n, d), weights (n,) and digests (n, 2) by place, the metric, λ.

    K is (d, d), or (1, d) for a diagonal; P (d + 1, d + 1) its inverse with 1 for the bias, or
    empty. images[i] is the image of the row at place[i]; slot[p] is i if place[i] is p.
    """

    table: Floats | NDArray[np.float32]
    weights: Floats
    digests: Words
    origin: Floats
    K: Floats
    P: Floats
    lam: float
    images: Floats
    place: Ints
    slot: Ints


class Limits(NamedTuple):
    """The bound on margins, and that of members' errors; `native/settle.hpp` has the others."""

    bound: float
    tolerance: float
    idle: int
    cheap: float
    small_room: float
    large_room: float
    enough: int
    worth_threads: float


class Task(NamedTuple):
    """A separator to settle: its classes, prior, pool, and the places of the rows on its sides.

    products, factor, order and u are what an earlier solve left (`core/pool.py`).
    """

    low: int
    high: int
    w: Floats
    b: float
    places: Ints
    signs: Floats
    alpha: Floats
    idle: Ints
    products: Floats
    factor: Floats
    order: Ints
    u: Floats
    side: Ints
    other_side: Ints
