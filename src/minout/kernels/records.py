"""The records that kernels take and return; `native/` has a structure for each."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Digests, Floats, Ints, Words
from minout.kernels._native import native


class Order(NamedTuple):
    """The label of each region, and the rank of each: of equal scores, the lowest rank wins."""

    rank: Ints
    owner: Ints


class Far(NamedTuple):
    """A model with far pairs: one linear score per class, and what pairs of classes add to it.

    V (m, d) and half (m,) are the scores, owner (m,) the labels. By pair number: scale is the
    factor of a far pair; `at` is a near pair's row of W and b, or minus the number of a far pair's
    corrections, or 0 without any.

    Corrections are concatenated: number k has size[k] entries from start[k] on, each with its coef
    and its place; images[slot[place]] is the image of a stored row. bounds[k] are floor, ceiling
    and norm of their sum at z: it is between floor - norm·‖z‖ and ceiling + norm·‖z‖, in the norm
    of the metric. If products (rows, places) is not empty, it has those of the rows that are asked
    about with the images of stored ones, which are not read.
    """

    V: Floats
    half: Floats
    owner: Ints
    scale: Floats
    at: NDArray[np.int32]
    start: Ints
    size: Ints
    bounds: Floats
    coef: Floats
    places: Ints
    images: Floats
    slot: Ints
    W: Floats
    b: Floats
    products: Floats


def digests(rows: NDArray[Any], out: Digests | None = None) -> Digests:
    """Return a digest of each row (n, d), 128 bits, of its values as float64; perhaps set in `out`.

    Values that are 0 are skipped, so that more columns of zeros change no digest; -0 is 0. Missing
    values are all alike, and not 0. The digests of codes are those of their bytes as numbers.
    """
    if out is None:
        out = np.empty(len(rows), dtype="S16")
    native.add_up(rows, out.view(np.uint64))
    return out


class Factor(NamedTuple):
    """L (cap, cap), lower, with L L' = G_AA + λI, and `order`, the pool's members in A.

    size (1,) says how many there are.
    """

    L: Floats
    order: Ints
    size: Ints


def empty_factor(capacity: int) -> Factor:
    """Return an empty factor."""
    return Factor(
        np.zeros((capacity, capacity)),
        np.zeros(capacity, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


class Sums(NamedTuple):
    """U (d + 1, d + 1), upper, with U'U = λP + Σ_A s² z z', q = Σ_A s r z (d + 1,), inside (n,).

    inside says which rows are in A. If U is 0, there is no factor yet, and the rest is ignored.
    """

    U: Floats
    q: Floats
    inside: Bools


def no_sums(members: int, size: int) -> Sums:
    """Return sums without a factor."""
    return Sums(np.zeros((size, size)), np.zeros(size), np.zeros(members, dtype=bool))


class Rows(NamedTuple):
    """Rows to solve for: table[places], with their signs and targets r."""

    table: Floats
    places: Ints
    origin: Floats
    signs: Floats
    r: Floats


class ClassPriors(NamedTuple):
    """The priors of all pairs of regions a, b.

    f0 = scale[a, b]·(inside[a] - inside[b] - middle[a, b]) at the rows that separators are found
    on, with `outside` at the others. inside (m, n) has the inner products of the means of the
    regions with the first, outside (m, h) with the others. A scale of 0 is no prior.
    """

    inside: Floats
    outside: Floats
    middle: Floats
    scale: Floats


class Divided(NamedTuple):
    """The regions of some rows: those of c are rows[start[c]] … rows[start[c + 1] - 1].

    owner[c] is the label of region c; weights are by row.
    """

    rows: Ints
    start: Ints
    owner: Ints
    weights: Floats


class Products(NamedTuple):
    """Rows to find separators on, and others: coordinates Z (n, d) and others (h, d), or products.

    inside (n, n) are the inner products of the rows, outside (n, h) those with the others. They are
    not read if d is not 0.
    """

    Z: Floats
    others: Floats
    inside: Floats
    outside: Floats


class Candidates(NamedTuple):
    """The m rows that may be support vectors without others; the first f are, in F.

    `products` (m, m) are z_i'K z_j, or empty if nothing is to be solved again. Signs, weights and α
    (m,); equal rows have the same number in `groups` (m,). `inverse` (f, f) is that of the
    equations on F.
    """

    products: Floats
    signs: Floats
    weights: Floats
    alpha: Floats
    groups: Ints
    inverse: Floats


class Leaving(NamedTuple):
    """Rows that leave, each with another group, and what their leaving changes.

    `groups` (n, 2), -1 for none. H (n, m) are x'K z_j, h (n, m) q'z_j; qz and gain γ are (n,). The
    priors of the candidates `prior` (n, m) and of the rows themselves `own` (n,) are those without
    the row; solved (n, f) and turned (n, f) are `inverse` times y - prior, and times h.
    """

    groups: Ints
    H: Floats
    h: Floats
    qz: Floats
    gain: Floats
    prior: Floats
    own: Floats
    solved: Floats
    turned: Floats


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

    K is (d, d), or (1, d) for a diagonal; precision its inverse, likewise, or empty. images[i] is
    the image of the row at place[i]; slot[p] is i if place[i] is p.
    """

    table: Floats | NDArray[np.float32]
    weights: Floats
    digests: Words
    origin: Floats
    K: Floats
    precision: Floats
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
    """A separator to settle: its number, classes, prior, and pool, and the places of its examples.

    `side` are those of class low, `other_side` those of class high.
    """

    pair: int
    low: int
    high: int
    w: Floats
    b: float
    pool: native.Pool
    side: Ints
    other_side: Ints

    @property
    def rows(self) -> int:
        """How many examples its classes have."""
        return len(self.side) + len(self.other_side)
