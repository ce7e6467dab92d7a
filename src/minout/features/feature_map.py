"""What a feature map is: a fixed function from examples to rows of numbers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from minout.features.checks import check_int
from minout.maths import ENTRIES

WIDEST = 2**20


@runtime_checkable
class FeatureMap(Protocol):
    """A fixed function from a batch to rows: set before the first example, never trained.

    The row of an example must be the same to the last bit, alone or in any batch, in every process:
    a stored row must equal the row of the same example when it is predicted.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the rows, float32 or float64."""

    @property
    def fingerprint(self) -> str:
        """A name for the map; another one if it would make other rows."""

    def transform(self, X: Any) -> NDArray[Any]:
        """Return new rows for a batch.

        Parameters
        ----------
        X : array-like or sequence of length n
            A batch of examples; what is none raises InvalidInputError.

        Returns
        -------
        ndarray of shape (n, width)
            One row per example, of this map's dtype; it does not depend on the others.
        """


@dataclass(frozen=True)
class SettingsMap:
    """A map to rows of float32 whose fields are all that affects the rows."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the rows: float32."""
        return np.dtype(np.float32)

    @property
    def fingerprint(self) -> str:
        """The name, version and settings of this map, as a short string."""
        return fingerprint(type(self).__name__.lower(), asdict(self))


@dataclass(frozen=True)
class HashedMap(SettingsMap):
    """A map to a fixed number of outputs that are drawn from a hash."""

    width: int = 1024
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_int("width", self.width, ENTRIES, WIDEST))
        object.__setattr__(self, "seed", check_int("seed", self.seed, 0, 2**63 - 1))


def fingerprint(name: str, settings: Mapping[str, object]) -> str:
    """Join a name, a version and a hash of all settings: the same string on every machine.

    >>> fingerprint("identity", {"dtype": "float64"})
    'identity-1-3a3ccce43894c335'
    """
    version = 1
    written = json.dumps([name, version, settings], sort_keys=True)
    return f"{name}-{version}-{hashlib.sha256(written.encode()).hexdigest()[:16]}"
