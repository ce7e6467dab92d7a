"""What the extension module offers; `native/` has the code, and says what each kernel does."""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints
from minout.kernels.records import (
    Candidates,
    ClassPriors,
    Divided,
    Factor,
    Leaving,
    Limits,
    Pools,
    Problem,
    Products,
    Rows,
    Sides,
    Sums,
)

Table = Floats | NDArray[np.float32]

def has(build: str) -> bool: ...

# margins
def activations(
    w: Floats, b: float, table: Table, places: Ints, origin: Floats, out: Floats
) -> None: ...

# newton
def newton(G: Floats, r: Floats, lam: float, alpha: Floats, factor: Factor) -> bool: ...
def drop_members(factor: Factor, leaving: Bools) -> None: ...
def best_step(short: Floats, change: Floats, base: float, curve: float, lam: float) -> float: ...

# grams
def gram(
    pictures: Floats,
    which: Ints,
    table: Table,
    places: Ints,
    origin: Floats,
    signs: Floats,
    known: int,
    out: Floats,
) -> None: ...
def combine(pictures: Floats, which: Ints, amounts: Floats, out: Floats) -> None: ...

# settling
def settle_pools(
    first: int,
    last: int,
    problem: Problem,
    pools: Pools,
    W: Floats,
    b: Floats,
    sides: Sides,
    limits: Limits,
    verdicts: Ints,
    least: Floats,
) -> None: ...

# primal
def newton_primal(
    rows: Rows, P: Floats, lam: float, u: Floats, sums: Sums, alpha: Floats
) -> float: ...

# pairs
def pair_scores(
    products: Products, regions: Divided, priors: ClassPriors, lams: Floats, out: Floats
) -> bool: ...

# left_out
def values_left_out(candidates: Candidates, leaving: Leaving, lam: float, out: Floats) -> None: ...
