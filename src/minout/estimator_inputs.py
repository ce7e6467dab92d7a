"""Check the input of the classifier as scikit-learn does, for a learner.

`is_plain_array` recognises the most common input without scikit-learn's checks, which take longer
than a prediction.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, validate_data

from minout._typing import Bools, Floats, Label
from minout.engine import State
from minout.errors import InvalidInputError
from minout.features import (
    Identity,
    Projection,
    batch_size,
    dense_if_narrow,
    is_sparse,
    refuse_masked,
    takes_rows,
)
from minout.inputs import LabelCodec, Schema, checked_time, each_row, listed_ids, listed_times
from minout.inputs.labels import INT64, STRINGS, to_array
from minout.inputs.tables import Table, frame_table, is_frame, is_records, record_table
from minout.inputs.weights import (
    BALANCED,
    ClassWeights,
    balanced,
    check_class_weight,
    check_sample_weight,
    kept_rows,
)
from minout.steps import Batch

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


class RowFacts(NamedTuple):
    """The arguments of a call about its rows: labels to announce, weights, ids and times."""

    classes: Any = None
    sample_weight: Any = None
    ids: Any = None
    at: Any = None


def batch_of(
    X: Any, y: Any, facts: RowFacts, class_weight: Any, *, is_fit: bool
) -> Callable[[State, Schema], tuple[Batch, Schema]]:
    """Return a function that checks the input of `fit` or `partial_fit` for the newest schema.

    With `is_fit`, class weights may be computed from the labels, and others among the class weights
    are mistakes. Rows of weight 0 are left out.
    """

    def prepare(state: State, schema: Schema) -> tuple[Batch, Schema]:
        rows, array, schema = checked_rows_and_labels(X, y, state, schema)
        is_first = schema.labels is None and not state.labels
        codec = LabelCodec.first(array) if is_first else labels_of(state, schema)
        labels, codec = codec.encode(array)
        sample_weight = check_sample_weight(facts.sample_weight, len(labels))
        weights_of = schema.class_weights
        if state.widths.row is None:
            weights_of = _first_weights(class_weight, codec, labels, sample_weight, is_fit=is_fit)
        elif weights_of.are_balanced:
            check_class_weight(BALANCED, codec)  # raises
        if facts.classes is not None:
            codec = codec.announce(facts.classes)
        weights = weights_of.of_rows(labels, sample_weight)
        batch = _without_weight_0(Batch(rows, labels, facts.ids, weights, facts.at))
        return batch, with_labels(schema, codec, weights_of)

    return prepare


def checked_rows_and_labels(
    X: Any, y: Any, state: State, schema: Schema
) -> tuple[Any, NDArray[Any], Schema]:
    """Return rows for a learner, labels (n,) without missing values, and the names of columns."""
    labels: NDArray[Any] = validate_data(InputColumns(), y=to_array(y))
    columns = InputColumns.of(schema)
    rows = _checked_rows(X, state, schema, columns)
    check_consistent_length(rows if not isinstance(rows, Table) else range(rows.rows), labels)
    names = getattr(columns, "feature_names_in_", None)
    if names is not None and schema.names is None and not isinstance(rows, Table):
        schema = replace(schema, names=tuple(names.tolist()))
    return rows, labels, schema


def checked_rows(X: Any, state: State, schema: Schema) -> Any:
    """Return rows to predict."""
    if is_plain_array(X, schema.width) and schema.columns is None:
        return X
    return _checked_rows(X, state, schema, InputColumns.of(schema))


def labels_of(state: State, schema: Schema) -> LabelCodec:
    """Return how labels are converted; those that no classifier has taught stay as they are."""
    if schema.labels is not None:
        return schema.labels
    is_text = bool(state.labels) and isinstance(state.labels[0], str)
    return LabelCodec(STRINGS if is_text else INT64)


def with_labels(schema: Schema, codec: LabelCodec, class_weights: ClassWeights) -> Schema:
    """Return a schema with these labels and class weights; the same one if it has them."""
    if (codec, class_weights) == (schema.labels, schema.class_weights):
        return schema
    return replace(schema, labels=codec, class_weights=class_weights)


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


class InputColumns(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The number and names of the columns of X, as scikit-learn's checks set and compare them."""

    @classmethod
    def of(cls, schema: Schema) -> "InputColumns":
        """Return the columns that a schema has."""
        known, names = cls(), schema.columns
        if names is not None:
            known.feature_names_in_ = np.array(names, dtype=object)
        if names is not None or schema.width is not None:
            known.n_features_in_ = schema.width if names is None else len(names)
        return known

    @property
    def is_first(self) -> bool:
        """Whether there are no columns yet: the first table sets them."""
        return not hasattr(self, "n_features_in_")


