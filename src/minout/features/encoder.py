"""A feature map from any function: a frozen network, a text model, word counts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout.errors import InvalidInputError
from minout.features._checks import batch_size, check_dtype, largest_absolute, to_dtype
from minout.features.feature_map import fingerprint


@dataclass(frozen=True, init=False)
class Encoder:
    """A feature map made from your own function.

    Parameters
    ----------
    function : callable
        Takes a batch of n examples of any kind and returns an array (n, width). The row of an
        example must not depend on the rest of the batch.
    name : str, optional
        A name for the encoder; by default the module and name of the function. A saved model must
        be loaded with an encoder of the same name, so change the name when the encoder changes.
    dtype : {"float32", "float64"}, default="float32"
        The type of the rows.

    Examples
    --------
    >>> lengths = Encoder(lambda words: [[len(word)] for word in words], name="lengths")
    >>> lengths.transform(["one", "three"])
    array([[3.],
           [5.]], dtype=float32)
    """

    function: Callable[[Any], Any]
    name: str
    dtype: np.dtype[Any]

    def __init__(
        self,
        function: Callable[[Any], Any],
        name: str | None = None,
        dtype: str | np.dtype[Any] = "float32",
    ) -> None:
        if not callable(function):
            raise InvalidInputError(
                f"{function!r} cannot be called; pass a function from a batch to rows."
            )
        if name is not None and not (isinstance(name, str) and name):
            raise InvalidInputError(f"name is {name!r}; pass a string that is not empty.")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name or _qualified_name(function))
        object.__setattr__(self, "dtype", check_dtype(dtype))

    @property
    def fingerprint(self) -> str:
        """The name and the dtype, as a short string."""
        return fingerprint(f"encoder:{self.name}", {"dtype": self.dtype.name})

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the rows of a batch.

        Parameters
        ----------
        X : sequence or array of length n, or sparse matrix of n rows
            A batch of examples, of any kind that the function takes.

        Returns
        -------
        ndarray of shape (n, width)
            The rows in this map's dtype.

        Raises
        ------
        InvalidInputError
            If the function does not return n rows of finite numbers.
        """
        count = batch_size(X)
        if count is None:
            raise InvalidInputError(
                f"A batch has a length, but got {type(X).__name__}; pass a list or an array."
            )
        return to_dtype(_checked(self.function(X), count), self.dtype)


@dataclass(frozen=True)
class UnknownMap:
    """Stands for the map of a saved model where no row is mapped, if the map itself is not saved.

    Without a fingerprint it stands for that of any model that is opened with it.
    """

    fingerprint: str = ""
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))

    def transform(self, X: Any) -> NDArray[Any]:  # noqa: ARG002
        """Raise InvalidInputError: there is no map."""
        raise InvalidInputError(
            f"The rows of this model were made by {self.fingerprint}, which is not saved; "
            "pass it as `features`."
        )


def _qualified_name(function: Callable[[Any], Any]) -> str:
    place = function if hasattr(function, "__qualname__") else type(function)
    return f"{place.__module__}.{place.__qualname__}"


def _checked(encoded: Any, count: int) -> NDArray[Any]:
    rows = np.asarray(encoded)
    if rows.dtype.kind not in "fiub" or rows.ndim != 2 or len(rows) != count or not rows.shape[1]:
        raise InvalidInputError(
            f"The encoder returned an array of {rows.dtype} with shape {rows.shape} for a batch of "
            f"{count}; make it return numbers, one row for each, shape ({count}, width)."
        )
    if not np.isfinite(largest_absolute(rows)):
        raise InvalidInputError(
            "The encoder returned NaN or infinity; drop or repair the examples that cause it."
        )
    return rows
