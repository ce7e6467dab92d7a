"""Check arguments: tables and labels with scikit-learn's checks, and ids.

`is_plain_array`, `single_label` and `single_id` recognise the most common input without
scikit-learn's checks, which take longer than a prediction. They never raise: input that they do not
recognise goes through the full checks, which read it the same way.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, validate_data

from minout._typing import Id, Label
from minout.classifier._labels import INT64, DType, to_array
from minout.errors import InvalidInputError
from minout.features import batch_size, dense_if_narrow, refuse_masked
from minout.inputs import checked_id, checked_time, listed_ids, listed_times
from minout.tables import TableEncoder, is_frame, is_plain

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class InputColumns(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The number and names of the columns of X, as scikit-learn's checks set and compare them.

    The first table sets both; later tables must match.
    """

    def check_table(self, X: Any, *, keep_sparse: bool, first: bool = False) -> Any:
        """Return X as rows (n, columns) of finite numbers, n at least 1.

        A sparse matrix stays one (CSR) with `keep_sparse`, and is made dense without.
        """
        refuse_masked(X)
        with _report_overflow():
            rows = validate_data(self, X, reset=first, accept_sparse="csr")
        return rows if keep_sparse else dense_if_narrow(rows)

    def check_table_and_labels(
        self, X: Any, y: Any, *, keep_sparse: bool, first: bool = False
    ) -> tuple[Any, NDArray[Any]]:
        """Return X likewise, and y (n,) without missing values."""
        refuse_masked(X)
        with _report_overflow():
            rows, labels = validate_data(self, X, to_array(y), reset=first, accept_sparse="csr")
        return rows if keep_sparse else dense_if_narrow(rows), labels

    def check_frame(self, X: Any, *, first: bool = False) -> Any:
        """Return a data frame whose columns have the names and the order of the first."""
        if not is_frame(X):
            raise InvalidInputError(
                "This classifier was taught a table with named columns; pass a data frame with "
                f"the same columns, not a {type(X).__name__}."
            )
        if not len(X):
            raise InvalidInputError("X has no rows; pass at least one.")
        validate_data(self, X, reset=first, skip_check_array=True)
        return X

    def check_frame_and_labels(
        self, X: Any, y: Any, *, first: bool = False
    ) -> tuple[Any, NDArray[Any]]:
        """Return X likewise, and y (n,) without missing values."""
        labels: NDArray[Any] = validate_data(InputColumns(), y=to_array(y))
        check_consistent_length(X, labels)
        return self.check_frame(X, first=first), labels

    def check_batch_and_labels(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Return X as `check_batch` does, and y (n,) without missing values."""
        rows, labels = check_batch(X), validate_data(self, y=to_array(y))
        check_consistent_length(rows, labels)
        return rows, labels


InputColumns.__name__ = "MinoutClassifier"  # the name in scikit-learn's messages


@contextmanager
def _report_overflow() -> Iterator[None]:
    try:
        yield
    except OverflowError as error:
        raise InvalidInputError(
            "X holds a whole number that is too large; scale the features first."
        ) from error


def check_batch(X: Any) -> Any:
    """Return X for a feature map that takes any kind of example; data frames as arrays."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(rows, str) or not hasattr(rows, "__len__"):
        raise InvalidInputError(
            f"A batch has a length, but got {type(rows).__name__}; pass a list or an array."
        )
    if batch_size(rows) == 0:
        raise InvalidInputError("X has no rows; pass at least one.")
    return rows


def new_encoder(X: Any, kinds: Mapping[str, str] | None) -> TableEncoder | None:
    """Return an encoder for a data frame; None if X is an array or a frame of plain numbers.

    `kinds` are the kinds of columns that are not to be inferred, by name.
    """
    encoder = TableEncoder(checked_kinds(kinds))
    if not is_frame(X):
        if kinds:
            raise InvalidInputError("`column_kinds` needs column names; pass X as a data frame.")
        return None
    names = {str(each) for each in X.columns}
    for name in encoder.overrides:
        if name not in names:
            raise InvalidInputError(
                f"`column_kinds` has {name!r}, which is no column of X; remove or rename it."
            )
    return None if not kinds and is_plain(X) else encoder


def checked_kinds(kinds: Any) -> dict[str, str]:
    """Return a checked copy of `column_kinds`; {} for None."""
    if kinds is not None and not isinstance(kinds, Mapping):
        raise InvalidInputError(
            f"`column_kinds` must be a dict of column names to kinds, not a {type(kinds).__name__}."
        )
    return TableEncoder(kinds).overrides


def check_record(x: Any) -> Mapping[str, Any]:
    """Return one row of a table as a mapping: a mapping, or a series of pandas."""
    if isinstance(x, Mapping):
        return x
    if len(getattr(x, "shape", ())) == 1 and hasattr(x, "to_dict"):
        record: Mapping[str, Any] = x.to_dict()
        return record
    raise InvalidInputError(
        "One row of a table was expected: a data frame with one row, or values by name of the "
        f"column, not a {type(x).__name__}."
    )


def check_ids(ids: Any, count: int) -> list[Id] | None:
    """Return one id per row as str or int, without duplicates; None if no ids were given."""
    if ids is None:
        return None
    checked = [checked_id(each) for each in listed_ids(ids)]
    if len(checked) != count:
        raise InvalidInputError(
            f"There are {count} rows, but {len(checked)} ids; pass one per row."
        )
    seen: set[Id] = set()
    for each in checked:
        if each in seen:
            raise InvalidInputError(f"The id {each!r} is given to two rows; ids must differ.")
        seen.add(each)
    return checked


def check_times(at: Any, count: int) -> list[Any] | None:
    """Return one time per row; None if none was given."""
    if at is None:
        return None
    times = [checked_time(each) for each in listed_times(at, count, 0.0)]
    if len(times) != count:
        raise InvalidInputError(
            f"There are {count} rows, but {len(times)} times; pass one time, or one per row."
        )
    return times


def is_plain_array(X: Any, width: int | None) -> bool:
    """Return whether X is an array (n, width) of finite floats, n at least 1."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.shape[1] == width
        and X.shape[0] > 0
        and X.dtype in FLOATS
        and bool(np.isfinite(X.min()) and np.isfinite(X.max()))  # NaN is the least and largest
    )


def single_label(y: Any, known: DType) -> Label | None:
    """Return the one label in a list or array y, if it has the known dtype; otherwise None."""
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


def single_id(ids: Any) -> Id | None:
    """Return the one id in a list, if it is a plain int or str; otherwise None."""
    if type(ids) is list and len(ids) == 1 and type(ids[0]) in (int, str):
        only: Id = ids[0]
        return only
    return None
