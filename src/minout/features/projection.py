"""A sparse random projection: rows of any number of columns to rows of a fixed width."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError
from minout.features.checks import LARGEST, check_rows, is_sparse, largest_absolute
from minout.features.feature_map import HashedMap
from minout.kernels import project
from minout.maths import SparseRows


class Projection(HashedMap):
    """A feature map from wide or sparse rows to rows of a fixed width.

    Each input column has four entries, ±0.5, at outputs drawn from a hash of the seed and the
    number of the column. Distances and inner products are kept approximately. Sparse matrices are
    not made dense.

    Parameters
    ----------
    width : int, default=1024
        The number of outputs, from 4 on.
    seed : int, default=0

    Notes
    -----
    The row of an example does not depend on the number of input columns: columns that are missing
    at the end count as 0. So later examples may have more columns than the first ones.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> words = csr_array(([1.0, 2.0], ([0, 0], [3, 70_000])), shape=(1, 100_000))
    >>> Projection().transform(words).shape
    (1, 1024)
    """

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Return the projections (n, width) of rows or of a SciPy sparse matrix (n, columns).

        Only numbers that are not 0 take time.
        """
        rows = _from_sparse(X) if is_sparse(X) else _from_dense(check_rows(X))
        out = np.empty((len(rows.starts) - 1, self.width), dtype=np.float32)
        project(rows, self.seed, out)
        if largest_absolute(out) > LARGEST[self.dtype]:
            raise InvalidInputError(
                f"A sum beyond {LARGEST[self.dtype]:g} is too large for rows of {self.dtype}; "
                "scale the features first."
            )
        return out


def _from_dense(X: NDArray[Any]) -> SparseRows:
    i, columns = np.nonzero(X)
    starts = np.searchsorted(i, np.arange(len(X) + 1)).astype(np.int64)
    return SparseRows(X[i, columns].astype(np.float64), columns.astype(np.uint64), starts)


def _from_sparse(X: Any) -> SparseRows:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"Expected a sparse matrix of numbers, shape (rows, features), but got shape {X.shape} "
            f"of {X.dtype}."
        )
    if X.shape[1] == 0:
        raise InvalidInputError("X has no features; pass at least one number per row.")
    rows = X.tocsr()
    if (np.diff(rows.indptr) < 0).any() or rows.indptr[-1] > len(rows.data):
        raise InvalidInputError("X is not a valid CSR matrix: its `indptr` descends; make it anew.")
    if not rows.has_canonical_format:  # entries given twice are added up
        rows = rows.copy()
        rows.sum_duplicates()
    if not np.isfinite(largest_absolute(rows.data)):
        raise InvalidInputError("X holds NaN or infinity; fill or drop such values first.")
    data, indices = rows.data.astype(np.float64), rows.indices.astype(np.uint64)
    return SparseRows(data, indices, rows.indptr.astype(np.int64))
