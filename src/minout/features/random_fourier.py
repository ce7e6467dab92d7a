"""Random Fourier features: rows on which a straight cut does what a Gaussian kernel would do."""

from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from minout._typing import Floats
from minout.features._door import as_stored, positive, rows_of_numbers, whole
from minout.features._fingerprint import fingerprint
from minout.kernels import products_by_column


@dataclass(frozen=True)
class RandomFourier:
    """Gives √(2/D)·cos(x·Ω + b): inner products are near exp(-‖x - y‖² / (2·bandwidth²)).

    D is `features`; Ω (d, D) and b (D,) are drawn from `seed` when rows of d numbers first come.
    `bandwidth` is the distance at which two rows begin to look different; where none is given it
    is √(d/2), for columns of variance 1. (Rahimi and Recht, 2007.)

    >>> RandomFourier(features=512).transform(np.zeros((3, 20))).shape
    (3, 512)
    """

    features: int = 1024
    bandwidth: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", whole("features", self.features, 1))
        object.__setattr__(self, "seed", whole("seed", self.seed, 0))
        if self.bandwidth is not None:
            object.__setattr__(self, "bandwidth", positive("bandwidth", self.bandwidth))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Is float32."""
        return np.dtype(np.float32)

    @property
    def fingerprint(self) -> str:
        """Names this recipe and its settings."""
        settings = {"features": self.features, "bandwidth": self.bandwidth, "seed": self.seed}
        return fingerprint("random_fourier", 1, settings)

    def transform(self, X: ArrayLike) -> NDArray[np.float32]:
        """Gives D numbers for each row of X (n, d), by d·D multiplications."""
        rows = as_stored(rows_of_numbers(X), np.dtype(np.float64))
        rows /= self.bandwidth or sqrt(rows.shape[1] / 2)
        waves = _waves(rows.shape[1], self.features, self.seed)
        out = np.empty((len(rows), self.features), dtype=np.float32)
        phases = np.empty(self.features)
        for i, row in enumerate(rows):
            # Row by row in one order: BLAS rounds a row differently in another company.
            products_by_column(waves.frequencies, row, phases)
            out[i] = sqrt(2 / self.features) * np.cos(phases + waves.shifts)
        return out


class _Waves(NamedTuple):
    """Holds what is drawn: frequencies (d, D) for a bandwidth of 1, and shifts (D,)."""

    frequencies: Floats
    shifts: Floats


@lru_cache(maxsize=4)
def _waves(width: int, features: int, seed: int) -> _Waves:
    rng = np.random.default_rng(seed)
    return _Waves(rng.standard_normal((width, features)), rng.uniform(0.0, 2 * pi, features))
