"""Give all stored rows other columns.

`widened` adds columns in which all rows have 0, without solving anything again. No stored row has a
component in the new columns, so no separator has one either: every margin stays what it was. The
new columns follow those that were given, and precede the hat functions.

`with_rows` gives the examples other rows, for `consolidate`.
"""

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Bools, Floats, Ints, Words
from minout.engine.examples import Examples
from minout.engine.packing import packed, square, squared, unpacked
from minout.engine.settings import Settings
from minout.engine.state import State, Widths

BY_COLUMN = (
    "rows",
    "W",
    "prior.W",
    "images",
    "far.mean",
    "far.V",
    "origin",
    "sums.shift",
    "sums.rows",
    "sums.squares",
)
"""Arrays whose last axis is that of the columns; the new columns have 0 in them."""


@kernels.one_blas_thread()
def widened(state: State, count: int) -> State:
    """Return a new state whose rows have `count` more columns; the old one stays as it is.

    Warm-start data of solves in the primal are dropped; they are made again when they are needed.
    """
    about, arrays = packed(state)
    at = arrays["rows"].shape[1]
    wide = {  # copies: a state changes some of its arrays in place
        name: array.copy() for name, array in arrays.items() if not name.startswith("newton.")
    }
    for name in BY_COLUMN:
        if name in wide:
            wide[name] = _inserted(wide[name], at, count)
    if "missing.fill" in wide:
        wide["missing.fill"] = _inserted(wide["missing.fill"], at, count)
    wide["digest"] = _digests(wide["rows"], wide["stored"])
    weight = _weight(state)
    for name, diagonal in (("K", weight), ("precision", 1.0 / weight), ("sums.scatter", 0.0)):
        matrix = squared(name, arrays)
        if matrix is not None:
            wide.pop(f"{name}.lower", None)
            wide |= square(name, _bordered(matrix, at, count, diagonal))
    given, row = about["widths"]
    about |= {"widths": [given and given + count, row and row + count], "consolidated": False}
    return unpacked(about, wide)


def with_rows(state: State, settings: Settings, places: Ints, rows: Floats) -> State:
    """Return a state whose examples have other rows, with a model that is not theirs.

    It is for `consolidate` only, which computes the model again. `rows` are those of the examples
    at `places`, in this order; the state that is passed stays as it is.
    """
    twin, old = copy(state), state.examples
    wide = Examples(rows.shape[1], rows.dtype, len(old.given))
    wide.given[places], wide.end = rows, old.end
    wide.digests = np.zeros(len(old.given), dtype=np.uint64)
    wide.digests[: old.end] = _digests(wide.given[: old.end], old.stored[: old.end])
    for name in ("regions", "stored", "weights", "times", "serials"):
        setattr(wide, name, getattr(old, name))
    twin.examples, twin.settings = wide, settings
    twin.widths = Widths(rows.shape[1], rows.shape[1])
    return twin


def _inserted(array: NDArray[Any], at: int, count: int) -> NDArray[Any]:
    # Zeros in the last axis, before position `at`.
    shape = (*array.shape[:-1], count)
    parts = array[..., :at], np.zeros(shape, dtype=array.dtype), array[..., at:]
    return np.concatenate(parts, axis=-1)


def _bordered(matrix: Floats, at: int, count: int, diagonal: float) -> Floats:
    # A matrix, or its diagonal, with more rows and columns that are 0 but for the diagonal.
    new = slice(at, at + count)
    if matrix.ndim == 1:
        out = _inserted(matrix, at, count)
        out[new] = diagonal
        return out
    out = _inserted(np.ascontiguousarray(_inserted(matrix, at, count).T), at, count)
    np.fill_diagonal(out[new, new], diagonal)
    return np.ascontiguousarray(out.T)


def _digests(rows: Floats, stored: Bools) -> Words:
    words, digests = rows.view(f"u{rows.dtype.itemsize}"), np.zeros(len(rows), dtype=np.uint64)
    for place in np.flatnonzero(stored).tolist():
        digests[place] = kernels.digest(words[place])
    return digests


def _weight(state: State) -> float:
    # The entry of K for a new column, until the next refresh: the largest that another one has.
    # A constant column has that in `maths.metric`, too, if columns are not standardized.
    K = state.frame.geometry.K
    return float((K if K.ndim == 1 else K.diagonal()).max(initial=0.0)) or 1.0
