"""Array types and the types of labels and ids, shared by all packages."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Words = NDArray[np.uint64]

Label = int | str
Id = int | str
