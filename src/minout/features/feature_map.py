"""What a feature map promises: a fixed way from what the user has to rows of numbers."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray


@runtime_checkable
class FeatureMap(Protocol):
    """Turns a batch into rows; it is chosen before the first example and never trained.

    The row of an example is the same to the last bit, alone or in any batch, today or later:
    a stored row must equal the row of the same example when somebody asks about it.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """Is the type of the rows, float32 or float64: what a learner will store."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names the recipe, its version and a digest of all settings that shape the rows."""
        ...

    def transform(self, X: Any) -> NDArray[Any]:
        """Gives fresh rows (n, width) of this map's dtype for a batch of n examples."""
        ...
