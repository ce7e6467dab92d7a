"""What the extension module offers; `native/` has the code, and says what each kernel does."""

import numpy as np
from numpy.typing import NDArray

from minout._typing import Floats, Ints


Table = Floats | NDArray[np.float32]

def has(build: str) -> bool: ...

# margins
def activations(
    w: Floats, b: float, table: Table, places: Ints, origin: Floats, out: Floats
) -> None: ...
