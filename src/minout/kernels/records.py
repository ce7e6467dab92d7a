"""The records that kernels take and return; `native/` has a structure for each."""

from typing import NamedTuple

from minout._typing import Bools, Floats, Ints


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
