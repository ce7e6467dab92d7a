"""Any function that makes rows of a batch: a frozen network, a text model, counts of words."""

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError
from minout.features._door import as_stored, extent, storable
from minout.features._fingerprint import fingerprint
from minout.features._identity_of import identity_of


@dataclass(frozen=True, init=False)
class Encoder:
    """Wraps `function(batch)`, which gives an array (n, width) for a batch of n of anything.

    The rows become `dtype`. That an example has the same row in every batch is up to the
    function. The fingerprint is made of `name`; without one, of the function's own `fingerprint`;
    without that, of where the function stands and what it is compiled to. The last sees no
    trained weights and changes with Python: give a name, and another when the encoder changes.

    >>> lengths = Encoder(lambda words: [[len(word)] for word in words], name="lengths")
    >>> lengths.transform(["one", "three"])
    array([[3.],
           [5.]], dtype=float32)
    """

    function: Callable[[Any], Any]
    name: str | None
    dtype: np.dtype[Any]

    def __init__(
        self,
        function: Callable[[Any], Any],
        name: str | None = None,
        dtype: str | np.dtype[Any] = "float32",
    ) -> None:
        if not callable(function):
            raise InvalidInputError(
                f"{function!r} cannot be called; give a function that makes rows of a batch."
            )
        if name is not None and not (isinstance(name, str) and name):
            raise InvalidInputError(f"name is {name!r}; give a word that tells this encoder apart.")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "dtype", storable(dtype))

    @property
    def fingerprint(self) -> str:
        """Names this encoder, as far as it can be told from others."""
        readable, details = (self.name, "") if self.name else identity_of(self.function)
        settings = {"details": details, "dtype": self.dtype.name}
        return fingerprint(f"encoder:{readable}", 1, settings)

    def transform(self, X: Any) -> NDArray[Any]:
        """Gives the function's rows (n, width) for a batch of n, as a fresh array."""
        if not isinstance(X, Sized):
            raise InvalidInputError(
                f"A batch has a length, but got {type(X).__name__}; pass a list or an array."
            )
        return as_stored(_checked(self.function(X), len(X)), self.dtype)


def _checked(encoded: Any, count: int) -> NDArray[Any]:
    try:
        rows = np.asarray(encoded)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidInputError(
            f"The encoder's answer is not an array ({str(error).splitlines()[0].rstrip('.')}); "
            f"make it return one of shape ({count}, width)."
        ) from error
    if rows.dtype.kind not in "fiub":
        raise InvalidInputError(
            f"The encoder returned an array of {rows.dtype}; make it return numbers."
        )
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] == 0:
        raise InvalidInputError(
            f"The encoder returned shape {rows.shape} for a batch of {count}; make it return one "
            f"row for each, shape ({count}, width)."
        )
    if not np.isfinite(extent(rows)):
        raise InvalidInputError(
            "The encoder returned NaN or infinity; leave out or repair what it was given."
        )
    return rows
