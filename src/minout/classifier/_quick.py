"""The plain case, recognised without scikit-learn's checks, which take longer than a prediction.

Each function is a quick yes or an "I do not know": whoever gets the latter asks the full checks,
so nothing is refused here and nothing passes that they would refuse or read otherwise.
"""

from typing import Any

import numpy as np

from minout._typing import Id, Label
from minout.classifier._labels import INT64, DType

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def is_plain(X: Any, width: int | None) -> bool:
    """Says whether X is an array (n, width) of finite floats, n at least 1."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == width
        and X.shape[0] > 0
        and X.dtype in FLOATS
        and bool(np.isfinite(X).all())
    )


def plain_label(y: Any, known: DType) -> Label | None:
    """Gives the one label in a list or array y, if it is of the dtype that is known."""
    if type(y) is np.ndarray:
        if y.shape != (1,) or (y.dtype != known and y.dtype.kind != "U"):
            return None
        label = y.item()
        integer = y.dtype.kind in "iu"
    elif type(y) is list and len(y) == 1:
        label = y[0]
        integer = known == INT64
    else:
        return None
    if type(label) is str:
        return label if known.kind in "UO" else None
    return label if type(label) is int and integer else None


def plain_id(ids: Any) -> Id | None:
    """Gives the one id in a list, if it is one."""
    if type(ids) is list and len(ids) == 1 and type(ids[0]) in (int, str):
        only: Id = ids[0]
        return only
    return None
