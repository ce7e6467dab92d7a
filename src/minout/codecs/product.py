"""Product quantisation: parts of a row are replaced by the nearest of 256 centroids."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout import kernels
from minout._typing import Floats, Ints
from minout.codecs._checks import (
    check_codes,
    check_rows,
    check_sample,
    check_width,
    fingerprint,
)
from minout.codecs.codec import Bytes
from minout.errors import InvalidInputError

CENTROIDS = 256
LARGEST = 1e15
"""The largest number in a centroid, which has single precision."""


@dataclass(frozen=True, eq=False)
class ProductCodec:
    """A byte for each part of a row: the number of the nearest centroid (Jégou et al., 2011).

    The columns are divided evenly into as many parts as a code has bytes. `fit` finds the
    centroids of each part by k-means in a sample; then they are fixed.

    Parameters
    ----------
    centroids : array-like of shape (k, d)
        At most 256 centroids of each part, side by side.
    parts : int
        The number of parts, which is the number of bytes.
    factors : array-like of shape (d,), optional
        What the columns are multiplied by when distances are computed; by default 1.

    Examples
    --------
    >>> sample = np.random.default_rng(0).normal(size=(500, 8))
    >>> codec = ProductCodec.fit(sample, bytes_per_row=2)
    >>> codec.encode(sample[:3]).shape
    (3, 2)
    """

    centroids: Any
    parts: int
    factors: Any = None

    def __post_init__(self) -> None:
        centroids = _numbers(self.centroids, "centroids", 2).astype(np.float32)
        k, d = centroids.shape
        if not 1 <= k <= CENTROIDS:
            raise InvalidInputError(f"There are {k} centroids; pass from 1 to {CENTROIDS}.")
        parts = self.parts
        if (
            isinstance(parts, bool)
            or not isinstance(parts, int | np.integer)
            or not 1 <= parts <= d
        ):
            raise InvalidInputError(f"parts is {parts!r}; pass a whole number from 1 to {d}.")
        factors = np.ones(d) if self.factors is None else _numbers(self.factors, "factors", 1)
        if len(factors) != d or not (factors > 0.0).all():
            raise InvalidInputError(f"factors are {d} numbers above 0, one for each column.")
        object.__setattr__(self, "centroids", centroids)
        object.__setattr__(self, "parts", int(parts))
        object.__setattr__(self, "factors", factors)

    @classmethod
    def fit(cls, sample: ArrayLike, bytes_per_row: int, seed: int = 0) -> Self:
        """Find centroids by k-means in a sample.

        Columns are divided by their standard deviation first.

        Parameters
        ----------
        sample : array-like of shape (n, d)
            Rows like those that will be stored, of all labels; some thousands are enough.
        bytes_per_row : int
            The number of parts, from 1 to d.
        seed : int, default=0
            The seed of k-means.

        Returns
        -------
        ProductCodec
            A codec for rows of d numbers.
        """
        from sklearn.cluster import KMeans

        rows = check_sample(sample)
        spread = rows.std(axis=0)
        factors = 1.0 / np.where(spread > 0.0, spread, 1.0)
        k = min(CENTROIDS, len(rows))
        empty = cls(np.zeros((k, rows.shape[1])), bytes_per_row, factors)
        found = np.zeros((k, rows.shape[1]))
        for start, end in zip(empty.ends[:-1].tolist(), empty.ends[1:].tolist(), strict=True):
            part, scale = rows[:, start:end], factors[start:end]
            count = min(k, len(np.unique(part, axis=0)))
            fitted = KMeans(count, n_init=1, random_state=seed).fit(part * scale)
            means = fitted.cluster_centers_ / scale
            found[:count, start:end] = _between_members(means, part, fitted.labels_)
            found[count:, start:end] = found[0, start:end]  # of equal ones the first is taken
        return cls(found, bytes_per_row, factors)

    @property
    def ends(self) -> Ints:
        """The first column of each part, and the number of columns: (parts + 1,)."""
        return np.asarray(np.arange(self.parts + 1) * self.width // self.parts)

    @property
    def width(self) -> int:
        """How many numbers a row has."""
        return int(self.centroids.shape[1])

    @property
    def bytes_per_row(self) -> int:
        """How many bytes a code has."""
        return self.parts

    @property
    def fingerprint(self) -> str:
        """The name, version and a hash of the centroids."""
        arrays = {"centroids": self.centroids, "factors": self.factors}
        return fingerprint("product", {"parts": self.parts}, arrays)

    def for_width(self, width: int) -> Self:
        """Return the codec; its rows must have this width."""
        check_width(self.width, width)
        return self

    def encode(self, rows: ArrayLike) -> Bytes:
        """Return the codes of rows; a row takes 256·d multiplications."""
        X = check_rows(rows, self.width)
        out = np.empty((len(X), self.parts), dtype=np.uint8)
        kernels.nearest_centroids(
            np.ascontiguousarray(X), self.centroids, self.factors, self.ends, out
        )
        return out

    def decode(self, codes: ArrayLike, dtype: Any = np.float64) -> Floats:
        """Return the rows of codes; a number above the last centroid stands for the last one."""
        found = np.minimum(check_codes(codes, self.parts), np.uint8(len(self.centroids) - 1))
        out: Floats = np.empty((len(found), self.width), dtype=dtype)
        kernels.decode_centroids(found, self.centroids, self.ends, out)
        return out


def _between_members(means: Floats, rows: Floats, labels: Ints) -> Floats:
    # Means that do not exceed their members. Those of KMeans are rounded, so that a column of zeros
    # would get numbers like 1e-19, which standardisation makes as large as all others.
    out = means.copy()
    for c in np.unique(labels).tolist():
        members = rows[labels == c]
        out[c] = np.clip(means[c], members.min(axis=0), members.max(axis=0))
    return out


def _numbers(value: Any, name: str, dimensions: int) -> NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.ndim != dimensions or not array.size:
        raise InvalidInputError(f"{name} must be numbers in {dimensions} dimensions.")
    if not (np.abs(array) <= LARGEST).all():
        raise InvalidInputError(f"{name} holds a number that is not finite or beyond {LARGEST:g}.")
    return array.astype(np.float64)
