"""The protocol of feature maps: a fixed function from examples to rows of numbers."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class FeatureMap(Protocol):
    """A fixed function from a batch to rows: set before the first example, never trained.

    The row of an example must be the same to the last bit, alone or in any batch, in every process:
    a stored row must equal the row of the same example when it is predicted.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the rows, float32 or float64."""
        ...

    @property
    def fingerprint(self) -> str:
        """The name, version and a hash of all settings that affect the rows."""
        ...

    def transform(self, X: Any) -> NDArray[Any]:
        """Return new rows for a batch.

        Parameters
        ----------
        X : array-like or sequence of length n
            A batch of examples.

        Returns
        -------
        ndarray of shape (n, width)
            One row per example, of this map's dtype.
        """
        ...
