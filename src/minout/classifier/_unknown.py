"""None of these: predictions in which some rows get a label for what is not known."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from minout._typing import Bools


def with_unknown(labels: NDArray[Any], clipped: Bools, unknown: Any) -> NDArray[Any]:
    """Puts `unknown` where rows are clipped; an array that cannot hold it becomes one of objects.

    >>> with_unknown(np.array(["a", "b"]), np.array([False, True]), "neither")
    array(['a', 'neither'], dtype='<U7')
    """
    kind = labels.dtype.kind
    if kind == "U" and isinstance(unknown, str):
        labels = labels.astype(np.promote_types(labels.dtype, f"U{max(len(unknown), 1)}"))
    elif not _fits(labels.dtype, unknown):
        labels = labels.astype(object)
    labels[clipped] = unknown
    return labels


def _fits(dtype: np.dtype[Any], value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return dtype.kind == "b"
    if dtype.kind in "iu" and isinstance(value, int | np.integer):
        return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)
    return dtype.kind == "f" and isinstance(value, int | float | np.integer | np.floating)
