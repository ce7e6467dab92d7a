"""Give all stored rows other columns.

`widened` adds columns in which all rows have 0, without solving anything again. No stored row has a
component in the new columns, so no separator has one either: every margin stays what it was. The
new columns follow those that were given, and precede the hat functions.

`with_rows` gives the examples other rows, for `consolidate`.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout import kernels
from minout._typing import Floats, Ints
from minout.core.misfits import listed_in
from minout.core.separators import Separators
from minout.core.settings import Settings
from minout.core.state import State, Widths
from minout.maths import Geometry

Insert = Callable[[Floats], Floats]


@kernels.one_blas_thread()
def widened(state: State, count: int) -> State:
    """Return a state whose rows have `count` more columns."""
    examples, frame, (given, row) = state.examples, state.frame, state.widths
    at = examples.rows.shape[1]

    def insert(array: NDArray[Any]) -> NDArray[Any]:
        return _inserted(array, at, count)

    expansion = examples.expansion
    if len(expansion.fill):
        expansion = expansion._replace(fill=insert(expansion.fill))
    weight, (origin, K, precision, share) = _weight(frame.geometry), frame.geometry
    geometry = Geometry(
        insert(origin),
        _bordered(K, at, count, weight),
        None if precision is None else _bordered(precision, at, count, 1.0 / weight),
        share,
    )
    moments = frame.moments
    scatter = moments.scatter
    moments = replace(
        moments,
        shift=insert(moments.shift),
        sums=insert(moments.sums),
        squares=insert(moments.squares),
        scatter=None if scatter is None else _bordered(scatter, at, count, 0.0),
    )
    images = frame.images.widened(geometry, insert)
    examples = examples.with_rows(insert(examples.given)).expanded_by(expansion)
    return state.replaced(
        examples=examples,
        listed=listed_in(examples),
        separators=_wider(state.separators, insert),
        frame=frame._replace(geometry=geometry, moments=moments, images=images),
        widths=Widths(given and given + count, row and row + count),
        last_move=None,
        consolidated=False,
    )


def with_rows(state: State, settings: Settings, places: Ints, rows: Floats) -> State:
    """Return a state whose examples have other rows, with a model that is not theirs.

    It is for `consolidate` only, which computes the model again. `rows` are those of the examples
    at `places`, in this order.
    """
    given = np.zeros((len(state.examples.given), rows.shape[1]), dtype=rows.dtype)
    given[places] = rows
    widths = Widths(rows.shape[1], rows.shape[1])
    examples = state.examples.with_rows(given)
    listed = listed_in(examples)
    return state.replaced(examples=examples, listed=listed, settings=settings, widths=widths)


def _wider(old: Separators, insert: Insert) -> Separators:
    scores = old.scores._replace(V=insert(old.scores.V), means=insert(old.scores.means))
    records = {
        pair: each._replace(w=each.w if each.is_far else insert(each.w), pool=each.pool.widened())
        for pair, each in old.records.items()
    }
    return Separators(scores).replaced(records, scores)


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


def _weight(geometry: Geometry) -> float:
    # The entry of K for a new column, until the next refresh: the largest that another one has.
    # A constant column has that in `maths.metric`, too, if columns are not standardized.
    K = geometry.K
    return float((K if K.ndim == 1 else K.diagonal()).max(initial=0.0)) or 1.0
