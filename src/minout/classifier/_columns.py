"""What a caller hands in, looked at with scikit-learn's own checks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, validate_data

from minout.classifier._labels import as_written
from minout.errors import InvalidInputError


class Columns(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Holds how many columns there are and their names, where scikit-learn reads and writes them.

    The first table settles both. A classifier hands in the same Columns with every later one.
    """

    def table(self, X: Any, *, first: bool = False) -> NDArray[Any]:
        """Gives X as rows (n, columns) of finite numbers, n at least 1."""
        with _no_overflow():
            rows: NDArray[Any] = validate_data(self, X, reset=first)
        return rows

    def table_and_labels(
        self, X: Any, y: Any, *, first: bool = False
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Gives X likewise, and y (n,), neither missing nor infinite."""
        with _no_overflow():
            rows, labels = validate_data(self, X, as_written(y), reset=first)
        return rows, labels

    def batch_and_labels(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        """Gives X as `batch` does, and y (n,), neither missing nor infinite."""
        rows, labels = batch(X), validate_data(self, y=as_written(y))
        check_consistent_length(rows, labels)
        return rows, labels


Columns.__name__ = "MinoutClassifier"  # this is how scikit-learn's sentences call it


@contextmanager
def _no_overflow() -> Iterator[None]:
    try:
        yield
    except OverflowError as error:
        raise InvalidInputError(
            "X holds a whole number that is too large; scale the features first."
        ) from error


def batch(X: Any) -> Any:
    """Gives X as it comes, for a feature map that takes anything; frames as arrays."""
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(rows, str) or not hasattr(rows, "__len__"):
        raise InvalidInputError(
            f"A batch has a length, but got {type(rows).__name__}; pass a list or an array."
        )
    if len(rows) == 0:
        raise InvalidInputError("X has no rows; pass at least one.")
    return rows
