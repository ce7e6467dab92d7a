"""Maps by name; rows as they are, and a function of the user's, as maps."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout.errors import InvalidInputError
from minout.features.checks import batch_size, check_dtype, check_rows, largest_absolute, to_dtype
from minout.features.feature_map import FeatureMap, fingerprint
from minout.features.projection import Projection
from minout.features.scattering import Scattering
from minout.features.text import HashedText


@dataclass(frozen=True)
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

    dtype: Any = "float64"

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", check_dtype(self.dtype))

    @property
    def fingerprint(self) -> str:
        """The name, version and settings of this map, as a short string."""
        return fingerprint("identity", {"dtype": self.dtype.name})

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Return a copy of the rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, d)

        Returns
        -------
        ndarray of shape (n_rows, d)
        """
        return to_dtype(check_rows(X), self.dtype)


@dataclass(frozen=True)
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

    Examples
    --------
    >>> lengths = Encoder(lambda words: [[len(word)] for word in words], name="lengths")
    >>> lengths.transform(["one", "three"])
    array([[3.],
           [5.]], dtype=float32)
    """

    function: Callable[[Any], Any]
    name: Any = None
    dtype: Any = "float32"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidInputError(
                f"{self.function!r} cannot be called; pass a function from a batch to rows."
            )
        place: Any = self.function
        place = place if hasattr(place, "__qualname__") else type(place)
        object.__setattr__(self, "name", self.name or f"{place.__module__}.{place.__qualname__}")
        object.__setattr__(self, "dtype", check_dtype(self.dtype))

    @property
    def fingerprint(self) -> str:
        """The name and the dtype, as a short string."""
        return fingerprint(f"encoder:{self.name}", {"dtype": self.dtype.name})

    def transform(self, X: Any) -> NDArray[Any]:
        """Return the rows of a batch.

        Parameters
        ----------
        X : sequence or array of length n, or sparse matrix of n rows

        Returns
        -------
        ndarray of shape (n, width)
        """
        count = batch_size(X)
        if count is None:
            raise InvalidInputError(
                f"A batch has a length, but got {type(X).__name__}; pass a list or an array."
            )
        return to_dtype(_checked(self.function(X), count), self.dtype)


@dataclass(frozen=True)
class UnknownMap:
    """The map of a saved model, if it is not saved; without a fingerprint, that of any model."""

    fingerprint: str = ""
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))

    def transform(self, X: Any) -> NDArray[Any]:  # noqa: ARG002
        """Raise InvalidInputError: there is no map."""
        raise InvalidInputError(
            f"The rows of this model were made by {self.fingerprint}, which is not saved; "
            "pass it as `features`."
        )


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


NAMES: dict[str, Callable[[], FeatureMap]] = {
    "identity": Identity,
    "scattering": Scattering,
    "projection": Projection,
    "text": HashedText,
}


_OF_ROWS = Identity | Scattering


def takes_rows(features: FeatureMap) -> bool:
    """Return whether a map takes rows of numbers that all have the same length."""
    return isinstance(features, _OF_ROWS)


def named(features: Any) -> FeatureMap:
    """Return the map of a name with its defaults, a map itself, or an `Encoder` of a function.

    >>> named("scattering")
    Scattering(image_shape=None, scales=3, orientations=6)
    """
    if isinstance(features, str) and features in NAMES:
        return NAMES[features]()
    if not isinstance(features, type):
        if isinstance(features, FeatureMap):
            return features
        if callable(features):
            return Encoder(features)
    raise InvalidInputError(
        f'features is {features!r}; pass "identity", "scattering", "projection", "text", a map '
        "such as Scattering(image_shape=(32, 32, 3)), or a function from a batch to rows."
    )


def name_of(features: FeatureMap) -> str | FeatureMap:
    """Return the name of a map with its defaults; other maps as they are."""
    return next((name for name, make in NAMES.items() if features == make()), features)
