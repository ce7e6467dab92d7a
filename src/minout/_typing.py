"""Array types and the types of labels and ids, shared by all packages."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]
Digests = NDArray[np.bytes_]
"""Digests of rows: 16 bytes each, dtype S16, so that they are compared and sorted as one value."""

Label = int | str
Id = int | str
