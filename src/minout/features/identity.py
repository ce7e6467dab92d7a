"""The identity map: rows are stored unchanged."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout.features._checks import check_dtype, check_rows, to_dtype
from minout.features.feature_map import fingerprint


@dataclass(frozen=True, init=False)
class Identity:
    """A feature map that returns rows unchanged, in its dtype.

    Parameters
    ----------
    dtype : {"float64", "float32"}, default="float64"
        The type in which rows are stored; float32 takes half the memory.

    Examples
    --------
    >>> Identity("float32").transform([[0.5, 2]])
    array([[0.5, 2. ]], dtype=float32)
    """

    dtype: np.dtype[Any]

    def __init__(self, dtype: str | np.dtype[Any] = "float64") -> None:
        object.__setattr__(self, "dtype", check_dtype(dtype))

    @property
    def fingerprint(self) -> str:
        """The name, version and settings of this map, as a short string."""
        return fingerprint("identity", {"dtype": self.dtype.name})

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return a copy of the rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, d)
            Rows of numbers.

        Returns
        -------
        ndarray of shape (n_rows, d)
            The rows in this map's dtype.
        """
        return to_dtype(check_rows(X), self.dtype)