InputColumns.__name__ = "MinoutClassifier"  # the name in scikit-learn's messages


def _checked_rows(X: Any, state: State, schema: Schema, columns: InputColumns) -> Any:
    if is_plain_array(X, schema.width) and schema.columns is None:
        return X
    if schema.is_table or _is_new_table(X, state, schema):
        return _checked_table(X, columns)
    if not takes_rows(schema.features) and not isinstance(schema.features, Projection):
        return _checked_batch(X)
    refuse_masked(X)
    if is_records(X):
        return record_table(X).numbers(schema.names)
    with _report_overflow():
        rows = validate_data(columns, X, reset=columns.is_first, accept_sparse="csr")
    return rows if isinstance(schema.features, Projection) else dense_if_narrow(rows)


def _is_new_table(X: Any, state: State, schema: Schema) -> bool:
    if state.widths.row is not None or schema.features != Identity() or state.examples.codec:
        return False
    if is_frame(X):
        return schema.encoder is not None or not frame_table(X).is_plain
    return is_records(X)


def _checked_table(X: Any, columns: InputColumns) -> Any:
    # A table whose columns have the names and the order of the first; records may be in any order.
    if is_records(X):
        return X
    if not is_frame(X):
        raise InvalidInputError(
            "This classifier was taught a table with named columns; pass a data frame with "
            f"the same columns, not a {type(X).__name__}."
        )
    if not len(X):
        raise InvalidInputError("X has no rows; pass at least one.")
    validate_data(columns, X, reset=columns.is_first, skip_check_array=True)
    return X


def _checked_batch(X: Any) -> Any:
    # A batch for a feature map that takes any kind of example.
    if is_frame(X) or is_records(X):
        return X
    rows = X.to_numpy() if hasattr(X, "to_numpy") else X
    if isinstance(rows, str) or not hasattr(rows, "__len__"):
        raise InvalidInputError(
            f"A batch has a length, but got {type(rows).__name__}; pass a list or an array."
        )
    if batch_size(rows) == 0:
        raise InvalidInputError("X has no rows; pass at least one.")
    return rows


@contextmanager
def _report_overflow() -> Iterator[None]:
    try:
        yield
    except OverflowError as error:
        raise InvalidInputError(
            "X holds a whole number that is too large; scale the features first."
        ) from error


def _first_weights(
    setting: Any,
    codec: LabelCodec,
    labels: list[Label],
    sample_weight: Floats | None,
    *,
    is_fit: bool,
) -> ClassWeights:
    if is_fit and isinstance(setting, str) and setting == BALANCED:
        return balanced(labels, sample_weight)
    class_weights = check_class_weight(setting, codec)
    if is_fit:
        class_weights.require_labels(labels)
    return class_weights


def _without_weight_0(batch: Batch) -> Batch:
    # The rows that have a weight, with their ids and times.
    kept = kept_rows(batch.weights)
    if kept is None:
        return batch
    count = len(batch.y)
    ids = None if batch.ids is None else listed_ids(batch.ids)
    if ids is not None and len(ids) != count:
        raise InvalidInputError(f"There are {count} rows, but {len(ids)} ids; pass one per row.")
    at = batch.at
    if at is not None:
        at = each_row(checked_time, listed_times(at, count, 0.0))
    return Batch(
        _only(batch.X, kept),
        list(compress(batch.y, kept)),
        ids and list(compress(ids, kept)),
        batch.weights[kept],
        at and list(compress(at, kept)),
    )


def _only(rows: Any, kept: Bools) -> Any:
    if is_frame(rows):
        return frame_table(rows).only(kept)
    can_index = isinstance(rows, np.ndarray) or is_sparse(rows)
    return rows[kept] if can_index else list(compress(rows, kept))
