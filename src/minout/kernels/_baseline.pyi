"""What the extension module offers; `native/` has the code, and says what each kernel does."""

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints, Words
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
)
from minout.maths import NgramWeights, SparseRows

Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Slots = NDArray[np.int32]
Table = Floats | Singles

def has(build: str) -> bool: ...

# margins
def activations(
    w: Floats, b: float, table: Table, places: Ints, origin: Floats, out: Floats
) -> None: ...
def region_margins(
    W: Floats,
    b: Floats,
    at: Slots,
    x: Table,
    origin: Floats,
    owner: Ints,
    region: int,
    enough: float,
    out: Floats,
) -> float: ...
def scores(
    W: Floats, b: Floats, at: Slots, X: Table, origin: Floats, owner: Ints, out: Floats
) -> None: ...

# rows
def products(rows: Floats, x: Floats, out: Floats) -> None: ...
def add_multiples(
    into: Floats, places: Ints, rows: Floats, picked: Ints, amounts: Floats
) -> None: ...
def add_up(rows: Table | Bytes, out: Words) -> None: ...
def decode_columns(
    numbers: Bytes, last: int, low: Floats, step: Floats, high: Floats, out: Table
) -> None: ...
def decode_levels(codes: Bytes, levels: Floats, scale: Floats, out: Table) -> None: ...

# best_first
def best_first(
    W: Floats,
    b: Floats,
    at: Slots,
    X: Table,
    origin: Floats,
    rows: Ints,
    start: Ints,
    order: Order,
    together: int,
    winner: Ints,
    clipped: Bools,
) -> int: ...
def proposals(V: Singles, v: Singles, X: Table, origin: Floats, out: Ints) -> None: ...

# far
def pair_values(
    a: Floats,
    b: Floats,
    half: Floats,
    scale: float,
    images: Floats,
    which: Ints,
    coef: Floats,
    table: Table,
    places: Ints,
    origin: Floats,
    out: Floats,
) -> None: ...
def discriminant_margins(
    V: Floats,
    half: Floats,
    scale: Floats,
    table: Table,
    places: Ints,
    own: Ints,
    other: Ints,
    origin: Floats,
    out: Floats,
) -> None: ...
def far_margins(
    far: Far, x: Table, origin: Floats, length: float, label: int, bound: float, out: Floats
) -> float: ...
def far_scores(
    far: Far, X: Table, origin: Floats, lengths: Floats, ones: Floats, out: Floats
) -> None: ...
def far_winners(
    far: Far, X: Table, origin: Floats, lengths: Floats, order: Order, winner: Ints, score: Floats
) -> int: ...

# product
def multiply(
    A: NDArray[Any], B: NDArray[Any], out: NDArray[Any], first: int, last: int
) -> None: ...

# newton
def newton(G: Floats, r: Floats, lam: float, alpha: Floats, factor: Factor) -> bool: ...
def best_step(short: Floats, change: Floats, base: float, curve: float, lam: float) -> float: ...

# primal
def newton_primal(
    rows: Rows, P: Floats, lam: float, u: Floats, sums: Sums, alpha: Floats
) -> float: ...

# settle
def settle(
    shared: Shared, limits: Limits, tasks: list[Task]
) -> tuple[Ints, Floats, Floats, list[tuple[float, Pool, Ints, float]]] | None: ...

class Pool:
    """The candidate support vectors of a separator, and what the last solve of it left.

    Places of rows, their signs and α, and for how many solves α has been 0. It is never changed. A
    row's slack is λα divided by its weight.
    """

    @overload
    def __init__(self) -> None: ...
    @overload
    def __init__(self, places: Ints, signs: Floats, alpha: Floats, idle: Ints) -> None: ...
    def __len__(self) -> int: ...
    @property
    def places(self) -> Ints: ...
    @property
    def signs(self) -> Floats: ...
    @property
    def alpha(self) -> Floats: ...
    @property
    def idle(self) -> Ints: ...
    def joined(self, places: Ints, signs: Floats) -> Pool: ...
    def moved(self, number: Ints) -> Pool: ...
    def picked(self, which: Ints) -> Pool: ...
    def without(self, places: Ints) -> Pool: ...
    def widened(self) -> Pool: ...
    def drop_products(self) -> None: ...

# pairs
def pair_scores(
    products: Products, regions: Divided, priors: ClassPriors, lams: Floats, out: Floats
) -> bool: ...

# clusters
def centres(Z: Floats, weights: Floats, out: Floats) -> int: ...
def nearest(Z: Floats, centres: Floats, out: Ints) -> None: ...

# left_out
def values_left_out(candidates: Candidates, leaving: Leaving, lam: float, out: Floats) -> None: ...

# projecting
def project(rows: SparseRows, seed: int, out: Singles) -> None: ...
def hash_texts(
    characters: NDArray[np.uint32],
    starts: Ints,
    seed: int,
    words: NgramWeights,
    runs: NgramWeights,
    out: Singles,
) -> None: ...
def hash_ngrams(
    characters: NDArray[np.uint32], starts: Ints, are_words: bool, out: Words
) -> None: ...

# pooling
def filtered(spectra: Singles, filters: Singles, out: Singles) -> None: ...
def moduli(maps: Singles, out: Singles) -> None: ...
def pooled(maps: Singles, down: Singles, across: Singles, out: Singles) -> None: ...
def even_out(rows: Singles, borders: Ints, floor: float) -> None: ...

# training
def train_unit(unit: UnitTable, lesson: Lesson, random: object, log: Log) -> tuple[int, float]: ...
