"""What the extension module offers; `native/` has the code, and says what each kernel does."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools, Floats, Ints
from minout.kernels.records import Lesson, Limits, Log, Shared, Task, UnitTable
from minout.maths import SparseRows

Singles = NDArray[np.float32]
Table = Floats | Singles

def has(build: str) -> bool: ...

# margins
def activations(
    w: Floats, b: float, table: Table, places: Ints, origin: Floats, out: Floats
) -> None: ...

# projecting
def project(rows: SparseRows, seed: int, out: Singles) -> None: ...
def hash_texts(characters: NDArray[np.uint32], starts: Ints, seed: int, out: Singles) -> None: ...

# pooling
def filtered(spectra: Singles, filters: Singles, out: Singles) -> None: ...
def moduli(maps: Singles, out: Singles) -> None: ...
def pooled(maps: Singles, down: Singles, across: Singles, out: Singles) -> None: ...
def even_out(rows: Singles, borders: Ints, floor: float) -> None: ...

# training
def train_unit(unit: UnitTable, lesson: Lesson, random: object, log: Log) -> tuple[int, float]: ...

# product
def multiply(A: Floats, B: Floats, out: Floats, first: int, last: int) -> None: ...

# settle
def settle(
    shared: Shared, limits: Limits, tasks: list[Task]
) -> tuple[Ints, Floats, list[tuple[Any, ...]]] | None: ...
def kept_members(
    products: Floats, factor: Floats, order: Ints, stays: Bools
) -> tuple[Floats, Floats, Ints]: ...
