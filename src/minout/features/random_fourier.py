"""Random Fourier features: a linear separator on them approximates a Gaussian kernel."""

from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats
from minout.features._checks import check_int, check_positive, check_rows, to_dtype
from minout.features._fingerprint import fingerprint
from minout.kernels import products_by_column


@dataclass(frozen=True)
class RandomFourier:
    """Random Fourier features, √(2/D)·cos(x·Ω + b), of rows.

    Inner products of output rows approximate exp(-‖x - y‖² / (2·bandwidth²)) (Rahimi and Recht,
    2007).

    Parameters
    ----------
    features : int, default=1024
        The number D of features.
    bandwidth : float, optional
        The standard deviation of the Gaussian kernel; by default √(d/2), for d columns of
        variance 1.
    seed : int, default=0
        The seed that Ω (d, D) and b (D,) are drawn from.

    Examples
    --------
    >>> RandomFourier(features=512).transform(np.zeros((3, 20))).shape
    (3, 512)
    """

    features: int = 1024
    bandwidth: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", check_int("features", self.features, 1))
        object.__setattr__(self, "seed", check_int("seed", self.seed, 0))
        if self.bandwidth is not None:
            object.__setattr__(self, "bandwidth", check_positive("bandwidth", self.bandwidth))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the rows: float32."""
        return np.dtype(np.float32)

    @property
    def fingerprint(self) -> str:
        """The name, version and settings of this map, as a short string."""
        settings = {"features": self.features, "bandwidth": self.bandwidth, "seed": self.seed}
        return fingerprint("random_fourier", 1, settings)

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Return the features of rows; each takes d·D multiplications.

        Parameters
        ----------
        X : array-like of shape (n_rows, d)
            Rows of numbers.

        Returns
        -------
        ndarray of shape (n_rows, D), float32
            The features; those of a row do not depend on the others.
        """
        rows = to_dtype(check_rows(X), np.dtype(np.float64))
        rows /= self.bandwidth or sqrt(rows.shape[1] / 2)
        waves = _waves(rows.shape[1], self.features, self.seed)
        out = np.empty((len(rows), self.features), dtype=np.float32)
        phases = np.empty(self.features)
        for i, row in enumerate(rows):
            # Row by row: BLAS rounds a row differently depending on the rest of the batch.
            products_by_column(waves.frequencies, row, phases)
            out[i] = sqrt(2 / self.features) * np.cos(phases + waves.shifts)
        return out


class _Waves(NamedTuple):
    """Frequencies (d, D) for a bandwidth of 1, and shifts (D,)."""

    frequencies: Floats
    shifts: Floats


@lru_cache(maxsize=4)
def _waves(width: int, features: int, seed: int) -> _Waves:
    rng = np.random.default_rng(seed)
    return _Waves(rng.standard_normal((width, features)), rng.uniform(0.0, 2 * pi, features))
